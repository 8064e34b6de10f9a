"""Volumes of logins and node sets: what pods mount, what is rendered behind it, what is refused."""

from __future__ import annotations

from typing import Any

import kubernetes_validate  # type: ignore[import-untyped]
import msgspec
import pytest

from gitops_gen.components.slurm.settings import SlurmSettings
from gitops_gen.components.slurm.storage import (
    RESERVED_NAMES,
    chosen,
    claims,
    findings,
    manifests,
    pod_volumes,
    volume_mounts,
)
from gitops_gen.model import SecretRequest, Storage

KEYS = {name: {"secretRef": {"name": name, "key": "key"}} for name in ("slurm", "jwt")}
FILESTORE = {
    "instance": "home-1",
    "location": "asia-northeast3-a",
    "ip": "10.20.0.2",
    "share": "home",
    "size": "1Ti",
}
ALL: tuple[dict[str, Any], ...] = (
    {"name": "nfs", "mountPath": "/nfs", "nfs": {"server": "nfs.example.com", "path": "/export"}},
    {"name": "fs", "mountPath": "/fs", "filestore": FILESTORE, "subPath": "users"},
    {"name": "pvc", "mountPath": "/pvc", "pvc": {"size": "10Ti"}},
    {"name": "claim", "mountPath": "/claim", "claim": "scratch", "readOnly": True},
    {"name": "host", "mountPath": "/host", "hostPath": "/raid/scratch", "mountedBy": ["nodeSets"]},
    {"name": "memory", "mountPath": "/memory", "memory": "64Gi", "mountedBy": ["logins"]},
)


def settings(*volumes: dict[str, Any], **others: Any) -> SlurmSettings:
    return msgspec.convert(
        {"clusterName": "hpc", "keys": KEYS, "volumes": list(volumes), **others}, SlurmSettings
    )


def nfs(name: str, at: str, **others: Any) -> dict[str, Any]:
    return {"name": name, "mountPath": at, "nfs": {"server": "s", "path": "/p"}, **others}


def found(*volumes: dict[str, Any], **others: Any) -> list[tuple[str, str, str, tuple[str | int, ...]]]:
    value = settings(*volumes, **others)
    return [(item.code, item.level, item.message, item.path) for item in findings(value)]


def made(*volumes: dict[str, Any], storage: Storage | None = None) -> list[dict[str, Any]]:
    items = manifests(
        settings(*volumes).volumes, fullname="slurm", namespace="hpc", storage=storage or Storage()
    )
    result = []
    for item in items:
        data: dict[str, Any] = dict(item.object.data)
        assert item.cluster_scoped is (data["kind"] == "PersistentVolume")
        assert all(item.object.origins.values())
        result.append(data)
    return result


# --- pods --------------------------------------------------------------------------------------


def test_each_kind_has_its_source() -> None:
    volumes = settings(*ALL).volumes
    assert pod_volumes(volumes, "nodeSets", fullname="slurm") == (
        {"name": "nfs", "nfs": {"server": "nfs.example.com", "path": "/export"}},
        {"name": "fs", "persistentVolumeClaim": {"claimName": "slurm-fs"}},
        {"name": "pvc", "persistentVolumeClaim": {"claimName": "slurm-pvc"}},
        {"name": "claim", "persistentVolumeClaim": {"claimName": "scratch"}},
        {"name": "host", "hostPath": {"path": "/raid/scratch", "type": "Directory"}},
    )
    assert pod_volumes(volumes, "logins", fullname="slurm")[-1] == {
        "name": "memory",
        "emptyDir": {"medium": "Memory", "sizeLimit": "64Gi"},
    }


def test_mounts_match_the_volumes() -> None:
    volumes = settings(*ALL).volumes
    assert volume_mounts(volumes, "nodeSets") == (
        {"name": "nfs", "mountPath": "/nfs"},
        {"name": "fs", "mountPath": "/fs", "subPath": "users"},
        {"name": "pvc", "mountPath": "/pvc"},
        {"name": "claim", "mountPath": "/claim", "readOnly": True},
        {"name": "host", "mountPath": "/host"},
    )
    for names in (None, ("memory", "nfs"), ()):
        mounts = [item["name"] for item in volume_mounts(volumes, "nodeSets", names)]
        assert mounts == [item["name"] for item in pod_volumes(volumes, "nodeSets", names, fullname="f")]


def test_named_volumes_are_mounted_whatever_they_are_meant_for() -> None:
    volumes = settings(*ALL).volumes
    assert [item.name for item in chosen(volumes, "nodeSets", ("memory", "nfs"))] == ["nfs", "memory"]
    assert chosen(volumes, "nodeSets", ()) == ()


def test_read_only_export_is_mounted_read_only_by_the_node() -> None:
    volumes = settings(nfs("a", "/a", readOnly=True)).volumes
    assert pod_volumes(volumes, "logins", fullname="f") == (
        {"name": "a", "nfs": {"server": "s", "path": "/p", "readOnly": True}},
    )


def test_pod_fits_the_schema_of_kubernetes() -> None:
    volumes = settings(*ALL).volumes
    for on in ("logins", "nodeSets"):
        spec = {
            "volumes": list(pod_volumes(volumes, on, fullname="slurm")),
            "containers": [{"name": "a", "image": "a", "volumeMounts": list(volume_mounts(volumes, on))}],
        }
        pod = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "a"}, "spec": spec}
        kubernetes_validate.validate(pod, "1.35", strict=True)


# --- objects -----------------------------------------------------------------------------------


def test_only_rendered_claims_and_filestore_have_objects() -> None:
    names = [(item["kind"], item["metadata"]["name"]) for item in made(*ALL)]
    assert names == [
        ("PersistentVolume", "hpc-slurm-fs"),
        ("PersistentVolumeClaim", "slurm-fs"),
        ("PersistentVolumeClaim", "slurm-pvc"),
    ]


@pytest.mark.parametrize("version", ["1.31", "1.35"])
def test_objects_fit_the_schemas_of_kubernetes(version: str) -> None:
    for item in made(*ALL):
        kubernetes_validate.validate(item, version, strict=True)


def test_data_outlives_the_tree() -> None:
    options = {item["metadata"]["annotations"]["argocd.argoproj.io/sync-options"] for item in made(*ALL)}
    assert options == {"Prune=false,Delete=false"}


def test_filestore_share_is_bound_to_its_own_claim() -> None:
    volume, claim = made(ALL[1])
    assert volume["spec"] == {
        "capacity": {"storage": "1Ti"},
        "accessModes": ["ReadWriteMany"],
        "persistentVolumeReclaimPolicy": "Retain",
        "storageClassName": "",
        "volumeMode": "Filesystem",
        "csi": {
            "driver": "filestore.csi.storage.gke.io",
            "volumeHandle": "modeInstance/asia-northeast3-a/home-1/home",
            "volumeAttributes": {"ip": "10.20.0.2", "volume": "home"},
        },
        "claimRef": {"name": "slurm-fs", "namespace": "hpc"},
    }
    assert "namespace" not in volume["metadata"]
    assert claim["metadata"]["namespace"] == "hpc"
    assert claim["spec"] == {
        "accessModes": ["ReadWriteMany"],
        "storageClassName": "",
        "volumeName": "hpc-slurm-fs",
        "resources": {"requests": {"storage": "1Ti"}},
    }


CLASSES = Storage(default_class="one", shared_class="many")


@pytest.mark.parametrize(
    ("claim", "storage", "expected"),
    [
        ({}, CLASSES, "many"),
        ({"accessModes": ["ReadWriteOnce"]}, CLASSES, "one"),
        ({"accessModes": ["ReadOnlyMany"]}, CLASSES, "many"),
        ({"storageClass": "own"}, CLASSES, "own"),
        ({}, Storage(default_class="one"), None),
    ],
)
def test_storage_class_follows_from_how_many_nodes_mount_it(
    claim: dict[str, Any], storage: Storage, expected: str | None
) -> None:
    (item,) = made({"name": "a", "mountPath": "/a", "pvc": {"size": "1Ti", **claim}}, storage=storage)
    assert item["spec"].get("storageClassName") == expected
    assert item["spec"]["resources"] == {"requests": {"storage": "1Ti"}}


def test_claims_of_the_users_own_must_exist() -> None:
    volumes = settings(
        *ALL,
        {"name": "home", "mountPath": "/home", "claim": "shared", "subPath": "home"},
        {"name": "apps", "mountPath": "/apps", "claim": "shared", "subPath": "apps", "readOnly": True},
    ).volumes
    assert list(claims(volumes, "hpc")) == [
        SecretRequest(
            namespace="hpc",
            name="scratch",
            purpose="the volume claim at /claim",
            kind="PersistentVolumeClaim",
            access_mode="ReadOnlyMany",
        ),
        SecretRequest(
            namespace="hpc",
            name="shared",
            purpose="the volume home at /home, apps at /apps",
            kind="PersistentVolumeClaim",
            access_mode="ReadWriteMany",
        ),
    ]


# --- checks ------------------------------------------------------------------------------------


def test_usual_volumes_have_no_finding() -> None:
    assert (
        found(*ALL, nfs("home", "/home"), nfs("deep", "/home/scratch"), nfs("site", "/usr/local/site")) == []
    )


@pytest.mark.parametrize("name", RESERVED_NAMES)
def test_names_of_the_pods_own_volumes_are_taken(name: str) -> None:
    message = f'"{name}" is the name of a volume that the pods have already'
    assert found(nfs(name, "/a")) == [("slurm-volume-name", "error", message, ("volumes", 0, "name"))]


@pytest.mark.parametrize(
    ("at", "message"),
    [
        ("/etc/slurm", "the pods need /etc/slurm for themselves"),
        ("/etc/slurm/x", '"/etc/slurm/x" lies in the way of /etc/slurm, which the pods need for themselves'),
        ("/run/slurm", '"/run/slurm" lies in the way of /run, which the pods need for themselves'),
        (
            "/var/spool",
            '"/var/spool" lies in the way of /var/spool/slurmd, which the pods need for themselves',
        ),
        ("/root", '"/root" lies in the way of /root/.ssh, which the pods need for themselves'),
        ("/", 'a volume at "/" would hide the programs of the image'),
        ("/usr", 'a volume at "/usr" would hide the programs of the image'),
        ("/etc", 'a volume at "/etc" would hide the programs of the image'),
        ("/home/", '"/home/" is not the plain form of a path'),
        ("//home", '"//home" is not the plain form of a path'),
        ("/home/../srv", '"/home/../srv" is not the plain form of a path'),
    ],
)
def test_places_that_pods_need_are_refused(at: str, message: str) -> None:
    assert found(nfs("a", at)) == [("slurm-mount-path", "error", message, ("volumes", 0, "mountPath"))]


def test_hint_for_a_path_is_its_plain_form() -> None:
    (item,) = findings(settings(nfs("a", "/home//x/")))
    assert item.hint == 'write "/home/x"'
    (item,) = findings(settings({"name": "a", "mountPath": "/dev/shm", "memory": "1Gi"}))
    assert item.hint == "write `sharedMemory` at the node sets"


def test_place_beside_one_that_pods_need_is_free() -> None:
    assert found(nfs("a", "/etc/slurm-site"), nfs("b", "/runs"), nfs("c", "/var/log/jobs")) == []


def test_sub_path_stays_in_the_volume() -> None:
    assert [item[0] for item in found(nfs("a", "/a", subPath="x/../../y"))] == ["slurm-sub-path"]
    assert found(nfs("a", "/a", subPath="x..y/z")) == []


@pytest.mark.parametrize(
    ("volume", "message", "keys"),
    [
        ({"memory": "0"}, '"0" leaves no room', ("memory",)),
        ({"pvc": {"size": "0Gi"}}, '"0Gi" leaves no room', ("pvc", "size")),
        (
            {"filestore": {**FILESTORE, "size": "1TB"}},
            '"1TB" is not a quantity of memory: "TB" is no suffix, write Ti (powers of 1024) or T'
            " (powers of 1000)",
            ("filestore", "size"),
        ),
    ],
)
def test_sizes_are_quantities(volume: dict[str, Any], message: str, keys: tuple[str, ...]) -> None:
    expected = [("slurm-volume-size", "error", message, ("volumes", 0, *keys))]
    assert found({"name": "a", "mountPath": "/a", **volume}) == expected


@pytest.mark.parametrize(
    ("modes", "read_only", "code"),
    [
        (["ReadWriteOnce"], False, "slurm-volume-single-node"),
        (["ReadOnlyMany"], False, "slurm-volume-read-only"),
        (["ReadOnlyMany"], True, None),
        (["ReadOnlyMany", "ReadWriteMany"], False, None),
        (["ReadWriteOnce", "ReadWriteMany"], False, None),
    ],
)
def test_many_nodes_mount_a_claim(modes: list[str], read_only: bool, code: str | None) -> None:
    pvc = {"size": "1Ti", "accessModes": modes}
    items = found({"name": "a", "mountPath": "/a", "pvc": pvc, "readOnly": read_only})
    assert [item[0] for item in items] == ([code] if code else [])
    assert all(item[3] == ("volumes", 0, "pvc", "accessModes") for item in items)


def test_one_path_is_mounted_once() -> None:
    both = (nfs("a", "/home"), nfs("b", "/home"))
    message = '"a" and "b" are both mounted at "/home"'
    twice = [("slurm-mount-twice", "error", message, ("volumes", 1, "mountPath"))]
    login, node_set = {"name": "login"}, {"name": "cpu", "pool": "cpu"}
    assert found(*both, logins=[login], nodeSets=[node_set]) == twice
    apart = (nfs("a", "/home", mountedBy=["logins"]), nfs("b", "/home", mountedBy=["nodeSets"]))
    assert found(*apart, logins=[login], nodeSets=[node_set]) == []
    assert found(*apart, nodeSets=[{**node_set, "volumes": ["a", "b"]}]) == twice
    assert found(*both, nodeSets=[{**node_set, "volumes": ["b"]}]) == []


def test_named_volume_must_exist() -> None:
    assert found(nfs("a", "/a"), nodeSets=[{"name": "cpu", "pool": "cpu", "volumes": ["a", "b"]}]) == [
        ("slurm-volume-unknown", "error", '"b" is none of `volumes`', ("nodeSets", 0, "volumes", 1))
    ]
    (item,) = findings(settings(logins=[{"name": "x", "volumes": ["b"]}]))
    assert item.hint == "describe the volume under `volumes` first"
