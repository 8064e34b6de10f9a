"""A cluster spec in, the operator and its CRDs out: charts `slurm-operator` and `slurm-operator-crds`."""

from __future__ import annotations

from collections.abc import Iterator

from gitops_gen.components.operators import pull_secret_names, spread_over_nodes
from gitops_gen.components.parts import injected_certificates, pull_secrets
from gitops_gen.components.slurm.context import Context, own
from gitops_gen.images import mirrored
from gitops_gen.model import (
    Application,
    Deletion,
    HelmSource,
    Json,
    NamespaceRequest,
    Object,
    Pruning,
    Setting,
    Traced,
    from_fact,
    from_rule,
)
from gitops_gen.traced import collect, put

CRDS, OPERATOR = "slurm-operator-crds", "slurm-operator"
_CRD_WAVE, _WAVE = -20, -15
_PARTS = ("operator", "webhook")
_APPS = {"operator": "slurm-operator", "webhook": "slurm-operator-webhook"}
_NO_VALUES = from_rule("the chart of the CRDs needs no values")
_CRDS_STAY = from_rule("with the CRDs every Slurm cluster would go, so they are never pruned or deleted")
_OWN_ONLY = from_rule("the operator looks after Slurm's namespaces and leaves all others alone")
_HARDENED = from_rule("the pods need no rights, so they say that they take none")
_TWO = from_rule("one replica stays when a node is drained")


def operator_applications(context: Context) -> Iterator[Application]:
    """Yield the Applications of CRDs and operator, none where somebody else runs them."""
    if not context.self_run:
        return
    yield Application(
        name=CRDS,
        component=context.facts.name,
        stack=context.facts.stack,
        namespace=_namespace(context),
        wave=_CRD_WAVE,
        sources=(_source(context, CRDS, Traced(data={}, origins={(): (_NO_VALUES,)})),),
        deletion=Deletion.KEEP,
        pruning=Pruning.OFF,
        origins=(own(), _CRDS_STAY),
    )
    yield Application(
        name=OPERATOR,
        component=context.facts.name,
        stack=context.facts.stack,
        namespace=_namespace(context),
        wave=_WAVE,
        sources=(_source(context, OPERATOR, collect(operator_values(context))),),
        namespaces=(_request(context),),
        secrets=tuple(pull_secrets(context.spec, _namespace(context), "the Slurm operator")),
        ignore_differences=tuple(injected_certificates(f"{OPERATOR}-webhook")),
        pruning=Pruning.CONFIRM,
        origins=(own("operator"),),
    )


def operator_values(context: Context) -> Iterator[Setting]:
    """Yield the settings of the operator's chart, those of the webhook beside those of the operator."""
    wanted = context.settings.operator
    yield from pull_secret_names(context.spec, "imagePullSecrets")
    watched = ",".join(dict.fromkeys((context.namespace, *wanted.namespaces)))
    further = (own("operator", "namespaces"),) if wanted.namespaces else ()
    for part in _PARTS:
        yield put(f"{part}.namespaces", watched, own("namespace"), *further, _OWN_ONLY)
        yield from _image(context, part)
        yield from _replicas(context, part)
        yield from _placement(context, part)
        if context.supports("operatorSecurityContext"):
            yield from _security(part)
        if wanted.log_level != "info":
            yield put(f"{part}.logLevel", wanted.log_level, own("operator", "logLevel"))
    if wanted.propagated_node_conditions and context.supports("propagatedNodeConditions"):
        conditions: list[Json] = [*wanted.propagated_node_conditions]
        yield put("propagatedNodeConditions", conditions, own("operator", "propagatedNodeConditions"))


def _image(context: Context, part: str) -> Iterator[Setting]:
    image = context.data["images"]["operator"][part]
    found = mirrored(image["repository"], context.spec.registry.mirrors)
    if found is not None:
        repository, by = found
        yield put(f"{part}.image.repository", repository, by)


def _replicas(context: Context, part: str) -> Iterator[Setting]:
    count = context.settings.operator.replicas
    if count == 1:
        return
    by = own("operator", "replicas")
    yield put(f"{part}.replicas", count, by)
    yield put(f"{part}.pdb.enabled", True, by, _TWO)
    if context.supports("webhookNodeSelector"):
        labels = {"app.kubernetes.io/name": _APPS[part], "app.kubernetes.io/instance": OPERATOR}
        yield put(f"{part}.topologySpreadConstraints", [spread_over_nodes(labels)], by, _TWO)


def _placement(context: Context, part: str) -> Iterator[Setting]:
    wanted = context.settings.operator
    if wanted.node_selector and context.supports("webhookNodeSelector"):
        selector: Object = dict(wanted.node_selector)
        yield put(f"{part}.nodeSelector", selector, own("operator", "nodeSelector"))
    if wanted.tolerations:
        tolerations: list[Json] = [dict(item) for item in wanted.tolerations]
        yield put(f"{part}.tolerations", tolerations, own("operator", "tolerations"))


def _security(part: str) -> Iterator[Setting]:
    pod: Object = {"runAsNonRoot": True, "seccompProfile": {"type": "RuntimeDefault"}}
    drop: Object = {"allowPrivilegeEscalation": False, "capabilities": {"drop": ["ALL"]}}
    yield put(f"{part}.podSecurityContext", pod, _HARDENED)
    yield put(f"{part}.securityContext", drop, _HARDENED)


def _source(context: Context, name: str, values: Traced) -> HelmSource:
    chart = next(item for item in context.data["charts"] if item["name"] == name)
    return HelmSource(
        repo_url=chart["repository"],
        chart=name,
        version=context.part.version,
        release_name=name,
        values=values,
    )


def _namespace(context: Context) -> str:
    return str(context.data["operatorNamespace"])


def _request(context: Context) -> NamespaceRequest:
    security = context.data["podSecurity"]
    level = "restricted" if context.supports("operatorSecurityContext") else security["operator"]
    return NamespaceRequest(
        name=_namespace(context),
        labels={"pod-security.kubernetes.io/enforce": level},
        origins=(own("operator"), from_fact(f"slurm/component.yaml: {security['source']}")),
    )
