"""An unpacked chart's templates in; the values paths that they read, and how, out.

A reading of the template language that is good enough to find what values.yaml does not tell:
fields of `.Values`, `$.Values`, the dot inside `with` and `range`, variables and `index`.
Values that travel through a named template's own dictionary are seen where they set out.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from enum import IntEnum
from pathlib import Path

from gitops_gen.maintain.charts import subchart_folders
from gitops_gen.traced import format_path

KeyPath = tuple[str, ...]
ITEM = "[]"


class Use(IntEnum):
    """How a template uses a value: alone, handed on to others, or printed with all below it."""

    SINGLE = 1
    PASSED = 2
    WHOLE = 3


@dataclass(frozen=True, slots=True)
class Read:
    """The strongest use of a values path and a template that uses it so."""

    use: Use
    file: str


@dataclass(slots=True)
class _Scope:
    dot: KeyPath | None
    variables: dict[str, KeyPath | None]


_COMMENT = re.compile(r"\{\{-?\s*/\*.*?\*/\s*-?\}\}", re.DOTALL)
_ACTION = re.compile(r"\{\{-?\s*(.*?)\s*-?\}\}", re.DOTALL)
_STRING = re.compile(r"\"(?:[^\"\\]|\\.)*\"|`[^`]*`")
_CHAIN = re.compile(r"(?<![\w)\"'`])(\$\w*|)((?:\.[A-Za-z_]\w*)+)|(?<![\w)])(\$\w+)\b")
_INDEX = re.compile(r"\(?\s*(?:index|get)\s+((?:\$\w*)?(?:\.\w+)*)((?:\s+\"[^\"]+\")+)\s*\)?((?:\.\w+)*)")
_DOT = re.compile(r"(?<![\w.$)])\.(?!\w)")
_ASSIGN = re.compile(r"(\$\w+)(?:\s*,\s*(\$\w+))?\s*:?=\s*(.*)", re.DOTALL)
_PRINTING = re.compile(r"\b(toYaml|toRawJson|toJson|toToml|toPrettyJson|tpl|range|merge\w*|mustMerge\w*)\b")
_PASSING = re.compile(r"\b(include|template|dict|tuple|list|set|hasKey|omit|pick|concat|toString)\b")


def chart_reads(folder: Path, prefix: KeyPath = ()) -> dict[str, Read]:
    """Collect the reads of a chart and of its sub-charts under their names, by values path."""
    found: dict[str, Read] = {}
    for file in sorted(path for path in folder.glob("templates/**/*") if path.is_file()):
        for path, use in template_reads(file.read_text("utf-8")):
            full = path if path[0] == "global" else (*prefix, *path)
            _note(found, read_name(full), Read(use, str(file.relative_to(folder))))
    for name, below in subchart_folders(folder).items():
        for inner, read in chart_reads(below, (*prefix, name)).items():
            _note(found, inner, Read(read.use, f"charts/{below.name}/{read.file}"))
    return found


def template_reads(text: str) -> Iterator[tuple[KeyPath, Use]]:
    """Yield each values path that a template reads, with `[]` for the items of a collection."""
    scopes = [_Scope(dot=(), variables={"$": ()})]
    for action in _ACTION.findall(_COMMENT.sub("", text)):
        yield from _action(action, scopes)


def read_name(path: KeyPath) -> str:
    """Write a path as fact files do, `[]` for any item."""
    return format_path(path).replace(f'["{ITEM}"]', ITEM)


def _note(found: dict[str, Read], name: str, read: Read) -> None:
    if name not in found or found[name].use < read.use:
        found[name] = read


def _action(action: str, scopes: list[_Scope]) -> Iterator[tuple[KeyPath, Use]]:
    word, _, rest = action.partition(" ")
    if word == "end":
        del scopes[max(1, len(scopes) - 1) :]
        return
    for path in _paths(action, scopes[-1]):
        if path[:1] == ("Values",) and len(path) > 1:
            yield path[1:], _use(action)
    if word in ("if", "with", "range", "define", "block"):
        scopes.append(_opened(word, rest, scopes[-1]))
    elif word == "else" and rest.startswith("with "):
        scopes[-1] = _opened("with", rest.removeprefix("with "), scopes[-1])
    elif (found := _ASSIGN.match(action)) is not None:
        scopes[-1].variables[found[1]] = next(_paths(found[3], scopes[-1]), None)


def _use(action: str) -> Use:
    words = _STRING.sub('""', action)
    if _PRINTING.search(words):
        return Use.WHOLE
    return Use.PASSED if _PASSING.search(words) else Use.SINGLE


def _opened(word: str, rest: str, outer: _Scope) -> _Scope:
    if word == "define":
        return _Scope(dot=(), variables={"$": ()})
    assigned = _ASSIGN.match(rest)
    value = next(_paths(assigned[3] if assigned else rest, outer), None)
    if word == "range" and value is not None:
        value = (*value, ITEM)
    variables = dict(outer.variables)
    if assigned:
        variables[assigned[1]] = None
        variables[assigned[2] or assigned[1]] = value
    return _Scope(dot=outer.dot if word in ("if", "block") else value, variables=variables)


def _paths(text: str, scope: _Scope) -> Iterator[KeyPath]:
    """Yield the paths of an expression in the order in which it names them."""
    plain = _STRING.sub(_blank, _INDEX.sub(_blank, text))
    found = [(match.start(), _indexed(match, scope)) for match in _INDEX.finditer(text)]
    found += [(match.start(), _resolve(match[0], scope)) for match in _CHAIN.finditer(plain)]
    found += [(match.start(), scope.dot or None) for match in _DOT.finditer(plain)]
    yield from (path for _, path in sorted(found, key=lambda it: it[0]) if path is not None)


def _indexed(match: re.Match[str], scope: _Scope) -> KeyPath | None:
    base = _resolve(match[1], scope)
    names = re.findall(r"\"([^\"]+)\"", match[2])
    return None if base is None else (*base, *names, *_names(match[3]))


def _resolve(chain: str, scope: _Scope) -> KeyPath | None:
    head = chain.partition(".")[0]
    base = scope.variables.get(head) if head else scope.dot
    return None if base is None else (*base, *_names(chain))


def _names(chain: str) -> KeyPath:
    return tuple(part for part in chain.split(".")[1:] if part)


def _blank(match: re.Match[str]) -> str:
    return " " * len(match[0])
