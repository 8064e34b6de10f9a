"""Volumes of the spec in, pod volumes, mounts and the objects behind them out.

A volume has the same path wherever it is mounted. NFS, host folders and memory need no object; a
claim that is rendered, and the Filestore volume with its claim, outlive the Application.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from posixpath import normpath
from typing import Literal

from gitops_gen.catalog.quantities import parse_memory
from gitops_gen.components.slurm.finding import Finding
from gitops_gen.components.slurm.settings import SlurmSettings, Volume
from gitops_gen.diagnostics import Path
from gitops_gen.model import (
    Manifest,
    Object,
    Origin,
    SecretRequest,
    Setting,
    Storage,
    from_fact,
    from_rule,
    from_spec,
)
from gitops_gen.traced import collect, put

Target = Literal["logins", "nodeSets"]

RESERVED_NAMES = (
    "authorized-keys",
    "bootstrap",
    "dcgm-job-mapping",
    "dev",
    "enroot",
    "health-check",
    "run",
    "sackd-dir",
    "shm",
    "slurm-authsocket",
    "slurm-config",
    "slurm-etc",
    "slurm-logfile",
    "ssh-config",
    "ssh-host-keys",
    "sssd-conf",
    "statesave",
)
"""Volumes that operator, chart and this component give to pods; a second one of the name replaces it."""

_TAKEN = (
    "/dev",
    "/etc/enroot",
    "/etc/slurm",
    "/etc/ssh",
    "/etc/sssd",
    "/proc",
    "/root/.ssh",
    "/run",
    "/sys",
    "/var/lib/dcgm-exporter",
    "/var/log/slurm",
    "/var/run",
    "/var/spool/slurmd",
)
"""Folders of the pods' own, at 1.1.2 and 1.2.1; nothing may be mounted at, below or above them."""

_SYSTEM = ("/bin", "/boot", "/etc", "/lib", "/lib64", "/sbin", "/usr", "/var")
"""Folders that hold the image's programs; they may hold mounts but cannot be one."""

_SHARED_MEMORY = "/dev/shm"  # noqa: S108
_OPTIONS = ("metadata", "annotations", "argocd.argoproj.io/sync-options")
_KEPT = from_rule("data outlives what leaves the tree")
_DRIVER = "filestore.csi.storage.gke.io"
_PREPROVISIONED = from_fact("Filestore CSI driver: an instance that exists")
_MANY = ("ReadWriteMany", "ReadOnlyMany")


def chosen(volumes: Iterable[Volume], on: Target, names: Sequence[str] | None = None) -> tuple[Volume, ...]:
    """Return what logins or node sets mount: the named ones, without names all that are meant for them."""
    if names is None:
        return tuple(volume for volume in volumes if on in volume.mounted_by)
    return tuple(volume for volume in volumes if volume.name in names)


def pod_volumes(
    volumes: Iterable[Volume], on: Target, names: Sequence[str] | None = None, *, fullname: str
) -> tuple[Object, ...]:
    """Return `volumes` of a PodSpec; `fullname` is that of the slurm chart, which names the claims."""
    return tuple({"name": item.name, **_source(item, fullname)} for item in chosen(volumes, on, names))


def volume_mounts(
    volumes: Iterable[Volume], on: Target, names: Sequence[str] | None = None
) -> tuple[Object, ...]:
    """Return `volumeMounts` of a container."""
    return tuple(_mount(item) for item in chosen(volumes, on, names))


def claim_name(volume: Volume, fullname: str) -> str:
    """Return the name of the volume's PersistentVolumeClaim: the user's own, or that of the rendered one."""
    return volume.claim or f"{fullname}-{volume.name}"


def manifests(
    volumes: Sequence[Volume], *, fullname: str, namespace: str, storage: Storage
) -> Iterator[Manifest]:
    """Yield the claims that are rendered, and a PersistentVolume for each Filestore share."""
    for index, volume in enumerate(volumes):
        by = from_spec("components", "slurm", "volumes", index)
        name = claim_name(volume, fullname)
        if volume.pvc is not None:
            yield Manifest(object=collect(_claim(volume, name, namespace, storage, by)))
        elif volume.filestore is not None:
            bound = f"{namespace}-{name}"
            made = _filestore_volume(volume, bound, name, namespace, by)
            yield Manifest(object=collect(made), cluster_scoped=True)
            yield Manifest(object=collect(_filestore_claim(volume, bound, name, namespace, by)))


def claims(volumes: Sequence[Volume], namespace: str) -> Iterator[SecretRequest]:
    """Yield each claim of the user's own, once, as what must exist before the first sync."""
    for name in dict.fromkeys(volume.claim for volume in volumes if volume.claim is not None):
        users = [volume for volume in volumes if volume.claim == name]
        places = ", ".join(f"{volume.name} at {volume.mount_path}" for volume in users)
        yield SecretRequest(
            namespace=namespace,
            name=name,
            purpose=f"the volume {places}",
            kind="PersistentVolumeClaim",
            access_mode="ReadOnlyMany" if all(volume.read_only for volume in users) else "ReadWriteMany",
        )


def _source(volume: Volume, fullname: str) -> Object:
    if volume.nfs is not None:
        nfs: Object = {"server": volume.nfs.server, "path": volume.nfs.path}
        return {"nfs": nfs | ({"readOnly": True} if volume.read_only else {})}
    if volume.host_path is not None:
        return {"hostPath": {"path": volume.host_path, "type": "Directory"}}
    if volume.memory is not None:
        return {"emptyDir": {"medium": "Memory", "sizeLimit": volume.memory}}
    return {"persistentVolumeClaim": {"claimName": claim_name(volume, fullname)}}


def _mount(volume: Volume) -> Object:
    mount: Object = {"name": volume.name, "mountPath": volume.mount_path}
    if volume.sub_path is not None:
        mount["subPath"] = volume.sub_path
    if volume.read_only:
        mount["readOnly"] = True
    return mount


# --- objects -----------------------------------------------------------------------------------


def _head(kind: str, name: str, namespace: str | None, by: Origin) -> Iterator[Setting]:
    yield put("apiVersion", "v1", by)
    yield put("kind", kind, by)
    yield put("metadata.name", name, by)
    if namespace is not None:
        yield put("metadata.namespace", namespace, from_spec("components", "slurm", "namespace"))
    yield put(_OPTIONS, "Prune=false,Delete=false", _KEPT)


def _claim(volume: Volume, name: str, namespace: str, storage: Storage, by: Origin) -> Iterator[Setting]:
    claim = volume.pvc
    assert claim is not None
    yield from _head("PersistentVolumeClaim", name, namespace, by)
    yield put("spec.accessModes", list(claim.access_modes), by)
    many = any(mode in _MANY for mode in claim.access_modes)
    usual = storage.shared_class if many else storage.default_class
    if claim.storage_class is not None:
        yield put("spec.storageClassName", claim.storage_class, by)
    elif usual is not None:
        place = from_spec("storage", "sharedClass" if many else "defaultClass")
        yield put("spec.storageClassName", usual, place)
    yield put("spec.resources.requests.storage", claim.size, by)


def _filestore_volume(volume: Volume, name: str, claim: str, namespace: str, by: Origin) -> Iterator[Setting]:
    share = volume.filestore
    assert share is not None
    yield from _head("PersistentVolume", name, None, by)
    yield put("spec.capacity.storage", share.size, by)
    yield put("spec.accessModes", ["ReadWriteMany"], _PREPROVISIONED)
    yield put("spec.persistentVolumeReclaimPolicy", "Retain", _KEPT)
    yield put("spec.storageClassName", "", _PREPROVISIONED)
    yield put("spec.volumeMode", "Filesystem", _PREPROVISIONED)
    yield put("spec.csi.driver", _DRIVER, _PREPROVISIONED)
    handle = f"modeInstance/{share.location}/{share.instance}/{share.share}"
    yield put("spec.csi.volumeHandle", handle, by, _PREPROVISIONED)
    yield put("spec.csi.volumeAttributes", {"ip": share.ip, "volume": share.share}, by, _PREPROVISIONED)
    bound = from_rule("no other claim takes the volume")
    yield put("spec.claimRef", {"name": claim, "namespace": namespace}, bound)


def _filestore_claim(volume: Volume, bound: str, name: str, namespace: str, by: Origin) -> Iterator[Setting]:
    share = volume.filestore
    assert share is not None
    yield from _head("PersistentVolumeClaim", name, namespace, by)
    yield put("spec.accessModes", ["ReadWriteMany"], _PREPROVISIONED)
    yield put("spec.storageClassName", "", _PREPROVISIONED)
    yield put("spec.volumeName", bound, from_rule("the claim takes its own volume"))
    yield put("spec.resources.requests.storage", share.size, by)


# --- checks ------------------------------------------------------------------------------------


def findings(settings: SlurmSettings) -> Iterator[Finding]:
    """Yield volumes that cannot be made or mounted as the spec has them."""
    for index, volume in enumerate(settings.volumes):
        path: Path = ("volumes", index)
        yield from _name(volume, path)
        yield from _place(volume, path)
        yield from _sub_path(volume, path)
        yield from _size(volume, path)
        yield from _access(volume, path)
    yield from _consumers(settings)


def _name(volume: Volume, path: Path) -> Iterator[Finding]:
    if volume.name in RESERVED_NAMES:
        yield Finding(
            code="slurm-volume-name",
            message=f'"{volume.name}" is the name of a volume that the pods have already',
            hint="give the volume another name, such as home or scratch",
            path=(*path, "name"),
        )


def _place(volume: Volume, path: Path) -> Iterator[Finding]:
    at = volume.mount_path
    clean = _clean(at)
    hint = "mount it at a folder of its own, such as /home, /scratch or /opt/site"
    place = (*path, "mountPath")
    if at != clean:
        yield Finding(
            code="slurm-mount-path",
            message=f'"{at}" is not the plain form of a path',
            hint=f'write "{clean}"',
            path=place,
        )
    elif clean == "/" or clean in _SYSTEM:
        yield Finding(
            code="slurm-mount-path",
            message=f'a volume at "{at}" would hide the programs of the image',
            hint=hint,
            path=place,
        )
    for taken in _TAKEN:
        if clean != "/" and clean not in _SYSTEM and (_within(clean, taken) or _within(taken, clean)):
            if clean == _SHARED_MEMORY:
                hint = "write `sharedMemory` at the node sets"
            yield Finding(
                code="slurm-mount-path",
                message=f"the pods need {taken} for themselves"
                if clean == taken
                else f'"{at}" lies in the way of {taken}, which the pods need for themselves',
                hint=hint,
                path=place,
            )
            return


def _sub_path(volume: Volume, path: Path) -> Iterator[Finding]:
    if volume.sub_path is not None and ".." in volume.sub_path.split("/"):
        yield Finding(
            code="slurm-sub-path",
            message=f'"{volume.sub_path}" leads out of the volume; Kubernetes refuses ".." in a subPath',
            hint="name a folder inside the volume",
            path=(*path, "subPath"),
        )


def _size(volume: Volume, path: Path) -> Iterator[Finding]:
    sizes = {
        ("memory",): volume.memory,
        ("pvc", "size"): volume.pvc.size if volume.pvc else None,
        ("filestore", "size"): volume.filestore.size if volume.filestore else None,
    }
    for keys, text in sizes.items():
        fault = _fault(text) if text is not None else None
        if fault is not None:
            yield Finding(
                code="slurm-volume-size",
                message=fault,
                hint="write a size such as 100Gi or 2Ti",
                path=(*path, *keys),
            )


def _fault(text: str) -> str | None:
    try:
        return None if parse_memory(text) > 0 else f'"{text}" leaves no room'
    except ValueError as err:
        return str(err)


def _access(volume: Volume, path: Path) -> Iterator[Finding]:
    if volume.pvc is None:
        return
    modes = volume.pvc.access_modes
    place = (*path, "pvc", "accessModes")
    if "ReadWriteMany" not in modes and "ReadOnlyMany" not in modes:
        yield Finding(
            code="slurm-volume-single-node",
            level="warning",
            message=f'"{volume.name}" can be mounted on one node only; pods on all others wait for ever',
            hint="write accessModes: [ReadWriteMany], with a storage class for many nodes",
            path=place,
        )
    elif "ReadWriteMany" not in modes and not volume.read_only:
        yield Finding(
            code="slurm-volume-read-only",
            message=f'"{volume.name}" may only be read on many nodes, but is mounted for writing',
            hint="write readOnly: true at the volume, or accessModes: [ReadWriteMany]",
            path=place,
        )


def _consumers(settings: SlurmSettings) -> Iterator[Finding]:
    known = {volume.name for volume in settings.volumes}
    users: list[tuple[Path, Target, tuple[str, ...] | None]] = [
        *((("logins", index), "logins", item.volumes) for index, item in enumerate(settings.logins)),
        *((("nodeSets", index), "nodeSets", item.volumes) for index, item in enumerate(settings.node_sets)),
    ]
    reported: set[tuple[str, str]] = set()
    for path, target, names in users:
        for place, name in enumerate(names or ()):
            if name not in known:
                yield Finding(
                    code="slurm-volume-unknown",
                    message=f'"{name}" is none of `volumes`',
                    hint=_known(sorted(known)),
                    path=(*path, "volumes", place),
                )
        for first, second in _twice(chosen(settings.volumes, target, names)):
            if (first.name, second.name) not in reported:
                reported.add((first.name, second.name))
                yield Finding(
                    code="slurm-mount-twice",
                    message=f'"{first.name}" and "{second.name}" are both mounted at "{second.mount_path}"',
                    hint="give one another path, or let `mountedBy` tell where each is mounted",
                    path=("volumes", settings.volumes.index(second), "mountPath"),
                )


def _twice(volumes: Sequence[Volume]) -> Iterator[tuple[Volume, Volume]]:
    seen: dict[str, Volume] = {}
    for volume in volumes:
        first = seen.setdefault(_clean(volume.mount_path), volume)
        if first is not volume:
            yield first, volume


def _known(names: Sequence[str]) -> str:
    return f"`volumes` has {', '.join(names)}" if names else "describe the volume under `volumes` first"


def _clean(path: str) -> str:
    return "/" + normpath(path).lstrip("/")


def _within(path: str, folder: str) -> bool:
    return path == folder or path.startswith(f"{folder}/")
