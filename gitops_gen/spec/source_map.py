"""The nodes of YAML files in, and for a path in the spec the place in the text that set it out."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import msgspec
from msgspec.structs import replace

from gitops_gen.diagnostics import Diagnostic, Path, Position
from gitops_gen.model import Json
from gitops_gen.spec.text import split_lines


class Scalar(msgspec.Struct, kw_only=True):
    """A scalar with its value; `raw` is the text as it stands if it is written without quotes."""

    position: Position
    value: bool | int | float | str | None
    raw: str | None = None


class Sequence(msgspec.Struct, kw_only=True):
    """A list; `nodes` counts what it expands to and `height` the levels below, aliases included."""

    position: Position
    items: list[Node] = []
    nodes: int = 1
    height: int = 1


class Entry(msgspec.Struct, kw_only=True):
    """One key of a mapping with its value."""

    position: Position
    value: Node


class Mapped(msgspec.Struct, kw_only=True):
    """A mapping with string keys; `nodes` and `height` as in `Sequence`."""

    position: Position
    entries: dict[str, Entry] = {}
    nodes: int = 1
    height: int = 1


Node = Scalar | Sequence | Mapped


def plain_data(node: Node) -> Json:
    """Return the value of a node as new dicts, lists and scalars."""
    if isinstance(node, Scalar):
        return node.value
    if isinstance(node, Sequence):
        return [plain_data(item) for item in node.items]
    return {key: plain_data(entry.value) for key, entry in node.entries.items()}


def item_name(node: Node) -> str | None:
    """Return the `name` of a mapping where it has one that is a string."""
    entry = node.entries.get("name") if isinstance(node, Mapped) else None
    value = entry.value.value if entry and isinstance(entry.value, Scalar) else None
    return value if isinstance(value, str) else None


class SourceMap(msgspec.Struct, frozen=True, kw_only=True):
    """Where each part of a spec stands. `texts` holds every file that was read, by its name."""

    root: Node
    texts: Mapping[str, str]

    def has(self, path: Path) -> bool:
        """Tell whether some file sets the value at `path`."""
        return len(self._walk(path)) == len(path) + 1

    def value(self, path: Path) -> Position | None:
        """Return where the value at `path` starts, or that of its nearest parent in the text.

        A mapping starts at its first key, a list at its first item's dash or its bracket.
        """
        return self._walk(path)[-1].position

    def key(self, path: Path) -> Position | None:
        """Return where the last key of `path` stands; for list items where the item starts."""
        nodes = self._walk(path)
        parent = nodes[-2] if len(nodes) > 1 else None
        if len(nodes) == len(path) + 1 and isinstance(parent, Mapped):
            return parent.entries[str(path[-1])].position
        return nodes[-1].position

    def raw(self, path: Path) -> str | None:
        """Return the user's own text of an unquoted scalar (`1.10`, `0x1F`), None for all else."""
        node = self._walk(path)[-1] if self.has(path) else None
        return node.raw if isinstance(node, Scalar) else None

    def line(self, position: Position) -> str:
        """Return the line of text at a position, without its end; empty outside the file."""
        lines = split_lines(self.texts.get(position.file, ""))
        return lines[position.line - 1] if 0 < position.line <= len(lines) else ""

    def show(self, path: Path) -> str:
        """Write a path for people: `spec.nodePools[h100].gpu`, named list items by their name."""
        text = ""
        for index, part in enumerate(path):
            if isinstance(part, int):
                nodes = self._walk(path[: index + 1])
                name = item_name(nodes[-1]) if len(nodes) == index + 2 else None
                text += f"[{part if name is None else name}]"
            elif part.replace("-", "").replace("_", "").isalnum():
                text += f".{part}" if text else part
            else:
                text += f'["{part}"]'
        return text

    def locate(self, diagnostics: Iterable[Diagnostic]) -> tuple[Diagnostic, ...]:
        """Give each diagnostic its position and sort them by place; those without come first."""
        return sort_by_place(self._placed(item) for item in diagnostics)

    def _placed(self, item: Diagnostic) -> Diagnostic:
        if item.position is not None or not item.path:
            return item
        find = self.key if item.on_key else self.value
        return replace(item, position=find(item.path), where=self.show(item.path))

    def _walk(self, path: Path) -> list[Node]:
        """Return the nodes from the root along `path`, as far as the text has them."""
        nodes = [self.root]
        for part in path:
            below = _child(nodes[-1], part)
            if below is None:
                break
            nodes.append(below)
        return nodes


def sort_by_place(diagnostics: Iterable[Diagnostic]) -> tuple[Diagnostic, ...]:
    """Sort diagnostics by file, line, column and code; those without a position come first."""
    return tuple(sorted(diagnostics, key=_place))


def _place(item: Diagnostic) -> tuple[str, int, int, str, str]:
    at = item.position or Position(file="", line=0, column=0)
    return (at.file, at.line, at.column, item.code, item.message)


def _child(node: Node, part: str | int) -> Node | None:
    if isinstance(node, Mapped):
        entry = node.entries.get(part) if isinstance(part, str) else None
        return None if entry is None else entry.value
    if isinstance(node, Sequence) and isinstance(part, int) and 0 <= part < len(node.items):
        return node.items[part]
    if isinstance(node, Sequence) and isinstance(part, str):
        return next((item for item in node.items if item_name(item) == part), None)
    return None
