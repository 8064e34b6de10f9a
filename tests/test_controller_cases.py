"""Whole documents: faults planted together, public Applications, and documents that are none."""

from __future__ import annotations

import re
from copy import deepcopy
from typing import Any

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from gitops_gen.controller import Document, check_documents
from gitops_gen.diagnostics import Position
from tests.controller_inputs import HERE, changed, check, facts, loaded, said

PACKAGE = HERE.parent / "gitops_gen" / "controller"
_CODE = re.compile(r'\(\s*f?"((?:argocd|project|appset)-[a-z0-9-]+|argocd-\{kind\}-[a-z-]+)"')


def found(*data: Any, **options: Any) -> list[tuple[str, str]]:
    """Return each finding as its code and the path of the value at fault."""
    return [(item.code, ".".join(str(part) for part in item.path)) for item in check(*data, **options)]


FIFTEEN = {
    "server and name": ("argocd-destination-ambiguous", "spec.destination"),
    "no cluster": ("argocd-destination-missing", "spec.destination"),
    "oci:// with chart": ("argocd-oci-with-chart", "spec.sources.0.repoURL"),
    "chart without version": ("argocd-chart-version-missing", "spec.sources.1"),
    "name of 54 letters and more": ("argocd-release-name", "spec.sources.0"),
    "two types of source": ("argocd-source-types", "spec.sources.2.kustomize"),
    "ref with a dot": ("argocd-ref-name", "spec.sources.3.ref"),
    "retry duration": ("argocd-retry-duration", "spec.syncPolicy.retry.backoff.duration"),
    "policy in capitals": ("argocd-sync-option-value", "spec.syncPolicy.syncOptions.0"),
    "option with yes": ("argocd-sync-option-value", "spec.syncPolicy.syncOptions.1"),
    "option with True": ("argocd-sync-option-value", "spec.syncPolicy.syncOptions.2"),
    "absolute path": ("argocd-path-absolute", "spec.sources.2.path"),
    "numeric wave": ("argocd-sync-wave", "metadata.annotations.argocd.argoproj.io/sync-wave"),
    "destination outside the project": ("project-destination-denied", "spec.destination"),
    "floating version": ("argocd-chart-version-floating", "spec.sources.0.targetRevision"),
}


@pytest.mark.parametrize("fault", FIFTEEN)
def test_each_planted_fault_is_found_by_its_own_code(fault: str) -> None:
    """Linters of others miss thirteen of them."""
    assert FIFTEEN[fault] in found(*loaded("planted-faults"))


def test_nothing_else_is_found_among_the_planted_faults() -> None:
    # the long name is the release name of three sources
    names = {("argocd-release-name", f"spec.sources.{index}") for index in (0, 1, 2)}
    assert set(found(*loaded("planted-faults"))) == set(FIFTEEN.values()) | names


def test_clean_documents_pass_together() -> None:
    clean = (loaded("application")[0], loaded("project")[0], loaded("applicationset")[0])
    assert [found(*clean, version=version) for version in ("3.3", "3.4", "v3.5.1")] == [[], [], []]


@pytest.mark.parametrize("name", ["clean-two-sources", "clean-with-wave"])
@pytest.mark.parametrize("own", [(), ("https://github.com/example/clusters",)])
def test_clean_public_application_is_accepted(name: str, own: tuple[str, ...]) -> None:
    """C55, the control: no error, no warning, no notice."""
    assert check(loaded("public-cases")[0][name], repositories=own) == ()


def test_third_public_application_is_refused() -> None:
    """C55: an option that is none, options as an annotation, a repository that is given up."""
    third = loaded("public-cases")[0]["third"]
    assert said(check(third)) == [
        "error[argocd-sync-options-annotation] "
        "metadata.annotations.argocd.argoproj.io/sync-options: "
        '"SkipDryRunOnMissingResource=true" as an annotation of the Application does not reach '
        "its resources (move it to spec.syncPolicy.syncOptions)",
        "error[argocd-retired-repository] spec.source.repoURL: "
        "https://nvidia.github.io/gpu-operator is no longer filled "
        "(use https://helm.ngc.nvidia.com/nvidia)",
        "error[argocd-sync-option-unknown] spec.syncPolicy.syncOptions.1: "
        '"SkipDryRun=true" is not a sync option of Argo CD and would be ignored '
        '(did you mean "SkipDryRunOnMissingResource"?)',
    ]


def test_values_of_another_repository_need_the_ref_in_front() -> None:
    """C38: refused, and the ref source with a path warned of."""
    assert found(loaded("public-cases")[0]["values-of-another-repository"]) == [
        ("argocd-ref-with-path", "spec.sources.1.path"),
        ("argocd-ref-placement", "spec.sources.0.helm.valueFiles.0"),
    ]


def test_skipped_crds_are_warned_of() -> None:
    """C52: safe only while the hook is on."""
    assert found(loaded("public-cases")[0]["skip-crds"]) == [
        ("argocd-skip-crds", "spec.source.helm.skipCrds")
    ]


def test_tight_project_refuses_its_own_application() -> None:
    """C42."""
    project = {
        "spec.sourceRepos": ["https://charts.example.com"],
        "spec.destinations": [{"server": "*", "namespace": "slurm"}],
        "spec.clusterResourceWhitelist": [],
    }
    assert found(loaded("application")[0], changed("project", project)) == [
        ("project-repository-denied", "spec.sources.0.repoURL"),
        ("project-repository-denied", "spec.sources.1.repoURL"),
        ("project-repository-denied", "spec.sources.2.repoURL"),
        ("project-destination-denied", "spec.destination"),
        ("project-namespace-denied", "spec.syncPolicy.syncOptions"),
    ]


HEALTH = "resource.customizations.health.argoproj.io_Application"
WAVE = 'metadata.annotations["argocd.argoproj.io/sync-wave"]'


def test_waves_of_applications_need_a_health_check() -> None:
    """C41."""
    first = loaded("application")[0]
    second = changed("application", {"metadata.name": "second", WAVE: "2"})
    settings = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "argocd-cm"}}
    assert said(check(first, second)) == [
        "notice[argocd-wave-health] metadata.annotations: "
        f"waves of Applications wait only if argocd-cm holds {HEALTH}"
    ]
    assert said(check(first, second, settings)) == [
        "warning[argocd-wave-health] metadata.annotations: "
        f"argocd-cm has no {HEALTH}: waves of Applications order their creation only "
        "(add the health check)"
    ]
    assert check(first, second, {**settings, "data": {HEALTH: "hs = {}"}}) == ()
    assert check(first, changed("application", {"metadata.name": "second"})) == ()


def test_one_name_twice_is_refused_in_one_namespace_only() -> None:
    first = loaded("application")[0]
    assert said(check(first, deepcopy(first))) == [
        'error[argocd-duplicate-name] metadata.name: 0.yaml already makes the Application "lab-gpu-operator"'
    ]
    del first["metadata"]["namespace"]
    assert found(first, loaded("application")[0]) == [("argocd-duplicate-name", "metadata.name")]
    other = changed("application", {"metadata.namespace": "team-a"})
    assert found(loaded("application")[0], other) == []


def test_message_names_object_and_file_and_position_comes_from_the_caller() -> None:
    data = changed("application", {"spec.sources[0].targetRevision": "latest"})
    place = Position(file="a.yaml", line=3, column=7)
    document = Document("a.yaml", data, lambda path: place if path[-1] == "targetRevision" else None)
    (finding,) = check_documents([document], argocd=facts(), version="3.5")
    assert finding.position == place
    assert finding.message == (
        'Application "lab-gpu-operator" (a.yaml): targetRevision "latest" of chart "gpu-operator" '
        "must be an exact version"
    )
    without = Document("a.yaml", data)
    (finding,) = check_documents([without], argocd=facts(), version="3.5")
    assert finding.position is None


def test_other_objects_are_checked_for_waves_hooks_and_options_only() -> None:
    job = {
        "apiVersion": "batch/v1",
        "kind": "Job",
        "metadata": {
            "name": "a",
            "annotations": {
                "argocd.argoproj.io/hook": "PreSyn",
                "argocd.argoproj.io/sync-options": "Force=true,Replace=yes",
                "argocd.argoproj.io/sync-wave": "x",
            },
        },
        "spec": {"anything": 1},
    }
    assert found(job) == [
        ("argocd-sync-wave", "metadata.annotations.argocd.argoproj.io/sync-wave"),
        ("argocd-hook", "metadata.annotations.argocd.argoproj.io/hook"),
        ("argocd-sync-option-value", "metadata.annotations.argocd.argoproj.io/sync-options"),
    ]


def test_applications_of_other_groups_are_left_alone() -> None:
    assert found({"apiVersion": "app.k8s.io/v1beta1", "kind": "Application", "spec": {}}) == []


# --- documents that are none -------------------------------------------------------------------

JUNK = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-3, 3),
    st.floats(allow_nan=False),
    st.sampled_from(["", "$", "$values", "${x", "[", "a[", "{{", "**/[", "!", "/", "!*", "\\"]),
    st.just([]),
    st.just({}),
    st.just([None, {}, [], "x", 1]),
    st.just({"a": {"b": [1]}}),
)


@given(st.data())
def test_no_document_breaks_the_check(data: st.DataObject) -> None:
    """Any value of a document may be of any type."""
    documents = [loaded(name)[0] for name in ("application", "project", "applicationset")]
    for document in documents:
        for _ in range(data.draw(st.integers(1, 3))):
            _spoil(document, data)
    codes = {item.code for item in check(*documents, files=["a/b.yaml"], repositories=["x"])}
    assert all(re.fullmatch(r"(argocd|project|appset)(-[a-z]+)+", code) for code in codes)


def _spoil(document: Any, data: st.DataObject) -> None:
    """Replace one value of the document, found by walking down at random."""
    at = document
    while True:
        keys = list(at) if isinstance(at, dict) else list(range(len(at)))
        if not keys:
            return
        key = data.draw(st.sampled_from(keys))
        below = at[key]
        if not isinstance(below, dict | list) or data.draw(st.booleans()):
            at[key] = deepcopy(data.draw(JUNK))
            return
        at = below


# --- nothing is left out -----------------------------------------------------------------------


def _codes() -> set[str]:
    text = "".join(file.read_text(encoding="utf-8") for file in PACKAGE.glob("*.py"))
    codes = set(_CODE.findall(text))
    kinds = {code for code in codes if "{kind}" in code}
    return (codes - kinds) | {code.replace("{kind}", kind) for code in kinds for kind in ("sync", "compare")}


def test_every_code_has_a_test_and_a_line_in_the_readme() -> None:
    tests = "".join(file.read_text() for file in sorted(HERE.glob("test_controller_*.py")))
    readme = (PACKAGE / "README.md").read_text(encoding="utf-8")
    untested = {code for code in _codes() if not re.search(rf'[\["]{code}[\]"]', tests)}
    assert untested == set()
    assert set(re.findall(r"^\| `([a-z0-9-]+)`", readme, re.MULTILINE)) == _codes()


CRDS = HERE.parents[1] / "shared" / "upstream" / "argo-cd" / "v3.5.1"


@pytest.mark.skipif(not CRDS.is_dir(), reason="the CRDs of Argo CD are not beside the checkout")
@pytest.mark.parametrize(
    ("file", "kind"),
    [
        ("application-crd.yaml", "Application"),
        ("appproject-crd.yaml", "AppProject"),
        ("applicationset-crd.yaml", "ApplicationSet"),
    ],
)
def test_fields_are_those_of_the_crd(file: str, kind: str) -> None:
    crd = yaml.load((CRDS / file).read_bytes(), Loader=yaml.CSafeLoader)
    schema = crd["spec"]["versions"][0]["schema"]["openAPIV3Schema"]
    assert sorted(_differences(kind, schema, kind, top=True)) == []


def _differences(name: str, schema: Any, path: str, *, top: bool = False) -> list[str]:
    """Compare the fields of a type with a schema; what preserves unknown fields ends the walk."""
    known = facts().types[name]
    properties = schema.get("properties", {})
    out = [f"{path}.{key} is only in the data" for key in known.keys() - properties.keys()]
    out += [f"{path}.{key} is only in the CRD" for key in properties.keys() - known.keys()]
    required = set(schema.get("required", []))
    for key in known.keys() & properties.keys():
        if known[key].required != (key in required):
            out.append(f"{path}.{key} is required here only: {known[key].required}")
        if key == "metadata" and top:
            continue
        out += _shape_differences(known[key].shape, properties[key], f"{path}.{key}")
    return out


def _shape_differences(shape: Any, schema: Any, path: str) -> list[str]:
    if schema.get("x-kubernetes-preserve-unknown-fields") or shape == "any":
        return []
    if isinstance(shape, list):
        if schema.get("type") != "array":
            return [f"{path} is no list"]
        return _shape_differences(shape[0], schema["items"], f"{path}[]")
    if isinstance(shape, dict):
        below = schema.get("additionalProperties")
        return _shape_differences(shape["string"], below, path) if below else [f"{path} is no map"]
    if shape in facts().types:
        return _differences(shape, schema, path)
    kind = "intOrString" if schema.get("x-kubernetes-int-or-string") else schema.get("type")
    return [] if kind == shape else [f"{path}: {shape} here, {kind} in the CRD"]
