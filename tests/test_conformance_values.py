"""Every values file of every tree against what its chart reads at that version."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
import yaml

from gitops_gen.catalog.charts import check_values
from gitops_gen.model import Application, HelmSource
from gitops_gen.resources import resources
from tests.trees import Case, cases, prepared, tree

CASES = [pytest.param(case, id=case.name) for case in cases()]


def charts(case: Case) -> Iterator[tuple[Application, HelmSource]]:
    for app in prepared(case.spec).compiled.plan.applications:
        yield from ((app, source) for source in app.sources if isinstance(source, HelmSource))


@pytest.mark.parametrize("case", CASES)
def test_every_key_exists_in_its_chart_and_is_read(case: Case) -> None:
    for app, source in charts(case):
        facts = resources().component(app.component).facts
        found = check_values(source.values.data, facts.chart_keys(source.chart, source.version), ())
        assert [item.message for item in found] == [], app.name


@pytest.mark.parametrize("case", CASES)
def test_values_files_hold_the_planned_values(case: Case) -> None:
    files = tree(case.spec)
    for app, source in charts(case):
        name = f"apps/{app.stack}/{app.name}/values.yaml"
        written: Any = yaml.safe_load(files[name]) if name in files else {}
        assert written == source.values.data, app.name


@pytest.mark.parametrize("case", CASES)
def test_no_value_is_null(case: Case) -> None:
    """Helm removes a key that is set to null; a tree says what it wants instead."""
    for app, source in charts(case):
        assert None not in list(values(source.values.data)), app.name


def values(value: Any) -> Iterator[Any]:
    if isinstance(value, dict | list):
        for item in value.values() if isinstance(value, dict) else value:
            yield from values(item)
    else:
        yield value
