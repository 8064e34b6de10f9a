"""Keywords of each series, and the values that stand for them in a file."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gitops_gen.components.slurm.conf import merge_config, text_of
from gitops_gen.components.slurm.conf.check import check_config
from gitops_gen.components.slurm.conf.table import Keyword, Scope, Unknown, keyword, nearest
from gitops_gen.components.slurm.conf.text import Value, check_text
from gitops_gen.components.slurm.conf.value import check_value
from tests.slurm_conf import SERIES, UPSTREAM, table

FACTS = Path(__file__).parents[2] / "shared/facts/data/slurm-conf-26.05.3.keys.json"
SCOPES: tuple[Scope, ...] = ("global", "node", "partition", "nodeset", "dbd", "cgroup", "gres")
ROWS = [
    (series, scope, name) for series in SERIES for scope in SCOPES for name in table(series).scopes[scope]
]
TYPES = {
    "boolean", "choice", "count", "duration", "flags", "float", "gres", "lines", "list", "minutes", "purge",
    "share", "string", "suspendTime", "time", "uint16", "uint32", "uint64",
}  # fmt: skip


@pytest.mark.parametrize("series", SERIES)
def test_a_table_has_only_known_words(series: str) -> None:
    raw = json.loads((UPSTREAM / f"slurm-conf-{series}.json").read_text())
    keys = {key for rows in raw["scopes"].values() for row in rows.values() for key in row}
    assert keys <= set(Keyword.__struct_fields__) - {"name"}
    assert {row.type for rows in table(series).scopes.values() for row in rows.values()} <= TYPES
    assert raw["version"].startswith(f"{series}.")


@pytest.mark.parametrize(("series", "scope", "name"), ROWS)
def test_what_a_table_says_of_values_passes_itself(series: str, scope: Scope, name: str) -> None:
    row = table(series).scopes[scope][name]
    values = (*row.values, *row.also, *((row.default,) if row.default is not None else ()))
    found = [item for value in values for item in check_value(row, value, series=series)]
    assert found == []


@pytest.mark.parametrize("series", SERIES)
def test_a_keyword_that_is_gone_says_what_to_write(series: str) -> None:
    rows = [row for rows in table(series).scopes.values() for row in rows.values()]
    assert all(row.instead for row in rows if row.state in ("deprecated", "removed"))
    names = {row.name for row in table(series).scopes["global"].values()}
    words = {row.instead.partition("=")[0] for row in rows if row.state == "removed"}
    assert words <= names


@pytest.mark.parametrize("series", SERIES)
def test_what_the_operator_writes_are_keywords(series: str) -> None:
    one = table(series)
    for operator in one.operators.values():
        for scope, names in operator.owned.items():
            assert set(names) <= set(one.scopes[scope])
        for scope, merged in {**operator.merged, **operator.replaced}.items():
            assert set(merged) <= set(one.scopes[scope])


def test_an_unknown_release_is_read_as_the_newest() -> None:
    one = table()
    assert one.operator("1.1.2") is one.operators["1.1"]
    assert one.operator("1.2.1") is one.operators["1.2"]
    assert one.operator("9.9.9") is one.operators["1.2"]


@pytest.mark.skipif(not FACTS.exists(), reason="the facts that the table was made from are not here")
def test_the_table_has_the_keywords_of_the_facts() -> None:
    facts = json.loads(FACTS.read_text())
    for scope in ("global", "node", "partition", "nodeset"):
        assert set(facts[scope]) == set(table().scopes[scope])


def test_keywords_are_found_whatever_their_case() -> None:
    found = keyword(table(), "global", "maxarraysize")
    assert isinstance(found, Keyword)
    assert (found.name, found.type, found.max) == ("MaxArraySize", "uint32", 4000001)


def test_unknown_keywords_say_why() -> None:
    new, old = table("26.05"), table("25.11")
    assert keyword(new, "global", "MaxJobsCount") == Unknown(near="MaxJobCount")
    assert keyword(old, "partition", "exclusive") == Unknown(since="26.05")
    assert keyword(new, "global", "constraincores") == Unknown(near="ConstrainCores", scope="cgroup")
    assert keyword(new, "global", "Frobnicate") == Unknown()


def test_the_nearest_word() -> None:
    assert nearest("prologflag", ("PrologFlags", "Prolog")) == "PrologFlags"
    assert nearest("zzz", ("PrologFlags",)) == ""


# --- text --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (True, "YES"),
        (False, "NO"),
        (1000000, "1000000"),
        (1e6, "1000000"),
        (1e-7, "0.0000001"),
        (97.5, "97.5"),
        (0.1, "0.1"),
        (10.0, "10"),
        (["a", 1, 2.0], "a,1,2"),
        (None, ""),
        ("", ""),
        (float("inf"), "inf"),
    ],
)
def test_values_as_slurm_reads_them(value: Value, text: str) -> None:
    assert text_of(value) == text


@given(st.floats(allow_nan=False, allow_infinity=False))
def test_a_number_has_no_exponent_and_keeps_its_value(value: float) -> None:
    text = text_of(value)
    assert "e" not in text.lower()
    assert float(text) == value


@pytest.mark.parametrize(
    ("name", "value", "text"),
    [
        ("InteractiveStepOptions", "--interactive --pty", '"--interactive --pty"'),
        ("InteractiveStepOptions", '"--interactive --pty"', '"--interactive --pty"'),
        ("DownNodes", "h100-0 State=DOWN", "h100-0 State=DOWN"),
        ("MailProg", "/usr/bin/mail", "/usr/bin/mail"),
    ],
)
def test_blanks_are_held_together_by_quotes(name: str, value: str, text: str) -> None:
    assert merge_config({}, {name: value}) == {name: text}


def test_keywords_of_lines_are_those_of_the_tables() -> None:
    """What a field of the spec says is refused before it could be written."""
    rows = [row for series in SERIES for row in table(series).scopes["global"].values()]
    owned = {
        name for series in SERIES for one in table(series).operators.values() for name in one.owned["global"]
    }
    free = {row.name for row in rows if row.type == "lines" and not row.field} - owned
    assert free == {"DownNodes", "PowerAction"}


def test_the_users_keywords_win_and_lists_are_joined() -> None:
    base = {"ReturnToService": "2", "PrologFlags": "Contain", "SlurmctldParameters": "enable_stepmgr,a=1"}
    own: dict[str, Value] = {
        "returntoservice": 1,
        "PROLOGFLAGS": ["X11", "contain"],
        "SlurmctldParameters": "a=2",
        "KillWait": 30,
    }
    assert merge_config(base, own) == {
        "ReturnToService": "1",
        "PrologFlags": "X11,contain",
        "SlurmctldParameters": "enable_stepmgr,a=2",
        "KillWait": "30",
    }


WORDS = st.text("abcXYZ_=1", min_size=1, max_size=4)
ITEMS = st.lists(WORDS, min_size=1, max_size=4).map(",".join)
CONFIGS = st.dictionaries(st.sampled_from(["PrologFlags", "GresTypes", "KillWait", "TaskPlugin"]), ITEMS)


@given(CONFIGS, CONFIGS)
def test_merging_again_changes_nothing(base: dict[str, str], own: dict[str, Value]) -> None:
    once = merge_config(base, own)
    assert merge_config(once, own) == once
    assert {name.lower() for name in once} == {name.lower() for name in (*base, *own)}
    for name, value in own.items():
        options = {item.partition("=")[0].lower() for item in once[name].split(",")}
        assert {item.partition("=")[0].lower() for item in str(value).split(",")} <= options


@pytest.mark.parametrize(
    ("scope", "text", "says"),
    [
        ("global", "a#b", '"a#b": everything behind "#" is a comment and would be lost'),
        ("global", "a;b", '"a;b": the chart breaks the line at ";"'),
        ("global", "a\nb", '"a\\nb": a value has no line breaks and no control characters'),
        ("global", "a\\", '"a\\": Slurm strips "\\", and one at the end joins the next line'),
        ("global", "", '"": a keyword needs a value'),
        ("global", 'a"b', '"a"b": quotes stand around the whole value or nowhere'),
        ("global", " a", '" a": it begins or ends with a blank'),
        ("node", "a b", '"a b": the operator splits the settings of a node set at blanks'),
        ("node", '"a"', '""a"": the settings of a node set cannot be quoted'),
        ("node", "a:", '"a:": a value of a node set cannot end with ":", which makes a YAML key of it'),
        ("global", "nan", '"nan": Slurm knows no such number'),
    ],
)
def test_values_that_would_become_something_else(scope: Scope, text: str, says: str) -> None:
    found = [*check_text(scope, text)]
    assert [item.message for item in found] == [says]


@pytest.mark.parametrize("text", ["a b", '"a b"', "a,b=c", "/usr/bin/x -y", "node[1-3]", "a:b"])
def test_values_that_stay_what_they_are(text: str) -> None:
    assert [*check_text("global", text)] == []
    assert ([*check_text("cgroup", "a;b")]) == []


def test_a_time_of_two_parts_is_minutes() -> None:
    row = table().scopes["partition"]["MaxTime"]
    assert [(item.level, item.message, item.hint) for item in check_value(row, "1:30", series="26.05")] == [
        (
            "warning",
            '"1:30" is 1 minutes and 30 seconds, not hours and minutes',
            'write "1:30:00" for hours, "00:1:30" to say minutes',
        )
    ]


def test_a_config_of_many_keywords_has_one_finding_for_each_fault() -> None:
    found = check_config(
        table(), "global", {"KillWait": "x", "killwait": 3, "Nope": 1, "MinJobAge": 1}, release="1.2.1"
    )
    assert [(item.code, item.path, item.on_key) for item in found] == [
        ("slurm-value", ("KillWait",), False),
        ("slurm-keyword-twice", ("killwait",), True),
        ("slurm-keyword-unknown", ("Nope",), True),
        ("slurm-value", ("MinJobAge",), False),
    ]
