"""Secrets that an app needs in, ExternalSecret objects out where the spec names a store."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from msgspec.structs import replace

from gitops_gen.diagnostics import Diagnostic, Severity
from gitops_gen.model import (
    Application,
    ClusterSpec,
    Component,
    DirectorySource,
    Json,
    Manifest,
    Object,
    SecretRequest,
    StoreRef,
    Traced,
    from_rule,
    from_spec,
)


def external_secrets(app: Application, spec: ClusterSpec) -> Application:
    """Add an ExternalSecret for each Secret of the app when `secrets.store` is external-secrets.

    Each key of the Secret is one property of the remote entry named by `secrets.keyTemplate`; a
    Secret whose keys are the user's own takes all properties.
    """
    store = spec.secrets.store_ref
    wanted = [item for item in app.secrets if item.kind == "Secret"]
    if spec.secrets.store != "external-secrets" or store is None or not wanted:
        return app
    made = tuple(Manifest(object=_external_secret(item, store, spec)) for item in wanted)
    return with_manifests(app, made)


def with_manifests(app: Application, manifests: tuple[Manifest, ...]) -> Application:
    """Return the app with more objects of its own in its `manifests/` folder."""
    own = DirectorySource(manifests=(*app.manifests, *manifests))
    others = tuple(item for item in app.sources if not isinstance(item, DirectorySource))
    return replace(app, sources=(*others, own))


def remote_key(request: SecretRequest, spec: ClusterSpec) -> str:
    """Return the store's entry for a Secret, from `secrets.keyTemplate`."""
    names = {"cluster": spec.name, "namespace": request.namespace, "name": request.name}
    key = spec.secrets.key_template
    for name, value in names.items():
        key = key.replace(f"{{{name}}}", value)
    return key


def store_without_operator(spec: ClusterSpec, components: Iterable[Component]) -> Iterator[Diagnostic]:
    """Yield a notice where the store's objects are rendered and the spec leaves out who acts on them.

    A component whose facts hold `secretStore` is the one that serves this kind of store.
    """
    for item in components:
        if item.facts.data.get("secretStore") == spec.secrets.store and item.name not in spec.components:
            yield Diagnostic(
                code="external-secrets-not-installed",
                severity=Severity.NOTICE,
                message="Secrets come as ExternalSecrets, and the spec does not say who runs "
                "External Secrets",
                path=("spec", "secrets", "store"),
                hint=f"add components.{item.name}: {{enabled: true}}, or {{provided: true}} if somebody else "
                "runs it already",
            )


def _external_secret(request: SecretRequest, store: StoreRef, spec: ClusterSpec) -> Traced:
    key = remote_key(request, spec)
    data: list[Json] = [
        {"secretKey": item, "remoteRef": {"key": key, "property": item}} for item in request.keys
    ]
    wanted: Object = {"data": data} if data else {"dataFrom": [{"extract": {"key": key}}]}
    target: Object = {"name": request.name, "creationPolicy": "Owner"}
    if request.type != "Opaque":
        target["template"] = {"type": request.type}
    document: Object = {
        "apiVersion": "external-secrets.io/v1",
        "kind": "ExternalSecret",
        "metadata": {
            "name": request.name,
            "namespace": request.namespace,
            "annotations": {
                "argocd.argoproj.io/sync-options": "SkipDryRunOnMissingResource=true",
                "argocd.argoproj.io/sync-wave": "-1",
            },
        },
        "spec": {
            "secretStoreRef": {"kind": store.kind, "name": store.name},
            "target": target,
            **wanted,
        },
    }
    origins = (from_spec("secrets"), from_rule(f"a Secret for {request.purpose} must exist"))
    return Traced(data=document, origins={(key,): origins for key in document})
