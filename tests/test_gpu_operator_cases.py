"""Each case and each catalogued version against the chart's keys, and our objects against the CRDs."""

from __future__ import annotations

import re
from collections.abc import Iterator
from copy import deepcopy
from functools import cache
from pathlib import Path
from typing import Any

import jsonschema
import pytest
import yaml

from gitops_gen.catalog.charts import check_values
from gitops_gen.diagnostics import Severity
from gitops_gen.model import Application
from gitops_gen.resources import resources
from gitops_gen.traced import origins_of
from tests.gpu_operator import chart
from tests.specs import compile_text, findings

ROOT = Path(__file__).parents[1]
CASES = sorted((ROOT / "gitops_gen/components/gpu_operator/cases").glob("*/cluster.yaml"))
VERSIONS = resources().component("gpuOperator").facts.versions
UPSTREAM = ROOT.parent / "shared" / "upstream"
PROVEN = ROOT.parent / "shared" / "facts" / "proven"
EXAMPLES = ROOT.parent / "shared" / "examples"
needs_upstream = pytest.mark.skipif(
    not UPSTREAM.is_dir(), reason="upstream's CRDs are not beside the checkout"
)
needs_proven = pytest.mark.skipif(not PROVEN.is_dir(), reason="the proven values are not beside the checkout")
_VERSION = re.compile(r"^      version: v\d.*\n", re.MULTILINE)


def planned(text: str) -> Application:
    plan = compile_text(text).plan
    return next(item for item in plan.applications if item.name == "gpu-operator")


def of_version(text: str, version: str) -> str:
    """Return the case with another version of the operator, on a Kubernetes that all of them know."""
    other = re.sub(r'version: "?1\.3\d[^,\n]*', 'version: "1.34.2"', _VERSION.sub("", text), count=1)
    return re.sub(r"(    gpuOperator:\n      enabled: true\n)", rf"\1      version: {version}\n", other)


def leaves(value: Any, at: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    if isinstance(value, dict) and value:
        for key, item in value.items():
            yield from leaves(item, (*at, key))
    else:
        yield at


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.parent.name)
def test_case_is_valid_and_draws_no_warning(case: Path) -> None:
    found = compile_text(case.read_text(encoding="utf-8")).diagnostics
    assert [item for item in found if item.severity is not Severity.NOTICE] == []


@pytest.mark.parametrize("version", VERSIONS)
@pytest.mark.parametrize("case", CASES, ids=lambda case: case.parent.name)
def test_every_key_that_is_written_exists_in_that_version(case: Path, version: str) -> None:
    """A version that lacks a feature says so; what it does render, its chart reads."""
    text = of_version(case.read_text(encoding="utf-8"), version)
    errors = {item.code for item in findings(text) if item.severity is Severity.ERROR}
    if errors:
        assert errors == {"feature-needs-newer-version"}
        return
    source = chart(planned(text))
    keys = resources().component("gpuOperator").facts.chart_keys(source.chart, version)
    assert source.version == version
    assert list(check_values(source.values.data, keys, ())) == []


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.parent.name)
def test_every_value_and_object_knows_its_origin(case: Path) -> None:
    app = planned(case.read_text(encoding="utf-8"))
    documents = [chart(app).values, *(item.object for item in app.manifests)]
    lost = [path for traced in documents for path in leaves(traced.data) if not origins_of(traced, path)]
    assert lost == []


# --- upstream's CRDs -----------------------------------------------------------------------------


@cache
def crds(version: str) -> dict[str, Any]:
    folders = (
        UPSTREAM / "gpu-operator" / version / "crds",
        UPSTREAM / f"node-feature-discovery/with-gpu-operator-{version}",
    )
    documents: list[Any] = []
    for file in (item for folder in folders for item in sorted(folder.glob("*.yaml"))):
        documents += [item for item in yaml.safe_load_all(file.read_text(encoding="utf-8")) if item]
    return {item["spec"]["names"]["kind"]: strict(item["spec"]["versions"][0]) for item in documents}


def strict(version: Any) -> Any:
    """Return the schema with unknown fields refused; metadata is the API server's business."""
    schema = deepcopy(version["schema"]["openAPIV3Schema"])
    schema["properties"]["metadata"] = {"type": "object"}
    pending = [schema]
    while pending:
        item = pending.pop()
        if item.pop("x-kubernetes-int-or-string", False):
            item.pop("anyOf", None)
            item["type"] = ["integer", "string"]
        if "properties" in item:
            item.setdefault("additionalProperties", False)
        pending += list(item.get("properties", {}).values())
        pending += [
            value for key in ("items", "additionalProperties") if isinstance(value := item.get(key), dict)
        ]
    return schema


@needs_upstream
@pytest.mark.parametrize("case", CASES, ids=lambda case: case.parent.name)
def test_our_objects_fit_the_crds_of_their_version(case: Path) -> None:
    app = planned(case.read_text(encoding="utf-8"))
    known = crds(chart(app).version)
    for manifest in app.manifests:
        document: Any = manifest.object.data
        if document["kind"] != "ConfigMap":
            faults = jsonschema.Draft202012Validator(known[document["kind"]]).iter_errors(document)
            assert [f"{list(item.path)}: {item.message}" for item in faults] == []


@needs_upstream
def test_strict_schema_refuses_what_the_crd_does_not_have() -> None:
    driver = {"apiVersion": "nvidia.com/v1alpha1", "kind": "NVIDIADriver", "spec": {"nosuch": True}}
    faults = jsonschema.Draft202012Validator(crds("v26.7.0")["NVIDIADriver"]).iter_errors(driver)
    assert any("'nosuch' was unexpected" in item.message for item in faults)


# --- values proven by hand -----------------------------------------------------------------------


@needs_proven
@pytest.mark.parametrize("example", ["slurm-only", "k3s-lab", "a100-mig"])
def test_values_say_what_the_proven_ones_say(example: str) -> None:
    """The ConfigMaps stand beside the chart here, so that replacing one needs nobody's consent."""
    file = PROVEN / f"{example}.gpu-operator.values.yaml"
    proven: Any = yaml.safe_load(file.read_text(encoding="utf-8"))
    text = (EXAMPLES / f"{example}.yaml").read_text(encoding="utf-8")
    app = planned(_alone(text))
    mine = deepcopy(chart(app).values.data)
    data: Any = {item.object.data["metadata"]["name"]: item.object.data["data"] for item in app.manifests}  # type: ignore[index, call-overload]
    for operand in ("devicePlugin", "migManager"):
        if operand in proven:
            config: Any = mine[operand]["config"]  # type: ignore[index, call-overload]
            wanted = proven[operand]["config"]
            assert wanted.pop("create") is True
            texts = data[config.pop("name")]
            assert {key: yaml.safe_load(item) for key, item in texts.items()} == {
                key: yaml.safe_load(item) for key, item in wanted.pop("data").items()
            }
            wanted.pop("name")
            if not wanted:
                del proven[operand], mine[operand]
    assert mine == proven


def _alone(text: str) -> str:
    """Return an example with the GPU Operator (and what it asks for) as its only component."""
    spec: Any = yaml.safe_load(text.replace("extends: [base/company.yaml]", ""))
    parts = spec["spec"]["components"]
    spec["spec"]["components"] = {"gpuOperator": parts["gpuOperator"]}
    if "gitops" not in spec["spec"]:
        spec["spec"]["gitops"] = {"repoURL": "https://git.example.com/platform/clusters.git"}
        spec["spec"]["components"]["monitoring"] = {"enabled": True}
    return yaml.safe_dump(spec)
