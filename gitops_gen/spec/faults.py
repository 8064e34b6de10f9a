"""A document and its schema in, one Diagnostic for each fault out, worded for the person who wrote it."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from typing import TYPE_CHECKING, Any

from gitops_gen.diagnostics import Diagnostic, Path
from gitops_gen.spec.explain import first_sentence, kind_of
from gitops_gen.spec.tree import Schema, branches, descendants, nearest, properties

if TYPE_CHECKING:
    from jsonschema_rs import ValidationError

Raw = Callable[[Path], str | None]
"""Gives the text of the scalar at a path as the user wrote it, None if it is not known."""

_CREDENTIALS = re.compile(r"(?<=://)[^/@\s]+@")


class UniqueBy:
    """The keyword `x-uniqueBy`: the items of a list differ in one key."""

    def __init__(self, parent: Schema, value: str, path: list[str | int]) -> None:
        self._key = value

    def validate(self, instance: Any) -> None:
        """Raise ValueError if two items have the same value."""
        if _repeated(instance, self._key) is not None:
            raise ValueError("two items are alike")


class Checker:
    """A schema with its compiled validator."""

    def __init__(self, schema: Schema) -> None:
        from jsonschema_rs import Draft202012Validator

        self.schema = schema
        self.validator = Draft202012Validator(dict(schema), keywords={"x-uniqueBy": UniqueBy})


def faults(data: Any, checker: Checker, raw: Raw) -> tuple[Diagnostic, ...]:
    """Return every fault; a value of the wrong type is not also held to the rest of its schema."""
    if checker.validator.is_valid(data):
        return ()
    errors = list(checker.validator.iter_errors(data))
    found = [item for error in errors for item in _worded(error, checker.schema, raw)]
    wrong = {item.path for item in found if item.code in ("wrong-type", "unquoted-version")}
    kept = [item for item in found if item.path not in wrong or item.code in _OF_TYPE]
    return tuple(dict.fromkeys(kept))


_OF_TYPE = ("wrong-type", "unquoted-version", "unknown-key", "missing-key")


def _worded(error: ValidationError, whole: Schema, raw: Raw) -> Iterator[Diagnostic]:
    """Word one error of the validator; `whole` is the schema that its path begins in."""
    path = tuple(error.instance_path)
    schema = _schema_at(whole, error.schema_path)
    keyword = error.kind.name
    if keyword == "additionalProperties":
        yield from (_unknown_key(path, key, schema, whole) for key in error.kind.value)
    elif keyword in ("oneOf", "anyOf"):
        yield from _alternatives(error, path, schema, whole, raw)
    else:
        word = _WORDS.get(keyword, _other)
        yield word(path, error, schema, whole, raw)


def _schema_at(whole: Schema, path: list[str | int]) -> Schema:
    """Return the schema that holds the keyword which `path` ends in."""
    here: Any = whole
    for part in path[:-1]:
        here = here[part]
    return here if isinstance(here, Mapping) else whole


# --- keys --------------------------------------------------------------------------------------


def _unknown_key(path: Path, key: str, schema: Schema, whole: Schema) -> Diagnostic:
    return Diagnostic(
        code="unknown-key",
        message=f'"{key}" is not known {_inside(path)}',
        path=(*path, key),
        hint=_key_advice(key, schema, whole),
        on_key=True,
    )


def _key_advice(key: str, schema: Schema, whole: Schema) -> str:
    known = properties(schema)
    near = nearest(key, known, 0.8)
    if near is not None:
        return f'did you mean "{near}"?'
    below = [path for name, path in descendants(schema) if name == key]
    if below:
        return f'write it as "{below[0]}"' + (f', or "{below[1]}"' if len(below) == 2 else "")
    elsewhere = [path for name, path in descendants(whole) if name == key]
    if elsewhere and len(elsewhere) <= 3:
        return "it is known as " + " and as ".join(f'"{path}"' for path in elsewhere)
    near = nearest(key, known)
    if near is not None:
        return f'did you mean "{near}"?'
    return f"known here: {_listed(sorted(known))}" if known else "no key is known here"


def _missing_key(
    path: Path, error: ValidationError, schema: Schema, whole: Schema, raw: Raw
) -> Diagnostic:
    key = error.kind.value
    holder = _holder(whole, error.schema_path)
    below = properties(holder).get(key, {})
    reason = _condition(holder, error.schema_path)
    return Diagnostic(
        code="missing-key",
        message=f'"{key}" is missing {_inside(path)}{reason}',
        path=path,
        hint=_meaning(key, below),
    )


def _holder(whole: Schema, path: list[str | int]) -> Schema:
    """Return the object schema that a `required` belongs to, also when it stands under `then`."""
    for word in ("then", "else"):
        if word in path:
            return _schema_at(whole, path[: path.index(word) + 1])
    return _schema_at(whole, path)


def _condition(holder: Schema, path: list[str | int]) -> str:
    if "then" not in path or "properties" not in holder.get("if", {}):
        return ""
    parts = holder["if"]["properties"].items()
    conditions = [f'"{key}" is {_quoted(rule["const"])}' for key, rule in parts if "const" in rule]
    return f", which {' and '.join(conditions)} requires" if conditions else ""


def _meaning(key: str, schema: Schema) -> str:
    """Say what belongs under a key: its values or an example, and what it means."""
    meaning = first_sentence(str(schema.get("description", "")))
    if "enum" in schema:
        wanted = f"one of {_listed(schema['enum'])}"
    elif schema.get("examples"):
        wanted = f"for example {_quoted(schema['examples'][0])}"
    else:
        wanted = f"a {kind_of(schema)}" if schema else ""
    return f"{key}: {meaning} ({wanted})" if meaning else f"add {key}, {wanted}" if wanted else ""


# --- values ------------------------------------------------------------------------------------


def _wrong_type(
    path: Path, error: ValidationError, schema: Schema, whole: Schema, raw: Raw
) -> Diagnostic:
    return _type_fault(path, error.instance, schema, raw)


def _type_fault(path: Path, value: Any, schema: Schema, raw: Raw) -> Diagnostic:
    written = raw(path) or _plain(value)
    wanted = kind_of(schema)
    if schema.get("x-version") and isinstance(value, int | float) and not isinstance(value, bool):
        return _unquoted_version(path, value, written)
    if value is None:
        message = f"{_name(path)} is empty; it must be {_article(wanted)}"
    else:
        message = f"{_name(path)} must be {_article(wanted)}, not {_found(value, written)}"
    return Diagnostic(
        code="wrong-type", message=message, path=path, hint=_type_advice(path, value, written, schema)
    )


def _unquoted_version(path: Path, value: float, written: str) -> Diagnostic:
    lost = f", which YAML reads as the number {_plain(value)}" if written != _plain(value) else ""
    return Diagnostic(
        code="unquoted-version",
        message=f"version {written} is written without quotes{lost}; a version is text",
        path=path,
        hint=f'write {_key(path)}: "{written}"',
    )


def _type_advice(path: Path, value: Any, written: str, schema: Schema) -> str:
    kinds = _kinds(schema)
    if value is None:
        return "give it a value, or remove the key"
    if "string" in kinds and isinstance(value, bool | int | float):
        return f'put it in quotes: "{written}"'
    if kinds & {"integer", "number"} and isinstance(value, str) and re.fullmatch(r"-?\d+", value):
        return f"write it without quotes: {value}"
    if kinds == {"boolean"}:
        return "write true or false"
    if "array" in kinds and not isinstance(value, dict):
        return f"write it as a list: [{written}]"
    if "array" in kinds:
        return "begin each item of a list with a dash"
    if "object" in kinds and properties(schema):
        return f"known here: {_listed(sorted(properties(schema)))}"
    return ""


def _kinds(schema: Schema) -> set[str]:
    own = schema.get("type", [])
    kinds = set(own if isinstance(own, list) else [own])
    return kinds.union(*(_kinds(one) for one in branches(schema)))


def _unknown_value(
    path: Path, error: ValidationError, schema: Schema, whole: Schema, raw: Raw
) -> Diagnostic:
    return _enum_fault(path, error.instance, schema.get("enum") or [schema["const"]])


def _enum_fault(path: Path, value: Any, allowed: list[Any]) -> Diagnostic:
    near = nearest(value, [item for item in allowed if isinstance(item, str)]) if isinstance(value, str) else None
    listed = f"known: {_listed(allowed)}"
    return Diagnostic(
        code="unknown-value",
        message=f"{_quoted(value)} is not a known value of {_name(path)}",
        path=path,
        hint=f'did you mean "{near}"? {listed}' if near and len(allowed) > 1 else listed,
    )


def _bad_pattern(
    path: Path, error: ValidationError, schema: Schema, whole: Schema, raw: Raw
) -> Diagnostic:
    return _pattern_fault(path, str(error.instance), schema)


def _pattern_fault(path: Path, value: str, schema: Schema, on_key: bool = False) -> Diagnostic:
    wanted = schema.get("x-error") or first_sentence(str(schema.get("description", "")))
    shown = _CREDENTIALS.sub("***@", value)
    what = "a key of " + _name(path[:-1]) if on_key else _name(path)
    return Diagnostic(
        code="bad-pattern",
        message=f'"{shown}" does not fit {what}: it must be {wanted}',
        path=path,
        hint=_repaired(value, schema),
        on_key=on_key,
    )


def _repaired(value: str, schema: Schema) -> str:
    """Offer the value with the usual slips undone, if that makes it fit."""
    pattern = re.compile(schema.get("pattern", ""))
    tries = (value.strip(), value.lower(), re.sub(r"[\s_]+", "-", value.strip()).lower())
    shorter = (value.strip("/"), re.sub(r"^https?://", "", value).strip("/"))
    for attempt in (*tries, *shorter):
        if attempt and attempt != value and pattern.search(attempt):
            return f'did you mean "{attempt}"?'
    return ""


def _bad_key(
    path: Path, error: ValidationError, schema: Schema, whole: Schema, raw: Raw
) -> Diagnostic:
    key = str(error.kind.value.instance)
    return _pattern_fault((*path, key), key, schema, on_key=True)


def _bad_length(
    path: Path, error: ValidationError, schema: Schema, whole: Schema, raw: Raw
) -> Diagnostic:
    limit = error.kind.value
    if error.kind.name == "minLength" and limit == 1:
        message = f"{_name(path)} must not be empty"
    else:
        word = "least" if error.kind.name == "minLength" else "most"
        message = f"{_name(path)} has {len(error.instance)} characters; it must have at {word} {limit}"
    return Diagnostic(code="bad-pattern", message=message, path=path)


def _out_of_range(
    path: Path, error: ValidationError, schema: Schema, whole: Schema, raw: Raw
) -> Diagnostic:
    limit = {
        "minimum": f"at least {error.kind.value}",
        "maximum": f"at most {error.kind.value}",
        "exclusiveMinimum": f"more than {error.kind.value}",
        "exclusiveMaximum": f"less than {error.kind.value}",
        "multipleOf": f"a multiple of {error.kind.value}",
    }[error.kind.name]
    return Diagnostic(
        code="out-of-range",
        message=f"{_name(path)} is {_plain(error.instance)}; it must be {limit}",
        path=path,
        hint=first_sentence(str(schema.get("description", ""))),
    )


def _size(
    path: Path, error: ValidationError, schema: Schema, whole: Schema, raw: Raw
) -> Diagnostic:
    limit = int(error.kind.value)
    noun = "item" if "Items" in error.kind.name else "key"
    noun = noun if limit == 1 else f"{noun}s"
    few = error.kind.name.startswith("min")
    count = len(error.instance)
    state = "is empty" if count == 0 else f"has {count}"
    return Diagnostic(
        code="too-few-items" if few else "out-of-range",
        message=f"{_name(path)} {state}; it needs at {'least' if few else 'most'} {limit} {noun}",
        path=path,
        hint=first_sentence(str(schema.get("description", ""))),
    )


def _duplicate(
    path: Path, error: ValidationError, schema: Schema, whole: Schema, raw: Raw
) -> Diagnostic:
    items = error.instance
    second = next(i for i, item in enumerate(items) if item in items[:i])
    return Diagnostic(
        code="duplicate-item",
        message=f"{_quoted(items[second])} stands twice in {_name(path)}",
        path=(*path, second),
        hint="remove one of the two",
    )


def _duplicate_name(
    path: Path, error: ValidationError, schema: Schema, whole: Schema, raw: Raw
) -> Diagnostic:
    key = schema["x-uniqueBy"]
    first, second = _repeated(error.instance, key) or (0, 0)
    value = _quoted(error.instance[second][key])
    return Diagnostic(
        code="duplicate-item",
        message=f"two items of {_name(path)} have the {key} {value}: numbers {first + 1} and {second + 1}",
        path=(*path, second, key),
        hint=f"give each item a {key} of its own",
    )


def _repeated(items: Any, key: str) -> tuple[int, int] | None:
    """Return the indices of the first two items that have the same value under `key`."""
    seen: dict[Any, int] = {}
    for index, item in enumerate(items if isinstance(items, list) else ()):
        value = item.get(key) if isinstance(item, dict) else None
        if isinstance(value, str) and value in seen:
            return seen[value], index
        seen.setdefault(value if isinstance(value, str) else object(), index)
    return None


# --- combinations ------------------------------------------------------------------------------


def _not_together(
    path: Path, error: ValidationError, schema: Schema, whole: Schema, raw: Raw
) -> Diagnostic:
    keys = list(schema.get("not", {}).get("required", ()))
    wanted = schema.get("x-error") or f"takes at most one of {_listed_quoted(keys, 'and')}"
    return Diagnostic(
        code="one-of",
        message=f"{_name(path)} {wanted}; it has {_listed_quoted(keys, 'and')}",
        path=(*path, keys[-1]) if keys else path,
        hint="remove one of them",
        on_key=bool(keys),
    )


def _alternatives(
    error: ValidationError, path: Path, schema: Schema, whole: Schema, raw: Raw
) -> Iterator[Diagnostic]:
    """Word a failed `oneOf` or `anyOf`: by its keys, or by the alternative that was meant."""
    options = schema[error.kind.name]
    if all(set(one) == {"required"} for one in options):
        yield _exactly_one(path, error.instance, [one["required"][0] for one in options])
        return
    meant = [i for i, one in enumerate(options) if _fits_type(error.instance, one)]
    if not meant:
        yield _type_fault(path, error.instance, schema, raw)
    elif len(meant) == 1 and error.kind.context[meant[0]]:
        for inner in error.kind.context[meant[0]]:
            yield from _worded(inner, whole, raw)
    elif words := [word for i in meant for word in options[i].get("enum", ())]:
        yield _enum_fault(path, error.instance, words)
    else:
        yield _no_alternative(path, schema)


def _no_alternative(path: Path, schema: Schema) -> Diagnostic:
    wanted = schema.get("x-error") or kind_of(schema)
    return Diagnostic(code="one-of", message=f"{_name(path)} must be {wanted}", path=path)


def _exactly_one(path: Path, value: Mapping[str, Any], keys: list[str]) -> Diagnostic:
    present = [key for key in keys if key in value]
    state = f"it has {_listed_quoted(present, 'and')}" if present else "it has none"
    return Diagnostic(
        code="one-of",
        message=f"{_name(path)} needs exactly one of {_listed_quoted(keys, 'and')}; {state}",
        path=(*path, present[-1]) if present else path,
        hint=f"keep one of {_listed_quoted(present, 'and')}" if present else f"add one of {_listed_quoted(keys, 'or')}",
        on_key=bool(present),
    )


def _fits_type(value: Any, schema: Schema) -> bool:
    kinds = _kinds(schema)
    name = _TYPES.get(type(value), "")
    return name in kinds or (name == "integer" and "number" in kinds) or ("enum" in schema and name == "string")


def _other(
    path: Path, error: ValidationError, schema: Schema, whole: Schema, raw: Raw
) -> Diagnostic:
    return Diagnostic(code="bad-pattern", message=f"{_name(path)}: {error.message}", path=path)


_WORDS = {
    "required": _missing_key,
    "type": _wrong_type,
    "enum": _unknown_value,
    "const": _unknown_value,
    "pattern": _bad_pattern,
    "minLength": _bad_length,
    "maxLength": _bad_length,
    "propertyNames": _bad_key,
    "minimum": _out_of_range,
    "maximum": _out_of_range,
    "exclusiveMinimum": _out_of_range,
    "exclusiveMaximum": _out_of_range,
    "multipleOf": _out_of_range,
    "minItems": _size,
    "maxItems": _size,
    "minProperties": _size,
    "maxProperties": _size,
    "uniqueItems": _duplicate,
    "x-uniqueBy": _duplicate_name,
    "not": _not_together,
}


# --- words -------------------------------------------------------------------------------------

_TYPES = {str: "string", bool: "boolean", int: "integer", float: "number", dict: "object", list: "array"}


def _key(path: Path) -> str:
    return next((part for part in reversed(path) if isinstance(part, str)), "")


def _name(path: Path) -> str:
    """Name a value by its last key, items of lists with their number: `"interfaces" item 2`."""
    if not path:
        return "the spec"
    if isinstance(path[-1], int):
        return f"item {path[-1] + 1} of {_name(path[:-1])}"
    return f'"{path[-1]}"'


def _inside(path: Path) -> str:
    if not path:
        return "at the top of the file"
    return f"in {_name(path)}" if isinstance(path[-1], int) else f"under {_name(path)}"


def _found(value: Any, written: str) -> str:
    if isinstance(value, str):
        return f'the text "{_CREDENTIALS.sub("***@", value)}"' if len(value) <= 60 else "a text"
    if isinstance(value, bool):
        return f"the truth value {written}"
    if isinstance(value, int | float):
        return f"the number {written}"
    return "a map" if isinstance(value, dict) else "a list"


def _article(words: str) -> str:
    return f"an {words}" if words[:1] in "aeiou" else f"a {words}"


def _plain(value: Any) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    return str(value)


def _quoted(value: Any) -> str:
    import json

    return json.dumps(value, ensure_ascii=False)


def _listed(values: list[Any]) -> str:
    words = [_plain(value) for value in values]
    return ", ".join(words) if len(words) <= 24 else ", ".join(words[:24]) + ", …"


def _listed_quoted(words: list[str], last: str) -> str:
    quoted = [f'"{word}"' for word in words]
    return quoted[0] if len(quoted) == 1 else f"{', '.join(quoted[:-1])} {last} {quoted[-1]}"
