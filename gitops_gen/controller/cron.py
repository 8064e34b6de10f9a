"""A sync window's schedule in, what is wrong with it out: the five fields that Argo CD parses."""

from __future__ import annotations

import re

import msgspec


class _Field(msgspec.Struct, frozen=True, kw_only=True):
    name: str
    low: int
    high: int
    words: tuple[str, ...] = ()


_MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
_DAYS = ("sun", "mon", "tue", "wed", "thu", "fri", "sat")
_FIELDS = (
    _Field(name="minute", low=0, high=59),
    _Field(name="hour", low=0, high=23),
    _Field(name="day of month", low=1, high=31),
    _Field(name="month", low=1, high=12, words=_MONTHS),
    _Field(name="day of week", low=0, high=6, words=_DAYS),
)
_ZONE = re.compile(r"(?:CRON_)?TZ=\S+\s+")


def schedule_fault(schedule: str) -> str:
    """Return what keeps the schedule from being parsed, empty if nothing does.

    Five fields of numbers, names, `*`, `?`, ranges, steps and lists; Sunday is 0, never 7, and
    descriptors such as `@daily` are not taken.
    """
    if schedule.startswith("@"):
        return "descriptors such as @daily are not taken"
    parts = _ZONE.sub("", schedule, count=1).split()
    if len(parts) != len(_FIELDS):
        return f"it has {len(parts)} fields, not minute, hour, day of month, month and day of week"
    for field, part in zip(_FIELDS, parts, strict=True):
        for item in part.split(","):
            fault = _item_fault(field, item)
            if fault:
                return fault
    return ""


def _item_fault(field: _Field, item: str) -> str:
    span, slash, step = item.partition("/")
    if slash and not (step.isascii() and step.isdigit() and int(step) > 0):
        return f'"{item}" in {field.name}: the step must be a positive number'
    low, dash, high = span.partition("-")
    if low in ("*", "?"):
        return f'"{item}" in {field.name} is not a range' if dash else ""
    start, end = _number(field, low), _number(field, high if dash else low)
    if start is None or end is None:
        return f'"{item}" is not a {field.name}'
    if not field.low <= start <= field.high or not field.low <= end <= field.high:
        return f'"{item}" is not a {field.name}: it goes from {field.low} to {field.high}'
    return f'"{item}" in {field.name} ends before it begins' if end < start else ""


def _number(field: _Field, text: str) -> int | None:
    if text.lower() in field.words:
        return field.words.index(text.lower()) + field.low
    return int(text) if text.isascii() and text.isdigit() else None
