"""An error of libyaml's parser in, diagnostics in our own words out."""

from __future__ import annotations

import re

from yaml.error import MarkedYAMLError

from gitops_gen.diagnostics import Diagnostic, Position
from gitops_gen.spec.text import split_lines

DEEPEST = 64
TOO_DEEP = f"more than {DEEPEST} levels of nesting"

_MOST_TABS = 20
_INDENTING_TAB = re.compile(r" *\t")
_UNCLOSED = {
    "found unexpected end of stream": "quote",
    "did not find expected ',' or ']'": "list",
    "did not find expected ',' or '}'": "mapping",
}
_TAB_FIRST = re.compile(r"\t\s*\S")


def syntax_faults(error: MarkedYAMLError, text: str, file: str) -> list[Diagnostic]:
    """Return what is wrong with the text at the place where libyaml gave up.

    A tab seldom comes alone: the lines after it that start with one are named as well.
    """
    lines = split_lines(text)
    at = _within(_position(error.problem_mark, file), lines, file)
    tab = _INDENTING_TAB.match(lines[at.line - 1])
    if tab is None:
        return [_fault(error, lines[at.line - 1], at)]
    more = [number for number in range(at.line, len(lines)) if _TAB_FIRST.match(lines[number])]
    places = [(at.line, tab.end()), *((number + 1, 1) for number in more[:_MOST_TABS])]
    return [_tab(Position(file=file, line=line, column=column)) for line, column in places]


def _tab(position: Position) -> Diagnostic:
    return Diagnostic(
        code="yaml-tab",
        message="a tab in the indentation; YAML indents with spaces only",
        hint="replace the tab with spaces",
        position=position,
    )


def _fault(error: MarkedYAMLError, line: str, at: Position) -> Diagnostic:
    if error.problem == "exceeded maximum nesting depth":
        return Diagnostic(code="yaml-too-deep", message=TOO_DEEP, position=at)
    opened = _position(error.context_mark, at.file) or at
    never_closed = _UNCLOSED.get(error.problem or "")
    if never_closed and not line[at.column - 1 :]:
        message = f"this {never_closed} is never closed"
        return Diagnostic(code="yaml-syntax", message=message, position=opened)
    if error.problem == "could not find expected ':'":
        message = "this is not a `key: value`"
        hint = "a key ends with a colon and a space; a list item starts with a dash and a space"
        return Diagnostic(code="yaml-syntax", message=message, hint=hint, position=opened)
    message, hint = _words(error.problem or "", line[at.column - 1 :], opened)
    return Diagnostic(code="yaml-syntax", message=message, hint=hint, position=at)


def _position(mark: object, file: str) -> Position | None:
    line, column = getattr(mark, "line", None), getattr(mark, "column", None)
    if line is None or column is None:
        return None
    return Position(file=file, line=line + 1, column=column + 1)


def _within(position: Position | None, lines: list[str], file: str) -> Position:
    """Return the position, or the end of the text where libyaml points behind it."""
    if position is None or position.line > len(lines):
        return Position(file=file, line=len(lines), column=len(lines[-1]) + 1)
    return position


def _words(problem: str, rest: str, opened: Position) -> tuple[str, str]:
    """Say in our words what libyaml found, and what to do; `rest` is the line from there on."""
    begun = f"line {opened.line}, column {opened.column}"
    match problem:
        case "mapping values are not allowed in this context":
            return (
                "a colon where no key can stand",
                'quote a value that holds ": ", and check the indentation',
            )
        case "did not find expected node content" if not rest:
            return "a value is missing here", ""
        case "found character that cannot start any token" | "did not find expected node content":
            return f'a value cannot start with "{rest[:1]}"', "put it in double quotes"
        case "block sequence entries are not allowed in this context":
            return "a list cannot start here", "begin the list on the next line, or quote the value"
        case "did not find expected comment or line break":
            return (
                f'"{rest.strip()}" cannot stand behind the mark of a block',
                "begin the text on the next line",
            )
        case "did not find expected key":
            return (
                f"this fits nowhere in the mapping that begins on {begun}",
                "keys of one mapping stand in the same column; nothing follows a closing quote",
            )
        case "did not find expected '-' indicator":
            return (
                f"this fits nowhere in the list that begins on {begun}",
                "items of a list start with `- ` in one column, keys of an item stand deeper",
            )
        case "did not find expected ',' or ']'":
            return f'the "[" of {begun} is not closed before this', "write a comma or `]`"
        case "did not find expected ',' or '}'":
            return f'the "{{" of {begun} is not closed before this', "write a comma or `}`"
        case "found unknown escape character":
            return (
                f"`{rest[:2]}` is not an escape in double quotes",
                "write `\\\\` for a backslash, or use single quotes",
            )
        case _:
            return f"not valid YAML: {problem}", ""
