"""The text of a YAML file in, one tree of nodes with their places out, every fault reported."""

from __future__ import annotations

import re

from msgspec.structs import replace
from yaml import CSafeLoader
from yaml.error import MarkedYAMLError
from yaml.events import (
    AliasEvent,
    DocumentStartEvent,
    Event,
    MappingEndEvent,
    MappingStartEvent,
    ScalarEvent,
    SequenceEndEvent,
    SequenceStartEvent,
    StreamEndEvent,
)

from gitops_gen.diagnostics import Diagnostic, Position, SpecError
from gitops_gen.spec.resolve import Refused, resolve
from gitops_gen.spec.source_map import Entry, Mapped, Node, Scalar, Sequence, sort_by_place
from gitops_gen.spec.syntax import DEEPEST, TOO_DEEP, syntax_faults
from gitops_gen.spec.text import decode, position_at, whole_file

MOST_NODES = 100_000

_PROPERTIES = re.compile(r"(?:[&!][^\s,\[\]{}]*(?:\s+|#.*)*)*")

_TAGS = {
    ScalarEvent: (None, "tag:yaml.org,2002:str"),
    MappingStartEvent: (None, "tag:yaml.org,2002:map"),
    SequenceStartEvent: (None, "tag:yaml.org,2002:seq"),
}


def read_mapping(raw: bytes, file: str) -> tuple[str, Mapped]:
    """Return a file's text and its only document, a mapping; SpecError carries every fault."""
    text = decode(raw, file)
    composer = _Composer(file, text)
    composer.run()
    if composer.faults:
        raise SpecError(sort_by_place(composer.faults))
    return text, _mapping(composer.root, file)


def _mapping(root: Node | None, file: str) -> Mapped:
    if isinstance(root, Mapped):
        return root
    if root is None or (isinstance(root, Scalar) and root.raw == ""):
        message = "this file holds no YAML document"
        raise SpecError([Diagnostic(code="yaml-empty", message=message, position=whole_file(file))])
    raise SpecError(
        [
            Diagnostic(
                code="not-a-mapping",
                message=f"the document is {describe(root)}, not a mapping",
                hint="it starts with `apiVersion:` and `kind:`",
                position=root.position,
            )
        ]
    )


def describe(node: Node) -> str:
    """Say for people what kind of value a node is."""
    if isinstance(node, Mapped):
        return "a mapping"
    if isinstance(node, Sequence):
        return "a list"
    match node.value:
        case None:
            return "null"
        case bool():
            return "a boolean"
        case int() | float():
            return "a number"
        case _:
            return "a string"


class _Open:
    """A collection whose end is still to come; `key` waits for its value."""

    __slots__ = ("anchor", "entry", "key", "node", "wants_key")

    def __init__(self, node: Mapped | Sequence, anchor: str | None) -> None:
        self.node = node
        self.anchor = anchor
        self.wants_key = isinstance(node, Mapped)
        self.key: str | None = None
        self.entry = node.position


class _Composer:
    """Events of libyaml's parser in, nodes out: no recursion, so no depth can break it."""

    def __init__(self, file: str, text: str) -> None:
        self.file, self.text = file, text
        self.faults: list[Diagnostic] = []
        self.root: Node | None = None
        self._open: list[_Open] = []
        self._anchors: dict[str, Node] = {}
        self._documents = 0

    def run(self) -> None:
        """Read the whole text; faults that leave nothing to go on with end it early."""
        loader = CSafeLoader(self.text)
        try:
            while not isinstance(event := loader.get_event(), StreamEndEvent):
                self._take(event)
        except MarkedYAMLError as error:
            self.faults.extend(syntax_faults(error, self.text, self.file))
        except SpecError as error:
            self.faults.extend(error.diagnostics)
        finally:
            loader.dispose()

    def _take(self, event: Event | None) -> None:
        match event:
            case ScalarEvent():
                self._scalar(event)
            case MappingStartEvent() | SequenceStartEvent():
                self._start(event)
            case MappingEndEvent() | SequenceEndEvent():
                self._end()
            case AliasEvent():
                self._alias(event)
            case DocumentStartEvent():
                self._document(event)

    def _document(self, event: Event) -> None:
        self._documents += 1
        if self._documents > 1:
            raise self._fault(
                "yaml-several-documents",
                "a second document starts here; a file holds one cluster",
                self._position(event),
                hint="give each cluster its own file",
            )

    def _scalar(self, event: ScalarEvent) -> None:
        position = self._start_of(event)
        if event.implicit[0] and not event.style:
            self._add(self._plain(event.value, position), event.anchor)
        else:
            self._add(Scalar(position=position, value=event.value), event.anchor)

    def _plain(self, text: str, position: Position) -> Scalar:
        try:
            return Scalar(position=position, value=resolve(text), raw=text)
        except Refused as why:
            is_key = bool(self._open) and self._open[-1].wants_key
            hint = f'write "{text}"' if is_key else why.hint
            self._report(why.code, why.message, position, hint=hint)
            return Scalar(position=position, value=text, raw=text)

    def _start(self, event: MappingStartEvent | SequenceStartEvent) -> None:
        position = self._start_of(event)
        if len(self._open) == DEEPEST:
            raise self._too_deep(position)
        kind = Mapped if isinstance(event, MappingStartEvent) else Sequence
        self._open.append(_Open(kind(position=position), event.anchor))

    def _end(self) -> None:
        closed = self._open.pop()
        self._add(closed.node, closed.anchor)

    def _alias(self, event: AliasEvent) -> None:
        position, name = self._position(event), event.anchor
        if any(item.anchor == name for item in self._open):
            self._report("yaml-recursive-alias", f"`*{name}` stands inside `&{name}`", position)
            self._add(Scalar(position=position, value=""), None)
        elif name not in self._anchors:
            message = f"`*{name}` has no `&{name}` before it"
            self._report("yaml-unknown-alias", message, position)
            self._add(Scalar(position=position, value=""), None)
        else:
            self._add(_placed(self._anchors[name], position), None)

    def _add(self, node: Node, anchor: str | None) -> None:
        """Give a finished node to the collection around it."""
        if anchor is not None:
            self._anchors[anchor] = node
        if not self._open:
            self.root = node
            return
        around = self._open[-1]
        self._count(around.node, node)
        if around.wants_key:
            self._take_key(around, node)
        elif isinstance(around.node, Sequence):
            around.node.items.append(node)
        else:
            if around.key is not None:
                around.node.entries[around.key] = Entry(position=around.entry, value=node)
            around.wants_key = True

    def _count(self, around: Mapped | Sequence, node: Node) -> None:
        around.nodes += 1 if isinstance(node, Scalar) else node.nodes
        if around.nodes > MOST_NODES:
            raise self._fault(
                "yaml-alias-bomb",
                f"more than {MOST_NODES:,} values, with its aliases written out",
                node.position,
            )
        if not isinstance(node, Scalar):
            around.height = max(around.height, node.height + 1)
            if len(self._open) + node.height > DEEPEST:
                raise self._too_deep(node.position)

    def _take_key(self, around: _Open, node: Node) -> None:
        assert isinstance(around.node, Mapped)
        around.wants_key = False
        around.entry = node.position
        if not around.node.entries:
            around.node.position = node.position
        around.key = self._key(around.node, node)

    def _key(self, around: Mapped, node: Node) -> str | None:
        """Return the key that a node is, or None where it can be none."""
        if not isinstance(node, Scalar) or not isinstance(node.value, str):
            raw = node.raw if isinstance(node, Scalar) else None
            hint = f'write "{raw}"' if raw else 'a text that begins with "{" or "[" needs quotes'
            message = f"a key must be a string; this one is {describe(node)}"
            self._report("yaml-key-type", message, node.position, hint=hint)
            return None
        if node.raw == "<<":
            message = "merge keys (`<<`) are not part of YAML 1.2"
            hint = "share settings between files with `extends`"
            self._report("yaml-merge-key", message, node.position, hint=hint)
            return None
        first = around.entries.get(node.value)
        if first is not None:
            at = f"line {first.position.line}, column {first.position.column}"
            message = f'the key "{node.value[:60]}" is given twice; first on {at}'
            self._report("yaml-duplicate-key", message, node.position)
            return None
        return node.value

    def _start_of(self, event: ScalarEvent | MappingStartEvent | SequenceStartEvent) -> Position:
        """Return where a value starts, behind its anchor and tag."""
        position = self._position(event)
        if event.tag not in _TAGS[type(event)]:
            self._report(
                "yaml-tag",
                f"the tag `{_tag(event.tag)}` is not allowed; a spec is plain data",
                position,
                hint="remove the tag",
            )
        if event.anchor is None and event.tag is None:
            return position
        assert event.start_mark is not None
        behind = _PROPERTIES.match(self.text, event.start_mark.index)
        assert behind is not None
        return position_at(self.text, behind.end(), self.file)

    def _position(self, event: Event) -> Position:
        mark = event.start_mark
        assert mark is not None
        return Position(file=self.file, line=mark.line + 1, column=mark.column + 1)

    def _too_deep(self, position: Position) -> SpecError:
        return self._fault("yaml-too-deep", TOO_DEEP, position)

    def _report(self, code: str, message: str, position: Position, *, hint: str = "") -> None:
        self.faults.append(Diagnostic(code=code, message=message, hint=hint, position=position))

    def _fault(self, code: str, message: str, position: Position, *, hint: str = "") -> SpecError:
        return SpecError([Diagnostic(code=code, message=message, hint=hint, position=position)])


def _tag(tag: str | None) -> str:
    return (tag or "").replace("tag:yaml.org,2002:", "!!")


def _placed(node: Node, position: Position) -> Node:
    """Return a node as an alias shows it: the same content, placed at the alias."""
    return replace(node, position=position)
