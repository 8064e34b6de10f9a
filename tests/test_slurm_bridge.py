"""What slurm-bridge's Application says, beside a Slurm that stands for the real one."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest
from msgspec.structs import replace

from gitops_gen.diagnostics import Diagnostic
from gitops_gen.model import Application, ClusterSpec, ComponentSpec, DirectorySource, HelmSource
from gitops_gen.resources import resources
from tests.specs import codes, compile_text, findings, spec_text

BRIDGE = resources().component("slurmBridge")
POOL = "- {name: cpu, nodes: 2, os: ubuntu-24.04}\n"


class KeyRef(msgspec.Struct, frozen=True):
    """As in the settings of Slurm."""

    name: str
    key: str


class Jwt(msgspec.Struct, frozen=True):
    """As in the settings of Slurm."""

    secret_ref: KeyRef


class Keys(msgspec.Struct, frozen=True):
    """As in the settings of Slurm."""

    jwt: Jwt


class Partition(msgspec.Struct, frozen=True):
    """As in the settings of Slurm."""

    name: str


class Slurm(msgspec.Struct, frozen=True):
    """What the bridge reads of the settings of Slurm."""

    keys: Keys = Keys(Jwt(KeyRef("slurm-auth-jwt", "jwt.key")))
    partitions: tuple[Partition, ...] = (Partition("bridge"),)


def spec(settings: dict[str, Any] | None = None, *, namespace: str = "slurm", body: str = "") -> ClusterSpec:
    """Return a spec with the bridge and a Slurm in the namespace `slurm`."""
    base = compile_text(spec_text(body, pools=POOL, components="certManager: {enabled: true}")).plan.spec
    asked = {"partition": "bridge", "managedNamespaces": ["team-a"], **(settings or {})}
    parts = {
        "slurm": ComponentSpec(name="slurm", version="1.2.1", namespace="slurm", settings=Slurm()),
        "slurmBridge": ComponentSpec(
            name="slurmBridge",
            version=BRIDGE.facts.version,
            namespace=namespace,
            settings=BRIDGE.build(asked),
        ),
    }
    return replace(base, components={**base.components, **parts})


def app(settings: dict[str, Any] | None = None, *, namespace: str = "slurm", body: str = "") -> Application:
    (found,) = BRIDGE.plan(spec(settings, namespace=namespace, body=body))
    return found


def values(settings: dict[str, Any] | None = None, *, body: str = "") -> dict[str, Any]:
    source = app(settings, body=body).sources[0]
    assert isinstance(source, HelmSource)
    return source.values.data


def rules(settings: dict[str, Any] | None = None, *, namespace: str = "slurm") -> list[Diagnostic]:
    found = BRIDGE.rules(spec(settings, namespace=namespace), {})
    return [item for item in found if item.code != "slurm-bridge-experimental"]


def test_bridge_follows_slurm() -> None:
    found = app()
    assert (found.name, found.stack, found.namespace, found.wave) == ("slurm-bridge", "slurm", "slurm", 10)
    assert found.namespaces == ()
    assert values() == {
        "schedulerConfig": {"partition": "bridge"},
        "admission": {"managedNamespaces": ["team-a"]},
        "sharedConfig": {
            "slurmRestApi": "http://slurm-restapi.slurm:6820",
            "slurmJwtSecret": "slurm-bridge-token",
        },
    }
    source = found.sources[0]
    assert isinstance(source, HelmSource)
    assert (source.repo_url, source.chart) == ("ghcr.io/slinkyproject/charts", "slurm-bridge")


def test_every_value_is_a_key_of_the_chart() -> None:
    keys = BRIDGE.facts.chart_keys("slurm-bridge", BRIDGE.facts.version).keys
    body = "registry: {mirrors: {ghcr.io: r.example.com/ghcr}}\n"
    tolerations = [{"key": "a", "operator": "Exists"}]
    found = values({"highAvailability": True, "tolerations": tolerations}, body=body)
    leaves = [f"{part}.{key}" for part, below in found.items() for key in below]
    assert "scheduler.leaderElect" in leaves
    assert [leaf for leaf in leaves if leaf not in keys] == []
    for part in ("scheduler", "admission", "controllers"):
        assert found[part]["image"] == {"repository": f"r.example.com/ghcr/slinkyproject/slurm-bridge-{part}"}
        assert found[part]["tolerations"] == tolerations
    assert (found["scheduler"]["replicaCount"], found["admission"]["replicas"]) == (2, 2)
    assert "replicas" not in found["controllers"]


def test_token_must_exist_unless_the_operator_issues_it() -> None:
    (asked,) = app().secrets
    assert (asked.namespace, asked.name, asked.keys) == ("slurm", "slurm-bridge-token", ("auth-token",))
    issued = app({"issueToken": True})
    assert issued.secrets == ()
    source = issued.sources[1]
    assert isinstance(source, DirectorySource)
    found: Any = source.manifests[0].object.data
    assert (found["apiVersion"], found["kind"]) == ("slinky.slurm.net/v1beta1", "Token")
    assert found["metadata"]["namespace"] == "slurm"
    assert found["spec"] == {
        "jwtKeyRef": {"name": "slurm-auth-jwt", "key": "jwt.key"},
        "secretRef": {"name": "slurm-bridge-token", "key": "auth-token"},
        "username": "slurm",
        "refresh": True,
        "lifetime": "8760h",
    }


def test_namespace_of_its_own_is_made() -> None:
    (made,) = app(namespace="bridge").namespaces
    assert (made.name, made.labels) == ("bridge", {"pod-security.kubernetes.io/enforce": "baseline"})


def test_certificates_of_the_webhook_are_left_alone() -> None:
    found = app().ignore_differences
    assert {item.kind for item in found} == {
        "MutatingWebhookConfiguration",
        "ValidatingWebhookConfiguration",
    }
    assert {item.name for item in found} == {"slurm-bridge-admission"}


def test_complete_bridge_has_no_fault() -> None:
    assert rules() == []


@pytest.mark.parametrize(
    ("settings", "namespace", "message"),
    [
        ({"partition": "gpu"}, "slurm", 'Slurm has no partition "gpu"'),
        (
            {"issueToken": True},
            "bridge",
            "the Slurm operator issues tokens in slurm, where the key is, but the bridge lives in bridge",
        ),
    ],
)
def test_bridge_needs_what_slurm_has(settings: dict[str, Any], namespace: str, message: str) -> None:
    (found,) = rules(settings, namespace=namespace)
    assert (found.code, found.message) == ("slurm-bridge-needs-slurm", message)


def test_pods_of_slurm_are_never_placed_by_slurm() -> None:
    (found,) = rules({"managedNamespaces": ["team-a", "slurm"]}, namespace="bridge")
    assert found.message == (
        "pods of the namespace slurm cannot be scheduled by Slurm: Slurm's own pods would wait for Slurm"
    )
    assert found.path[-1] == 1


def test_older_kubernetes_is_refused() -> None:
    body = 'kubernetes: {version: "1.33", distribution: kubeadm}\n'
    text = "slurmBridge: {enabled: true, partition: bridge, managedNamespaces: [team-a]}\n"
    assert "kubernetes-too-old" in codes(spec_text(body, pools=POOL, components=text))


def test_certificates_come_from_cert_manager() -> None:
    text = "slurmBridge: {enabled: true, partition: bridge, managedNamespaces: [team-a]}\n"
    found = [item.message for item in findings(spec_text(pools=POOL, components=text))]
    assert any(
        item.startswith("certManager is switched on because slurmBridge requires it") for item in found
    )
