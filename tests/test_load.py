"""The loader: YAML 1.2 core values, the place of each, and every fault of a text by name."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given

from gitops_gen.diagnostics import Diagnostic, Path, Position, SpecError
from gitops_gen.emit import emit
from gitops_gen.spec.load import Loaded, parse
from gitops_gen.spec.source_map import Mapped, Node, Scalar, Sequence
from tests.yaml_values import documents, examples, texts, typed

SPEC = """\
# a comment
apiVersion: gitops-gen/v1alpha1
metadata: {name: lab, labels: {"a.b/c": é, size: 1.10}}
spec:
  nodePools:
    - name: h100
      nodes: 0x10
      gpu: &gpu {model: h100-sxm-80gb, count: 8}
    - nodes: 2
      gpu: *gpu
      note: &note !!str
        12
  empty:
  text: |
    two
    lines
"""


def load(text: str) -> Loaded:
    return parse(text.encode(), "a.yaml")


def faults(text: str | bytes) -> list[tuple[str, tuple[int, int] | None]]:
    """Return the code and the place of each fault."""
    return [(item.code, place(item.position)) for item in diagnostics(text)]


def diagnostics(text: str | bytes) -> tuple[Diagnostic, ...]:
    with pytest.raises(SpecError) as caught:
        parse(text.encode() if isinstance(text, str) else text, "a.yaml")
    return caught.value.diagnostics


def place(position: Position | None) -> tuple[int, int] | None:
    return None if position is None else (position.line, position.column)


# --- values ------------------------------------------------------------------------------------


@examples(200)
@given(document=documents)
def test_what_is_emitted_loads_as_the_same_value(document: dict[str, Any]) -> None:
    assert typed(load(emit(document)).data) == typed(document)


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("", None),
        ("~", None),
        ("null", None),
        ("nULL", "nULL"),
        ("true", True),
        ("False", False),
        ("tRUE", "tRUE"),
        ("12", 12),
        ("-0", 0),
        ("+7", 7),
        ("0o17", 15),
        ("0x1F", 31),
        ("1.10", 1.1),
        (".5", 0.5),
        ("1e3", 1000.0),
        ("04:00:00", "04:00:00"),
        ("2026-12-01", "2026-12-01"),
        ("1_000", "1_000"),
        ("0b11", "0b11"),
        ("1.35.2", "1.35.2"),
        ("v1", "v1"),
        ("=", "="),
        ("-", None),
        ('"yes"', "yes"),
        ("'010'", "010"),
        ('"<<"', "<<"),
        ("!!str 5", "5"),
        ('"\\u0007"', "\x07"),
        ("9223372036854775807", 2**63 - 1),
    ],
)
def test_scalars_follow_the_core_schema_of_yaml_1_2(text: str, value: object) -> None:
    expected = {"k": [value] if text == "-" else value}
    assert typed(load(f"k:\n  {text}\n").data) == typed(expected)


def test_byte_order_mark_and_line_ends_of_windows_are_accepted() -> None:
    loaded = parse("\ufeffa: 1\r\nb:\r\n  c: 2\r\n".encode(), "a.yaml")
    assert loaded.data == {"a": 1, "b": {"c": 2}}
    assert loaded.source_map.value(("b", "c")) == Position(file="a.yaml", line=3, column=6)
    assert loaded.source_map.line(Position(file="a.yaml", line=3, column=6)) == "  c: 2"


def test_aliases_are_expanded_into_values_of_their_own() -> None:
    data: Any = load("a: &x {b: [1]}\nc: *x\nd: [*x, *x]\n").data
    assert data == {"a": {"b": [1]}, "c": {"b": [1]}, "d": [{"b": [1]}, {"b": [1]}]}
    data["c"]["b"].append(2)
    assert data["a"] == {"b": [1]}


# --- places ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("path", "value", "key"),
    [
        (("apiVersion",), (2, 13), (2, 1)),
        (("metadata",), (3, 12), (3, 1)),
        (("metadata", "labels", "a.b/c"), (3, 41), (3, 32)),
        (("metadata", "labels", "size"), (3, 50), (3, 44)),
        (("spec",), (5, 3), (4, 1)),
        (("spec", "nodePools"), (6, 5), (5, 3)),
        (("spec", "nodePools", 0), (6, 7), (6, 7)),
        (("spec", "nodePools", 0, "gpu"), (8, 18), (8, 7)),
        (("spec", "nodePools", 0, "gpu", "count"), (8, 47), (8, 40)),
        (("spec", "nodePools", 1, "gpu"), (10, 12), (10, 7)),
        (("spec", "nodePools", 1, "gpu", "model"), (8, 25), (8, 18)),
        (("spec", "nodePools", 1, "note"), (12, 9), (11, 7)),
        (("spec", "empty"), (13, 9), (13, 3)),
        (("spec", "text"), (14, 9), (14, 3)),
    ],
)
def test_each_part_knows_its_place(path: Path, value: tuple[int, int], key: tuple[int, int]) -> None:
    source_map = load(SPEC).source_map
    assert source_map.has(path)
    assert place(source_map.value(path)) == value
    assert place(source_map.key(path)) == key


@pytest.mark.parametrize(
    ("path", "parent"),
    [
        ((), (2, 1)),
        (("spec", "env"), (5, 3)),
        (("spec", "nodePools", 7, "name"), (6, 5)),
        (("spec", "nodePools", "name"), (6, 5)),
        (("spec", "nodePools", 0, "gpu", "mig", "profile"), (8, 18)),
        (("apiVersion", "x"), (2, 13)),
    ],
)
def test_what_the_text_lacks_has_the_place_of_its_nearest_parent(path: Path, parent: tuple[int, int]) -> None:
    source_map = load(SPEC).source_map
    assert source_map.has(path) is (path == ())
    assert place(source_map.value(path)) == parent
    assert place(source_map.key(path)) == parent


@examples(150)
@given(document=documents)
def test_each_scalar_stands_where_its_place_says(document: dict[str, Any]) -> None:
    text = emit(document)
    lines = text.split("\n")
    for node in scalars_of(load(text).source_map.root):
        rest = lines[node.position.line - 1][node.position.column - 1 :]
        if node.raw is not None:
            assert rest.startswith(node.raw)
        else:
            assert rest[0] in '"|'


@examples(100)
@given(document=documents)
def test_places_follow_the_order_of_the_text(document: dict[str, Any]) -> None:
    found = [node.position for node in scalars_of(load(emit(document)).source_map.root)]
    assert all(first < second for first, second in pairwise(found))


def scalars_of(node: Node) -> list[Scalar]:
    match node:
        case Scalar():
            return [node]
        case Sequence():
            return [scalar for item in node.items for scalar in scalars_of(item)]
        case Mapped():
            below = [entry.value for entry in node.entries.values()]
            return [scalar for item in below for scalar in scalars_of(item)]


@pytest.mark.parametrize(
    ("path", "shown"),
    [
        ((), ""),
        (("spec", "nodePools", 0, "gpu", "model"), "spec.nodePools[h100].gpu.model"),
        (("spec", "nodePools", 1, "nodes"), "spec.nodePools[1].nodes"),
        (("spec", "nodePools", 5), "spec.nodePools[5]"),
        (("metadata", "labels", "a.b/c"), 'metadata.labels["a.b/c"]'),
        (("spec", "not-there", 0), "spec.not-there[0]"),
    ],
)
def test_paths_are_shown_with_the_names_of_list_items(path: Path, shown: str) -> None:
    assert load(SPEC).source_map.show(path) == shown


def test_the_users_own_text_of_an_unquoted_scalar_is_kept() -> None:
    source_map = load(SPEC).source_map
    assert source_map.raw(("metadata", "labels", "size")) == "1.10"
    assert source_map.raw(("spec", "nodePools", 0, "nodes")) == "0x10"
    assert source_map.raw(("spec", "nodePools", 1, "note")) is None
    assert source_map.raw(("spec", "text")) is None
    assert source_map.raw(("spec", "nodePools")) is None
    assert source_map.raw(("spec", "lacking")) is None


def test_diagnostics_get_their_places_and_are_sorted_by_them() -> None:
    fixed = Position(file="0.yaml", line=9, column=9)
    located = load(SPEC).source_map.locate(
        [
            Diagnostic(code="d", message="", path=("spec", "empty")),
            Diagnostic(code="c", message="", path=("spec", "empty"), on_key=True),
            Diagnostic(code="b", message="", path=("spec", "nodePools", 0, "mig")),
            Diagnostic(code="a", message="", path=("spec", "nodePools", 0)),
            Diagnostic(code="y", message="", path=("spec",), position=fixed),
            Diagnostic(code="z", message=""),
        ]
    )
    assert [(item.code, place(item.position)) for item in located] == [
        ("z", None),
        ("y", (9, 9)),
        ("a", (6, 7)),
        ("b", (6, 7)),
        ("c", (13, 3)),
        ("d", (13, 9)),
    ]


# --- faults ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("", [("yaml-empty", (0, 0))]),
        ("# only a comment\n", [("yaml-empty", (0, 0))]),
        ("---\n", [("yaml-empty", (0, 0))]),
        ("- a\n", [("not-a-mapping", (1, 1))]),
        ("text\n", [("not-a-mapping", (1, 1))]),
        ("null\n", [("not-a-mapping", (1, 1))]),
        ("a: 1\n---\nb: 2\n", [("yaml-several-documents", (2, 1))]),
        ("a:\n\tb: 1\n\tc: 2\n", [("yaml-tab", (2, 1)), ("yaml-tab", (3, 1))]),
        ("a:\n  b: 1\n  \tc: 2\n", [("yaml-tab", (3, 3))]),
        (
            "a: 1\nb:\n  c: 1\n  c: 2\na: 3\na: 4\n",
            [
                ("yaml-duplicate-key", (4, 3)),
                ("yaml-duplicate-key", (5, 1)),
                ("yaml-duplicate-key", (6, 1)),
            ],
        ),
        (
            "1: a\ntrue: b\nnull: c\n? [x]\n: d\n? {z: 1}\n: e\n1.5: f\n",
            [
                ("yaml-key-type", (1, 1)),
                ("yaml-key-type", (2, 1)),
                ("yaml-key-type", (3, 1)),
                ("yaml-key-type", (4, 3)),
                ("yaml-key-type", (6, 4)),
                ("yaml-key-type", (8, 1)),
            ],
        ),
        ("a: {{ x }}\n", [("yaml-key-type", (1, 7))]),
        ("a: yes\nb: [off, N]\ny: 1\n", [("yaml-ambiguous-boolean", at) for at in
            ((1, 4), (2, 5), (2, 10), (3, 1))]),
        ("a: 010\nb: -07\nc: 00.5\n", [("yaml-leading-zero", (line, 4)) for line in (1, 2, 3)]),
        (
            "a: .inf\nb: .NaN\nc: 1e999\nd: 9223372036854775808\n",
            [("yaml-number-range", (line, 4)) for line in (1, 2, 3, 4)],
        ),
        ("a: &x {b: 1}\nc:\n  <<: *x\n", [("yaml-merge-key", (3, 3))]),
        ("a: *x\n", [("yaml-unknown-alias", (1, 4))]),
        ("a: &x\n  b: [*x]\n", [("yaml-recursive-alias", (2, 7))]),
        ("a: !foo 1\nb: !!binary aa\nc: !!set {}\n", [("yaml-tag", (line, 4)) for line in
            (1, 2, 3)]),
        ("a: \x07b\nc: d\x85\n", [("yaml-control-character", at) for at in ((1, 4), (2, 5))]),
        ("a: " + "[" * 70, [("yaml-too-deep", (1, 67))]),
        ("a: " + "[" * 100_000, [("yaml-too-deep", (1, 1003))]),
        ("- " * 100_000, [("yaml-too-deep", (1, 129))]),
    ],
)  # fmt: skip
def test_every_fault_of_a_text_is_found_at_its_place(
    text: str, found: list[tuple[str, tuple[int, int] | None]]
) -> None:
    assert faults(text) == found


def test_sixty_four_levels_are_not_too_deep() -> None:
    assert load("a: " + "[" * 63 + "]" * 63).data
    assert faults("a: " + "[" * 64 + "]" * 64) == [("yaml-too-deep", (1, 67))]


def test_aliases_cannot_nest_deeper_than_text() -> None:
    chain = "".join(f"a{level}: &a{level} [*a{level - 1}]\n" for level in range(1, 80))
    assert faults("a0: &a0 []\n" + chain) == [("yaml-too-deep", (64, 12))]


def test_alias_bomb_is_refused_where_it_bursts() -> None:
    wide = ", ".join(["*{}"] * 10)
    lines = [f"a{level}: &a{level} [{wide.replace('{}', f'a{level - 1}')}]" for level in range(1, 9)]
    text = "\n".join(["a0: &a0 x", *lines])
    (fault,) = diagnostics(text)
    assert (fault.code, place(fault.position)) == ("yaml-alias-bomb", (6, 55))
    assert fault.message == "more than 100,000 values, with its aliases written out"


@pytest.mark.parametrize(
    ("text", "at", "message", "hint"),
    [
        ("a: 'x\nb: 1\n", (1, 4), "this quote is never closed", ""),
        ("a: [1\n", (1, 4), "this list is never closed", ""),
        ("a: {b: 1", (1, 4), "this mapping is never closed", ""),
        ("a: [", (1, 5), "a value is missing here", ""),
        (
            "a: b: c\n",
            (1, 5),
            "a colon where no key can stand",
            'quote a value that holds ": ", and check the indentation',
        ),
        (
            "a: [1\nb: 2\n",
            (2, 2),
            'the "[" of line 1, column 4 is not closed before this',
            "write a comma or `]`",
        ),
        (
            "a: {b: 1\n c: d}\n",
            (2, 3),
            'the "{" of line 1, column 4 is not closed before this',
            "write a comma or `}`",
        ),
        ("a: @b\n", (1, 4), 'a value cannot start with "@"', "put it in double quotes"),
        (
            "a:\n  - b\n c: 1\n",
            (3, 2),
            "this fits nowhere in the mapping that begins on line 1, column 1",
            "keys of one mapping stand in the same column; nothing follows a closing quote",
        ),
        (
            "- a\nb: 1\n",
            (2, 1),
            "this fits nowhere in the list that begins on line 1, column 1",
            "items of a list start with `- ` in one column, keys of an item stand deeper",
        ),
        (
            "a: 1\nb\nc: 2\n",
            (2, 1),
            "this is not a `key: value`",
            "a key ends with a colon and a space; a list item starts with a dash and a space",
        ),
        (
            'a: "\\d"\n',
            (1, 5),
            "`\\d` is not an escape in double quotes",
            "write `\\\\` for a backslash, or use single quotes",
        ),
        (
            "a: - b\n",
            (1, 4),
            "a list cannot start here",
            "begin the list on the next line, or quote the value",
        ),
        (
            "a: | b\n",
            (1, 6),
            '"b" cannot stand behind the mark of a block',
            "begin the text on the next line",
        ),
    ],
)
def test_syntax_faults_say_what_is_wrong_and_what_to_do(
    text: str, at: tuple[int, int], message: str, hint: str
) -> None:
    (fault,) = diagnostics(text)
    assert (fault.code, place(fault.position)) == ("yaml-syntax", at)
    assert (fault.message, fault.hint) == (message, hint)


def test_faults_before_a_syntax_fault_are_told_as_well() -> None:
    assert faults("a: yes\na: 1\nb: a: b\n") == [
        ("yaml-ambiguous-boolean", (1, 4)),
        ("yaml-duplicate-key", (2, 1)),
        ("yaml-syntax", (3, 5)),
    ]


def test_duplicate_key_names_the_first() -> None:
    (fault,) = diagnostics("a:\n  b: 1\n  c: 2\n  b: 3\n")
    assert fault.message == 'the key "b" is given twice; first on line 2, column 3'


@pytest.mark.parametrize(
    ("raw", "code", "message"),
    [
        (
            "a: 1\n".encode("utf-16"),
            "file-not-text",
            "this is not a text file: it is encoded in UTF-16",
        ),
        (b"a: \x00", "file-not-text", "this is not a text file: byte 3 is zero"),
        (b"a: \xe9\n", "file-not-text", "this is not a text file: byte 3 (0xe9) is not UTF-8"),
        (
            b"#" * 5_000_000,
            "file-too-large",
            "this file has 5,000,000 bytes; a spec has at most 1,048,576",
        ),
    ],
)
def test_files_that_are_no_text_are_refused_with_the_reason(raw: bytes, code: str, message: str) -> None:
    (fault,) = diagnostics(raw)
    assert (fault.code, fault.message, place(fault.position)) == (code, message, (0, 0))


@examples(300)
@given(text=texts)
def test_any_text_loads_or_is_refused_with_reasons(text: str) -> None:
    try:
        loaded = parse(text.encode(), "a.yaml")
    except SpecError as error:
        reasons = error.diagnostics
    else:
        assert isinstance(loaded.data, dict)
        assert loaded.source_map.texts == {"a.yaml": text.removeprefix("\ufeff")}
        return
    assert reasons
    assert all(item.code and item.message and item.position for item in reasons)
