"""Node pools in, findings out: what a pool says of itself, and that no node is claimed twice."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from difflib import get_close_matches
from itertools import combinations

from gitops_gen.catalog import mig as mig_facts
from gitops_gen.catalog.quantities import parse_memory
from gitops_gen.diagnostics import Diagnostic, Path, Severity
from gitops_gen.model import Accelerator, Catalog, ClusterSpec, MigLayout, NodePool

Rule = Callable[[ClusterSpec, Catalog], Iterator[Diagnostic]]


def pool_path(index: int, *rest: str | int) -> Path:
    """Return the path of a part of a pool."""
    return ("spec", "nodePools", index, *rest)


def unique_names(spec: ClusterSpec, catalog: Catalog) -> Iterator[Diagnostic]:
    """Two pools may not have one name."""
    seen: set[str] = set()
    for index, pool in enumerate(spec.node_pools):
        if pool.name in seen:
            yield Diagnostic(
                code="duplicate-pool",
                message=f'a second node pool is named "{pool.name}"',
                path=pool_path(index, "name"),
                hint="give each pool a name of its own",
            )
        seen.add(pool.name)


def known_accelerator(spec: ClusterSpec, catalog: Catalog) -> Iterator[Diagnostic]:
    """The model of GPUs and TPUs must be an id of the catalogue."""
    for index, pool in enumerate(spec.node_pools):
        for kind, chosen in (("gpu", pool.gpu), ("tpu", pool.tpu)):
            if chosen is not None and not _is_kind(catalog, chosen.model, kind):
                yield Diagnostic(
                    code="unknown-gpu-model",
                    message=f'"{chosen.model}" is not a known accelerator',
                    path=pool_path(index, kind, "model"),
                    hint=_model_hint(catalog, chosen.model, kind),
                )


def one_accelerator(spec: ClusterSpec, catalog: Catalog) -> Iterator[Diagnostic]:
    """A node has GPUs or TPUs, not both."""
    for index, pool in enumerate(spec.node_pools):
        if pool.gpu is not None and pool.tpu is not None:
            yield Diagnostic(
                code="gpu-and-tpu",
                message=f'pool "{pool.name}" has both GPUs and TPUs',
                path=pool_path(index, "tpu"),
                hint="split it into two pools",
            )


def architecture_matches(spec: ClusterSpec, catalog: Catalog) -> Iterator[Diagnostic]:
    """Grace nodes are arm64, all others amd64."""
    for index, pool, accelerator in _gpu_pools(spec, catalog):
        if pool.architecture is not None and pool.architecture != accelerator.machine:
            yield Diagnostic(
                code="architecture-mismatch",
                message=f"{accelerator.name} nodes are {accelerator.machine}, "
                f'pool "{pool.name}" says {pool.architecture}',
                path=pool_path(index, "architecture"),
                hint="leave architecture out: it follows from the accelerator",
            )


def mig_profile_exists(spec: ClusterSpec, catalog: Catalog) -> Iterator[Diagnostic]:
    """Each MIG profile must be one of the model, in a profile as in a layout."""
    for index, pool, accelerator in _gpu_pools(spec, catalog):
        for path, name in _profiles(index, pool):
            if not accelerator.mig_profiles:
                yield Diagnostic(
                    code="mig-not-supported",
                    message=f"{accelerator.name} cannot be cut by MIG",
                    path=path,
                    hint="remove `mig`; `sharing` lets several pods use one GPU",
                )
            elif mig_facts.profile(accelerator, name) is None:
                yield _no_such_profile(accelerator, name, path)


def mig_choice(spec: ClusterSpec, catalog: Catalog) -> Iterator[Diagnostic]:
    """A pool has one profile for all GPUs or a layout, exactly one of the two."""
    for index, pool, _ in _gpu_pools(spec, catalog):
        mig = pool.gpu.mig if pool.gpu else None
        if mig is not None and (mig.profile is None) == (not mig.layout):
            both = mig.profile is not None
            yield Diagnostic(
                code="mig-profile-or-layout",
                message=f'pool "{pool.name}" has ' + ("both profile and layout" if both else "an empty `mig`"),
                path=pool_path(index, "gpu", "mig"),
                hint="write `profile` for one cut of every GPU, or `layout` for several",
            )


def mig_layout_fits(spec: ClusterSpec, catalog: Catalog) -> Iterator[Diagnostic]:
    """What a layout wants of one GPU must not be more than the GPU has."""
    for index, pool, accelerator in _gpu_pools(spec, catalog):
        for place, part in enumerate(_layout(pool)):
            if all(mig_facts.profile(accelerator, name) for name in part.profiles):
                path = pool_path(index, "gpu", "mig", "layout", place, "profiles")
                yield from _layout_faults(accelerator, part, path)


def mig_devices_exist(spec: ClusterSpec, catalog: Catalog) -> Iterator[Diagnostic]:
    """Device numbers of a layout start at 0, stay below the count, and stand once."""
    for index, pool, _ in _gpu_pools(spec, catalog):
        assert pool.gpu is not None
        seen: dict[int, int] = {}
        for place, part in enumerate(_layout(pool)):
            devices = range(pool.gpu.count) if part.devices == "all" else part.devices
            path = pool_path(index, "gpu", "mig", "layout", place, "devices")
            for device in devices:
                if device >= pool.gpu.count:
                    yield Diagnostic(
                        code="mig-device-unknown",
                        message=f"device {device} does not exist: the {pool.gpu.count} GPUs of pool "
                        f'"{pool.name}" are 0 to {pool.gpu.count - 1}',
                        path=path,
                    )
                elif device in seen:
                    yield Diagnostic(
                        code="mig-device-twice",
                        message=f"device {device} stands in layout entries {seen[device]} and {place}",
                        path=path,
                        hint="each GPU takes one layout",
                    )
                seen.setdefault(device, place)


def sharing_choice(spec: ClusterSpec, catalog: Catalog) -> Iterator[Diagnostic]:
    """Time-slicing and MPS exclude each other; the device plugin would drop one silently."""
    for index, pool, _ in _gpu_pools(spec, catalog):
        sharing = pool.gpu.sharing if pool.gpu else None
        if sharing is not None and (sharing.time_slicing is None) == (sharing.mps is None):
            both = sharing.mps is not None
            yield Diagnostic(
                code="sharing-one-of",
                message=f'pool "{pool.name}" has '
                + ("both timeSlicing and mps: MPS wins and time-slicing is dropped" if both else "an empty `sharing`"),
                path=pool_path(index, "gpu", "sharing"),
                hint="keep one of timeSlicing and mps",
            )


def sharing_replicas(spec: ClusterSpec, catalog: Catalog) -> Iterator[Diagnostic]:
    """Sharing starts at two replicas; MPS has an upper bound by model."""
    for index, pool, accelerator in _gpu_pools(spec, catalog):
        sharing = pool.gpu.sharing if pool.gpu else None
        for kind, chosen in (
            ("timeSlicing", sharing.time_slicing if sharing else None),
            ("mps", sharing.mps if sharing else None),
        ):
            if chosen is None:
                continue
            path = pool_path(index, "gpu", "sharing", kind, "replicas")
            most = accelerator.mps_replicas_max
            if chosen.replicas < 2:
                yield Diagnostic(
                    code="sharing-replicas",
                    message=f"{kind} needs at least 2 replicas, not {chosen.replicas}",
                    path=path,
                    hint="remove `sharing` to give each pod a whole GPU",
                )
            elif kind == "mps" and chosen.replicas > most:
                yield Diagnostic(
                    code="sharing-replicas",
                    message=f"MPS shares one {accelerator.name} among at most {most} pods, not {chosen.replicas}",
                    path=path,
                )


def mps_without_mig(spec: ClusterSpec, catalog: Catalog) -> Iterator[Diagnostic]:
    """The device plugin rejects MPS on MIG devices."""
    for index, pool, _ in _gpu_pools(spec, catalog):
        gpu = pool.gpu
        if gpu is not None and gpu.mig is not None and gpu.sharing is not None and gpu.sharing.mps is not None:
            yield Diagnostic(
                code="mps-with-mig",
                message=f'pool "{pool.name}" wants MPS on MIG devices, which the device plugin rejects',
                path=pool_path(index, "gpu", "sharing", "mps"),
                hint="use timeSlicing on MIG devices, or MPS on whole GPUs",
            )


def machine_adds_up(spec: ClusterSpec, catalog: Catalog) -> Iterator[Diagnostic]:
    """What is reserved must be less than what is installed."""
    for index, pool in enumerate(spec.node_pools):
        machine = pool.machine
        if machine is None:
            continue
        path = pool_path(index, "machine", "reserved")
        cores = machine.sockets * machine.cores_per_socket
        if machine.reserved.cores >= cores:
            yield Diagnostic(
                code="reserved-exceeds-machine",
                message=f"{machine.reserved.cores} of {cores} cores are reserved: nothing is left for pods",
                path=(*path, "cores"),
            )
        if parse_memory(machine.reserved.memory) >= parse_memory(machine.memory):
            yield Diagnostic(
                code="reserved-exceeds-machine",
                message=f"{machine.reserved.memory} of {machine.memory} memory is reserved: "
                "nothing is left for pods",
                path=(*path, "memory"),
            )


def nodes_claimed_once(spec: ClusterSpec, catalog: Catalog) -> Iterator[Diagnostic]:
    """Two pools may not find the same nodes: no node is claimed twice."""
    pools = list(enumerate(spec.node_pools))
    for (_, first), (index, second) in combinations(pools, 2):
        shared = sorted(set(first.node_names) & set(second.node_names))
        if shared:
            yield Diagnostic(
                code="node-claimed-twice",
                message=f'node "{shared[0]}" stands in the pools "{first.name}" and "{second.name}"',
                path=pool_path(index, "nodeNames"),
            )
        elif not first.node_names and not second.node_names and _overlap(first, second):
            yield Diagnostic(
                code="node-claimed-twice",
                message=f'pools "{first.name}" and "{second.name}" can find the same nodes: '
                "one node selector holds for all nodes of the other",
                path=pool_path(index, "nodeSelector") if second.node_selector else pool_path(index),
                hint="give each pool a label value that only its nodes have",
            )


def taints_differ(spec: ClusterSpec, catalog: Catalog) -> Iterator[Diagnostic]:
    """A node takes each taint key with one effect once."""
    for index, pool in enumerate(spec.node_pools):
        seen: set[tuple[str, str]] = set()
        for place, taint in enumerate(pool.taints):
            if (taint.key, taint.effect) in seen:
                yield Diagnostic(
                    code="duplicate-taint",
                    message=f'pool "{pool.name}" has the taint {taint.key} with effect {taint.effect} twice',
                    path=pool_path(index, "taints", place),
                    hint="Kubernetes keeps one value for a key and effect",
                )
            seen.add((taint.key, taint.effect))


def slurm_pools_are_tainted(spec: ClusterSpec, catalog: Catalog) -> Iterator[Diagnostic]:
    """Nodes that belong to Slurm need a taint, or other pods land on them."""
    for index, pool in enumerate(spec.node_pools):
        keeps_away = any(taint.effect in ("NoSchedule", "NoExecute") for taint in pool.taints)
        if pool.use == "slurm" and not keeps_away:
            yield Diagnostic(
                code="slurm-pool-untainted",
                severity=Severity.WARNING,
                message=f'pool "{pool.name}" belongs to Slurm, but no taint keeps other pods away',
                path=pool_path(index, "use"),
                hint="add a taint such as {key: slurm, value: only, effect: NoSchedule}",
            )


def somewhere_is_untainted(spec: ClusterSpec, catalog: Catalog) -> Iterator[Diagnostic]:
    """When every known pool is tainted, the operators themselves may have no node to run on."""
    pools = spec.node_pools
    closed = [any(taint.effect != "PreferNoSchedule" for taint in pool.taints) for pool in pools]
    if pools and all(closed) and any(not part.provided for part in spec.components.values()):
        yield Diagnostic(
            code="all-pools-tainted",
            severity=Severity.WARNING,
            message="every node pool is tainted: operators and controllers tolerate none of these taints",
            path=("spec", "nodePools"),
            hint="list a pool without taints, or accept this if nodes outside the list take them",
        )


POOL_RULES: tuple[Rule, ...] = (
    unique_names,
    known_accelerator,
    one_accelerator,
    architecture_matches,
    mig_choice,
    mig_profile_exists,
    mig_layout_fits,
    mig_devices_exist,
    sharing_choice,
    sharing_replicas,
    mps_without_mig,
    machine_adds_up,
    nodes_claimed_once,
    taints_differ,
    slurm_pools_are_tainted,
    somewhere_is_untainted,
)


def _gpu_pools(spec: ClusterSpec, catalog: Catalog) -> Iterator[tuple[int, NodePool, Accelerator]]:
    for index, pool in enumerate(spec.node_pools):
        accelerator = catalog.accelerators.get(pool.gpu.model) if pool.gpu else None
        if accelerator is not None:
            yield index, pool, accelerator


def _is_kind(catalog: Catalog, model: str, kind: str) -> bool:
    found = catalog.accelerators.get(model)
    return found is not None and (found.vendor == "google") == (kind == "tpu")


def _model_hint(catalog: Catalog, model: str, kind: str) -> str:
    ids = [name for name in catalog.accelerators if _is_kind(catalog, name, kind)]
    wanted = model.lower().replace("_", "-").removeprefix("nvidia-")
    starts = [name for name in ids if name.split("-")[0] == wanted.split("-")[0]]
    near = starts or get_close_matches(wanted, ids, n=3, cutoff=0.3)
    short = get_close_matches(wanted, [name.split("-")[0] for name in ids], n=1, cutoff=0.6)
    if not starts and short:
        near = [name for name in ids if name.split("-")[0] == short[0]]
    if not near:
        return "`gitops-gen catalog` lists the accelerators"
    quoted = [f'"{name}"' for name in near]
    return f"did you mean {' or '.join(quoted)}?"


def _profiles(index: int, pool: NodePool) -> Iterator[tuple[Path, str]]:
    mig = pool.gpu.mig if pool.gpu else None
    if mig is not None and mig.profile is not None:
        yield pool_path(index, "gpu", "mig", "profile"), mig.profile
    for place, part in enumerate(_layout(pool)):
        for name in part.profiles:
            yield pool_path(index, "gpu", "mig", "layout", place, "profiles", name), name


def _layout(pool: NodePool) -> tuple[MigLayout, ...]:
    return pool.gpu.mig.layout if pool.gpu is not None and pool.gpu.mig is not None else ()


def _no_such_profile(accelerator: Accelerator, name: str, path: Path) -> Diagnostic:
    names = ", ".join(item.name for item in accelerator.mig_profiles)
    return Diagnostic(
        code="mig-profile-unknown",
        message=f"{accelerator.name} has no profile {name}; it has {names}",
        path=path,
        on_key=path[-1] == name,
    )


def _layout_faults(accelerator: Accelerator, part: MigLayout, path: Path) -> Iterator[Diagnostic]:
    for fault in mig_facts.layout_faults(accelerator, part.profiles):
        yield Diagnostic(code="mig-layout-too-large", message=fault, path=path)


def _overlap(first: NodePool, second: NodePool) -> bool:
    one, other = first.node_selector.items(), second.node_selector.items()
    return one <= other or other <= one
