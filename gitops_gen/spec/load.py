"""The bytes of a YAML file in, plain data and the places of its parts out, every fault named."""

from __future__ import annotations

import msgspec

from gitops_gen.model import Json
from gitops_gen.spec.compose import read_mapping
from gitops_gen.spec.extends import Read, resolve_layers
from gitops_gen.spec.source_map import SourceMap, plain_data

__all__ = ["Loaded", "Read", "SourceMap", "load_cluster", "parse"]


class Loaded(msgspec.Struct, frozen=True, kw_only=True):
    """Plain data and where it comes from; `source_map.texts` names every file that was read."""

    data: Json
    source_map: SourceMap


def parse(raw: bytes, file: str) -> Loaded:
    """Read one YAML mapping (YAML 1.2 core); SpecError carries every fault of the text."""
    text, root = read_mapping(raw, file)
    return Loaded(data=plain_data(root), source_map=SourceMap(root=root, texts={file: text}))


def load_cluster(file: str, read: Read) -> Loaded:
    """Read a cluster spec and the bases that it extends, merged into one.

    `file` is a POSIX path relative to the repository's root, and so is what `read` gets; it
    raises OSError. SpecError carries the faults of all files.
    """
    root, texts = resolve_layers(file, read)
    return Loaded(data=plain_data(root), source_map=SourceMap(root=root, texts=texts))
