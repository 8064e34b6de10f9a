"""A table and a mapping of keywords in, what is wrong with keywords and values out.

Paths of the findings begin at the mapping; `words.below` puts them under their place in the settings.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping

from gitops_gen.components.slurm.conf.table import FILES, Keyword, Scope, Table, Unknown, keyword
from gitops_gen.components.slurm.conf.text import Value, check_text, text_of
from gitops_gen.components.slurm.conf.value import check_value
from gitops_gen.components.slurm.conf.words import below, fault, listed, warning
from gitops_gen.components.slurm.finding import Finding


def check_config(
    table: Table,
    scope: Scope,
    config: Mapping[str, Value],
    *,
    release: str,
    free: Collection[str] = (),
) -> Iterator[Finding]:
    """Yield what is wrong with the keywords and values of one mapping.

    `release` is the version of the Slinky operator, which owns some keywords. `free` are keywords that
    may stand here although the spec has a field for them.
    """
    first: dict[str, str] = {}
    for name, value in config.items():
        twin = first.setdefault(name.lower(), name)
        if twin != name:
            yield fault(
                "slurm-keyword-twice",
                f'"{name}" is the keyword "{twin}" again: Slurm does not distinguish case',
                "write it once",
                name,
                on_key=True,
            )
            continue
        own = check_keyword(table, scope, name, value, release=release, free=name in free)
        yield from below(own, name)


def check_keyword(
    table: Table, scope: Scope, name: str, value: Value, *, release: str, free: bool = False
) -> Iterator[Finding]:
    """Yield what is wrong with one keyword and its value; a keyword that cannot stay hides its value.

    `free` lets a keyword stand here although the spec has a field for it.
    """
    known = keyword(table, scope, name)
    if isinstance(known, Unknown):
        yield _unknown(table, scope, name, known)
        return
    refused = _refused(table, scope, known, release, free)
    if refused is not None:
        yield refused
        return
    if known.state == "deprecated":
        yield warning(
            "slurm-keyword-deprecated",
            f'"{known.name}" is deprecated in Slurm {table.series}',
            f"write {known.instead}",
            on_key=True,
        )
    text = text_of(value)
    flaws = tuple(check_text(scope, text, lines=known.type == "lines"))
    yield from flaws
    if not flaws:
        unquoted = text[1:-1] if text[0] == text[-1] == '"' and len(text) > 1 else text
        yield from check_value(known, unquoted, series=table.series)
        yield from _operator_items(table, scope, known, unquoted, release)


def _unknown(table: Table, scope: Scope, name: str, why: Unknown) -> Finding:
    place = FILES[scope]
    if why.since:
        return fault(
            "slurm-keyword-series",
            f'"{name}" came with Slurm {why.since}; the images have {table.series}',
            f'use images of series "{why.since}", or leave the keyword out',
            on_key=True,
        )
    if why.until:
        return fault(
            "slurm-keyword-series",
            f'"{name}" went after Slurm {why.until}; the images have {table.series}',
            "leave the keyword out",
            on_key=True,
        )
    if why.scope is not None:
        return fault(
            "slurm-keyword-scope",
            f'"{name}" is a keyword of {FILES[why.scope]}, not of {place}',
            _SCOPE_HINTS[why.scope],
            on_key=True,
        )
    hint = (
        f'did you mean "{why.near}"?' if why.near else f"see the manual of {place} for Slurm {table.series}"
    )
    return fault(
        "slurm-keyword-unknown",
        f'"{name}" is no keyword of {place} in Slurm {table.series}',
        hint,
        on_key=True,
    )


_SCOPE_HINTS: Mapping[Scope, str] = {
    "global": "write it under `controller.config`",
    "node": "write it under `config` of the node set",
    "partition": "write it under `config` of the partition",
    "nodeset": "a node set and its feature follow from `nodeSets`",
    "dbd": "write it under `accounting.config`",
    "cgroup": "write it under `cgroup`",
    "gres": "write it in a line of `gres.lines`",
}


def _refused(table: Table, scope: Scope, known: Keyword, release: str, free: bool) -> Finding | None:
    if known.state in ("removed", "defunct"):
        gone = "was removed" if known.state == "removed" else "does nothing any more"
        return fault(
            "slurm-keyword-removed" if known.state == "removed" else "slurm-keyword-defunct",
            f'"{known.name}" {gone} in Slurm {table.series}',
            f"write {known.instead}" if known.instead else "leave it out",
            on_key=True,
        )
    if known.field and not free:
        return fault(
            "slurm-keyword-field",
            f'"{known.name}" has a place of its own in the spec',
            f"write `{known.field}` instead",
            on_key=True,
        )
    if known.name in table.operator(release).owned.get(scope, ()):
        return fault(
            "slurm-keyword-owned",
            f'the Slurm operator writes "{known.name}" itself; a second one would win and break its cluster',
            "leave it out",
            on_key=True,
        )
    return None


def _operator_items(table: Table, scope: Scope, known: Keyword, text: str, release: str) -> Iterator[Finding]:
    operator = table.operator(release)
    items = {item.partition("=")[0].lower() for item in text.split(",")}
    needed = operator.replaced.get(scope, {}).get(known.name, ())
    missing = [item for item in needed if item.partition("=")[0] not in items]
    if missing:
        yield fault(
            "slurm-operator-items",
            f'"{known.name}" replaces what operator {release} writes, which needs {listed(missing, "and")}',
            f'write "{",".join((*missing, text))}"',
        )
    kept = operator.merged.get(scope, {}).get(known.name)
    if kept is not None and text != text.lower():
        yield warning(
            "slurm-value-lowered",
            f'the operator writes "{known.name}" in lower case: "{text.lower()}"',
            "write it in lower case, and no paths with capitals",
        )
    taken = [item for item in kept or () if item.partition("=")[0] in items and "=" in item]
    if taken:
        yield fault(
            "slurm-operator-items",
            f'the operator sets "{taken[0].rstrip("=")}" of "{known.name}" itself and drops another one',
            "leave it out",
        )
