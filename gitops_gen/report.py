"""Diagnostics in, text for a terminal, GitHub annotations, JSON or SARIF out."""

from __future__ import annotations

import json
import unicodedata
from collections.abc import Callable, Iterable, Sequence
from typing import Any, Literal
from urllib.parse import quote

from msgspec.structs import replace

from gitops_gen.diagnostics import Diagnostic, Position, Severity
from gitops_gen.mask import mask_address, mask_below
from gitops_gen.traced import format_path

Lines = Callable[[Position], str]
"""Gives the source line of a position."""

Format = Literal["text", "json", "github", "sarif"]

_WIDTH = 100
_BEFORE = 60
_COLORS = {Severity.ERROR: "1;31", Severity.WARNING: "1;33", Severity.NOTICE: "1;36"}
_LEVELS = {Severity.ERROR: "error", Severity.WARNING: "warning", Severity.NOTICE: "note"}
_SARIF = "https://json.schemastore.org/sarif-2.1.0.json"


def render_report(
    form: Format,
    diagnostics: Sequence[Diagnostic],
    lines: Lines,
    *,
    file: str = "",
    color: bool = False,
) -> str:
    """Render diagnostics in the form that the user asked for; empty text means nothing to print."""
    match form:
        case "text":
            return render_text(diagnostics, lines, color, file=file)
        case "json":
            return render_json(diagnostics, file=file)
        case "github":
            return render_github(diagnostics, file=file)
        case "sarif":
            return render_sarif(diagnostics, file=file)


def render_text(
    diagnostics: Iterable[Diagnostic], lines: Lines, color: bool = False, *, file: str = ""
) -> str:
    """Render each diagnostic with its source line, a caret below the column, and the hint.

    `file` names the input for diagnostics that have no position; a position at line 0 stands for
    its file as a whole. What may be a secret in a source line is masked.
    """
    return "".join(_text(_settled(item, file), lines, color) for item in diagnostics)


def summary(diagnostics: Iterable[Diagnostic]) -> str:
    """Count the findings: `2 errors, 1 warning`, or `no findings`."""
    counts = _counts(diagnostics)
    parts = [f"{count} {word if count == 1 else word + 's'}" for word, count in counts if count]
    return ", ".join(parts) or "no findings"


def render_json(diagnostics: Sequence[Diagnostic], *, file: str = "") -> str:
    """Render `{"diagnostics": […], "summary": {"errors": 1, …}}`."""
    found = [_record(_settled(item, file)) for item in diagnostics]
    counts = {f"{word}s": count for word, count in _counts(diagnostics)}
    return _json({"diagnostics": found, "summary": counts})


def render_github(diagnostics: Iterable[Diagnostic], *, file: str = "") -> str:
    """Render workflow commands, which GitHub shows beside the lines of a pull request."""
    return "".join(_annotation(_settled(item, file)) for item in diagnostics)


def render_sarif(diagnostics: Sequence[Diagnostic], *, file: str = "") -> str:
    """Render a SARIF 2.1.0 log with addresses relative to the repository."""
    codes = sorted({item.code for item in diagnostics})
    rules = [{"id": code, "shortDescription": {"text": code.replace("-", " ")}} for code in codes]
    run = {
        "tool": {"driver": {"name": "gitops-gen", "rules": rules}},
        "columnKind": "unicodeCodePoints",
        "results": [_result(_settled(item, file), codes) for item in diagnostics],
    }
    return _json({"$schema": _SARIF, "version": "2.1.0", "runs": [run]})


def _settled(item: Diagnostic, file: str) -> Diagnostic:
    """Return the diagnostic as it is shown: no credentials, and line 0 where only the file is known."""
    return replace(
        item,
        message=mask_address(item.message),
        hint=mask_address(item.hint),
        position=item.position or Position(file=file, line=0, column=0),
    )


def _place(item: Diagnostic) -> Position:
    assert item.position is not None
    return item.position


# --- text --------------------------------------------------------------------------------------


def _text(item: Diagnostic, lines: Lines, color: bool) -> str:
    at = _place(item)
    place = f"{at.file}:{at.line}:{at.column}: " if at.line else f"{at.file}: " if at.file else ""
    label = _painted(f"{item.severity}[{item.code}]", _COLORS[item.severity], color)
    rows = [f"{_painted(place, '1', color)}{label}: {_visible(item.message)}"]
    if at.line:
        line = mask_below(lines(at).rstrip("\r\n"), item.path)
        rows += [f"  {row}" for row in _source(line, at.column, color)]
    if item.hint:
        rows.append(f"  {_painted('hint', '1;32', color)}: {_visible(item.hint)}")
    if item.severity is Severity.WARNING and item.where:
        where = _visible(item.where)
        path = f"'{where}'" if set(where) & set('[]{},"#:') else where
        entry = f"{{code: {item.code}, path: {path}, reason: …}}"
        rows.append(f"  {_painted('accept', '1;32', color)}: {entry}")
    return "\n".join(rows) + "\n"


def _painted(text: str, style: str, color: bool) -> str:
    return f"\x1b[{style}m{text}\x1b[0m" if color and text else text


def _source(line: str, column: int, color: bool) -> tuple[str, ...]:
    """Return the masked line, shortened around the column, and a caret below it."""
    masked = _visible(line)
    if not masked.strip():
        return ()
    at = min(column - 1, len(masked))
    start = max(0, at - _BEFORE) if len(masked) > _WIDTH else 0
    cut = masked[start : start + _WIDTH]
    before, after = "…" if start else "", "…" if start + _WIDTH < len(masked) else ""
    padding = "".join(_blank(char) for char in before + masked[start:at])
    return f"{before}{cut}{after}", padding + _painted("^", "1;32", color)


def _blank(char: str) -> str:
    """Return white space as wide as the character is on a terminal."""
    if char == "\t":
        return char
    if unicodedata.combining(char) or unicodedata.category(char) in ("Mn", "Me", "Cf"):
        return ""
    return "  " if unicodedata.east_asian_width(char) in "WF" else " "


def _visible(text: str) -> str:
    """Replace control characters, which a terminal might obey, by a mark."""
    return "".join(
        char if char == "\t" or unicodedata.category(char) != "Cc" else "\N{REPLACEMENT CHARACTER}"
        for char in text
    )


# --- other forms -------------------------------------------------------------------------------


def _counts(diagnostics: Iterable[Diagnostic]) -> list[tuple[str, int]]:
    found = [item.severity for item in diagnostics]
    return [(str(severity), found.count(severity)) for severity in Severity]


def _record(item: Diagnostic) -> dict[str, Any]:
    at = _place(item)
    return {
        "code": item.code,
        "severity": str(item.severity),
        "message": item.message,
        "hint": item.hint,
        "path": mask_address(format_path(item.path)),
        "file": at.file or None,
        "line": at.line or None,
        "column": at.column or None,
    }


def _annotation(item: Diagnostic) -> str:
    at = _place(item)
    place = {"file": at.file, "line": at.line, "col": at.column}
    properties = {**{key: value for key, value in place.items() if value}, "title": item.code}
    shown = ",".join(f"{key}={_property(str(value))}" for key, value in properties.items())
    return f"::{item.severity} {shown}::{_data(_said(item))}\n"


def _said(item: Diagnostic) -> str:
    return f"{item.message}\nhint: {item.hint}" if item.hint else item.message


def _data(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    return _data(text).replace(":", "%3A").replace(",", "%2C")


def _result(item: Diagnostic, codes: list[str]) -> dict[str, Any]:
    at = _place(item)
    location: dict[str, Any] = {"artifactLocation": {"uri": quote(at.file, errors="surrogateescape")}}
    if at.line:
        location["region"] = {"startLine": at.line, "startColumn": at.column}
    return {
        "ruleId": item.code,
        "ruleIndex": codes.index(item.code),
        "level": _LEVELS[item.severity],
        "message": {"text": _said(item)},
        "locations": [{"physicalLocation": location}] if at.file else [],
    }


def _json(value: Any) -> str:
    return json.dumps(value, indent=2, ensure_ascii=False) + "\n"
