"""Rules of Slurm through all stages: each fault is found alone, hints lead out, good specs pass."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml

from gitops_gen.diagnostics import Diagnostic
from tests.codes import source_codes
from tests.slurm_spec import changed, cluster_of, found, said


def _read(name: str) -> Any:
    return yaml.safe_load((Path(__file__).parent / name).read_text(encoding="utf-8"))


FAULTS: dict[str, list[dict[str, Any]]] = _read("slurm_faults.yaml")
SILENT = FAULTS.pop("silent")
CASES = [(code, case) for code, cases in FAULTS.items() for case in cases]
IDS = [f"{code}-{number}" for code, cases in FAULTS.items() for number, _ in enumerate(cases)]
MENDED = [case for _, case in CASES if "mended" in case]
SITES: dict[str, dict[str, Any]] = _read("slurm_sites.yaml")
ONLY_ACCEPTED = {"slurm-openshift"}
"""Faults of the place, which no other spec mends."""


def _spec(case: dict[str, Any]) -> dict[str, Any]:
    return cluster_of(case["spec"], case.get("around"))


@pytest.mark.parametrize(("code", "case"), CASES, ids=IDS)
def test_a_fault_is_found_alone(code: str, case: dict[str, Any]) -> None:
    items = found(_spec(case))
    assert {item.code for item in items} == {code}
    assert [said(item) for item in items] == case["finds"]


def test_every_code_has_a_fault() -> None:
    of_rules = {code for code, file in source_codes().items() if file.startswith("components/slurm/rules/")}
    assert of_rules - set(FAULTS) == set()


@pytest.mark.parametrize("case", MENDED, ids=[case["finds"][0].split()[1] for case in MENDED])
def test_a_hint_leads_out(case: dict[str, Any]) -> None:
    mended = case["mended"]
    around = changed(mended.get("around", {}), _spec(case))
    spec = changed({"components": {"slurm": mended.get("spec", {})}}, around)
    assert [said(item) for item in found(spec)] == []


def test_every_code_shows_a_way_out() -> None:
    assert {code for code, cases in FAULTS.items() if "mended" not in cases[0]} == ONLY_ACCEPTED


def _accepted(items: tuple[Diagnostic, ...]) -> list[dict[str, str]]:
    return [{"code": item.code, "path": item.where, "reason": "tried"} for item in items]


@pytest.mark.parametrize(("code", "case"), CASES, ids=IDS)
def test_a_warning_is_accepted_by_the_path_that_it_prints(code: str, case: dict[str, Any]) -> None:
    spec = _spec(case)
    items = found(spec)
    left = found({**spec, "accept": _accepted(items)})
    assert [item.code for item in left] == [item.code for item in items if item.severity == "error"]


@pytest.mark.parametrize("case", SILENT)
def test_what_is_no_fault_is_left_in_peace(case: dict[str, Any]) -> None:
    assert [said(item) for item in found(_spec(case))] == []


@pytest.mark.parametrize("name", SITES)
def test_a_site_has_no_fault(name: str) -> None:
    assert [said(item) for item in found(SITES[name]) if item.severity != "notice"] == []
