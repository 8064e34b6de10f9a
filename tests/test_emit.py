"""What the dumper writes is what every reader of YAML reads."""

from __future__ import annotations

from collections.abc import Callable
from enum import StrEnum
from typing import Any

import pytest
import yaml
from hypothesis import given
from ruamel.yaml import YAML

from gitops_gen.emit import emit, emit_all
from tests.yaml_values import TREACHEROUS, documents, examples, typed

READERS: dict[str, Callable[[str], Any]] = {
    "YAML 1.1 in Python": yaml.safe_load,
    "YAML 1.1 in C": lambda text: yaml.load(text, Loader=yaml.CSafeLoader),
    "YAML 1.2": lambda text: YAML(typ="safe", pure=True).load(text),
}


@pytest.mark.parametrize("reader", READERS)
@examples(150)
@given(document=documents)
def test_every_reader_reads_back_what_was_written(reader: str, document: dict[str, Any]) -> None:
    assert typed(READERS[reader](emit(document))) == typed(document)


@pytest.mark.parametrize("reader", READERS)
def test_treacherous_strings_stay_strings_as_keys_values_and_items(reader: str) -> None:
    document = {
        "values": {f"k{index}": text for index, text in enumerate(TREACHEROUS)},
        "keys": {text: {} for text in TREACHEROUS if len(text) <= 1000},
        "items": list(TREACHEROUS),
        "nested": [[[text]] for text in TREACHEROUS],
    }
    assert typed(READERS[reader](emit(document))) == typed(document)


@pytest.mark.parametrize(
    ("text", "written"),
    [
        ("plain", "plain"),
        ("nvcr.io/nvidia:tag", "nvcr.io/nvidia:tag"),
        ("v26.7.0", "v26.7.0"),
        ("8Gi", "8Gi"),
        ("10.0.0.0/16", "10.0.0.0/16"),
        ("--flag=x", "--flag=x"),
        ("$values/apps/a.yaml", "$values/apps/a.yaml"),
        ("a, b [c] {d}", "a, b [c] {d}"),
        ("it's", "it's"),
        ("naïve — yes", "naïve — yes"),
        ("", '""'),
        ("off", '"off"'),
        ("Y", '"Y"'),
        ("1.35", '"1.35"'),
        ("26.7.0", '"26.7.0"'),
        ("03190301", '"03190301"'),
        ("1e3", '"1e3"'),
        ("04:00:00", '"04:00:00"'),
        ("2026-12-01", '"2026-12-01"'),
        ("{{ .x }}", '"{{ .x }}"'),
        ("a: b", '"a: b"'),
        ('say "no" #1', '"say \\"no\\" #1"'),
        ("*", '"*"'),
        ("a\u00a0b", '"a\\u00a0b"'),
        ("a\nb", "|-\n  a\n  b"),
        ("a\nb\n", "|\n  a\n  b"),
        ("a\n\n b\n\n", "|+\n  a\n\n   b\n"),
        ("a\n\tb 😀\n", "|\n  a\n  \tb 😀"),
        (" a\nb", '" a\\nb"'),
    ],
)
def test_strings_are_written_as_people_write_them(text: str, written: str) -> None:
    assert emit({"k": text}) == f"k: {written}\n"


@pytest.mark.parametrize(
    ("value", "written"),
    [
        (None, "null"),
        (True, "true"),
        (-5, "-5"),
        (1.5, "1.5"),
        (1e20, "1.0e+20"),
        (1e-7, "1.0e-07"),
        ([], "[]"),
        ({}, "{}"),
    ],
)
def test_other_scalars_are_written_plainly(value: object, written: str) -> None:
    assert emit({"k": value}) == f"k: {written}\n"


def test_objects_begin_with_what_names_them_and_lists_are_indented() -> None:
    shared = {"a": 1}
    document = {
        "status": {},
        "spec": {"items": [shared, ["x", ["z"]], "z"], "again": shared},
        "kind": "Thing",
        "metadata": {"spec": 1, "name": "thing", "kind": 2},
        "apiVersion": "v1",
    }
    assert emit(document, "made by a test\nfrom a spec") == (
        "# made by a test\n"
        "# from a spec\n"
        "apiVersion: v1\n"
        "kind: Thing\n"
        "metadata:\n"
        "  spec: 1\n"
        "  name: thing\n"
        "  kind: 2\n"
        "spec:\n"
        "  items:\n"
        "    - a: 1\n"
        "    - - x\n"
        "      - - z\n"
        "    - z\n"
        "  again:\n"
        "    a: 1\n"
        "status: {}\n"
    )


def test_values_keep_their_own_order() -> None:
    assert emit({"spec": 1, "b": 2, "kind": 3, "a": 4}) == "spec: 1\nb: 2\nkind: 3\na: 4\n"


def test_several_documents_are_parted_and_carry_one_header() -> None:
    text = emit_all([{"a": 1}, {}, {"b": "---"}], "two")
    assert text == '# two\na: 1\n---\n{}\n---\nb: "---"\n'
    assert list(yaml.safe_load_all(text)) == [{"a": 1}, {}, {"b": "---"}]


class Colour(StrEnum):
    OFF = "off"
    RED = "red"


def test_string_enums_are_strings() -> None:
    assert emit({Colour.RED: Colour.OFF, "c": [Colour.RED]}) == 'red: "off"\nc:\n  - red\n'


@pytest.mark.parametrize(
    ("document", "message"),
    [
        ({"a": {"b": [0, float("nan")]}}, "a.b.1: YAML readers would not all take nan alike"),
        ({"a": float("-inf")}, "a: YAML readers would not all take -inf alike"),
        ({"a": {"b": {1: 2}}}, "a.b: the key 1 is not a string"),
        ({None: 1}, "the document: the key None is not a string"),
        ({"a": [{"b": b"x"}]}, "a.0.b: YAML readers would not all take b'x' alike"),
        ({"a": set()}, "a: YAML readers would not all take set() alike"),
        ({"a": "\ud800"}, "a: YAML readers would not all take '\\ud800' alike"),
        ({"a": "x\n\ud800"}, "a: YAML readers would not all take 'x\\n\\ud800' alike"),
        ({"a": {"k" * 1001: 1}}, f"a: the key '{'k' * 40}' is too long or not Unicode text"),
        ([1], "a YAML document must be a mapping, not list"),
    ],
)
def test_what_readers_disagree_on_is_refused_by_path(document: Any, message: str) -> None:
    with pytest.raises(TypeError) as caught:
        emit(document)
    assert str(caught.value) == message
