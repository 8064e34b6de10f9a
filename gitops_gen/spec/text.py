"""The bytes of a file in, its text out, if it is text that every YAML reader takes alike."""

from __future__ import annotations

import re
from codecs import BOM_UTF8, BOM_UTF16_BE, BOM_UTF16_LE

from gitops_gen.diagnostics import Diagnostic, Position, SpecError

LARGEST_FILE = 1 << 20
_MOST_REPORTED = 20

# YAML 1.1 breaks lines at U+0085, U+2028 and U+2029, YAML 1.2 does not; the rest is not printable.
_CONTROL = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u2028\u2029\ufeff\ufffe\uffff]")
_BREAK = re.compile("\r\n?|\n")


def decode(raw: bytes, file: str) -> str:
    """Return the text of a UTF-8 file without its byte order mark; SpecError if it is none."""
    faults = _byte_faults(raw, file)
    if faults:
        raise SpecError(faults)
    text = raw.removeprefix(BOM_UTF8).decode()
    faults = _character_faults(text, file)
    if faults:
        raise SpecError(faults)
    return text


def whole_file(file: str) -> Position:
    """Return the position that stands for a file as a whole, at line 0."""
    return Position(file=file, line=0, column=0)


def split_lines(text: str) -> list[str]:
    """Split a text into lines as YAML counts them."""
    return _BREAK.split(text)


def position_at(text: str, at: int, file: str) -> Position:
    """Return the place of the character at an index of the text."""
    lines = split_lines(text[:at])
    return Position(file=file, line=len(lines), column=len(lines[-1]) + 1)


def _byte_faults(raw: bytes, file: str) -> list[Diagnostic]:
    if len(raw) > LARGEST_FILE:
        return [_too_large(len(raw), file)]
    if raw.startswith((BOM_UTF16_LE, BOM_UTF16_BE)):
        return [_not_text(file, "it is encoded in UTF-16", "save it as UTF-8")]
    if 0 in raw:
        return [_not_text(file, f"byte {raw.index(0)} is zero", "is it a binary file?")]
    try:
        raw.decode()
    except UnicodeDecodeError as error:
        reason = f"byte {error.start} (0x{raw[error.start]:02x}) is not UTF-8"
        return [_not_text(file, reason, "save it as UTF-8")]
    return []


def _too_large(size: int, file: str) -> Diagnostic:
    return Diagnostic(
        code="file-too-large",
        message=f"this file has {size:,} bytes; a spec has at most {LARGEST_FILE:,}",
        hint="is it really a cluster spec?",
        position=whole_file(file),
    )


def _not_text(file: str, reason: str, hint: str) -> Diagnostic:
    return Diagnostic(
        code="file-not-text",
        message=f"this is not a text file: {reason}",
        hint=hint,
        position=whole_file(file),
    )


def _character_faults(text: str, file: str) -> list[Diagnostic]:
    found = [match.start() for match in _CONTROL.finditer(text)]
    return [
        Diagnostic(
            code="yaml-control-character",
            message=f"the control character U+{ord(text[at]):04X} is not allowed here",
            hint=f'write it as "\\u{ord(text[at]):04X}" in double quotes, or remove it',
            position=position_at(text, at, file),
        )
        for at in found[:_MOST_REPORTED]
    ]
