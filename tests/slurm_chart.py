"""How the slurm chart (1.1.2 and 1.2.1) prints maps of settings, without Helm.

Source: `_toList` of templates/_helpers.tpl and the templates that take it apart again; sprig's `join`
and `splitList`; Go's `%v`. test_slurm_quoting holds it against the real chart.
"""

from __future__ import annotations

from collections.abc import Mapping
from decimal import Decimal
from typing import Any

import yaml

from gitops_gen.emit import emit
from gitops_gen.maintain.charts import HelmLoader


def as_helm(values: Mapping[str, Any]) -> Any:
    """Return values as templates see them: written, read by Helm, each number of Go's one JSON type."""
    return floats(yaml.load(emit(dict(values)), Loader=HelmLoader))


def floats(value: Any) -> Any:
    """Return a value with its whole numbers as floats."""
    if isinstance(value, dict):
        return {key: floats(item) for key, item in value.items()}
    if isinstance(value, list):
        return [floats(item) for item in value]
    return float(value) if type(value) is int else value


def to_list(settings: Mapping[str, Any]) -> list[str]:
    """Return the items `key=value` of a map, in the order of its keys, without what Go takes for false."""
    items = [f"{key}={joined(settings[key])}" for key in sorted(settings) if settings[key]]
    return ";".join(items).split(";") if items else [""]


def joined(value: Any) -> str:
    """Return a value as `join ","` does, which drops what is null of a list."""
    items = value if isinstance(value, list) else [value]
    return ",".join(text_of(item) for item in items if item is not None)


def text_of(value: Any) -> str:
    """Return a value as Go's `%v` prints it."""
    if isinstance(value, bool):
        return "true" if value else "false"
    return number(value) if isinstance(value, float) else str(value)


def number(value: float) -> str:
    """Return a float as Go prints it: its shortest digits, with an exponent from 1e+06 and below 0.0001."""
    shortest = repr(value)
    if 1e-4 <= abs(value) < 1e6 or value == 0:
        return shortest.removesuffix(".0")
    mantissa, _, power = shortest.partition("e")
    exact = Decimal(mantissa).scaleb(int(power or 0)).normalize()
    digits = "".join(map(str, exact.as_tuple().digits))
    rest = f".{digits[1:]}" if len(digits) > 1 else ""
    return f"{'-' if value < 0 else ''}{digits[0]}{rest}e{exact.adjusted():+03d}"
