"""A schema in, its compiled validator out, with the keyword that JSON Schema lacks."""

from __future__ import annotations

from typing import Any

from gitops_gen.spec.tree import Schema


class UniqueBy:
    """The keyword `x-uniqueBy`: the items of a list differ in one key."""

    def __init__(self, parent: Schema, value: str, path: list[str | int]) -> None:
        self._key = value

    def validate(self, instance: Any) -> None:
        """Raise ValueError if two items have the same value."""
        if repeated(instance, self._key) is not None:
            raise ValueError("two items are alike")


class Checker:
    """A schema with its compiled validator."""

    def __init__(self, schema: Schema) -> None:
        from jsonschema_rs import Draft202012Validator

        self.schema = schema
        self.validator = Draft202012Validator(dict(schema), keywords={"x-uniqueBy": UniqueBy})


def repeated(items: Any, key: str) -> tuple[int, int] | None:
    """Return the indices of the first two items that have the same text under `key`."""
    seen: dict[str, int] = {}
    for index, item in enumerate(items if isinstance(items, list) else ()):
        value = item.get(key) if isinstance(item, dict) else None
        if isinstance(value, str):
            if value in seen:
                return seen[value], index
            seen[value] = index
    return None
