"""One value of a keyword in, what is wrong with it by the type of the keyword out."""

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
from gitops_gen.components.slurm.conf.table import Keyword, nearest
from gitops_gen.components.slurm.conf.words import fault, listed, warning
from gitops_gen.components.slurm.finding import Finding

_BITS = {"uint16": 16, "uint32": 32, "uint64": 64}
_CLOCK = re.compile(r"(\d+):(\d+)", re.ASCII)


def check_value(known: Keyword, text: str, *, series: str) -> Iterator[Finding]:
    """Yield what is wrong with a value, given as text without quotes."""
    if known.type in ("choice", "flags"):
        yield from _words(known, text, series)
    elif known.type == "share":
        yield from _share(known, text)
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
                f'leave it out, or use images of series "{later}"',
            )
            continue
        near = nearest(item, known.values)
        hint = f'did you mean "{near}"?' if near else f"write {listed(known.values)}"
        if known.open:
            yield warning("slurm-value", f'"{item}" is none of the {known.name} that Slurm brings', hint)
        else:
            yield fault(
                "slurm-value", f'"{item}" is not valid for {known.name}: it is not a known value', hint
            )


def _share(known: Keyword, text: str) -> Iterator[Finding]:
    word, colon, count = text.partition(":")
    if text.upper() in known.also:
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
