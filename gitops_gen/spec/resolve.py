"""The text of an unquoted scalar in, its value under the YAML 1.2 core schema out."""

from __future__ import annotations

import re
from math import inf, isfinite, nan

Value = bool | int | float | str | None

_WORDS: dict[str, Value] = {
    **dict.fromkeys(("", "~", "null", "Null", "NULL")),
    **dict.fromkeys(("true", "True", "TRUE"), True),
    **dict.fromkeys(("false", "False", "FALSE"), False),
}
_AMBIGUOUS = frozenset(("y", "n", "yes", "no", "on", "off"))
_INTEGER = re.compile(r"[-+]?[0-9]+\Z")
_OCTAL = re.compile(r"0o[0-7]+\Z")
_HEXADECIMAL = re.compile(r"0x[0-9a-fA-F]+\Z")
_FLOAT = re.compile(r"[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?\Z")
_NOT_FINITE = re.compile(r"[-+]?\.(inf|Inf|INF)\Z|\.(nan|NaN|NAN)\Z")
_LEADING_ZERO = re.compile(r"[-+]?0[0-9]")
_INT64 = range(-(2**63), 2**63)
_LONGEST_INT64 = len(str(-(2**63)))


class Refused(ValueError):
    """A scalar that readers of YAML do not all take alike: a code, what is wrong, what to do."""

    def __init__(self, code: str, message: str, hint: str) -> None:
        self.code, self.message, self.hint = code, message, hint
        super().__init__(message)


def resolve(text: str) -> Value:
    """Return the value of an unquoted scalar; Refused where YAML's dialects disagree on it."""
    if text in _WORDS:
        return _WORDS[text]
    if text[0] not in "+-.0123456789":
        return _string(text)
    if _FLOAT.match(text) or _NOT_FINITE.match(text):
        return _number(text)
    if _OCTAL.match(text):
        return _fitting(text, int(text[2:], 8))
    if _HEXADECIMAL.match(text):
        return _fitting(text, int(text[2:], 16))
    return text


def _string(text: str) -> str:
    if text.lower() in _AMBIGUOUS:
        meant = "true" if text.lower() in ("y", "yes", "on") else "false"
        raise Refused(
            "yaml-ambiguous-boolean",
            f"`{text}` is a boolean for some YAML readers and a string for others",
            f'write "{text}" for the string, or {meant} for the boolean',
        )
    return text


def _number(text: str) -> int | float:
    if _LEADING_ZERO.match(text):
        raise Refused(
            "yaml-leading-zero",
            f"`{_cut(text)}` starts with a zero: octal for some YAML readers, decimal for others",
            f'write "{_cut(text)}" for the string, or the number without the zero',
        )
    if _INTEGER.match(text):
        return _fitting(text, int(text) if len(text) <= _LONGEST_INT64 else inf)
    return _fitting(text, nan if _NOT_FINITE.match(text) else float(text))


def _fitting(text: str, value: int | float) -> int | float:
    if value in _INT64 if isinstance(value, int) else isfinite(value):
        return value
    raise Refused(
        "yaml-number-range",
        f"`{_cut(text)}` is not a number that JSON and Kubernetes can hold",
        f'write "{_cut(text)}" if it is a string',
    )


def _cut(text: str) -> str:
    return text if len(text) <= 40 else f"{text[:39]}…"
