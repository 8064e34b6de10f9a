"""Dictionaries in, YAML text out: the only dumper, read alike by YAML 1.1, YAML 1.2 and Go."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from functools import lru_cache
from math import isfinite

_FIRST_KEYS = ("apiVersion", "kind", "metadata", "spec")
# YAML readers look back at most 1024 characters for a key.
_LONGEST_KEY = 1000

_WORDS = frozenset(("y", "n", "yes", "no", "on", "off", "true", "false", "null", ".inf", ".nan"))
# A number in any dialect: octal, hexadecimal, sexagesimal, underscores, exponents.
_NUMBER = re.compile(r"[.]*[0-9_][0-9a-fA-F_.,:xXoOeE+-]*\Z")
_DATE = re.compile(r"[0-9]{4}-[0-9]")
# What can stand without quotes in block context; each `_NOT_PLAIN` makes it mean something else.
_PLAIN = re.compile(r"--?[A-Za-z/]|[A-Za-z0-9_/.$(]")
_NOT_PLAIN = re.compile(r": | #|[: ]\Z|\t|\A\.\.\.")
# Control, invisible, bidirectional and space characters that readers drop, break lines at or
# refuse. Listed, not asked of Python: its Unicode tables, and so our bytes, change by version.
_ESCAPED = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\xa0\xad\u2000-\u200f\u2028-\u202f\u205f-\u206f"
    "\ud800-\udfff\ufeff\ufff0-\ufffb\ufffe\uffff]"
)


class _Unwritable(Exception):
    """Some part of the document cannot be written; `_faults` says which."""


def emit(document: Mapping[str, object], header: str = "") -> str:
    """Return one YAML document; `header` becomes comment lines at its top.

    Keys keep their order, save that objects begin with apiVersion, kind, metadata and spec.
    TypeError names the path of a key that is no string or of a value that readers of YAML would
    not all take alike (NaN, infinity, half a surrogate pair, any type besides JSON's).
    """
    return _comment(header) + _write(document)


def emit_all(documents: Iterable[Mapping[str, object]], header: str = "") -> str:
    """Return several YAML documents in one text, parted by `---`."""
    return _comment(header) + "---\n".join(_write(document) for document in documents)


def _comment(header: str) -> str:
    return "".join(f"# {line}".rstrip() + "\n" for line in header.splitlines())


def _write(document: Mapping[str, object]) -> str:
    if not isinstance(document, Mapping):
        raise TypeError(f"a YAML document must be a mapping, not {type(document).__name__}")
    if not document:
        return "{}\n"
    out: list[str] = []
    try:
        _put_mapping(out, _ordered(document), "", "")
    except _Unwritable:
        raise TypeError(next(_faults(document, ()))) from None
    return "".join(out)


def _ordered(document: Mapping[str, object]) -> Mapping[str, object]:
    if "apiVersion" not in document:
        return document
    first = {key: document[key] for key in _FIRST_KEYS if key in document}
    return first | dict(document)


def _put_mapping(out: list[str], mapping: Mapping[str, object], indent: str, lead: str) -> None:
    """Write each key at `indent`; the first stands behind `lead`, which may end in a dash."""
    for key, item in mapping.items():
        out.append(f"{lead}{_key(key)}:")
        lead = indent
        if isinstance(item, str) or not item:
            out.append(f" {_scalar(item, indent)}\n")
        elif isinstance(item, Mapping):
            out.append("\n")
            _put_mapping(out, item, indent + "  ", indent + "  ")
        elif isinstance(item, (list, tuple)):
            out.append("\n")
            _put_sequence(out, item, indent + "  ", indent + "  ")
        else:
            out.append(f" {_scalar(item, indent)}\n")


def _put_sequence(out: list[str], items: list[object] | tuple[object, ...], indent: str, lead: str) -> None:
    for item in items:
        if isinstance(item, Mapping) and item:
            _put_mapping(out, item, indent + "  ", lead + "- ")
        elif isinstance(item, (list, tuple)) and item:
            _put_sequence(out, item, indent + "  ", lead + "- ")
        else:
            out.append(f"{lead}- {_scalar(item, indent)}\n")
        lead = indent


def _key(key: object) -> str:
    if not isinstance(key, str) or len(key) > _LONGEST_KEY:
        raise _Unwritable
    return _line(key)


def _scalar(value: object, indent: str) -> str:
    """Write a scalar or an empty collection; a block's lines stand two deeper than `indent`."""
    match value:
        case str():
            return _block(value, indent + "  ") if _is_block(value) else _line(value)
        case None:
            return "null"
        case bool():
            return "true" if value else "false"
        case int():
            return str(int(value))
        case float() if isfinite(value):
            return _float(value)
        case list() | tuple():
            return "[]"
        case Mapping():
            return "{}"
    raise _Unwritable


def _float(value: float) -> str:
    """Write a float so that YAML 1.1 sees one too: it wants a point before the exponent."""
    mantissa, exponent, power = repr(float(value)).partition("e")
    return mantissa + ("" if "." in mantissa else ".0") + exponent + power


@lru_cache(maxsize=8192)
def _line(text: str) -> str:
    """Write a string in one line: plain where every reader takes that for the same string."""
    return str(text) if _is_plain(text) else _quoted(text)


def _is_plain(text: str) -> bool:
    return (
        _PLAIN.match(text) is not None
        and text.lower() not in _WORDS
        and _NUMBER.match(text) is None
        and _DATE.match(text) is None
        and _NOT_PLAIN.search(text) is None
        and "\n" not in text
        and _ESCAPED.search(text) is None
    )


def _quoted(text: str) -> str:
    """Write a JSON string, which is a double-quoted YAML string as well."""
    return _ESCAPED.sub(_escape, json.dumps(text, ensure_ascii=False))


def _escape(match: re.Match[str]) -> str:
    code = ord(match[0])
    if 0xD800 <= code <= 0xDFFF:
        raise _Unwritable
    return f"\\u{code:04x}"


def _is_block(text: str) -> bool:
    """Tell whether a literal block carries the text exactly, without an indentation mark."""
    return "\n" in text and text[0] not in " \t\n" and _ESCAPED.search(text) is None


def _block(text: str, indent: str) -> str:
    body = text.rstrip("\n")
    end = len(text) - len(body)
    chomping = ("|-", "|")[end] if end < 2 else "|+"
    lines = [indent + line if line else "" for line in body.split("\n")]
    return "\n".join([chomping, *lines, *[""] * (end - 1)])


def _faults(value: object, path: tuple[object, ...]) -> Iterator[str]:
    """Say what cannot be written, and where."""
    place = ".".join(str(part) for part in path) or "the document"
    if isinstance(value, Mapping):
        for key, item in value.items():
            if not isinstance(key, str):
                yield f"{place}: the key {key!r} is not a string"
            else:
                yield from _key_faults(key, place)
                yield from _faults(item, (*path, key))
    elif isinstance(value, (list, tuple)):
        for index, item in enumerate(value):
            yield from _faults(item, (*path, index))
    else:
        try:
            _scalar(value, "")
        except _Unwritable:
            yield f"{place}: YAML readers would not all take {value!r} alike"


def _key_faults(key: str, place: str) -> Iterator[str]:
    try:
        _key(key)
    except _Unwritable:
        yield f"{place}: the key {key[:40]!r} is too long or not Unicode text"
