"""Dictionaries in, YAML text out: the only dumper, read alike by YAML 1.1, YAML 1.2 and Go."""

from __future__ import annotations

import io
import re
from collections.abc import Callable, Iterable, Mapping
from math import isfinite

from yaml import CSafeDumper
from yaml.events import (
    DocumentEndEvent,
    DocumentStartEvent,
    Event,
    MappingEndEvent,
    MappingStartEvent,
    ScalarEvent,
    SequenceEndEvent,
    SequenceStartEvent,
    StreamEndEvent,
    StreamStartEvent,
)

_FIRST_KEYS = ("apiVersion", "kind", "metadata", "spec")
Put = Callable[[Event], None]

_WIDTH = 1 << 30
_IMPLICIT = (True, True)

_WORDS = frozenset("y n yes no on off true false null ~ = << .inf -.inf +.inf .nan".split())
# A number, or a date, in any dialect: octal, hexadecimal, sexagesimal, underscores, exponents.
_NUMBER = re.compile(r"[-+.]*[0-9_.][0-9a-fA-F_.,:xXoOeE+-]*\Z")
_DATE = re.compile(r"[0-9]{4}-[0-9]")
# What every reader takes as a plain string in block context; the rest is quoted.
_PLAIN = re.compile(r"(?:--?)?[^\W_][^\x00-\x1f]*\Z|[_/.$(][^\x00-\x1f]*\Z")
_NOT_PLAIN = re.compile(r": | #|:\Z| \Z|\A\.\.\.|\A---")


def emit(document: Mapping[str, object], header: str = "") -> str:
    """Return one YAML document; `header` becomes comment lines at its top.

    Keys keep their order, save that objects begin with apiVersion, kind, metadata and spec.
    TypeError names the path of a key that is no string or of a value that YAML readers
    would not all take alike (NaN, infinity, any type besides JSON's).
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
    stream = io.StringIO()
    put = CSafeDumper(stream, width=_WIDTH, allow_unicode=True).emit
    put(StreamStartEvent())
    put(DocumentStartEvent(explicit=False))
    _put_value(put, _ordered(document), ())
    put(DocumentEndEvent(explicit=False))
    put(StreamEndEvent())
    return stream.getvalue()


def _ordered(document: Mapping[str, object]) -> Mapping[str, object]:
    if "apiVersion" not in document:
        return document
    first = {key: document[key] for key in _FIRST_KEYS if key in document}
    return first | dict(document)


def _put_value(put: Put, value: object, path: tuple[object, ...]) -> None:
    if isinstance(value, Mapping):
        put(MappingStartEvent(None, None, True, flow_style=not value))
        for key, item in value.items():
            put(_key(key, path))
            _put_value(put, item, (*path, key))
        put(MappingEndEvent())
    elif isinstance(value, (list, tuple)):
        put(SequenceStartEvent(None, None, True, flow_style=not value))
        for index, item in enumerate(value):
            _put_value(put, item, (*path, index))
        put(SequenceEndEvent())
    else:
        put(_scalar(value, path))


def _key(key: object, path: tuple[object, ...]) -> Event:
    if not isinstance(key, str):
        raise TypeError(f"{_place(path)}: the key {key!r} is no string")
    style = _style(key)
    return _text(key, '"' if style == "|" else style)


def _scalar(value: object, path: tuple[object, ...]) -> Event:
    match value:
        case str():
            return _text(str(value), _style(value))
        case None:
            return _text("null", None)
        case bool():
            return _text("true" if value else "false", None)
        case int():
            return _text(str(int(value)), None)
        case float() if isfinite(value):
            return _text(_float(value), None)
    raise TypeError(f"{_place(path)}: YAML readers would not agree on {value!r}")


def _text(text: str, style: str | None) -> Event:
    return ScalarEvent(None, None, _IMPLICIT, text, style=style)


def _float(value: float) -> str:
    """Write a float so that YAML 1.1 sees one too: it wants a point before the exponent."""
    text = repr(float(value))
    mantissa, exponent, power = text.partition("e")
    return text if "." in mantissa else f"{mantissa}.0{exponent}{power}"


def _style(text: str) -> str | None:
    """Return libyaml's style for a string: plain, double-quoted or literal block."""
    if _is_plain(text):
        return None
    return "|" if _is_block(text) else '"'


def _is_plain(text: str) -> bool:
    return (
        _PLAIN.match(text) is not None
        and _NOT_PLAIN.search(text) is None
        and text.lower() not in _WORDS
        and _NUMBER.match(text) is None
        and _DATE.match(text) is None
        and text.isprintable()
    )


def _is_block(text: str) -> bool:
    """Tell whether a literal block carries the text exactly; libyaml quotes it where it cannot."""
    return (
        "\n" in text
        and text[0] not in " \t\n"
        and all(line.isprintable() for line in text.replace("\t", " ").split("\n"))
    )


def _place(path: tuple[object, ...]) -> str:
    return ".".join(str(part) for part in path) or "the document"
