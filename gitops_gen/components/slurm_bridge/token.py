"""A cluster spec in, the Token out by which the bridge speaks to Slurm, or the Secret that must exist."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from gitops_gen.components.slurm_bridge.settings import SlurmBridgeSettings
from gitops_gen.model import ClusterSpec, Manifest, SecretRequest, Setting, from_fact, from_rule, from_spec
from gitops_gen.traced import collect, put

_OWN = ("components", "slurmBridge")
_OPTIONS = ("metadata", "annotations", "argocd.argoproj.io/sync-options")
_OTHER_APP = from_rule("its kind comes with the Slurm operator, in another Application")


def token(spec: ClusterSpec, settings: SlurmBridgeSettings, data: Any) -> Iterator[Manifest]:
    """Yield the Token that the Slurm operator makes the Secret from, if it is to."""
    if settings.issue_token:
        yield Manifest(object=collect(_token(spec, settings, data)))


def token_secret(spec: ClusterSpec, settings: SlurmBridgeSettings, data: Any) -> Iterator[SecretRequest]:
    """Yield the Secret that somebody else makes, if the operator does not."""
    if not settings.issue_token:
        yield SecretRequest(
            namespace=spec.components["slurmBridge"].namespace,
            name=settings.token_secret,
            keys=(data["token"]["key"],),
            purpose="the token by which slurm-bridge speaks to Slurm (`scontrol token lifespan=…`)",
        )


def _token(spec: ClusterSpec, settings: SlurmBridgeSettings, data: Any) -> Iterator[Setting]:
    facts, asked = data["token"], from_spec(*_OWN, "issueToken")
    slurm = data["slurm"]["component"]
    signer: Any = spec.components[slurm].settings
    key = signer.keys.jwt.secret_ref
    secret = from_spec(*_OWN, "tokenSecret")
    yield put("apiVersion", facts["api"], asked)
    yield put("kind", "Token", asked)
    yield put("metadata.name", settings.token_secret, secret)
    yield put("metadata.namespace", spec.components["slurmBridge"].namespace, from_spec(*_OWN, "namespace"))
    yield put(_OPTIONS, "SkipDryRunOnMissingResource=true", _OTHER_APP)
    jwt = from_spec("components", slurm, "keys", "jwt")
    yield put("spec.jwtKeyRef", {"name": key.name, "key": key.key}, jwt)
    fact = from_fact(f"slurm_bridge/component.yaml: token ({facts['source']})")
    yield put("spec.secretRef", {"name": settings.token_secret, "key": facts["key"]}, secret, fact)
    yield put("spec.username", settings.token_user, from_spec(*_OWN, "tokenUser"))
    yield put("spec.refresh", True, fact)
    yield put("spec.lifetime", settings.token_lifetime, from_spec(*_OWN, "tokenLifetime"))
