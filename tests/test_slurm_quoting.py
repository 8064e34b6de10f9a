"""What the spec says of Slurm's keywords is what the chart prints of them, to the letter."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import msgspec
import pytest
import yaml
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from gitops_gen.components.slurm.conf import text_of as slurm_text
from gitops_gen.components.slurm.conf.text import check_text
from gitops_gen.components.slurm.config import Keyword, dbd_conf, node_conf, partition_conf, slurm_conf
from gitops_gen.components.slurm.settings import SlurmSettings
from gitops_gen.components.slurm.workers import Worker
from gitops_gen.maintain.charts import HelmLoader
from gitops_gen.model import NodePool
from tests.slurm_cases import SLURM, chart_folder, helm_source, objects_of, params, rendered
from tests.slurm_chart import as_helm, text_of, to_list
from tests.trees import Case
from tests.yaml_values import TREACHEROUS, examples, texts

KEYS = {name: {"secretRef": {"name": name, "key": "key"}} for name in ("slurm", "jwt")}
WITHOUT: Any = {"writes": {"slurm": {}}}

# Keywords and values of every kind that the spec takes, among them words that YAML or Go reads otherwise.
names = st.one_of(
    st.sampled_from(["Y", "n", "On", "NO", "null", "True", "MaxTime", "DefMemPerCPU"]),
    st.from_regex(r"[A-Za-z][A-Za-z0-9_]{0,8}", fullmatch=True),
)
numbers = st.one_of(
    st.sampled_from([0, 1, 999999, 1000000, 1234567, 4294967295, 0.0, 0.5, 1e6, 1e22, 1.5e-7]),
    st.integers(-(2**53), 2**53),
    st.floats(allow_nan=False, allow_infinity=False),
)
words = st.one_of(
    st.sampled_from(["YES", "NO", "OFF", "0", "010", "1e6", "04:00:00", "7-00:00:00", "null", "~", "4K"]),
    texts,
).filter(bool)
scalars = st.one_of(st.booleans(), numbers, words)
given_values = st.one_of(scalars, st.lists(st.one_of(numbers, words), min_size=1, max_size=3))
configs = st.dictionaries(names, given_values, max_size=6)


def cluster(**parts: Any) -> SlurmSettings:
    return msgspec.convert({"clusterName": "hpc", "keys": KEYS, **parts}, SlurmSettings)


def worker(config: dict[str, Any]) -> Worker:
    one = cluster(nodeSets=[{"name": "cpu", "pool": "cpu", "config": config}])
    return Worker(
        index=0,
        pool_index=0,
        node_set=one.node_sets[0],
        pool=NodePool(name="cpu", nodes=1),
        accelerator=None,
        gres=(),
        devices={},
        networks=(),
        cpus=None,
        memory=None,
        least=1,
        most=1,
    )


def printed(lines: tuple[Keyword, ...]) -> list[str]:
    """Return the items that the chart makes of keywords that stand in its values."""
    return to_list(as_helm({"map": {line.name: line.text for line in lines}})["map"])


def clean(scope: Any, lines: tuple[Keyword, ...]) -> bool:
    """Whether the rules let each text pass, and YAML has all its characters."""
    return all(line.text.isprintable() and not list(check_text(scope, line.text)) for line in lines)


def folded(config: dict[str, Any]) -> bool:
    """Whether no keyword stands there twice, in whatever case."""
    return len({name.lower() for name in config}) == len(config)


@examples(200)
@given(config=configs.filter(folded))
def test_keywords_reach_helm_as_the_strings_that_slurm_reads(config: dict[str, Any]) -> None:
    one = cluster(
        controller={"config": config},
        accounting={"enabled": True, "config": config},
        partitions=[{"name": "p", "nodeSets": ["ALL"], "config": config}],
    )
    for scope, lines in (
        ("global", slurm_conf(one, (), WITHOUT)),
        ("partition", partition_conf(one, 0)),
        ("dbd", dbd_conf(one)),
        ("node", node_conf(worker(config))),
    ):
        values = as_helm({"map": {line.name: line.text for line in lines}})["map"]
        assert [type(item) for item in values.values()] == [str] * len(lines)
        if clean(scope, lines) and lines:
            wanted = sorted(f"{line.name}={line.text}" for line in lines)
            assert sorted(printed(lines)) == wanted


@examples(200)
@given(config=configs.filter(folded))
def test_line_of_a_node_set_is_one_string_of_yaml(config: dict[str, Any]) -> None:
    """The chart prints the line without quotes, so that a colon or a hash would end it."""
    lines = node_conf(worker(config))
    if lines and clean("node", lines):
        line = " ".join(printed(lines))
        assert yaml.load(f"extraConf: {line}\n", Loader=HelmLoader) == {"extraConf": line}


@examples(200)
@given(value=given_values)
def test_text_of_a_value_is_what_the_user_wrote(value: Any) -> None:
    text = slurm_text(value)
    if isinstance(value, bool):
        assert text == ("YES" if value else "NO")
    elif isinstance(value, int | float):
        assert "e" not in text
        assert float(text) == value
    elif isinstance(value, str):
        assert text == value


@pytest.mark.parametrize(
    ("value", "without_quotes"),
    [
        (1000000, "Key=1e+06"),
        (4294967295, "Key=4.294967295e+09"),
        (True, "Key=true"),
        ([1000000, "a"], "Key=1e+06,a"),
        (False, ""),
        (0, ""),
        (None, ""),
        ("a;b", "Key=a|b"),
    ],
)
def test_values_that_are_no_strings_would_be_lost(value: Any, without_quotes: str) -> None:
    """What the chart makes of them is why each is a string; the real chart agrees, see below."""
    assert "|".join(to_list({"Key": value} if isinstance(value, bool) else as_helm({"Key": value}))) == (
        without_quotes
    )


def maps(values: Any, path: tuple[str, ...] = ()) -> Iterator[tuple[str, Any]]:
    """Yield the maps of settings that the chart prints, wherever they stand."""
    if isinstance(values, dict):
        for key, below in values.items():
            if key in ("extraConfMap", "configMap"):
                yield ".".join((*path, key)), below
            else:
                yield from maps(below, (*path, key))


@pytest.mark.parametrize("case", params(SLURM))
def test_every_setting_of_a_tree_is_a_string(case: Case) -> None:
    values = helm_source(case, "slurm").values.data
    found = dict(maps(values))
    types = {name: {type(item) for item in below.values()} for name, below in found.items()}
    assert types == {name: {str} for name in found}
    assert {type(item) for below in dict(maps(as_helm(values))).values() for item in below.values()} <= {str}
    for name, below in found.items():
        assert sorted(to_list(as_helm(below))) == sorted(f"{key}={text}" for key, text in below.items()), name


# --- the same against the real chart -----------------------------------------------------------

VERSIONS = ("1.2.1", "1.1.2")


def drawn(strategy: st.SearchStrategy[Any], count: int) -> list[Any]:
    """Draw values to be read in one run: Helm starts too slowly for one run each."""
    found: list[Any] = []

    @settings(
        max_examples=count,
        deadline=None,
        database=None,
        derandomize=True,
        phases=[Phase.generate],
        suppress_health_check=list(HealthCheck),
    )
    @given(value=strategy)
    def collect(value: Any) -> None:
        found.append(value)

    collect()
    return found


def one_line(value: Any) -> bool:
    """Whether the chart prints it into one line of a block of text, where it can be found again."""
    items = value if isinstance(value, list) else [value]
    return all(not isinstance(item, str) or (item.isprintable() and item.isascii()) for item in items)


@pytest.mark.parametrize("version", VERSIONS)
def test_real_chart_prints_as_we_say(helm: tuple[str, ...], version: str) -> None:
    raw = [value for value in (*drawn(given_values, 400), *TREACHEROUS, None, []) if one_line(value)]
    settings_map = {f"K{index:04}": value for index, value in enumerate(raw)}
    values = {
        "controller": {"extraConfMap": settings_map},
        "slurmKey": {"create": False},
        "jwtKey": {"create": False},
    }
    text = rendered(helm, chart_folder("slurm", version), "slurm", "slurm", values)
    assert text is not None
    (controller,) = (item for item in objects_of(text) if item["kind"] == "Controller")
    spec: Any = controller["spec"]
    wanted = "\n".join(to_list(as_helm(settings_map))).rstrip()
    found = [
        line.rstrip() for line in spec["extraConf"].splitlines() if not line.startswith("PartitionName=")
    ]
    assert "\n".join(found).rstrip() == "\n".join(line.rstrip() for line in wanted.splitlines())


@pytest.mark.parametrize("version", VERSIONS)
def test_real_chart_prints_what_the_spec_says(helm: tuple[str, ...], version: str) -> None:
    """Partitions and node sets whose texts the rules let pass come out of the chart as they went in."""
    found = [config for config in drawn(configs.filter(folded), 300) if config]
    partitions, node_sets = {}, {}
    for index, config in enumerate(found):
        one = cluster(partitions=[{"name": "p", "nodeSets": ["ALL"], "config": config}])
        lines = partition_conf(one, 0)
        if clean("partition", lines) and one_line([line.text for line in lines]):
            partitions[f"p{index:03}"] = {line.name: line.text for line in lines}
        lines = node_conf(worker(config))
        if clean("node", lines):
            node_sets[f"n{index:03}"] = {line.name: line.text for line in lines}
    assert min(len(partitions), len(node_sets)) > 30
    image = {"image": {"repository": "slurmd", "tag": "1"}}
    values = {
        "partitions": {
            name: {"enabled": True, "nodesets": ["ALL"], "configMap": below}
            for name, below in partitions.items()
        },
        "nodesets": {
            name: {"enabled": True, "replicas": 1, "slurmd": image, "logfile": image, "extraConfMap": below}
            for name, below in node_sets.items()
        },
    }
    text = rendered(helm, chart_folder("slurm", version), "slurm", "slurm", values)
    assert text is not None
    objects: list[Any] = objects_of(text)
    (controller,) = (item for item in objects if item["kind"] == "Controller")
    printed_lines = set(controller["spec"]["extraConf"].splitlines())
    for name, below in partitions.items():
        items = " ".join(f"{key}={below[key]}" for key in sorted(below))
        assert f"PartitionName={name} Nodes=ALL {items}" in printed_lines
    sets = {item["metadata"]["name"]: item for item in objects if item["kind"] == "NodeSet"}
    for name, below in node_sets.items():
        items = " ".join(f"{key}={below[key]}" for key in sorted(below))
        assert sets[f"slurm-worker-{name}"]["spec"]["extraConf"] == items


def test_numbers_are_printed_as_go_does() -> None:
    """Taken from Helm 4.3.1."""
    known = {
        1.0: "1",
        999999.0: "999999",
        1e6: "1e+06",
        1234567.5: "1.2345675e+06",
        -1234567.0: "-1.234567e+06",
        123456.789: "123456.789",
        0.0001: "0.0001",
        0.00001: "1e-05",
        123456789012345678.0: "1.2345678901234568e+17",
        1.5e300: "1.5e+300",
        -0.0: "-0",
    }
    assert [text_of(value) for value in known] == list(known.values())
