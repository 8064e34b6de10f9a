"""Daemons, logins and accounting in, what is contradictory, open to everybody or without effect out."""

from __future__ import annotations

import ipaddress
from collections.abc import Iterator

from gitops_gen.components.mariadb_operator.database import watches
from gitops_gen.components.slurm.context import Context
from gitops_gen.components.slurm.finding import Finding
from gitops_gen.components.slurm.logins import is_internal
from gitops_gen.components.slurm.objects import is_address
from gitops_gen.components.slurm.settings import Accounting, Controller, Login
from gitops_gen.diagnostics import Path

_EXTERNAL_DROPS = (
    ("partitions", "partitions"),
    ("prolog", "prolog"),
    ("epilog", "epilog"),
    ("prologSlurmctld", "prolog_slurmctld"),
    ("epilogSlurmctld", "epilog_slurmctld"),
    ("cgroup", "cgroup"),
    ("topology", "topology"),
    ("plugstack", "plugstack"),
    ("jobSubmitLua", "job_submit_lua"),
    ("configFiles", "config_files"),
    ("healthCheck", "health_check"),
)

_EXTERNAL_HAS_NO = {
    "persistence": "persistence",
    "inplaceReconfigure": "inplace_reconfigure",
    "resources": "resources",
    "nodeSelector": "node_selector",
    "tolerations": "tolerations",
    "podSpec": "pod_spec",
}


def daemons(context: Context) -> Iterator[Finding]:
    """Yield every finding about slurmctld, slurmdbd, slurmrestd and the logins."""
    yield from _controller(context)
    yield from _external(context)
    yield from _accounting(context)
    yield from _database(context)
    yield from _rest_api(context)
    yield from _sssd(context)
    for index, login in enumerate(context.settings.logins):
        yield from _login(context, login, ("logins", index))


# --- slurmctld ---------------------------------------------------------------------------------


def _controller(context: Context) -> Iterator[Finding]:
    volume, path = context.settings.controller.persistence, ("controller", "persistence")
    if volume.enabled:
        if volume.existing_claim is not None and volume.storage_class is not None:
            yield Finding(
                code="slurm-persistence",
                message="a claim that exists has its class already: storageClass means nothing beside it",
                hint="leave one of the two out",
                path=(*path, "storageClass"),
                on_key=True,
            )
        return
    given = {
        "existingClaim": volume.existing_claim,
        "size": volume.size,
        "storageClass": volume.storage_class,
    }
    for field, value in given.items():
        if value is not None:
            yield Finding(
                code="slurm-persistence",
                message=f"persistence is off, so that {field} means nothing",
                hint="leave `enabled` out: state is kept by default",
                path=(*path, field),
                on_key=True,
            )
    if context.settings.controller.external is None and not any(given.values()):
        yield Finding(
            code="slurm-state-lost",
            level="warning",
            message="without a volume every restart of slurmctld loses the queue and all running jobs",
            hint="leave `enabled` out, or accept this for a cluster to play with",
            path=(*path, "enabled"),
        )


def _external(context: Context) -> Iterator[Finding]:
    settings = context.settings
    outside = settings.controller.external
    if outside is None:
        return
    usual = context.data["ports"]["slurmctld"]
    if outside.port != usual:
        yield Finding(
            code="slurm-external-port",
            message=f"the operator writes port {usual} of slurmctld into the configuration of slurmrestd",
            hint=f"let slurmctld listen at {usual}",
            path=("controller", "external", "port"),
        )
    dropped: list[Path] = [(field,) for field, name in _EXTERNAL_DROPS if getattr(settings, name)]
    dropped += [("controller", "config")] if settings.controller.config else []
    dropped += [("controller", "metrics")] if settings.controller.metrics else []
    dropped += [("gres", "lines")] if settings.gres.lines else []
    dropped += [("pyxis", "enabled")] if settings.pyxis.enabled else []
    for path in dropped:
        yield Finding(
            code="slurm-external-controller",
            message="slurmctld runs outside: its configuration is kept there, and "
            f"{'.'.join(map(str, path))} would be dropped",
            hint="leave it out here, and configure it where slurmctld runs",
            path=path,
            on_key=True,
        )
    plain = Controller()
    for field, name in _EXTERNAL_HAS_NO.items():
        if getattr(settings.controller, name) != getattr(plain, name):
            yield Finding(
                code="slurm-external-controller",
                message=f"slurmctld runs outside: no pod of it is here to which {field} could apply",
                hint="leave it out here",
                path=("controller", field),
                on_key=True,
            )


# --- accounting --------------------------------------------------------------------------------


def _accounting(context: Context) -> Iterator[Finding]:
    accounting, path = context.settings.accounting, ("accounting",)
    if not accounting.enabled:
        given = {
            "database": accounting.database,
            "external": accounting.external,
            "enforce": accounting.enforce,
            "tres": accounting.tres,
            "qos": accounting.qos,
            "accounts": accounting.accounts,
            "bootstrapJob": accounting.bootstrap_job,
        }
        for field in (name for name, value in given.items() if value):
            yield Finding(
                code="slurm-accounting-off",
                message=f"accounting is off, so that {field} means nothing",
                hint="write accounting.enabled: true",
                path=(*path, field),
                on_key=True,
            )
        return
    if (accounting.database is None) == (accounting.external is None):
        both = accounting.database is not None
        yield Finding(
            code="slurm-accounting-database",
            message="slurmdbd runs either here, with `database`, or outside, as `external` says"
            if both
            else "slurmdbd needs a database",
            hint="leave one of the two out"
            if both
            else "write database: {mariadbOperator: {size: 100Gi}} or database: {external: {host: …}}",
            path=(*path, "external") if both else path,
            on_key=True,
        )
    if accounting.external is not None:
        yield from _outside(context, accounting.external.host, accounting.external.port)
        yield from _outside_has_no(accounting)


def _outside(context: Context, host: str, port: int) -> Iterator[Finding]:
    usual = context.data["ports"]["slurmdbd"]
    if port != usual and not is_address(host):
        yield Finding(
            code="slurm-external-port",
            message=f"slurm.conf asks for slurmdbd at port {usual}, and a name cannot stand for another port",
            hint=f"let slurmdbd listen at {usual}, or write its address instead of its name",
            path=("accounting", "external", "port"),
        )


def _outside_has_no(accounting: Accounting) -> Iterator[Finding]:
    plain = Accounting()
    fields = {"config": "config", "resources": "resources", "nodeSelector": "node_selector"}
    fields |= {"tolerations": "tolerations", "podSpec": "pod_spec"}
    for field, name in fields.items():
        if getattr(accounting, name) != getattr(plain, name):
            yield Finding(
                code="slurm-external-accounting",
                message=f"slurmdbd runs outside: no pod of it is here to which {field} could apply",
                hint="leave it out here, and write it where slurmdbd runs",
                path=("accounting", field),
                on_key=True,
            )


def _database(context: Context) -> Iterator[Finding]:
    database = context.settings.accounting.database
    if database is None or database.mariadb_operator is None:
        return
    if "mariadbOperator" in context.spec.components and not watches(context.spec, context.namespace):
        yield Finding(
            code="slurm-database-unwatched",
            message=f"the MariaDB operator does not look after the namespace {context.namespace}",
            hint=f"add {context.namespace} to mariadbOperator.watchNamespaces",
            path=("accounting", "database", "mariadbOperator"),
            on_key=True,
        )


# --- slurmrestd and logins ---------------------------------------------------------------------


def _rest_api(context: Context) -> Iterator[Finding]:
    wanted = context.settings.rest_api
    budget = wanted.disruption_budget
    if budget is not None and (budget.min_available or 0) >= wanted.replicas:
        yield Finding(
            code="slurm-rest-api-budget",
            level="warning",
            message=f"{budget.min_available} of {wanted.replicas} must stay: a node with a pod of slurmrestd "
            "can never be drained",
            hint=f"write replicas: {(budget.min_available or 0) + 1}, or maxUnavailable: 1",
            path=("restApi", "disruptionBudget", "minAvailable"),
        )


def _sssd(context: Context) -> Iterator[Finding]:
    settings = context.settings
    if settings.sssd is not None:
        return
    users: list[tuple[str, Path]] = [("the logins", ("logins",))] if settings.logins else []
    users += [
        (f'node set "{item.name}"', ("nodeSets", index, "ssh"))
        for index, item in enumerate(settings.node_sets)
        if item.ssh
    ]
    for who, path in users:
        yield Finding(
            code="slurm-sssd-missing",
            message=f"nothing says where the users of {who} come from",
            hint="write sssd: {secretRef: {name: sssd-conf, key: sssd.conf}} and make that Secret",
            path=path,
            on_key=True,
        )


def _login(context: Context, login: Login, path: Path) -> Iterator[Finding]:
    yield from _reach(context, login, (*path, "service"))
    service = login.service
    public = service.type != "ClusterIP" and not is_internal(context, service)
    if login.root_authorized_keys and public and not service.source_ranges:
        yield Finding(
            code="slurm-login-root",
            level="warning",
            message="root may log in from wherever this Service can be reached",
            hint="take rootAuthorizedKeys out, or let source ranges or an internal balancer keep others away",
            path=(*path, "rootAuthorizedKeys"),
            on_key=True,
        )
    if context.settings.pyxis.enabled and not login.privileged:
        yield Finding(
            code="slurm-login-enroot",
            level="warning",
            message="enroot starts no container on a login that is not privileged; jobs are not concerned",
            hint="write privileged: true, or accept that containers run in jobs only",
            path=path,
        )


def _reach(context: Context, login: Login, path: Path) -> Iterator[Finding]:
    service = login.service
    if service.type != "LoadBalancer":
        balancer = {
            "internal": service.internal,
            "sourceRanges": service.source_ranges,
            "loadBalancerClass": service.load_balancer_class,
        }
        for field in (name for name, value in balancer.items() if value):
            yield Finding(
                code="slurm-login-service",
                message=f"{field} belongs to a load balancer; a Service of type {service.type} has none",
                hint="write type: LoadBalancer, or leave it out",
                path=(*path, field),
                on_key=True,
            )
        if service.node_port is not None and service.type == "ClusterIP":
            yield Finding(
                code="slurm-login-service",
                message="a Service of type ClusterIP has no port on the nodes",
                hint="write type: NodePort, or leave nodePort out",
                path=(*path, "nodePort"),
                on_key=True,
            )
        return
    distribution = context.spec.kubernetes.distribution
    able = [name for name in context.data["loadBalancers"] if name not in ("source", "checked")]
    if service.internal and distribution not in able:
        yield Finding(
            code="slurm-login-internal",
            message=f"no annotation is known by which load balancers of {distribution} stay inside "
            "the network",
            hint="write sourceRanges, or the annotation of your load balancer under `annotations`; "
            f"`internal` works on {', '.join(able)}",
            path=(*path, "internal"),
        )
        return
    everybody = [
        item for item in service.source_ranges if ipaddress.ip_network(item, strict=False).prefixlen == 0
    ]
    closed = (service.source_ranges and not everybody) or service.annotations or is_internal(context, service)
    if not closed:
        inside = "internal: true or " if distribution in able else ""
        yield Finding(
            code="slurm-login-public",
            message="anybody who reaches the load balancer may try to log in",
            hint=f"write {inside}sourceRanges: [10.0.0.0/8] with your own networks",
            path=(*path, "sourceRanges") if everybody else (*path, "type"),
        )
