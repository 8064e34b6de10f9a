"""Values, paths and schemas in, the words that messages name them with out."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping
from typing import Any

from gitops_gen.diagnostics import Path
from gitops_gen.spec.tree import Schema, branches

_LISTED = 24
_TEXT = 60


def shown(data: Any, path: Path) -> Path:
    """Return the path with named items of lists written as one key: `nodePools[h100]`."""
    parts: list[str | int] = []
    here = data
    for part in path:
        here = _below(here, part)
        label = here.get("name") if isinstance(part, int) and isinstance(here, dict) else None
        if isinstance(label, str) and parts:
            parts[-1] = f"{parts[-1]}[{label}]"
        else:
            parts.append(part)
    return tuple(parts)


def _below(value: Any, part: str | int) -> Any:
    if isinstance(part, int):
        return value[part] if isinstance(value, list) and part < len(value) else None
    return value.get(part) if isinstance(value, dict) else None


def name(path: Path) -> str:
    """Name a value by its last key, an item of a list by its number: `item 2 of "interfaces"`."""
    if not path:
        return "the spec"
    if isinstance(path[-1], int):
        return f"item {path[-1] + 1} of {name(path[:-1])}"
    return f'"{path[-1]}"'


def inside(path: Path) -> str:
    """Say where a key stands: `under "gpu"`, `in item 2 of "nodePools"`."""
    if not path:
        return "at the top of the file"
    return f"in {name(path)}" if isinstance(path[-1], int) else f"under {name(path)}"


def last_key(path: Path) -> str:
    """Return the key that a value stands under, itself or as an item of a list."""
    return next((part for part in reversed(path) if isinstance(part, str)), "")


def found(value: Any, written: str) -> str:
    """Say what a value is; `written` is a scalar as the user wrote it."""
    if isinstance(value, str):
        return f'the text "{written}"' if len(written) <= _TEXT else "a text"
    if isinstance(value, bool):
        return f"the truth value {written}"
    if isinstance(value, int | float):
        return f"the number {written}"
    return "a map" if isinstance(value, dict) else "a list"


def article(words: str) -> str:
    """Put `a` or `an` before the words."""
    return f"an {words}" if words[:1] in "aeiou" else f"a {words}"


def plain(value: Any) -> str:
    """Write a scalar as YAML has it, without quotes."""
    if isinstance(value, bool):
        return "true" if value else "false"
    return str(value)


def quoted(value: Any) -> str:
    """Write a value in flow style, texts in quotes."""
    return json.dumps(value, ensure_ascii=False)


def listed(values: Iterable[Any]) -> str:
    """Write values one after the other, the first two dozen of them."""
    words = [plain(value) for value in values]
    return ", ".join(words[:_LISTED]) + (", …" if len(words) > _LISTED else "")


def listed_quoted(words: list[str], last: str) -> str:
    """Write words in quotes, the last two joined by `and` or `or`."""
    texts = [f'"{word}"' for word in words]
    return texts[0] if len(texts) == 1 else f"{', '.join(texts[:-1])} {last} {texts[-1]}"


def kind_of(schema: Schema) -> str:
    """Say in words what a value is: `string`, `list of integers`, `map`, `string or list`."""
    if "type" not in schema and branches(schema):
        return " or ".join(dict.fromkeys(kind_of(one) for one in branches(schema)))
    kind = schema.get("type") or ("string" if "enum" in schema else "any value")
    if isinstance(kind, list):
        kinds = (kind_of({**schema, "type": one}) for one in kind if one != "null")
        return " or ".join(kinds)
    if kind == "array" and isinstance(schema.get("items"), Mapping):
        return f"list of {_plural(kind_of(schema['items']))}"
    return _WORDS.get(kind, str(kind))


_WORDS = {"object": "map", "array": "list"}


def _plural(words: str) -> str:
    first, *rest = words.split(" ", 1)
    return " ".join([first + "s", *rest])


def first_sentence(text: str) -> str:
    """Return the first sentence of a description, on one line."""
    return re.split(r"(?<=\.)\s(?=[A-Z])", " ".join(text.split()), maxsplit=1)[0]


def meaning(key: str, schema: Schema) -> str:
    """Say what belongs under a key: what it means, and its values or an example."""
    text = first_sentence(str(schema.get("description", ""))).rstrip(".")
    if "enum" in schema:
        wanted = f"one of {listed(schema['enum'])}"
    elif schema.get("examples"):
        wanted = f"for example {quoted(schema['examples'][0])}"
    else:
        wanted = article(kind_of(schema))
    return f"{key}: {text} ({wanted})" if text else f"{key}: {wanted}"
