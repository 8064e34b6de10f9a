"""What apps need and somebody else makes in, one list of it and ExternalSecrets for a store out."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

import msgspec
from msgspec.structs import replace

from gitops_gen.catalog.quantities import parse_memory
from gitops_gen.diagnostics import Diagnostic, Severity
from gitops_gen.model import (
    Application,
    ClusterSpec,
    Component,
    DirectorySource,
    Json,
    Manifest,
    Object,
    Origin,
    SecretRequest,
    StoreRef,
    Traced,
    from_rule,
    from_spec,
)

CLAIM = "PersistentVolumeClaim"
KINDS = ("Secret", "ConfigMap", CLAIM)
"""What somebody makes outside the tree, in the order in which it is listed."""


class Needed(msgspec.Struct, frozen=True, kw_only=True):
    """One object that must exist, with everything that the apps ask of it.

    `random` holds the size in bytes of each key that may be random; `any_key` says that an app
    takes whatever keys there are. `size` and `access_mode` are what a claim needs at least.
    """

    namespace: str
    name: str
    kind: str
    type: str
    keys: tuple[str, ...]
    random: Mapping[str, int]
    any_key: bool
    purposes: tuple[str, ...]
    size: str = ""
    access_mode: str = ""


def needed(apps: Iterable[Application]) -> tuple[Needed, ...]:
    """Return what must exist before the apps run, each object once: Secrets, ConfigMaps, then claims."""
    asked: dict[tuple[int, str, str], list[SecretRequest]] = {}
    for request in (item for app in apps for item in app.secrets):
        place = (KINDS.index(request.kind), request.namespace, request.name)
        asked.setdefault(place, []).append(request)
    return tuple(_joined(asked[place]) for place in sorted(asked))


def external_secrets(apps: Iterable[Application], spec: ClusterSpec) -> tuple[Application, ...]:
    """Add an ExternalSecret for each Secret of the apps when `secrets.store` is external-secrets.

    Each key of the Secret is one property of the remote entry named by `secrets.keyTemplate`; a
    Secret whose keys are the user's own takes all properties. What several apps share is made by
    the one that is synced first, since two Applications must not own one object.
    """
    apps = tuple(apps)
    store = spec.secrets.store_ref
    if spec.secrets.store != "external-secrets" or store is None:
        return apps
    made: dict[str, list[Manifest]] = {}
    for item in needed(apps):
        if item.kind == "Secret":
            manifest = Manifest(object=_external_secret(item, store, spec))
            made.setdefault(_first_user(item, apps), []).append(manifest)
    return tuple(with_manifests(app, tuple(made[app.name])) if app.name in made else app for app in apps)


def _first_user(item: Needed, apps: Iterable[Application]) -> str:
    """Return the name of the app that is synced before the others that ask for this Secret.

    The stack `platform` goes first, the others side by side, each wave by wave.
    """
    users = (
        (app.stack != "platform", app.wave, app.stack, app.name)
        for app in apps
        for asked in app.secrets
        if (asked.kind, asked.namespace, asked.name) == (item.kind, item.namespace, item.name)
    )
    return min(users)[-1]


def _joined(requests: Sequence[SecretRequest]) -> Needed:
    first = requests[0]
    keys = tuple(dict.fromkeys(key for item in requests for key in item.keys))
    sizes = {key: [item.random_bytes for item in requests if key in item.keys] for key in keys}
    return Needed(
        namespace=first.namespace,
        name=first.name,
        kind=first.kind,
        type=next((item.type for item in requests if item.type != "Opaque"), "Opaque"),
        keys=keys,
        random={key: max(found) for key, found in sizes.items() if max(found)},
        any_key=first.kind != CLAIM and not all(item.keys for item in requests),
        purposes=tuple(dict.fromkeys(item.purpose for item in requests)),
        size=max((item.size for item in requests if item.size), key=parse_memory, default=""),
        access_mode=_access_mode({item.access_mode for item in requests} - {""}),
    )


def _access_mode(modes: set[str]) -> str:
    """Return the mode that serves all: apps that differ share a claim that one of them writes to."""
    return modes.pop() if len(modes) == 1 else "ReadWriteMany" if modes else ""


def with_manifests(app: Application, manifests: tuple[Manifest, ...]) -> Application:
    """Return the app with more objects of its own in its `manifests/` folder."""
    own = DirectorySource(manifests=(*app.manifests, *manifests))
    others = tuple(item for item in app.sources if not isinstance(item, DirectorySource))
    return replace(app, sources=(*others, own))


def remote_key(item: Needed, spec: ClusterSpec) -> str:
    """Return the store's entry for a Secret, from `secrets.keyTemplate`."""
    names = {"cluster": spec.name, "namespace": item.namespace, "name": item.name}
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


def _external_secret(item: Needed, store: StoreRef, spec: ClusterSpec) -> Traced:
    entry = remote_key(item, spec)
    data: list[Json] = [{"secretKey": key, "remoteRef": {"key": entry, "property": key}} for key in item.keys]
    wanted: Object = {"dataFrom": [{"extract": {"key": entry}}]} if item.any_key else {"data": data}
    target: Object = {"name": item.name, "creationPolicy": "Owner"}
    if item.type != "Opaque":
        target["template"] = {"type": item.type}
    document: Object = {
        "apiVersion": "external-secrets.io/v1",
        "kind": "ExternalSecret",
        "metadata": {
            "name": item.name,
            "namespace": item.namespace,
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
    origins = (from_spec("secrets"), *_reasons(item))
    return Traced(data=document, origins={(field,): origins for field in document})


def _reasons(item: Needed) -> Iterator[Origin]:
    return (from_rule(f"a Secret for {purpose} must exist") for purpose in item.purposes)
