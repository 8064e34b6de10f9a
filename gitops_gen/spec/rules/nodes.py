"""Node pools in, findings on who claims which node and on what is installed there out."""

from __future__ import annotations

from collections.abc import Iterator

from gitops_gen.catalog.quantities import parse_memory
from gitops_gen.diagnostics import Diagnostic
from gitops_gen.model import Catalog, ClusterSpec, Machine, NodePool, Taint
from gitops_gen.spec.rules.place import pairs, pool_path, warning

_REPELS = ("NoSchedule", "NoExecute")
_LEAST_MEMORY = 1024**3


def repels(pool: NodePool) -> bool:
    """Say whether a taint keeps pods off the nodes that do not tolerate it."""
    return any(taint.effect in _REPELS for taint in pool.taints)


def overlapping_selectors(spec: ClusterSpec, catalog: Catalog) -> Iterator[Diagnostic]:
    """Refuse two pools of which one selects every node of the other, unless both name their nodes."""
    for index, pool, earlier in pairs(spec):
        mine, theirs = pool.node_selector.items(), earlier.node_selector.items()
        told_apart = pool.node_names and earlier.node_names
        if told_apart or not mine or not theirs or not (mine <= theirs or theirs <= mine):
            continue
        same = "the same nodes as" if mine == theirs else "nodes of"
        yield Diagnostic(
            code="pools-overlap",
            message=f'pool "{pool.name}" selects {same} pool "{earlier.name}"; a node belongs to one pool',
            path=pool_path(index, "nodeSelector"),
            hint="give each pool a label value of its own, such as node.example.com/pool: <name of the pool>",
        )


def overlapping_names(spec: ClusterSpec, catalog: Catalog) -> Iterator[Diagnostic]:
    """Refuse a node that two pools name."""
    for index, pool, earlier in pairs(spec):
        for place, name in enumerate(pool.node_names):
            if name in earlier.node_names:
                yield Diagnostic(
                    code="node-in-two-pools",
                    message=f'node "{name}" is in pool "{earlier.name}" already; a node belongs to one pool',
                    path=pool_path(index, "nodeNames", place),
                    hint="name it in one of the two pools only",
                )


def more_names_than_nodes(spec: ClusterSpec, catalog: Catalog) -> Iterator[Diagnostic]:
    """Refuse more node names than the pool has nodes."""
    for index, pool in enumerate(spec.node_pools):
        if len(pool.node_names) > pool.nodes:
            yield Diagnostic(
                code="more-names-than-nodes",
                message=f'pool "{pool.name}" names {len(pool.node_names)} nodes and has {pool.nodes}',
                path=pool_path(index, "nodeNames"),
                hint=f"write nodes: {len(pool.node_names)}, or name fewer nodes",
            )


def pools_without_selector(spec: ClusterSpec, catalog: Catalog) -> Iterator[Diagnostic]:
    """Warn of a pool that cannot be told from the others."""
    for index, pool in enumerate(spec.node_pools):
        if len(spec.node_pools) > 1 and not pool.node_selector and not pool.node_names:
            yield warning(
                "pool-without-selector",
                f'pool "{pool.name}" has neither nodeSelector nor nodeNames, '
                "so nothing tells its nodes from those of the other pools",
                pool_path(index),
                "add a nodeSelector with a label that only these nodes have",
            )


def duplicate_taints(spec: ClusterSpec, catalog: Catalog) -> Iterator[Diagnostic]:
    """Refuse two taints of one key and effect: Kubernetes keeps only one of them."""
    for index, pool in enumerate(spec.node_pools):
        seen: dict[tuple[str, str], Taint] = {}
        for place, taint in enumerate(pool.taints):
            first = seen.setdefault((taint.key, taint.effect), taint)
            if first is not taint:
                yield Diagnostic(
                    code="duplicate-taint",
                    message=f'taint "{taint.key}" with effect {taint.effect} stands twice in pool '
                    f'"{pool.name}", with the values "{first.value}" and "{taint.value}"',
                    path=pool_path(index, "taints", place),
                    hint="a node has one taint of each key and effect; remove one of the two",
                )


def untainted_slurm_pools(spec: ClusterSpec, catalog: Catalog) -> Iterator[Diagnostic]:
    """Warn of nodes that belong to Slurm and that other pods can land on."""
    for index, pool in enumerate(spec.node_pools):
        if pool.use == "slurm" and not repels(pool):
            yield warning(
                "slurm-pool-untainted",
                f'the nodes of pool "{pool.name}" belong to Slurm, but no taint keeps other pods away',
                pool_path(index, "use"),
                "add a taint such as {key: slurm, value: only, effect: NoSchedule}; what must run there "
                "gets the toleration",
            )


def all_pools_tainted(spec: ClusterSpec, catalog: Catalog) -> Iterator[Diagnostic]:
    """Warn when pods without tolerations have no node that is known of."""
    rendered = [name for name in spec.components if spec.rendered(name)]
    if spec.node_pools and rendered and all(repels(pool) for pool in spec.node_pools):
        which = "the only pool is" if len(spec.node_pools) == 1 else f"all {len(spec.node_pools)} pools are"
        yield warning(
            "all-pools-tainted",
            f"{which} tainted, so controllers and other pods without tolerations have no node to run on",
            ("spec", "nodePools"),
            "add the pool where they run; if it exists and is not worth listing, accept this warning",
        )


def reserved_cores(spec: ClusterSpec, catalog: Catalog) -> Iterator[Diagnostic]:
    """Refuse a reserve that leaves no core."""
    for index, machine in _machines(spec):
        installed = machine.sockets * machine.cores_per_socket
        if machine.reserved.cores >= installed:
            yield Diagnostic(
                code="reserved-exceeds-machine",
                message=f"{machine.reserved.cores} of {installed} cores "
                f"({machine.sockets} × {machine.cores_per_socket}) are reserved; nothing is left",
                path=pool_path(index, "machine", "reserved", "cores"),
                hint="reserve what the node and its DaemonSets need, a few cores",
            )


def too_little_memory(spec: ClusterSpec, catalog: Catalog) -> Iterator[Diagnostic]:
    """Refuse memory that no node has: a unit was forgotten."""
    for index, machine in _machines(spec):
        if parse_memory(machine.memory) < _LEAST_MEMORY:
            yield Diagnostic(
                code="machine-memory-too-small",
                message=f'memory "{machine.memory}" is less than 1Gi for a whole node',
                path=pool_path(index, "machine", "memory"),
                hint=f'a number without a unit counts bytes; did you mean "{machine.memory}Gi"?'
                if machine.memory.isdigit()
                else "write what is installed in one node, such as 512Gi",
            )


def reserved_memory(spec: ClusterSpec, catalog: Catalog) -> Iterator[Diagnostic]:
    """Refuse a reserve that leaves no memory."""
    for index, machine in _machines(spec):
        reserved = parse_memory(machine.reserved.memory)
        if _LEAST_MEMORY <= parse_memory(machine.memory) <= reserved:
            yield Diagnostic(
                code="reserved-exceeds-machine",
                message=f"{machine.reserved.memory} of {machine.memory} memory is reserved; nothing is left",
                path=pool_path(index, "machine", "reserved", "memory"),
                hint="reserve what the node and its DaemonSets need, a few percent",
            )


def systems_of_distribution(spec: ClusterSpec, catalog: Catalog) -> Iterator[Diagnostic]:
    """Refuse an operating system that the distribution's nodes do not run."""
    facts = _distributions(catalog)
    chosen = spec.kubernetes.distribution
    for index, pool in enumerate(spec.node_pools):
        if pool.os is None:
            continue
        system = facts["operatingSystems"].get(pool.os, {})
        fixed = facts["distributions"].get(chosen, {})
        if chosen not in system.get("only", [chosen]):
            places = _either(system["only"])
            why = f'"{pool.os}" is for nodes of {places}, the distribution is "{chosen}"'
        elif pool.os not in fixed.get("os", [pool.os]):
            why = f'nodes of {fixed["name"]} run {_either(fixed["os"])}, not "{pool.os}"'
        else:
            continue
        yield Diagnostic(
            code="os-distribution-mismatch",
            message=why,
            path=pool_path(index, "os"),
            hint="correct os here, or spec.kubernetes.distribution",
        )


def _distributions(catalog: Catalog) -> dict[str, dict[str, dict[str, list[str]]]]:
    found = catalog.data.get("distributions", {})
    return {"operatingSystems": {}, "distributions": {}, **found}  # type: ignore[dict-item]


def _either(names: list[str]) -> str:
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} or {names[-1]}"


def _machines(spec: ClusterSpec) -> Iterator[tuple[int, Machine]]:
    for index, pool in enumerate(spec.node_pools):
        if pool.machine is not None:
            yield index, pool.machine


RULES = (
    overlapping_selectors,
    overlapping_names,
    more_names_than_nodes,
    pools_without_selector,
    duplicate_taints,
    untainted_slurm_pools,
    all_pools_tainted,
    reserved_cores,
    too_little_memory,
    reserved_memory,
    systems_of_distribution,
)
