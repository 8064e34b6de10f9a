"""Settings merge into one document in which every part knows where it comes from."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gitops_gen.model import from_fact, from_rule, from_spec
from gitops_gen.traced import collect, format_path, origins_of, overlay, parse_path, put

KEYS = st.text(max_size=8)
PATHS = st.lists(KEYS | st.integers(0, 99), min_size=1, max_size=5).filter(lambda p: isinstance(p[0], str))


@given(PATHS)
def test_path_reads_back_as_written(path: list[str | int]) -> None:
    assert parse_path(format_path(tuple(path))) == tuple(path)


@pytest.mark.parametrize(
    ("text", "path"),
    [
        ("driver.enabled", ("driver", "enabled")),
        ('operator.nodeSelector["kubernetes.io/os"]', ("operator", "nodeSelector", "kubernetes.io/os")),
        ("toolkit.env[0].name", ("toolkit", "env", 0, "name")),
    ],
)
def test_values_path_has_the_form_of_the_facts(text: str, path: tuple[str | int, ...]) -> None:
    assert parse_path(text) == path
    assert format_path(path) == text


@pytest.mark.parametrize("text", ["a..b", "a[", "[x]", "a]"])
def test_what_is_no_path_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="not a values path"):
        parse_path(text)


def test_maps_merge_appends_add_and_the_last_value_wins() -> None:
    traced = collect(
        [
            put("a", {"b": 1, "c": {"d": 2}}, from_rule("first")),
            put("a.c.d", 3, from_fact("second")),
            put("e[]", "x", from_rule("one")),
            put("e[]", "y", from_rule("two")),
        ]
    )
    assert traced.data == {"a": {"b": 1, "c": {"d": 3}}, "e": ["x", "y"]}
    assert origins_of(traced, ("a", "b")) == (from_rule("first"),)
    assert origins_of(traced, ("a", "c", "d")) == (from_fact("second"),)
    assert origins_of(traced, ("e", 1)) == (from_rule("two"),)
    assert origins_of(traced, ("a",)) == (from_rule("first"), from_fact("second"))


def test_overlay_replaces_lists_and_remembers_the_users_line() -> None:
    base = collect([put("env[]", {"name": "A"}, from_rule("ours")), put("driver.enabled", True)])
    merged = overlay(base, {"env": [1], "driver": {"version": "580"}}, ("spec", "values"))
    assert merged.data == {"env": [1], "driver": {"enabled": True, "version": "580"}}
    assert origins_of(merged, ("env", 0)) == (from_spec("values", "env"),)
    assert origins_of(merged, ("driver", "version")) == (from_spec("values", "driver", "version"),)
    assert base.data == {"env": [{"name": "A"}], "driver": {"enabled": True}}


def test_overlay_of_an_empty_map_changes_nothing() -> None:
    base = collect([put("driver.enabled", True, from_rule("ours"))])
    assert overlay(base, {"driver": {}}, ("spec",)).data == base.data


def test_overlay_keeps_null_so_that_helm_drops_the_default() -> None:
    assert overlay(collect([]), {"a": {"b": None}}, ("spec",)).data == {"a": {"b": None}}
