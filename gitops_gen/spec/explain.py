"""A dotted path in, what the schema says about that part of the spec out."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

import msgspec

from gitops_gen.spec.tree import Schema, branches, descendants, nearest, part_for, properties, step
from gitops_gen.spec.wording import first_sentence, kind_of, quoted


class Child(msgspec.Struct, frozen=True, kw_only=True):
    """A key of an object; `description` is the first sentence, `required` that it must be set.

    `name` is a path where keys of several levels are listed.
    """

    name: str
    type: str
    description: str
    required: bool
    default: Any = None
    allowed: tuple[Any, ...] = ()


class Explained(msgspec.Struct, frozen=True, kw_only=True):
    """One part of the spec as its schema describes it; `default` is None where there is none."""

    path: str
    type: str
    description: str
    required: bool
    default: Any
    allowed: tuple[Any, ...]
    must_be: str
    children: tuple[Child, ...]
    examples: tuple[Any, ...]


class UnknownPathError(KeyError):
    """The spec has no such path (exit status 2); `nearest` is the known one that is most alike."""

    def __init__(self, path: str, nearest: str | None) -> None:
        self.path = path
        self.nearest = nearest
        advice = f'; did you mean "{nearest}"?' if nearest else ""
        super().__init__(f'the spec has no "{path}"{advice}')


def explain(schema: Schema, path: str, *, recursive: bool = False) -> Explained:
    """Describe the part at a path such as `nodePools.gpu.mig` or `gpuOperator.driver`.

    Its keys are listed, with `recursive` also the keys below them. `spec.` and `components.` may
    be left out, list items are written with `[]` or not at all. Any other path raises
    UnknownPathError.
    """
    whole = part_for(schema)
    words = [word for word in re.sub(r"\[[^\]]*\]", "", path).split(".") if word]
    for prefix in ([], ["spec"], ["spec", "components"]):
        found = _descend(whole, [*prefix, *words])
        if found is not None and (words or not prefix):
            return _explained(*found, recursive=recursive)
    raise UnknownPathError(path, _nearest(whole, path))


def explained_text(found: Explained) -> str:
    """Write a part for a terminal: what it is, what it may be, and the keys below it."""
    rows = [f"{found.path or 'a cluster spec'}: {found.type}", "", f"  {found.description}", ""]
    rows += [f"  {label}: {value}" for label, value in _facts(found)]
    if found.children:
        rows += ["", "  keys:", *_child_rows(found.children)]
    return "\n".join(rows).replace("\n\n\n", "\n\n").rstrip()


def _facts(found: Explained) -> Iterator[tuple[str, str]]:
    if found.path:
        yield "required", "yes" if found.required else "no"
    if found.default is not None and not found.children:
        yield "default", quoted(found.default)
    if found.allowed:
        yield "allowed", ", ".join(str(value) for value in found.allowed)
    if found.must_be:
        yield "must be", found.must_be
    if found.examples:
        yield "examples", ", ".join(quoted(value) for value in found.examples)


def _child_rows(children: tuple[Child, ...]) -> Iterator[str]:
    width = max(len(child.name) for child in children)
    for child in children:
        yield f"    {child.name:<{width}}  {child.type}{''.join(_marks(child))}"
        yield f"    {'':<{width}}  {child.description}"


def _marks(child: Child) -> Iterator[str]:
    if child.required:
        yield " (required)"
    if child.allowed:
        yield f": {' | '.join(str(value) for value in child.allowed)}"
    if child.default not in (None, {}, []):
        yield f", default {quoted(child.default)}"


def _descend(schema: Schema, words: list[str]) -> tuple[Schema, str, bool] | None:
    here, shown, required = schema, "", True
    for word in words:
        below = properties(_item(here)).get(word) or _free(_item(here), word)
        if below is None:
            return None
        required = word in _item(here).get("required", ())
        shown += ("[]." if "items" in here else "." if shown else "") + word
        here = below
    return here, shown, required


def _item(schema: Schema) -> Schema:
    items = schema.get("items")
    return items if isinstance(items, Mapping) else schema


def _free(schema: Schema, word: str) -> Schema | None:
    return step(schema, word)


def _explained(schema: Schema, path: str, required: bool, *, recursive: bool) -> Explained:
    inner = _item(schema)
    return Explained(
        path=path,
        type=kind_of(schema),
        description=" ".join(str(schema.get("description", "")).split()),
        required=required,
        default=schema.get("default"),
        allowed=_allowed(schema),
        must_be=str(schema.get("x-error") or inner.get("x-error", "")),
        children=tuple(_children(inner, "", recursive)),
        examples=tuple(schema.get("examples", ())),
    )


def _children(schema: Schema, prefix: str, recursive: bool) -> Iterator[Child]:
    for name, below in properties(schema).items():
        yield Child(
            name=prefix + name,
            type=kind_of(below),
            description=first_sentence(str(below.get("description", ""))),
            required=name in schema.get("required", ()),
            default=below.get("default"),
            allowed=_allowed(below),
        )
        if recursive:
            brackets = "[]" if "items" in below else ""
            yield from _children(_item(below), f"{prefix}{name}{brackets}.", recursive)


def _allowed(schema: Schema) -> tuple[Any, ...]:
    own = (*schema.get("enum", ()), *_item(schema).get("enum", ()))
    return tuple(dict.fromkeys((*own, *(word for one in branches(schema) for word in _allowed(one)))))


def _nearest(schema: Schema, path: str) -> str | None:
    known = dict.fromkeys(path.replace("[]", "") for _, path in descendants(schema))
    short = [name.removeprefix("spec.") for name in known]
    wanted = re.sub(r"\[[^\]]*\]", "", path).removeprefix("spec.")
    last = nearest(wanted.rsplit(".", 1)[-1], [name.rsplit(".", 1)[-1] for name in short])
    same = [name for name in short if name.rsplit(".", 1)[-1] == last]
    return nearest(wanted, short, 0.8) or nearest(wanted, same, 0) or nearest(wanted, short)
