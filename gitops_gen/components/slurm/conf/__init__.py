"""Values of configuration files in, the text that Slurm reads out; user's and derived keywords merged.

Source: src/common/parse_config.c and parse_value.c of Slurm 26.05.3.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

_MERGED = {
    name.lower(): name
    for name in (
        "AccountingStorageTRES",
        "GresTypes",
        "PrologFlags",
        "PropagateResourceLimitsExcept",
        "SlurmctldParameters",
    )
}

Scalar = bool | int | float | str | None


def text_of(value: Scalar | list[int | float | str]) -> str:
    """Return a value as Slurm reads it: YES or NO, whole numbers without exponent, lists with commas."""
    if isinstance(value, list):
        return ",".join(text_of(item) for item in value)
    if isinstance(value, bool):
        return "YES" if value else "NO"
    if isinstance(value, float):
        return str(int(value)) if value.is_integer() else format(value, "f").rstrip("0")
    return "" if value is None else str(value)


def merge_config(
    base: Mapping[str, str], own: Mapping[str, Scalar | list[int | float | str]]
) -> Mapping[str, str]:
    """Return `base` with the user's keywords over it, compared without case, in the order of both.

    Lists of switches are joined instead, an option `name=value` of the user's replacing ours.
    """
    merged = dict(base)
    for name, value in own.items():
        known = next((key for key in merged if key.lower() == name.lower()), name)
        text = text_of(value)
        joined = name.lower() in _MERGED and known in merged
        merged[known] = _joined(merged[known], text) if joined else text
    return merged


def _joined(base: str, own: str) -> str:
    replaced = {_option(item) for item in _items(own)}
    return ",".join((*(item for item in _items(base) if _option(item) not in replaced), *_items(own)))


def _items(text: str) -> Iterable[str]:
    return (item for item in (part.strip() for part in text.split(",")) if item)


def _option(item: str) -> str:
    return item.partition("=")[0].lower()
