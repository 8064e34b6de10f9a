"""What `component.yaml` says of Slurm's releases and images is what their charts say."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from gitops_gen.catalog.charts import chart_keys_from
from gitops_gen.maintain.charts import known_charts, read_facts, read_yaml
from gitops_gen.maintain.compile import check_component, unsourced
from gitops_gen.model import ChartKeys

FOLDER = Path(__file__).parents[1] / "gitops_gen/components/slurm"
FACTS: Any = read_yaml(FOLDER / "component.yaml")
SCHEMA: Any = read_yaml(FOLDER / "schema.yaml")
CATALOGUED = tuple(name for name, facts in FACTS["versions"].items() if facts["state"] != "known")
OPERATOR = "slurm-operator"

# Where a release shows that it can do what `supports` says: chart and key.
SHOWN = {
    "defaults": ("slurm", "nodesetDefaults"),
    "imageDigest": ("slurm", "controller.slurmctld.image.digest"),
    "inplaceReconfigure": ("slurm", "controller.inplaceReconfigure"),
    "restapiBudget": ("slurm", "restapi.pdb"),
    "a3mega": ("slurm", "vendor.google.a3mega"),
    "extraObjects": ("slurm", "extraObjects"),
    "scheduledUpdate": ("slurm", "nodesetDefaults.updateStrategy.scheduledUpdate"),
    "pinToNode": ("slurm", "nodesetDefaults.pinToNode"),
    "pruneNodeRecords": ("slurm", "nodesetDefaults.pruneSlurmNodeRecords"),
    "oversubscribeNode": ("slurm", "nodesetDefaults.oversubscribeNode"),
    "propagatedNodeConditions": (OPERATOR, "propagatedNodeConditions"),
    "operatorSecurityContext": (OPERATOR, "operator.securityContext"),
    "webhookNodeSelector": (OPERATOR, "webhook.nodeSelector"),
}


def keys_of(chart: str, version: str) -> ChartKeys:
    known = next(it for it in known_charts() if (it.chart, it.version) == (chart, version))
    return chart_keys_from(read_facts(known.facts_file()), read_facts(known.extra_file()))


def default(keys: ChartKeys, path: str) -> Any:
    """Return the chart's own value; `*` stands for the set that its defaults show."""
    shown = {
        "1.2.1": ("nodesetDefaults", "loginsetDefaults"),
        "1.1.2": ("nodesets.slinky", "loginsets.slinky"),
    }
    nodeset, loginset = shown[keys.version]
    return keys.keys[path.replace("nodesets.*", nodeset).replace("loginsets.*", loginset)].get("default")


def test_facts_have_the_shape_that_the_catalogue_wants() -> None:
    assert [*check_component(FACTS, "slurm")] == []
    assert {
        name: [*unsourced({name: FACTS[name]})]
        for name in ("podSecurity", "ports", "images", "gke", "limits")
    } == {name: [] for name in ("podSecurity", "ports", "images", "gke", "limits")}


def test_every_catalogued_release_has_the_facts_of_its_three_charts() -> None:
    assert CATALOGUED == ("1.2.1", "1.1.2")
    for version in CATALOGUED:
        for chart in FACTS["charts"]:
            assert keys_of(chart["name"], version).objects != ()


@pytest.mark.parametrize("version", CATALOGUED)
def test_a_release_supports_what_its_charts_show(version: str) -> None:
    def shows(chart: str, key: str) -> bool:
        keys = keys_of(chart, version)
        return key in (keys.keys.keys() | keys.extra.keys()) - keys.dead.keys()

    supported = {word for word, place in SHOWN.items() if shows(*place)}
    assert set(FACTS["versions"][version]["supports"]) == supported


@pytest.mark.parametrize("version", CATALOGUED)
def test_sets_of_the_chart_itself_and_their_defaults_are_named(version: str) -> None:
    facts, keys = FACTS["versions"][version], keys_of("slurm", version)
    assert all(path in keys.keys for path in facts["defaults"].values())
    own = {
        top: next((name for name in keys.keys if name == f"{top}.{key}.enabled"), None)
        for top, key in facts["own"].items()
    }
    assert None not in own.values()
    switched_on = {
        name.split(".")[0]
        for name, entry in keys.keys.items()
        if name.split(".")[0] in ("nodesets", "loginsets", "partitions")
        and name.count(".") == 2
        and name.endswith(".enabled")
        and entry["default"] is True
    }
    assert switched_on <= facts["own"].keys()


@pytest.mark.parametrize("version", CATALOGUED)
def test_images_are_those_of_the_chart(version: str) -> None:
    slurm, images = FACTS["versions"][version]["slurm"], FACTS["images"]
    slinky = images["profiles"]["slinky"]
    tag = slinky["tag"].format(series=slurm["series"], system=slurm["system"])
    keys = keys_of("slurm", version)
    for name, part in images["parts"].items():
        for key in part["keys"]:
            found = default(keys, f"{key}.repository"), default(keys, f"{key}.tag")
            own = (f"{slinky['repository']}/{part['name']}", tag) if name != "sidecar" else None
            assert found == (own or (images["sidecar"]["repository"], "latest")), key
    operator = keys_of(OPERATOR, version)
    for part in images["operator"].values():
        assert [operator.keys[f"{key}.repository"]["default"] for key in part["keys"]] == [part["repository"]]


@pytest.mark.parametrize("version", CATALOGUED)
def test_every_image_of_a_chart_has_its_place(version: str) -> None:
    keys = keys_of("slurm", version)
    listed = {key for part in FACTS["images"]["parts"].values() for key in part["keys"]}
    shown = {"nodesetDefaults": "nodesets.*", "loginsetDefaults": "loginsets.*"}
    shown |= {"nodesets.slinky": "nodesets.*", "loginsets.slinky": "loginsets.*"}
    found = {name.removesuffix(".repository") for name in keys.keys if name.endswith(".image.repository")}
    for plain, each in shown.items():
        found = {name.replace(plain, each) for name in found}
    assert found == listed


def test_series_and_systems_are_those_that_a_spec_may_name() -> None:
    named = SCHEMA["properties"]["images"]["properties"]
    systems = FACTS["images"]["systems"]
    assert sorted(systems) == sorted(named["series"]["enum"])
    assert {it for found in systems.values() for it in found} == set(named["system"]["enum"])
    for version in CATALOGUED:
        slurm = FACTS["versions"][version]["slurm"]
        assert slurm["system"] in systems[slurm["series"]]
        assert slurm["minimum"] in systems


def test_required_images_are_all_that_a_spec_can_name() -> None:
    profiles = FACTS["images"]["profiles"]
    named = SCHEMA["properties"]["images"]["properties"]
    assert list(profiles) == named["profile"]["enum"]
    for profile in ("google", "custom"):
        assert set(profiles[profile]["required"]) == set(FACTS["images"]["parts"]) <= named.keys()


def test_ports_that_values_show_are_the_ones_recorded() -> None:
    for version in CATALOGUED:
        assert keys_of(OPERATOR, version).keys["webhook.serverPort"]["default"] == FACTS["ports"]["webhook"]


@pytest.mark.parametrize("item", FACTS["requires"], ids=lambda item: item["component"])
def test_conditions_speak_of_settings_that_exist(item: Any) -> None:
    path, _, wanted = item["when"].partition("=")
    schema = SCHEMA
    for key in path.split("."):
        schema = next(below for below in _below(schema) if key.removesuffix("[]") in below)[
            key.removesuffix("[]")
        ]
        schema = schema["items"] if key.endswith("[]") else schema
    assert not wanted or wanted in schema["enum"]


def _below(schema: Any) -> Iterator[Any]:
    """Yield the properties of a schema and of its alternatives."""
    reference = schema.get("$ref", "")
    if reference.startswith("#/$defs/") and reference.rpartition("/")[2] in SCHEMA["$defs"]:
        yield from _below(SCHEMA["$defs"][reference.rpartition("/")[2]])
    yield schema.get("properties", {})
    for choice in schema.get("oneOf", ()):
        yield from _below(choice)
