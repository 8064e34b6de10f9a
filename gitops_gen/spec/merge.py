"""Two trees of nodes in, one out: the later wins, and each part keeps the place that set it."""

from __future__ import annotations

from msgspec.structs import replace

from gitops_gen.spec.source_map import Entry, Mapped, Node, Scalar, Sequence, item_name


def merge(base: Node, top: Node) -> Node:
    """Lay `top` over `base`.

    Mappings merge key by key; a null removes the key that `base` has. Lists of named items
    merge by `name`: those of `base` in their order, then the new ones. All else replaces.
    """
    if isinstance(base, Mapped) and isinstance(top, Mapped):
        return replace(top, entries=_merge_entries(base.entries, top.entries))
    if isinstance(base, Sequence) and isinstance(top, Sequence) and _named(base) and _named(top):
        return replace(top, items=_merge_items(base.items, top.items))
    return top


def _merge_entries(base: dict[str, Entry], top: dict[str, Entry]) -> dict[str, Entry]:
    merged = dict(base)
    for key, entry in top.items():
        below = base.get(key)
        if below is None:
            merged[key] = entry
        elif _is_null(entry.value) and not _is_null(below.value):
            del merged[key]
        else:
            merged[key] = replace(entry, value=merge(below.value, entry.value))
    return merged


def _merge_items(base: list[Node], top: list[Node]) -> list[Node]:
    """Merge by name; a name that `top` repeats is kept twice, for the rules to find."""
    merged = list(base)
    places = {item_name(item): index for index, item in reversed(list(enumerate(base)))}
    for item in top:
        index = places.pop(item_name(item), None)
        if index is None:
            merged.append(item)
        else:
            merged[index] = merge(merged[index], item)
    return merged


def _named(node: Sequence) -> bool:
    return bool(node.items) and all(item_name(item) is not None for item in node.items)


def _is_null(node: Node) -> bool:
    return isinstance(node, Scalar) and node.value is None
