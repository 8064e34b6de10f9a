"""Words for what is wrong: positions, diagnostics and the errors that carry them."""

from __future__ import annotations

from collections.abc import Iterable
from enum import StrEnum

import msgspec

Path = tuple[str | int, ...]
"""Where a value stands in a document: keys and list indices from the root."""


class Severity(StrEnum):
    """How much a diagnostic weighs: errors stop the run, warnings are printed, notices inform."""

    ERROR = "error"
    WARNING = "warning"
    NOTICE = "notice"


class Position(msgspec.Struct, frozen=True, kw_only=True, order=True):
    """A place in a text file; line and column count from 1."""

    file: str
    line: int
    column: int


class Diagnostic(msgspec.Struct, frozen=True, kw_only=True):
    """One finding. `code` is a stable kebab-case word; `path` leads to the value in the spec.

    `position` stays None until `spec.load.SourceMap.locate` finds it from `path`; `on_key`
    asks for the position of the key rather than of its value. `where` is `path` as people write it.
    """

    code: str
    message: str
    severity: Severity = Severity.ERROR
    path: Path = ()
    hint: str = ""
    position: Position | None = None
    on_key: bool = False
    where: str = ""


class SpecError(Exception):
    """The input is invalid (exit status 3); carries every diagnostic of the stage that failed."""

    def __init__(self, diagnostics: Iterable[Diagnostic]) -> None:
        self.diagnostics = tuple(diagnostics)
        super().__init__("; ".join(item.message for item in self.diagnostics))


class ToolError(Exception):
    """A program or service that we rely on is missing or failed (exit status 5)."""


def errors(diagnostics: Iterable[Diagnostic]) -> tuple[Diagnostic, ...]:
    """Return the diagnostics that stop a run."""
    return tuple(item for item in diagnostics if item.severity is Severity.ERROR)
