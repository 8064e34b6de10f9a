"""`gitops-gen render`: specs in, their trees written or compared."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import msgspec
import typer

from gitops_gen.cli.common import (
    EXIT_DIFFERENT,
    EXIT_FINE,
    EXIT_INVALID,
    Outcome,
    Specs,
    Strict,
    examine,
    print_diagnostics,
)
from gitops_gen.cli.output import say
from gitops_gen.diagnostics import Diagnostic, SpecError

if TYPE_CHECKING:
    from gitops_gen.shell.specs import SpecFile

_HANDFUL = 5


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command()(render)


class Options(msgspec.Struct, frozen=True, kw_only=True):
    """How every spec of one run is rendered."""

    check: bool
    output: Path | None
    force: bool
    strict: bool


class Result(msgspec.Struct, frozen=True, kw_only=True):
    """What became of one spec; `lines` is for people, `differing` names files for `--check`."""

    status: int
    diagnostics: tuple[Diagnostic, ...]
    lines: tuple[str, ...] = ()
    differing: tuple[str, ...] = ()


def render(
    specs: Specs = None,
    check: Annotated[bool, typer.Option("--check", help="Write nothing; exit 4 if files differ.")] = False,
    output: Annotated[
        Path | None,
        typer.Option(help="Write to DIR/<cluster name>/ instead of the repository.", metavar="DIR"),
    ] = None,
    jobs: Annotated[int, typer.Option(min=1, help="Clusters rendered side by side.")] = 1,
    force: Annotated[
        bool, typer.Option("--force", help="Overwrite files of the tree that were edited by hand.")
    ] = False,
    strict: Strict = False,
) -> None:
    """Write the tree of each spec.

    A tree is written whole or not at all; files that are no longer made are removed. Exit
    status 3 if a spec is invalid, 4 if `--check` finds differences.

    Example: gitops-gen render clusters/prod/cluster.yaml
    """
    from gitops_gen.shell.specs import find_specs

    files = find_specs(specs or ())
    refuse_collisions(files, output)
    options = Options(check=check, output=output, force=force, strict=strict)
    results = list(_with_progress(run_all(files, options, jobs), len(files)))
    print_diagnostics(dict.fromkeys(found for item in results for found in item.diagnostics), to_stderr=True)
    for item in results:
        for line in item.lines:
            say(line, err=True)
        for name in item.differing:
            say(name)
    raise typer.Exit(_status(results))


def refuse_collisions(files: tuple[SpecFile, ...], output: Path | None = None) -> None:
    """Raise SpecError if two specs name their Applications alike, or share a folder."""
    from gitops_gen.shell.lock import quick_look
    from gitops_gen.shell.places import name_collisions, place_collisions

    if len(files) < 2:
        return
    names: dict[str, list[str]] = {}
    places: dict[SpecFile, Path] = {}
    for file in files:
        seen = quick_look(file)
        if seen is not None:
            names.setdefault(seen[0], []).append(file.label)
            places[file] = seen[1]
    clashes = (*name_collisions(names), *(place_collisions(places) if output is None else ()))
    if clashes:
        raise SpecError(clashes)


def run_all(files: tuple[SpecFile, ...], options: Options, jobs: int) -> Iterator[Result]:
    """Render every spec, in order, in up to `jobs` processes."""
    if jobs == 1 or len(files) < 2:
        yield from (render_one(file, options) for file in files)
        return
    from concurrent.futures import ProcessPoolExecutor

    with ProcessPoolExecutor(max_workers=min(jobs, len(files))) as pool:
        chunk = max(1, min(16, len(files) // (jobs * 4)))
        yield from pool.map(render_one, files, [options] * len(files), chunksize=chunk)


def render_one(file: SpecFile, options: Options) -> Result:
    """Render one spec; nothing is read or written beyond digests when nothing changed."""
    from gitops_gen.shell.lock import current_tree
    from gitops_gen.shell.specs import display

    current = current_tree(file, options.output)
    if current is not None and not options.strict:
        return Result(status=EXIT_FINE, diagnostics=(), lines=(f"{display(current, '.')}: unchanged",))
    from gitops_gen.shell.places import refuse_taken

    outcome = examine(file, strict=options.strict, output=options.output)
    if outcome.prepared is None:
        return Result(status=EXIT_INVALID, diagnostics=outcome.diagnostics)
    try:
        refuse_taken(file, outcome.prepared.target(options.output))
        return _compare(outcome, options) if options.check else _write(outcome, options)
    except SpecError as error:
        return Result(status=EXIT_INVALID, diagnostics=(*outcome.diagnostics, *error.diagnostics))


def _write(outcome: Outcome, options: Options) -> Result:
    from gitops_gen.shell.specs import OUTSIDE_GIT, display, git_top
    from gitops_gen.shell.tree import write_tree

    prepared = outcome.prepared
    assert prepared is not None
    target = prepared.target(options.output)
    boundary = prepared.boundary(options.output)
    written = write_tree(prepared.tree(), target, force=options.force, inside=boundary)
    counts = {
        "new": len(written.created),
        "changed": len(written.changed),
        "removed": len(written.removed),
        "unchanged": len(written.unchanged),
    }
    told = ", ".join(f"{count} {word}" for word, count in counts.items() if count)
    lines = [f"{display(target, '.')}: {told}"]
    lines += [f"  not ours, left alone: {name}" for name in written.foreign]
    if options.output is None and git_top(target) is None:
        lines.append(OUTSIDE_GIT)
    return Result(status=EXIT_FINE, diagnostics=outcome.diagnostics, lines=tuple(lines))


def _compare(outcome: Outcome, options: Options) -> Result:
    from gitops_gen.shell.specs import display
    from gitops_gen.shell.tree import compare_tree

    prepared = outcome.prepared
    assert prepared is not None
    target = prepared.target(options.output)
    compared = compare_tree(prepared.tree(), target, inside=prepared.boundary(options.output))
    differing = {
        **dict.fromkeys(compared.missing, "missing"),
        **dict.fromkeys(compared.differing, "differs"),
        **dict.fromkeys(compared.stale, "no longer made"),
        **dict.fromkeys(compared.hand_edited, "edited by hand"),
    }
    told = tuple(f"{display(target, name)}: {what}" for name, what in sorted(differing.items()))
    status = EXIT_DIFFERENT if told else EXIT_FINE
    return Result(status=status, diagnostics=outcome.diagnostics, differing=told)


def _status(results: list[Result]) -> int:
    statuses = {item.status for item in results}
    return EXIT_INVALID if EXIT_INVALID in statuses else max(statuses, default=EXIT_FINE)


def _with_progress(results: Iterator[Result], total: int) -> Iterator[Result]:
    """Show a counter on stderr for more than a handful of clusters; off when not a terminal."""
    shown = total > _HANDFUL and sys.stderr is not None and sys.stderr.isatty()
    for count, item in enumerate(results, start=1):
        if shown:
            sys.stderr.write(f"\r{count}/{total} clusters" + ("\n" if count == total else ""))
            sys.stderr.flush()
        yield item
