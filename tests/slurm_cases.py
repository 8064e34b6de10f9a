"""The committed trees that have Slurm in them, and the real charts where they are at hand."""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
import yaml

from gitops_gen.emit import emit
from gitops_gen.maintain.charts import HelmLoader
from gitops_gen.model import Application, HelmSource, Object
from gitops_gen.shell.command import Command, run
from tests.crds import UPSTREAM
from tests.specs import compile_text
from tests.trees import Case, cases, prepared

PREVIOUS = "1.1.2"
FOLDER = "GITOPS_GEN_CHARTS"
"""Environment variable that names a folder of unpacked charts, `<chart>-<version>` each."""


def application(case: Case, name: str) -> Application | None:
    """Return an Application of a case by its name, None where the case has none of it."""
    found = prepared(case.spec).compiled.plan.applications
    return next((app for app in found if app.name == name), None)


def helm_source(case: Case, name: str) -> HelmSource:
    """Return the chart of an Application that a case has."""
    app = application(case, name)
    assert app is not None
    return next(item for item in app.sources if isinstance(item, HelmSource))


SLURM = [case for case in cases() if application(case, "slurm") is not None]
SELF_RUN = [case for case in SLURM if application(case, "slurm-operator") is not None]


def as_previous_release(case: Case) -> str:
    """Return the spec of a case with the release of Slinky before the current one."""
    text = (case.spec.repo_root / case.spec.source).read_text(encoding="utf-8")
    without = re.sub(r"\n      version: 1\.[0-9.]+(?=\n      clusterName:)", "", text)
    return without.replace("\n      clusterName:", f"\n      version: {PREVIOUS}\n      clusterName:", 1)


def previous_release(case: Case) -> HelmSource:
    """Return the slurm chart of a case with the release before; SpecError where it cannot do that."""
    (app,) = (
        item for item in compile_text(as_previous_release(case)).plan.applications if item.name == "slurm"
    )
    source = next(item for item in app.sources if isinstance(item, HelmSource))
    assert source.version == PREVIOUS
    return source


def params(chosen: list[Case]) -> list[Any]:
    """Return cases as pytest takes them, each with its name."""
    return [pytest.param(case, id=case.name.rpartition("/")[2]) for case in chosen]


def chart_folder(chart: str, version: str) -> Path:
    """Return the folder of an unpacked chart; the test is skipped where there is none.

    What it would prove is proven by plain tests, too, from the recorded facts of the chart.
    """
    own = os.environ.get(FOLDER)
    places = [UPSTREAM / chart / f"v{version}", *([Path(own) / f"{chart}-{version}"] if own else [])]
    found = next((place for place in places if (place / "Chart.yaml").is_file()), None)
    if found is None:
        pytest.skip(f"no unpacked chart {chart} {version}: {FOLDER} names no folder that has it")
    return found


def operator_folder(version: str, scratch: Path) -> Path:
    """Return a copy of the operator's chart with its dependency, which Helm wants even where it is off."""
    copy = scratch / "slurm-operator"
    shutil.copytree(chart_folder("slurm-operator", version), copy)
    crds = copy / "charts" / "slurm-operator-crds"
    if not crds.exists():
        shutil.copytree(chart_folder("slurm-operator-crds", version), crds)
    return copy


def rendered(
    helm: tuple[str, ...], folder: Path, release: str, namespace: str, values: Mapping[str, Any]
) -> str | None:
    """Return what `helm template` prints, None where the chart refuses the values."""
    argv = (*helm, "template", release, str(folder), "--namespace", namespace, "--kube-version", "1.35.0")
    argv = (*argv, "--skip-tests", "--values", "-")
    done = run(Command(argv=argv, stdin=emit(dict(values))), check=False)
    return done.stdout if done.status == 0 else None


def objects_of(text: str) -> list[Object]:
    """Return the objects of printed manifests, as Helm and Argo CD read them."""
    return [item for item in yaml.load_all(text, Loader=HelmLoader) if item]
