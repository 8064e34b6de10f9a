"""A cluster file in, one tree of nodes out: the bases that it extends, merged in order."""

from __future__ import annotations

import posixpath
from collections.abc import Callable, Iterator

from msgspec.structs import replace

from gitops_gen.diagnostics import Diagnostic, Position, SpecError
from gitops_gen.spec.compose import describe, read_mapping
from gitops_gen.spec.document import API_VERSION
from gitops_gen.spec.merge import merge
from gitops_gen.spec.source_map import Mapped, Node, Scalar, Sequence, sort_by_place
from gitops_gen.spec.text import whole_file

Read = Callable[[str], bytes]
"""Reads a file by its POSIX path relative to the repository's root; raises OSError."""

MOST_LAYERS = 16


def resolve_layers(file: str, read: Read) -> tuple[Mapped, dict[str, str]]:
    """Return the merged spec and the texts of all files read; SpecError carries every fault."""
    layers = _Layers(read)
    merged = layers.cluster(file)
    if merged is None or layers.faults:
        raise SpecError(sort_by_place(layers.faults))
    return merged, layers.texts


class _Layers:
    """The files of one cluster, each read and merged once however often it is named."""

    def __init__(self, read: Read) -> None:
        self.texts: dict[str, str] = {}
        self.faults: list[Diagnostic] = []
        self._read = read
        self._bases: dict[str, Mapped | None] = {}

    def cluster(self, file: str) -> Mapped | None:
        """Return the cluster's spec merged over its bases, None where a fault prevents it."""
        try:
            raw = self._read(file)
        except OSError as error:
            reason = f"this file cannot be read: {error.strerror or error}"
            self._report("no-spec", reason, whole_file(file))
            return None
        root = self._parsed(raw, file)
        return None if root is None else self._over_bases(root, (file,))

    def _parsed(self, raw: bytes, file: str) -> Mapped | None:
        try:
            self.texts[file], root = read_mapping(raw, file)
        except SpecError as error:
            self.faults.extend(error.diagnostics)
            return None
        return root

    def _over_bases(self, root: Mapped, chain: tuple[str, ...]) -> Mapped:
        """Merge what a file extends, in the order named, and the file itself last."""
        own = _without(root, "extends")
        bases = [self._base(name, at, chain) for name, at in self._named_files(root)]
        layers = [base for base in bases if base is not None]
        if not layers:
            return own
        merged: Node = layers[0]
        for layer in (*layers[1:], own):
            merged = merge(merged, layer)
        assert isinstance(merged, Mapped)
        return merged

    def _named_files(self, root: Mapped) -> Iterator[tuple[str, Position]]:
        entry = root.entries.get("extends")
        if entry is None:
            return
        if not isinstance(entry.value, Sequence):
            self._not_files(entry.value)
            return
        for item in entry.value.items:
            if isinstance(item, Scalar) and isinstance(item.value, str):
                yield item.value, item.position
            else:
                self._not_files(item)

    def _not_files(self, node: Node) -> None:
        self._report(
            "extends-type",
            f"`extends` takes a list of file names, not {describe(node)}",
            node.position,
            hint=f"extends: [{node.value}]"
            if isinstance(node, Scalar) and isinstance(node.value, str)
            else "extends: [../base/company.yaml]",
        )

    def _base(self, name: str, at: Position, chain: tuple[str, ...]) -> Mapped | None:
        file = posixpath.normpath(posixpath.join(posixpath.dirname(chain[-1]), name))
        if file.startswith(("../", "/")) or file == "..":
            message = f'"{name}" lies outside the repository'
            self._report("extends-outside", message, at)
            return None
        if file in chain:
            circle = " → ".join((*chain[chain.index(file) :], file))
            self._report("extends-cycle", f"files extend each other in a circle: {circle}", at)
            return None
        if len(chain) == MOST_LAYERS:
            self._report("extends-too-deep", f"more than {MOST_LAYERS} layers of `extends`", at)
            return None
        if file not in self._bases:
            self._bases[file] = self._load_base(file, name, at, chain)
        return self._bases[file]

    def _load_base(self, file: str, name: str, at: Position, chain: tuple[str, ...]) -> Mapped | None:
        try:
            raw = self._read(file)
        except FileNotFoundError:
            self._report("extends-missing", f"the repository has no file {file}", at)
            return None
        except (OSError, ValueError) as error:  # ValueError: a NUL in the name
            reason = f'cannot read "{name}": {getattr(error, "strerror", None) or error}'
            self._report("extends-missing", reason, at)
            return None
        root = self._parsed(raw, file)
        if root is None or not self._is_base(root):
            return None
        return self._over_bases(_content(root), (*chain, file))

    def _is_base(self, root: Mapped) -> bool:
        """Report a file that cannot be extended."""
        found = _identity(root)
        if found == (API_VERSION, "ClusterBase"):
            return True
        message = f"this is {_shown(root)}; `extends` takes files of kind ClusterBase"
        position = _kind_position(root)
        if found == (API_VERSION, "Cluster"):
            hint = "move what both clusters share into a ClusterBase"
            self._report("extends-kind", message, position, hint=hint)
        else:
            hint = f"a base starts with `apiVersion: {API_VERSION}` and `kind: ClusterBase`"
            self._report("wrong-document", message, position, hint=hint)
        return False

    def _report(self, code: str, message: str, position: Position, *, hint: str = "") -> None:
        self.faults.append(Diagnostic(code=code, message=message, hint=hint, position=position))


def _identity(root: Mapped) -> tuple[object, object]:
    return _text(root, "apiVersion"), _text(root, "kind")


def _text(root: Mapped, key: str) -> object:
    entry = root.entries.get(key)
    return entry.value.value if entry and isinstance(entry.value, Scalar) else None


def _shown(root: Mapped) -> str:
    parts = [f"{key} {_text(root, key)}" for key in ("apiVersion", "kind") if key in root.entries]
    return ", ".join(parts) or "a mapping without apiVersion and kind"


def _kind_position(root: Mapped) -> Position:
    """Return the place of the part that is wrong: apiVersion, else kind, else the document."""
    wrong = "kind" if _text(root, "apiVersion") == API_VERSION else "apiVersion"
    entry = root.entries.get(wrong)
    return root.position if entry is None else entry.value.position


def _without(root: Mapped, *keys: str) -> Mapped:
    left = {key: entry for key, entry in root.entries.items() if key not in keys}
    return replace(root, entries=left)


def _content(root: Mapped) -> Mapped:
    """Return what a base gives to others: its type and its own name are not part of that."""
    content = _without(root, "apiVersion", "kind")
    entry = content.entries.get("metadata")
    if entry is None or not isinstance(entry.value, Mapped):
        return content
    metadata = replace(entry, value=_without(entry.value, "name"))
    return replace(content, entries={**content.entries, "metadata": metadata})
