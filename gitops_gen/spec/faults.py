"""A document and its schema in, one Diagnostic for each fault out, worded for who wrote it."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from typing import Any

from gitops_gen.diagnostics import Diagnostic, Path
from gitops_gen.spec.checker import Checker, repeated
from gitops_gen.spec.failure import Failure, Raw
from gitops_gen.spec.tree import Schema, branches, descendants, nearest, properties
from gitops_gen.spec.wording import (
    article,
    first_sentence,
    found,
    kind_of,
    last_key,
    listed,
    listed_quoted,
    meaning,
    plain,
    quoted,
)

_OF_TYPE = ("wrong-type", "unquoted-version")
_OF_KEYS = ("unknown-key", "missing-key")


def faults(data: Any, checker: Checker, raw: Raw) -> tuple[Diagnostic, ...]:
    """Return every fault; a value of the wrong type is not also held to the rest of its schema."""
    errors = checker.validator.iter_errors(data)
    worded = [item for error in errors for item in _worded(Failure(error, data, checker.schema, raw))]
    wrong = {item.path for item in worded if item.code in _OF_TYPE}
    kept = [item for item in worded if not _of_wrong_type(item, wrong)]
    meant = {item.hint for item in kept if item.code == "unknown-key"}
    return tuple(dict.fromkeys(item for item in kept if not _is_misspelt(item, meant)))


def _of_wrong_type(item: Diagnostic, wrong: set[Path]) -> bool:
    """Say whether a fault only follows from a wrong type at its own place or above."""
    if item.code in _OF_TYPE + _OF_KEYS:
        return False
    return any(item.path[:size] in wrong for size in range(len(item.path) + 1))


def _is_misspelt(item: Diagnostic, meant: set[str]) -> bool:
    """Say whether a missing key is there under a name much like it, which is a fault of its own."""
    return item.code == "missing-key" and any(
        hint.startswith("did you mean") and f'"{name}"' in hint
        for hint in meant
        for name in re.findall(r'"([^"]+)"', item.message)[:1]
    )


def _worded(failure: Failure) -> Iterator[Diagnostic]:
    if failure.keyword == "additionalProperties":
        yield from (_unknown_key(failure, key) for key in failure.rule)
    elif failure.keyword in ("oneOf", "anyOf"):
        yield from _alternatives(failure)
    else:
        yield _WORDS.get(failure.keyword, _other)(failure)


# --- keys --------------------------------------------------------------------------------------


def _unknown_key(failure: Failure, key: str) -> Diagnostic:
    return Diagnostic(
        code="unknown-key",
        message=f'"{key}" is not known {failure.inside}',
        path=(*failure.path, key),
        hint=_key_advice(key, failure.schema, failure.whole),
        on_key=True,
    )


def _key_advice(key: str, schema: Schema, whole: Schema) -> str:
    """Say what was meant: what people look for here, a name much alike, where the key belongs."""
    known = properties(schema)
    instead = schema.get("x-instead", {}).get(key)
    if instead is not None:
        return str(instead)
    near = nearest(key, known, 0.8)
    if near is not None:
        return f'did you mean "{near}"?'
    below = [path for word, path in descendants(schema) if word == key]
    if below and len(below) <= 3:
        return f"it belongs further in: {listed_quoted(below, 'or')}"
    elsewhere = [path for word, path in descendants(whole) if word == key]
    if elsewhere and len(elsewhere) <= 3:
        return f"it belongs elsewhere: {listed_quoted(elsewhere, 'or')}"
    near = nearest(key, known)
    if near is not None:
        return f'did you mean "{near}"?'
    return f"known here: {listed(sorted(known))}" if known else ""


def _missing_key(failure: Failure) -> Diagnostic:
    holder, reason = _holder(failure)
    below = properties(holder).get(failure.rule, {})
    return Diagnostic(
        code="missing-key",
        message=f'"{failure.rule}" is missing {failure.inside}{reason}',
        path=failure.path,
        hint=meaning(failure.rule, below),
    )


def _holder(failure: Failure) -> tuple[Schema, str]:
    """Return the object schema that a `required` is about, and the condition it stands under."""
    path = failure.error.schema_path
    if "then" not in path:
        return failure.schema, ""
    holder = failure.schema_above(len(path) - 1 - path[::-1].index("then"))
    parts = holder["if"].get("properties", {}).items()
    said = [f'"{key}" is {quoted(rule["const"])}' for key, rule in parts if "const" in rule]
    return holder, f", where {' and '.join(said)}" if said else ""


def _bad_key(failure: Failure) -> Diagnostic:
    key = str(failure.rule.instance)
    return Diagnostic(
        code="bad-pattern",
        message=f'"{key}" cannot be a key {failure.inside}; it must be {_must(failure.schema)}',
        path=(*failure.path, key),
        hint=_repaired(key, failure.schema),
        on_key=True,
    )


# --- types -------------------------------------------------------------------------------------


def _wrong_type(failure: Failure) -> Diagnostic:
    path, value, schema = failure.path, failure.value, failure.schema
    written = failure.written
    number = isinstance(value, int | float) and not isinstance(value, bool)
    if schema.get("x-version") and number:
        return _unquoted_version(path, value, written)
    is_not = " is empty; it must be " if value is None else " must be "
    instead = "" if value is None else f", not {found(value, written)}"
    return Diagnostic(
        code="wrong-type",
        message=f"{failure.name}{is_not}{article(kind_of(schema))}{instead}",
        path=path,
        hint=_type_advice(failure),
    )


def _unquoted_version(path: Path, value: float, written: str) -> Diagnostic:
    read = plain(value)
    lost = f", so that it is read as the number {read}" if written != read else ""
    return Diagnostic(
        code="unquoted-version",
        message=f"version {written} is written without quotes{lost}; a version is text",
        path=path,
        hint=f'write {last_key(path)}: "{written}"',
    )


def _type_advice(failure: Failure) -> str:
    value, written, schema = failure.value, failure.written, failure.schema
    kinds = _kinds(schema)
    if "enabled" in properties(schema) and not isinstance(value, dict):
        return f"write {last_key(failure.path)}: {{enabled: true}}"
    if value is None:
        return "give it a value, or remove the key"
    if "x-error" in schema and branches(schema):
        return f"write {schema['x-error']}"
    if "array" in kinds:
        scalar = not isinstance(value, dict)
        return f"write it as a list: [{written}]" if scalar else "begin each item with a dash"
    if "string" in kinds and isinstance(value, bool | int | float):
        return f'put it in quotes: "{written}"'
    if kinds & {"integer", "number"} and isinstance(value, str) and re.fullmatch(r"-?\d+", value):
        return f"write it without quotes: {written}"
    if kinds == {"boolean"}:
        return "write true or false"
    if "object" in kinds and properties(schema):
        return f"known here: {listed(sorted(properties(schema)))}"
    return first_sentence(str(schema.get("description", "")))


def _kinds(schema: Schema) -> set[str]:
    own = schema.get("type", "string" if "enum" in schema else [])
    kinds = set(own if isinstance(own, list) else [own])
    return kinds.union(*(_kinds(one) for one in branches(schema)))


# --- values ------------------------------------------------------------------------------------


def _unknown_value(failure: Failure) -> Diagnostic:
    return _not_among(failure, list(failure.schema.get("enum") or [failure.schema["const"]]))


def _not_among(failure: Failure, allowed: list[Any]) -> Diagnostic:
    value = failure.value
    words = [item for item in allowed if isinstance(item, str)]
    near = nearest(value, words) if isinstance(value, str) else None
    shown = failure.written if isinstance(value, str) else value
    others = [kind_of(one) for one in branches(failure.schema) if "enum" not in one]
    known = " or ".join([f"known: {listed(allowed)}", *(article(kind) for kind in others)])
    instead = failure.schema.get("x-instead", {}).get(value) if isinstance(value, str) else None
    if instead is not None:
        known, near = f"{instead}; {known}", None
    return Diagnostic(
        code="unknown-value",
        message=f"{quoted(shown)} is not a known value of {failure.name}",
        path=failure.path,
        hint=f'did you mean "{near}"? {known}' if near and len(allowed) > 1 else known,
    )


def _bad_pattern(failure: Failure) -> Diagnostic:
    value = str(failure.value)
    hidden = failure.written != value
    return Diagnostic(
        code="bad-pattern",
        message=f'{failure.name} is "{failure.written}"; it must be {_must(failure.schema)}',
        path=failure.path,
        hint="" if hidden else _repaired(value, failure.schema),
    )


def _must(schema: Schema) -> str:
    return str(schema.get("x-error") or f"text like {schema.get('pattern')}")


def _repaired(value: str, schema: Schema) -> str:
    """Offer the value with the usual slips undone, if that makes it fit."""
    pattern = re.compile(schema.get("pattern", ""))
    bare = value.strip().strip("/")
    host, dashed = re.sub(r"^https?://", "", bare), re.sub(r"[\s_]+", "-", bare.lower())
    squeezed = re.sub(r"\s+", "", bare)
    tries = (bare, bare.lower(), host, dashed, squeezed, squeezed.removesuffix("B"))
    fit = next((word for word in tries if word and word != value and pattern.search(word)), None)
    return f'did you mean "{fit}"?' if fit else ""


def _bad_length(failure: Failure) -> Diagnostic:
    limit = failure.rule
    if failure.keyword == "minLength" and limit == 1:
        message = f"{failure.name} must not be empty"
    else:
        word = "least" if failure.keyword == "minLength" else "most"
        message = f"{failure.name} has {len(failure.value)} characters; it must have at {word} {limit}"
    hint = first_sentence(str(failure.schema.get("description", "")))
    return Diagnostic(code="bad-pattern", message=message, path=failure.path, hint=hint)


def _out_of_range(failure: Failure) -> Diagnostic:
    return Diagnostic(
        code="out-of-range",
        message=f"{failure.name} is {failure.written}; "
        f"it must be {_LIMITS[failure.keyword]} {plain(failure.rule)}",
        path=failure.path,
        hint=first_sentence(str(failure.schema.get("description", ""))),
    )


def _size(failure: Failure) -> Diagnostic:
    noun = "item" if "Items" in failure.keyword else "key"
    few = failure.keyword.startswith("min")
    state = f"has {len(failure.value)}" if failure.value else "is empty"
    ending = "" if failure.rule == 1 else "s"
    return Diagnostic(
        code="too-few-items" if few else "out-of-range",
        message=f"{failure.name} {state}; "
        f"it needs at {'least' if few else 'most'} {failure.rule} {noun}{ending}",
        path=failure.path,
        hint=first_sentence(str(failure.schema.get("description", ""))),
    )


def _duplicate(failure: Failure) -> Diagnostic:
    items = failure.value
    second = next(index for index, item in enumerate(items) if item in items[:index])
    return Diagnostic(
        code="duplicate-item",
        message=f"{quoted(items[second])} stands twice in {failure.name}",
        path=(*failure.path, second),
        hint="remove one of the two",
    )


def _duplicate_name(failure: Failure) -> Diagnostic:
    key = failure.schema["x-uniqueBy"]
    first, second = repeated(failure.value, key) or (0, 0)
    return Diagnostic(
        code="duplicate-item",
        message=f"items {first + 1} and {second + 1} of {failure.name} "
        f"both have the {key} {quoted(failure.value[second][key])}",
        path=(*failure.path, second, key),
        hint=f"give each a {key} of its own",
    )


# --- combinations ------------------------------------------------------------------------------


def _not_together(failure: Failure) -> Diagnostic:
    keys = [str(key) for key in failure.rule.get("required", ())]
    wanted = failure.schema.get("x-error") or f"takes at most one of {listed_quoted(keys, 'and')}"
    return Diagnostic(
        code="one-of",
        message=f"{failure.name} {wanted}; it has {'both' if len(keys) == 2 else 'all'}",
        path=(*failure.path, keys[-1]),
        hint="remove one of them",
        on_key=True,
    )


def _alternatives(failure: Failure) -> Iterator[Diagnostic]:
    """Word a failed `oneOf` or `anyOf`: by its keys, or by the alternative that was meant."""
    options = failure.schema[failure.keyword]
    if all(set(one) == {"required"} for one in options):
        if isinstance(failure.value, dict):
            yield _exactly_one(failure, [one["required"][0] for one in options])
        return
    meant = [index for index, one in enumerate(options) if _fits_type(failure.value, one)]
    words = [word for index in meant for word in options[index].get("enum", ())]
    if not meant:
        yield _wrong_type(failure)
    elif words:
        yield _not_among(failure, words)
    elif len(meant) == 1:
        for inner in failure.rule[meant[0]]:
            yield from _worded(replace(failure, error=inner))
    else:
        yield _no_alternative(failure)


def _exactly_one(failure: Failure, keys: list[str]) -> Diagnostic:
    present = [key for key in keys if key in failure.value]
    state = f"it has {listed_quoted(present, 'and')}" if present else "it has none"
    return Diagnostic(
        code="one-of",
        message=f"{failure.name} needs exactly one of {listed_quoted(keys, 'and')}; {state}",
        path=(*failure.path, *present[-1:]),
        hint="remove one of them" if present else f"add {listed_quoted(keys, 'or')}",
        on_key=bool(present),
    )


def _no_alternative(failure: Failure) -> Diagnostic:
    wanted = failure.schema.get("x-error") or article(kind_of(failure.schema))
    return Diagnostic(code="one-of", message=f"{failure.name} must be {wanted}", path=failure.path)


def _fits_type(value: Any, schema: Schema) -> bool:
    kinds = _kinds(schema)
    kind = _TYPES.get(type(value), "null")
    return kind in kinds or (kind == "integer" and "number" in kinds)


def _other(failure: Failure) -> Diagnostic:
    return Diagnostic(
        code="bad-pattern",
        message=f"{failure.name}: {failure.error.message}",
        path=failure.path,
    )


_TYPES = {
    str: "string",
    bool: "boolean",
    int: "integer",
    float: "number",
    dict: "object",
    list: "array",
}

_LIMITS = {
    "minimum": "at least",
    "maximum": "at most",
    "exclusiveMinimum": "more than",
    "exclusiveMaximum": "less than",
    "multipleOf": "a multiple of",
}

_WORDS: Mapping[str, Callable[[Failure], Diagnostic]] = {
    "required": _missing_key,
    "type": _wrong_type,
    "enum": _unknown_value,
    "const": _unknown_value,
    "pattern": _bad_pattern,
    "minLength": _bad_length,
    "maxLength": _bad_length,
    "propertyNames": _bad_key,
    **dict.fromkeys(_LIMITS, _out_of_range),
    **dict.fromkeys(("minItems", "maxItems", "minProperties", "maxProperties"), _size),
    "uniqueItems": _duplicate,
    "x-uniqueBy": _duplicate_name,
    "not": _not_together,
}
