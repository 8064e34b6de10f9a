"""Text in, whether Go's time package and strconv would read it as a duration or integer out."""

from __future__ import annotations

import re

_UNITS = {"ns": 1, "us": 1e3, "µs": 1e3, "μs": 1e3, "ms": 1e6, "s": 1e9, "m": 6e10, "h": 3.6e12}
_PART = re.compile(r"([0-9]+(?:\.[0-9]*)?|\.[0-9]+)(ns|us|µs|μs|ms|s|m|h)")
_DURATION = re.compile(rf"[+-]?(?:0|(?:{_PART.pattern})+)\Z")
_INTEGER = re.compile(r"[+-]?[0-9]+\Z")
_INT64 = 2**63


def is_go_duration(text: str) -> bool:
    """Say whether `time.ParseDuration` takes the text: numbers with units such as `1h30m`."""
    if not _DURATION.match(text):
        return False
    nanoseconds = sum(float(number) * _UNITS[unit] for number, unit in _PART.findall(text))
    return nanoseconds < _INT64


def is_go_integer(text: str) -> bool:
    """Say whether `strconv.Atoi` takes the text: a sign and decimal digits, 64 bits."""
    return _INTEGER.match(text) is not None and -_INT64 <= int(text) < _INT64


def is_retry_duration(text: str) -> bool:
    """Say whether a retry backoff takes the text: a Go duration, or seconds without a unit."""
    return is_go_integer(text) or is_go_duration(text)
