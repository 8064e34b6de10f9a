"""Values of the settings in, the text that Slurm reads out; user's and derived keywords merged.

Source: src/common/parse_config.c of Slurm 26.05.3 and the templates of the slurm chart 1.2.1, which join
`Key=Value` of slurm.conf with ";" and of a node set with blanks, unquoted.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Iterator, Mapping
from decimal import Decimal

from gitops_gen.components.slurm.conf.table import Scope
from gitops_gen.components.slurm.conf.words import fault, quoted
from gitops_gen.components.slurm.finding import Finding

Scalar = bool | int | float | str | None
Value = Scalar | list[int | float | str]

_MERGED = {
    name.lower()
    for name in (
        "AccountingStorageTRES",
        "AccountingStoreFlags",
        "CommunicationParameters",
        "GresTypes",
        "JobSubmitPlugins",
        "LaunchParameters",
        "PrologFlags",
        "PropagateResourceLimitsExcept",
        "SlurmctldParameters",
    )
}
"""Keywords whose derived items stay beside the user's: each switches something on by itself."""
_LINES = ("downnodes", "poweraction")
"""Keywords that begin a line of `Key=Value`, which no quotes hold together."""
_CODE = "slurm-value-text"


def text_of(value: Value) -> str:
    """Return a value as Slurm reads it: YES or NO, numbers without exponent, lists with commas."""
    if isinstance(value, list):
        return ",".join(text_of(item) for item in value)
    if isinstance(value, bool):
        return "YES" if value else "NO"
    if isinstance(value, float):
        return _plain(value)
    return "" if value is None else str(value)


def _plain(value: float) -> str:
    if math.isinf(value) or math.isnan(value):
        return str(value)
    return str(int(value)) if value.is_integer() else format(Decimal(repr(value)), "f")


def merge_config(base: Mapping[str, str], own: Mapping[str, Value]) -> Mapping[str, str]:
    """Return `base` with the user's keywords over it, compared without case, in the order of both.

    Lists of switches are joined instead, without repeats, an option `name=value` of the user's
    replacing ours. A value with blanks stands in quotes, since Slurm ends it at the first one otherwise.
    """
    merged = dict(base)
    for name, value in own.items():
        known = next((key for key in merged if key.lower() == name.lower()), name)
        text = _whole(name, text_of(value))
        merged[known] = _joined(merged.get(known, ""), text) if name.lower() in _MERGED else text
    return merged


def _whole(name: str, text: str) -> str:
    bare = re.search(r"\s", text) and not text.startswith('"') and name.lower() not in _LINES
    return f'"{text}"' if bare else text


def _joined(base: str, own: str) -> str:
    replaced = {_option(item) for item in _items(own)}
    kept = (item for item in _items(base) if _option(item) not in replaced)
    return ",".join({_option(item): item for item in (*kept, *_items(own))}.values())


def _items(text: str) -> Iterable[str]:
    return (item for item in (part.strip() for part in text.split(",")) if item)


def _option(item: str) -> str:
    return item.partition("=")[0].lower()


def check_text(scope: Scope, text: str, *, lines: bool = False) -> Iterator[Finding]:
    """Yield what the chart or Slurm's reader would turn into something else.

    `lines` allows blanks: the keyword begins a line of `Key=Value`. Quotes may stand around a whole value.
    """
    inner = text[1:-1] if len(text) > 1 and text[0] == text[-1] == '"' else text
    found = next(_flaws(scope, text, inner, lines), None)
    if found is not None:
        yield fault(_CODE, f"{quoted(text)}: {found[0]}", found[1])


def _flaws(scope: Scope, text: str, inner: str, lines: bool) -> Iterator[tuple[str, str]]:
    if text in ("inf", "-inf", "nan"):
        yield "Slurm knows no such number", "write UNLIMITED for no limit"
    if not inner.strip():
        yield "a keyword needs a value", "leave the keyword out for its default"
    if re.search(r"[\x00-\x1f\x7f\u0085\u2028\u2029]", text):
        yield "a value has no line breaks and no control characters", "write it in one line"
    if "#" in text:
        yield 'everything behind "#" is a comment and would be lost', 'leave the "#" out'
    if re.search(r"\\", text):
        yield 'Slurm strips "\\", and one at the end joins the next line', 'write the value without "\\"'
    if ";" in text and scope in ("global", "partition", "node", "dbd"):
        yield 'the chart breaks the line at ";"', 'leave the ";" out'
    if '"' in inner and not lines:
        yield "quotes stand around the whole value or nowhere", "leave the quotes out"
    if scope == "node":
        yield from _node_flaws(text)
    elif text != text.strip():
        yield "it begins or ends with a blank", "leave the blank out"


def _node_flaws(text: str) -> Iterator[tuple[str, str]]:
    if re.search(r"\s", text):
        yield "the operator splits the settings of a node set at blanks", "write the value without blanks"
    if '"' in text or "'" in text:
        yield "the settings of a node set cannot be quoted", "leave the quotes out"
    if text.endswith(":"):
        yield 'a value of a node set cannot end with ":", which makes a YAML key of it', 'leave the ":" out'
