"""What the commands share: options, exit statuses, and specs checked with their reports."""

from __future__ import annotations

import sys
from collections.abc import Iterable
from enum import StrEnum
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import msgspec
import typer
from msgspec.structs import replace

from gitops_gen.cli.output import say, takes_color
from gitops_gen.diagnostics import Diagnostic, Position, Severity, SpecError

if TYPE_CHECKING:
    from gitops_gen.shell.cluster import Prepared
    from gitops_gen.shell.specs import SpecFile

EXIT_FINE, EXIT_INVALID, EXIT_DIFFERENT, EXIT_TOOL = 0, 3, 4, 5


class Format(StrEnum):
    """How diagnostics are printed."""

    TEXT = "text"
    JSON = "json"
    GITHUB = "github"
    SARIF = "sarif"


class ResultFormat(StrEnum):
    """How results are printed."""

    TEXT = "text"
    JSON = "json"


Specs = Annotated[
    list[Path] | None,
    typer.Argument(
        metavar="[SPEC]...",
        help="Spec files, or folders that hold `cluster.yaml` files. Default: all of the work tree.",
        show_default=False,
    ),
]
Strict = Annotated[bool, typer.Option("--strict", help="Treat warnings as errors.")]
DiagnosticFormat = Annotated[Format, typer.Option("--format", help="How findings are printed.")]
PrintFormat = Annotated[ResultFormat, typer.Option("--format", help="How results are printed.")]


class Outcome(msgspec.Struct, frozen=True, kw_only=True):
    """One spec after the checks: its findings, and the prepared cluster unless there are errors.

    `base` stands for a ClusterBase, which is never prepared.
    """

    file: SpecFile
    diagnostics: tuple[Diagnostic, ...]
    prepared: Prepared | None
    base: bool = False

    @property
    def valid(self) -> bool:
        """Say whether nothing stands in the way of rendering, or of lending to clusters."""
        fine = not any(item.severity is Severity.ERROR for item in self.diagnostics)
        return fine if self.base else self.prepared is not None


def examine(file: SpecFile, *, strict: bool, output: Path | None = None) -> Outcome:
    """Check and plan one spec; faults become the outcome's diagnostics."""
    from gitops_gen.resources import resources
    from gitops_gen.shell.cluster import prepare

    try:
        prepared = prepare(file, resources(), output)
    except SpecError as error:
        return Outcome(file=file, diagnostics=_shown(error.diagnostics, file, strict), prepared=None)
    found = _shown(prepared.compiled.diagnostics, file, strict)
    fine = not any(item.severity is Severity.ERROR for item in found)
    return Outcome(file=file, diagnostics=found, prepared=prepared if fine else None)


def examine_all(specs: Iterable[Path] | None, *, strict: bool) -> list[Outcome]:
    """Check every spec that the arguments name, in order."""
    from gitops_gen.shell.specs import find_specs

    files = find_specs(specs or ())
    return [_examine_base(file, strict=strict) or examine(file, strict=strict) for file in files]


def _examine_base(file: SpecFile, *, strict: bool) -> Outcome | None:
    """Check a ClusterBase by itself; None for everything else, faulty files included."""
    from gitops_gen.resources import resources
    from gitops_gen.shell.cluster import base_findings

    try:
        found = base_findings(file, resources())
    except (OSError, SpecError):
        return None
    if found is None:
        return None
    return Outcome(file=file, diagnostics=_shown(found, file, strict), prepared=None, base=True)


def collisions(outcomes: Iterable[Outcome]) -> tuple[Diagnostic, ...]:
    """Return an error for each name or folder that several of the specs have."""
    from gitops_gen.shell.places import name_collisions, place_collisions

    names: dict[str, list[str]] = {}
    places: dict[SpecFile, Path] = {}
    for item in outcomes:
        if item.prepared is not None:
            names.setdefault(item.prepared.compiled.plan.spec.name, []).append(item.file.label)
            places[item.file] = item.prepared.target(None)
    return (*name_collisions(names), *place_collisions(places))


def one_spec(spec: Path | None) -> Outcome:
    """Check the one spec that a command works on: a file, a folder, or the name of a cluster.

    SpecError with its findings if it is invalid.
    """
    from gitops_gen.shell.specs import find_specs

    files = _by_name(str(spec)) if spec and not spec.exists() else ()
    files = files or find_specs([spec] if spec else ())
    if len(files) > 1:
        names = ", ".join(file.label for file in files)
        raise typer.BadParameter(f"several specs here, name one of them: {names}")
    outcome = examine(files[0], strict=False)
    if outcome.prepared is None:
        raise SpecError(outcome.diagnostics)
    return outcome


def _by_name(name: str) -> tuple[SpecFile, ...]:
    """Return the specs of the work tree whose cluster has that name."""
    from gitops_gen.shell.lock import quick_look
    from gitops_gen.shell.specs import find_specs

    try:
        files = find_specs(())
    except SpecError:
        return ()
    return tuple(file for file in files if (seen := quick_look(file)) is not None and seen[0] == name)


def exit_status(outcomes: Iterable[Outcome]) -> int:
    """Return 3 if any spec is invalid, else 0."""
    return EXIT_FINE if all(item.valid for item in outcomes) else EXIT_INVALID


def print_diagnostics(
    diagnostics: Iterable[Diagnostic], form: Format = Format.TEXT, *, to_stderr: bool
) -> None:
    """Print findings; text goes to people, the other forms to machines on stdout."""
    from gitops_gen import report

    found = tuple(diagnostics)
    err = to_stderr and form is Format.TEXT
    color = takes_color(sys.stderr if err else sys.stdout)
    match form:
        case Format.TEXT:
            text = report.render_text(found, _line, color=color)
        case Format.JSON:
            text = report.render_json(found)
        case Format.GITHUB:
            text = report.render_github(found)
        case Format.SARIF:
            text = report.render_sarif(found)
    if text:
        say(text, err=err, color=color)


def _shown(diagnostics: Iterable[Diagnostic], file: SpecFile, strict: bool) -> tuple[Diagnostic, ...]:
    """Return the findings with files as the current folder sees them; warnings weighed by `strict`."""
    return tuple(
        replace(
            item,
            position=_at(item.position, file),
            severity=Severity.ERROR if strict and item.severity is Severity.WARNING else item.severity,
        )
        for item in diagnostics
    )


def _at(position: Position | None, file: SpecFile) -> Position:
    """Return the place to print; line 0 stands for the file as a whole."""
    from gitops_gen.shell.specs import display

    if position is None:
        return Position(file=file.label, line=0, column=0)
    return replace(position, file=display(file.repo_root, position.file))


def _line(position: Position) -> str:
    lines = _lines(Path(position.file).resolve())
    return lines[position.line - 1] if 0 < position.line <= len(lines) else ""


@lru_cache(maxsize=64)
def _lines(file: Path) -> list[str]:
    from gitops_gen.spec.text import split_lines

    try:
        return split_lines(file.read_bytes().decode("utf-8", errors="replace"))
    except OSError:
        return []
