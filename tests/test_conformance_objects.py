"""Every object of every tree against upstream's own schemas, with unknown fields refused."""

from __future__ import annotations

from typing import Any

import kubernetes_validate  # type: ignore[import-untyped]
import pytest
import yaml

from gitops_gen.model import HelmSource
from tests.crds import UPSTREAM, crd_files, crds, faults, needs_upstream
from tests.specs import compile_text, spec_text
from tests.trees import Case, cases, own_yaml, prepared

CASES = [pytest.param(case, id=case.name) for case in cases()]
CORE = {"v1", "apps/v1", "batch/v1", "discovery.k8s.io/v1", "policy/v1"}
"""API versions of Kubernetes' own kinds."""

# Kinds of operators whose CRDs are not published beside the others.
# Kinds whose CRD lies not beside the checkout; test_kuberay.py holds Ray's against its list of fields.
WITHOUT_CRD = {
    ("ray.io/v1", "RayCluster"),
    ("nv-ipam.nvidia.com/v1alpha1", "IPPool"),
    ("sriovnetwork.openshift.io/v1", "SriovIBNetwork"),
    ("sriovnetwork.openshift.io/v1", "SriovNetwork"),
    ("sriovnetwork.openshift.io/v1", "SriovNetworkNodePolicy"),
}


def objects(case: Case) -> dict[str, Any]:
    loaded = {name: yaml.safe_load(text) for name, text in own_yaml(case.spec).items()}
    return {name: data for name, data in loaded.items() if "kind" in data and data["kind"] != "Kustomization"}


def custom(case: Case) -> dict[str, Any]:
    return {name: data for name, data in objects(case).items() if data["apiVersion"] not in CORE}


def folders(case: Case) -> tuple[str, ...]:
    """Return where the CRDs of a case lie: Argo CD's, and those of the chosen charts."""
    found = ["argo-cd/v3.5.1", "external-secrets/2.9.0"]
    for app in prepared(case.spec).compiled.plan.applications:
        for source in app.sources:
            if isinstance(source, HelmSource):
                found.append(f"{source.chart}/v{source.version.removeprefix('v')}")
                found.append(f"{source.chart}/{source.version}")
                if source.chart == "gpu-operator":
                    found.append(f"node-feature-discovery/with-gpu-operator-{source.version}")
    return tuple(item for item in dict.fromkeys(found) if crd_files(UPSTREAM / item))


@pytest.mark.parametrize("case", CASES)
def test_core_objects_fit_the_schemas_of_the_clusters_kubernetes(case: Case) -> None:
    version = prepared(case.spec).compiled.plan.spec.kubernetes.version
    found = [data for data in objects(case).values() if data["apiVersion"] in CORE]
    assert found
    for data in found:
        kubernetes_validate.validate(data, version, strict=True)


def test_core_schemas_refuse_what_kubernetes_does_not_know() -> None:
    namespace = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "a"}, "spec": {"nosuch": 1}}
    with pytest.raises(kubernetes_validate.ValidationError, match="'nosuch' was unexpected"):
        kubernetes_validate.validate(namespace, "1.35", strict=True)


@needs_upstream
@pytest.mark.parametrize("case", CASES)
def test_custom_objects_fit_upstreams_crds(case: Case) -> None:
    known = crds(*folders(case))
    for name, data in custom(case).items():
        kind = (data["apiVersion"], data["kind"])
        if kind not in WITHOUT_CRD:
            assert faults(data, known[kind]) == [], name


@needs_upstream
def test_crds_refuse_fields_that_they_do_not_have() -> None:
    known = crds("argo-cd/v3.5.1")[("argoproj.io/v1alpha1", "Application")]
    app = compile_text(spec_text()).documents["apps/gpu/gpu-operator/application.yaml"]
    assert faults(app, known) == []
    wrong = {**app, "spec": {**app["spec"], "nosuch": 1}}  # type: ignore[dict-item]
    assert len(faults(wrong, known)) == 1


@needs_upstream
def test_external_secrets_fit_upstreams_crd() -> None:
    body = "secrets: {store: external-secrets, storeRef: {name: vault}}\nregistry: {pullSecrets: [pull]}"
    made = compile_text(spec_text(body, components="gpuOperator: {enabled: true}")).documents
    found = [data for data in made.values() if data.get("kind") == "ExternalSecret"]
    known = crds("external-secrets/2.9.0")[("external-secrets.io/v1", "ExternalSecret")]
    assert [data["metadata"]["name"] for data in found] == ["pull"]  # type: ignore[call-overload, index]
    assert [fault for data in found for fault in faults(data, known)] == []
