"""Helm reads what the dumper writes as the same strings and numbers."""

from __future__ import annotations

import base64
import json
from pathlib import Path
from typing import Any

import yaml
from hypothesis import HealthCheck, Phase, given, settings

from gitops_gen.emit import emit
from gitops_gen.shell.command import Command, run
from tests.yaml_values import TREACHEROUS, documents

CHART = {"apiVersion": "v2", "name": "echo", "version": "0.1.0"}
# What Helm has read, as JSON and as it stands in a template.
TEMPLATE = """\
apiVersion: v1
kind: ConfigMap
metadata: {name: echo}
data:
  json: {{ toJson .Values.given | b64enc | quote }}
  strings: "{{ range .Values.strings }}{{ . | b64enc }},{{ end }}"
"""


def read_by_helm(helm: tuple[str, ...], folder: Path, values: dict[str, Any]) -> dict[str, str]:
    """Return the data of the ConfigMap that Helm makes of the emitted values."""
    (folder / "templates").mkdir()
    (folder / "Chart.yaml").write_text(emit(CHART), encoding="utf-8")
    (folder / "templates" / "echo.yaml").write_text(TEMPLATE, encoding="utf-8")
    (folder / "given.yaml").write_text(emit(values), encoding="utf-8", newline="")
    arguments = ("template", "echo", str(folder), "--values", str(folder / "given.yaml"))
    data: dict[str, str] = yaml.safe_load(run(Command(argv=(*helm, *arguments))).stdout)["data"]
    return data


def drawn(count: int) -> list[dict[str, Any]]:
    """Draw documents to be read in one run: Helm starts too slowly for one run each."""
    found: list[dict[str, Any]] = []

    @settings(
        max_examples=count,
        deadline=None,
        database=None,
        derandomize=True,
        phases=[Phase.generate],
        suppress_health_check=list(HealthCheck),
    )
    @given(document=documents)
    def collect(document: dict[str, Any]) -> None:
        found.append(document)

    collect()
    return found


def numbers_as_floats(value: Any) -> Any:
    """Return the value as Helm holds it: Go's JSON has one type of number."""
    if isinstance(value, dict):
        return {key: numbers_as_floats(item) for key, item in value.items()}
    if isinstance(value, list):
        return [numbers_as_floats(item) for item in value]
    return float(value) if type(value) is int else value


def test_helm_reads_treacherous_strings_as_themselves(helm: tuple[str, ...], tmp_path: Path) -> None:
    given_values = {
        "values": {f"k{index}": text for index, text in enumerate(TREACHEROUS)},
        "keys": {text: {} for text in TREACHEROUS if len(text) <= 1000},
        "items": list(TREACHEROUS),
    }
    data = read_by_helm(helm, tmp_path, {"given": given_values, "strings": list(TREACHEROUS)})
    assert json.loads(base64.b64decode(data["json"])) == given_values
    strings = data["strings"].split(",")[:-1]
    assert [base64.b64decode(text).decode() for text in strings] == list(TREACHEROUS)


def test_helm_reads_any_document_as_itself(helm: tuple[str, ...], tmp_path: Path) -> None:
    given_values = drawn(300)
    data = read_by_helm(helm, tmp_path, {"given": given_values, "strings": []})
    read = json.loads(base64.b64decode(data["json"]))
    assert numbers_as_floats(read) == numbers_as_floats(given_values)
