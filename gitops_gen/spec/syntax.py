"""An error of libyaml's parser in, a diagnostic in our own words out."""

from __future__ import annotations

import re

from yaml.error import MarkedYAMLError

from gitops_gen.diagnostics import Diagnostic, Position
from gitops_gen.spec.text import split_lines

_INDENTING_TAB = re.compile(r" *\t")


def syntax_fault(error: MarkedYAMLError, text: str, file: str) -> Diagnostic:
    """Return what is wrong with the text at the place where libyaml gave up."""
    mark = error.problem_mark or error.context_mark
    line = split_lines(text)[mark.line]
    tab = _INDENTING_TAB.match(line)
    if tab is not None:
        position = Position(file=file, line=mark.line + 1, column=tab.end())
        return Diagnostic(
            code="yaml-tab",
            message="a tab in the indentation; YAML indents with spaces only",
            hint="replace the tab with spaces",
            position=position,
        )
    return Diagnostic(
        code="yaml-syntax",
        message=f"{error.problem}",
        position=Position(file=file, line=mark.line + 1, column=mark.column + 1),
    )
