"""A table and a mapping of keywords in, what is wrong with keywords and values out.

Paths of the findings begin at the mapping; `words.below` puts them under their place in the settings.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterator, Mapping

from gitops_gen.components.slurm.conf.grammar import (
    Refusal,
    minutes_of,
    parse_bool,
    parse_count,
    parse_float,
    parse_purge,
    parse_time,
    parse_unsigned,
    split_list,
)
from gitops_gen.components.slurm.conf.gres import parse_gres_list
from gitops_gen.components.slurm.conf.table import FILES, Keyword, Scope, Table, Unknown, keyword, nearest
from gitops_gen.components.slurm.conf.text import Value, check_text, text_of
from gitops_gen.components.slurm.conf.words import below, fault, listed, warning
from gitops_gen.components.slurm.finding import Finding

_BITS = {"uint16": 16, "uint32": 32, "uint64": 64}
_CLOCK = re.compile(r"(\d+):(\d+)", re.ASCII)


def check_config(
    table: Table, scope: Scope, config: Mapping[str, Value], *, release: str
) -> Iterator[Finding]:
    """Yield what is wrong with the keywords and values of one mapping.

    `release` is the version of the Slinky operator, which owns some keywords.
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
        yield from below(check_keyword(table, scope, name, value, release=release), name)


def check_keyword(table: Table, scope: Scope, name: str, value: Value, *, release: str) -> Iterator[Finding]:
    """Yield what is wrong with one keyword and its value; a keyword that cannot stay hides its value."""
    known = keyword(table, scope, name)
    if isinstance(known, Unknown):
        yield _unknown(table, scope, name, known)
        return
    refused = _refused(table, scope, known, release)
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


def _refused(table: Table, scope: Scope, known: Keyword, release: str) -> Finding | None:
    if known.state in ("removed", "defunct"):
        gone = "was removed" if known.state == "removed" else "does nothing any more"
        return fault(
            f"slurm-keyword-{known.state}",
            f'"{known.name}" {gone} in Slurm {table.series}',
            f"write {known.instead}" if known.instead else "leave it out",
            on_key=True,
        )
    if known.field:
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
    if kept is not None and re.search(r"\s", text):
        yield fault(
            "slurm-operator-items",
            f'the operator merges its own items into "{known.name}", but not into a value with blanks',
            "write the list without blanks",
        )
    elif kept is not None and text != text.lower():
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


def check_value(known: Keyword, text: str, *, series: str) -> Iterator[Finding]:
    """Yield what is wrong with a value, given as text without quotes."""
    if known.type in ("choice", "flags"):
        yield from _words(known, text, series)
    elif known.type == "share":
        yield from _share(known, text, series)
    elif known.type in _BITS:
        yield from _number(known, text)
    elif known.type in _PARSERS:
        parsed = _PARSERS[known.type](text)
        if isinstance(parsed, Refusal):
            yield _wrong(known, text, parsed)
        elif known.type == "time":
            yield from _time(known, text, parsed)


def _wrong(known: Keyword, text: str, refusal: Refusal) -> Finding:
    return fault("slurm-value", f'"{text}" is not valid for {known.name}: {refusal.reason}', refusal.hint)


def _suspend(text: str) -> object:
    if text.lower() in ("none", "infinite", "-1") or re.fullmatch(r"[0-9]{1,10}", text):
        return text
    return Refusal(reason="Slurm takes seconds here", hint="write a number of seconds, or INFINITE for never")


def _minutes(text: str) -> object:
    if text.lower() in ("infinite", "unlimited") or re.fullmatch(r"[0-9]{1,5}", text):
        return text
    return Refusal(reason="Slurm takes minutes here", hint="write a number of minutes, or UNLIMITED")


_PARSERS: Mapping[str, Callable[[str], object]] = {
    "boolean": parse_bool,
    "float": parse_float,
    "time": parse_time,
    "duration": parse_time,
    "suspendTime": _suspend,
    "minutes": _minutes,
    "gres": parse_gres_list,
    "count": parse_count,
    "purge": parse_purge,
    "list": split_list,
}


def _number(known: Keyword, text: str) -> Iterator[Finding]:
    parsed = parse_unsigned(text, _BITS[known.type])
    if isinstance(parsed, Refusal):
        yield _wrong(known, text, parsed)
        return
    if re.match(r"0[0-9]", text):
        yield _wrong(
            known,
            text,
            Refusal(
                reason=f"Slurm reads a leading 0 as octal, {parsed:.0f} here",
                hint=f'write "{text.lstrip("0") or "0"}"',
            ),
        )
        return
    if math.isinf(parsed):
        return
    if known.min is not None and parsed < known.min:
        yield _wrong(
            known, text, Refusal(reason=f"it is below {known.min}", hint=f"write {known.min} or more")
        )
    if known.max is not None and parsed > known.max:
        yield _wrong(
            known, text, Refusal(reason=f"it is above {known.max}", hint=f"write {known.max} or less")
        )


def _time(known: Keyword, text: str, parsed: object) -> Iterator[Finding]:
    if isinstance(parsed, (int, float)) and known.min is not None and minutes_of(parsed) * 60 < known.min:
        yield _wrong(
            known, text, Refusal(reason="it is too short", hint=f"write {known.min // 60} minutes or more")
        )
    clock = _CLOCK.fullmatch(text)
    if clock is not None:
        yield warning(
            "slurm-time-minutes",
            f'"{text}" is {int(clock[1])} minutes and {int(clock[2])} seconds, not hours and minutes',
            f'write "{text}:00" for hours, "00:{text}" to say minutes',
        )


def _words(known: Keyword, text: str, series: str) -> Iterator[Finding]:
    if known.type == "choice":
        items: tuple[str, ...] | Refusal = (text,)
    else:
        items = split_list(text)
    if isinstance(items, Refusal):
        yield _wrong(known, text, items)
        return
    accepted = {item.lower() for item in (*known.values, *known.also)}
    for item in items:
        if item.lower() in accepted:
            continue
        later = next((since for word, since in known.later.items() if word.lower() == item.lower()), "")
        if later:
            yield fault(
                "slurm-value-series",
                f'"{item}" of {known.name} came with Slurm {later}; the images have {series}',
                f"write {listed(known.values)}",
            )
            continue
        near = nearest(item, known.values)
        hint = f'did you mean "{near}"?' if near else f"write {listed(known.values)}"
        make = warning if known.open else fault
        yield make("slurm-value", f'"{item}" is not valid for {known.name}: it is not a known value', hint)


def _share(known: Keyword, text: str, series: str) -> Iterator[Finding]:
    word, colon, count = text.partition(":")
    if word.upper() == "EXCLUSIVE" and not colon:
        if series != "25.11":
            yield warning(
                "slurm-value-deprecated",
                f"{known.name}=EXCLUSIVE is deprecated in Slurm {series}",
                "write Exclusive=NODE instead",
            )
        return
    least = {"YES": 2, "FORCE": 1}.get(word.upper())
    if not colon and (least is not None or word.upper() == "NO"):
        return
    if colon and least is not None and re.fullmatch(r"[0-9]{1,5}", count) and int(count) >= least:
        return
    yield _wrong(
        known,
        text,
        Refusal(
            reason="it is no form of sharing",
            hint="write NO, YES, YES:<2 or more>, FORCE or FORCE:<1 or more>",
        ),
    )
