"""Facts written for people are checked for shape and sources and compiled into one catalogue."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from gitops_gen.maintain.charts import PACKAGE
from gitops_gen.maintain.compile import (
    FactsError,
    check_component,
    compile_catalogue,
    dump_catalogue,
    main,
    outputs,
    stale,
    unsourced,
)
from gitops_gen.model import Json, Object

COMPONENT = """\
name: exampleOperator
stack: platform
namespace: example
version: v2.0.0
versions:
  v2.0.0:
    state: current
    kubernetes: {min: "1.32", max: "1.36"}
    source: https://example.com/releases
    checked: 2026-12-01
  v1.9.0:
    state: superseded
    source: https://example.com/releases
    checked: 2026-12-01
charts:
  - name: example-operator
    repository: https://charts.example.com
    source: https://example.com/install
    checked: 2026-12-01
requires:
  - component: certManager
    reason: webhooks need certificates
ports:
  metrics: 8080
  source: https://example.com/ports
  checked: 2026-12
"""
SCHEMA = """\
type: object
additionalProperties: false
properties:
  replicas:
    type: integer
    description: How many.
    default: 1
"""


@pytest.fixture
def package(tmp_path: Path) -> Path:
    """A package folder with one component, one data file, a base schema and chart facts."""
    folder = tmp_path / "components" / "example_operator"
    (folder / "upstream").mkdir(parents=True)
    (folder / "component.yaml").write_text(COMPONENT)
    (folder / "schema.yaml").write_text(SCHEMA)
    (folder / "upstream" / "example-operator-v2.0.0.json").write_text('{"keys": {}}')
    (tmp_path / "components" / "without_facts").mkdir()
    (tmp_path / "catalog" / "data").mkdir(parents=True)
    (tmp_path / "catalog" / "data" / "colours.yaml").write_text(
        "red: {hex: f00, source: a book, checked: 2026-12-01}\n"
    )
    (tmp_path / "spec").mkdir()
    (tmp_path / "spec" / "schema.yaml").write_text("type: object\n")
    return tmp_path


def component_file(package: Path) -> Path:
    return package / "components" / "example_operator" / "component.yaml"


def edit(file: Path, old: str, new: str) -> None:
    text = file.read_text()
    assert old in text
    file.write_text(text.replace(old, new))


def test_catalogue_holds_components_data_and_schema(package: Path) -> None:
    catalogue = compile_catalogue(package).catalogue
    components = catalogue["components"]
    assert isinstance(components, dict)
    assert list(components) == ["exampleOperator"]
    facts = components["exampleOperator"]
    assert isinstance(facts, dict)
    assert (facts["package"], facts["namespace"]) == ("example_operator", "example")
    versions, schema = facts["versions"], facts["schema"]
    assert isinstance(versions, dict)
    assert isinstance(schema, dict)
    assert list(versions) == ["v2.0.0", "v1.9.0"]
    assert schema["additionalProperties"] is False
    assert catalogue["data"] == {
        "colours": {"red": {"hex": "f00", "source": "a book", "checked": "2026-12-01"}}
    }
    assert catalogue["schema"] == {"type": "object"}


def test_compiling_twice_gives_the_same_bytes(package: Path) -> None:
    first, second = (dump_catalogue(compile_catalogue(package).catalogue) for _ in range(2))
    assert first == second
    assert json.loads(first)["generated"] == ("by python -m gitops_gen.maintain.compile, from the YAML facts")


@pytest.mark.parametrize(
    ("path", "old", "new"),
    [
        ("components/example_operator/component.yaml", "8080", "8081"),
        ("components/example_operator/schema.yaml", "default: 1", "default: 2"),
        ("components/example_operator/upstream/example-operator-v2.0.0.json", "{}", '{"a": 1}'),
        ("catalog/data/colours.yaml", "f00", "e00"),
        ("spec/schema.yaml", "object", "array"),
    ],
)
def test_digest_follows_every_fact(package: Path, path: str, old: str, new: str) -> None:
    before = compile_catalogue(package).catalogue["digest"]
    edit(package / path, old, new)
    assert compile_catalogue(package).catalogue["digest"] != before


def test_check_finds_a_fresh_catalogue_and_a_stale_one(
    package: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["--check"], package) == 1
    assert main([], package) == 0
    assert main(["--check"], package) == 0
    digest = (package / "catalog" / "compiled.digest").read_text()
    assert json.loads((package / "catalog" / "compiled.json").read_text())["digest"] == digest.strip()
    capsys.readouterr()
    edit(component_file(package), "8080", "8081")
    assert main(["--check"], package) == 1
    assert capsys.readouterr().err.splitlines() == [
        "compiled.json is stale: run python -m gitops_gen.maintain.compile",
        "compiled.digest is stale: run python -m gitops_gen.maintain.compile",
    ]


@pytest.mark.parametrize(
    ("old", "new", "fault"),
    [
        ("name: exampleOperator", "name: other", "name 'other' does not belong to folder example_operator"),
        ("stack: platform", "stack: 1", "stack must be text"),
        ("version: v2.0.0", "version: v3.0.0", "version v3.0.0 is not among versions"),
        (
            "state: current",
            "state: known",
            "version v2.0.0 is known by name only: its chart is not catalogued",
        ),
        (
            "state: superseded",
            "state: old",
            "versions.v1.9.0.state must be one of current, superseded, known",
        ),
        (
            '{min: "1.32", max: "1.36"}',
            "{min: 1.32}",
            "versions.v2.0.0.kubernetes must hold min and max as quoted text",
        ),
        (
            "max: \"1.36\"}\n    source: https://example.com/releases",
            "max: \"1.36\"}",
            "versions.v2.0.0 names no source",
        ),
        (
            "repository: https://charts.example.com",
            "repo: x",
            "charts[0].repository is missing",
        ),
        ("reason: webhooks need certificates", "why: x", "requires[0].reason is missing"),
        (
            "install\n    checked: 2026-12-01",
            "install\n    checked: today",
            "charts[0].checked must be a date such as 2026-12-01",
        ),
    ],
)  # fmt: skip
def test_wrong_shape_of_a_component_is_refused(package: Path, old: str, new: str, fault: str) -> None:
    edit(component_file(package), old, new)
    with pytest.raises(FactsError) as caught:
        compile_catalogue(package)
    assert caught.value.faults == (f"components/example_operator/component.yaml: {fault}",)


def test_all_faults_are_told_and_nothing_is_written(
    package: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    edit(component_file(package), "stack: platform\n", "")
    edit(component_file(package), "state: current", "state: new")
    assert main([], package) == 1
    assert capsys.readouterr().err.splitlines() == [
        "components/example_operator/component.yaml: stack must be text",
        "components/example_operator/component.yaml: "
        "versions.v2.0.0.state must be one of current, superseded, known",
    ]
    assert not (package / "catalog" / "compiled.json").exists()


def test_key_written_twice_is_refused(package: Path) -> None:
    edit(component_file(package), "stack: platform", "stack: platform\nstack: gpu")
    with pytest.raises(FactsError) as caught:
        compile_catalogue(package)
    assert caught.value.faults == ("components/example_operator/component.yaml: key twice: stack in line 1",)


@pytest.mark.parametrize(
    ("old", "new", "fault"),
    [
        ("additionalProperties: false\n", "", "must have additionalProperties: false"),
        ("    description: How many.\n", "", "property replicas has no description"),
        ("type: object\n", "", "must be a schema of type object"),
    ],
)
def test_wrong_schema_fragment_is_refused(package: Path, old: str, new: str, fault: str) -> None:
    edit(component_file(package).with_name("schema.yaml"), old, new)
    with pytest.raises(FactsError) as caught:
        compile_catalogue(package)
    assert caught.value.faults == (f"components/example_operator/schema.yaml: {fault}",)


def test_component_without_schema_is_refused(package: Path) -> None:
    component_file(package).with_name("schema.yaml").unlink()
    with pytest.raises(FactsError) as caught:
        compile_catalogue(package)
    assert caught.value.faults == ("components/example_operator: schema.yaml is missing",)


def test_component_that_is_no_mapping_is_refused() -> None:
    assert [*check_component(["a"], "x")] == ["must be a mapping"]


SOURCED: Object = {"source": "a book", "checked": "2026-12-01"}
MISSING = "names no source or no date (source: …, checked: 2026-12-01)"


@pytest.mark.parametrize(
    ("facts", "faults"),
    [
        ({"block": {"a": 1, **SOURCED}}, []),
        ({"rows": [{"a": 1, **SOURCED}]}, []),
        ({"rows": {"x": {"a": 1, **SOURCED}, "y": SOURCED}}, []),
        ({"block": {"a": 1}, **SOURCED}, []),
        ({"block": {"a": 1}}, [f"block {MISSING}"]),
        ({"block": {"a": 1, "source": "a book"}}, [f"block {MISSING}"]),
        ({"rows": [{"a": 1, **SOURCED}, {"a": 2}]}, [f"rows {MISSING}"]),
        ({"scalar": 1, "rows": []}, [f"scalar {MISSING}", f"rows {MISSING}"]),
    ],
)
def test_every_block_of_facts_names_its_source(facts: Json, faults: list[str]) -> None:
    assert [*unsourced(facts)] == faults


def test_facts_without_source_compile_but_do_not_pass_the_check(
    package: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    edit(component_file(package), "  source: https://example.com/ports\n", "")
    assert main([], package) == 0
    assert main(["--check"], package) == 1
    said = f"components/example_operator/component.yaml: ports {MISSING}"
    assert capsys.readouterr().err.splitlines() == [said, said]


def test_shipped_catalogue_is_fresh() -> None:
    compiled = compile_catalogue(PACKAGE)
    assert [file.name for file in stale(outputs(compiled.catalogue, PACKAGE))] == []


def test_every_shipped_fact_names_its_source() -> None:
    assert compile_catalogue(PACKAGE).unsourced == ()
