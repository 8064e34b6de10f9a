"""What ships with the package, read once: compiled facts, schemas, templates and components."""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import cache, cached_property, lru_cache
from importlib import import_module
from pathlib import Path
from typing import Any, cast

import msgspec

from gitops_gen.catalog.accelerators import accelerators_from
from gitops_gen.catalog.charts import chart_keys_from
from gitops_gen.controller import ArgocdFacts, facts_from
from gitops_gen.model import Catalog, ChartKeys, Component, ComponentFacts, Json, Requirement
from gitops_gen.spec.schema import ClusterSchema, cluster_schema, with_models, with_versions

_PACKAGE = Path(__file__).parent


class Resources(msgspec.Struct, frozen=True, dict=True):
    """The catalogue, the components and the schema made of their fragments."""

    catalog: Catalog
    components: tuple[Component, ...]
    base_schema: Mapping[str, Any]
    digest: str

    @cached_property
    def schema(self) -> ClusterSchema:
        """The JSON Schema of a whole cluster spec."""
        fragments = {
            facts.name: with_versions(facts.schema, facts.version, facts.versions, facts.namespace)
            for facts in (item.facts for item in self.components)
        }
        models = self.catalog.accelerators.values()
        return with_models(
            cluster_schema(self.base_schema, fragments),
            [item.id for item in models if item.vendor != "google"],
            [item.id for item in models if item.vendor == "google"],
        )

    @cached_property
    def argocd(self) -> ArgocdFacts:
        """What Argo CD knows and since when."""
        return facts_from(cast(Mapping[str, object], self.catalog.data["argocd"]))

    def component(self, name: str) -> Component:
        """Return the component of that name; KeyError if there is none."""
        return {item.name: item for item in self.components}[name]


@lru_cache(maxsize=1)
def resources() -> Resources:
    """Read the compiled catalogue and import the components, once per process."""
    compiled = json.loads((_PACKAGE / "catalog" / "compiled.json").read_bytes())
    catalog = Catalog(accelerators=accelerators_from(compiled["data"]["accelerators"]), data=compiled["data"])
    parts = sorted(compiled["components"].items())
    return Resources(
        catalog=catalog,
        components=tuple(_component(name, facts, catalog) for name, facts in parts),
        base_schema=compiled["schema"],
        digest=compiled["digest"],
    )


def data_folder(name: str) -> Path:
    """Return `schemas`, `templates` or `charts`: inside an installed wheel, else of the checkout."""
    installed = _PACKAGE / "_data" / name
    return installed if installed.is_dir() else _PACKAGE.parent / name


@cache
def template(name: str) -> str:
    """Return the text of a prose template."""
    return (data_folder("templates") / name).read_text(encoding="utf-8")


@cache
def chart_files(name: str) -> Mapping[str, str]:
    """Return the files of a chart of ours by path below its folder, sorted; KeyError if there is none."""
    folder = data_folder("charts") / name
    found = sorted(path for path in folder.rglob("*") if path.is_file())
    if not found:
        raise KeyError(name)
    return {path.relative_to(folder).as_posix(): path.read_bytes().decode("utf-8") for path in found}


def _component(name: str, compiled: Mapping[str, Any], catalog: Catalog) -> Component:
    package = compiled["package"]
    upstream = _UpstreamReader(_PACKAGE / "components" / package / "upstream")
    facts = ComponentFacts(
        name=name,
        stack=compiled["stack"],
        namespace=compiled["namespace"],
        version=compiled["version"],
        versions=tuple(compiled["versions"]),
        requires=tuple(_requirement(item) for item in compiled.get("requires", [])),
        data=compiled,
        schema=compiled["schema"],
        catalog=catalog,
        chart_keys=upstream.chart,
        table=upstream.table,
    )
    module = import_module(f"gitops_gen.components.{package}")
    return cast(Component, module.COMPONENT(facts=facts))


def _requirement(item: Mapping[str, str]) -> Requirement:
    return Requirement(component=item["component"], reason=item["reason"], when=item.get("when"))


class _UpstreamReader:
    """Reads the facts in one component's `upstream` folder, each file once."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._known: dict[tuple[str, str], ChartKeys] = {}
        self._tables: dict[str, Mapping[str, Json]] = {}

    def table(self, name: str) -> Mapping[str, Json]:
        """Return the facts of `<name>.json`, with those of `<name>.extra.json`; KeyError without a file."""
        if name not in self._tables:
            file = self._folder / f"{name}.json"
            if not file.is_file():
                raise KeyError(name)
            extra = self._folder / f"{name}.extra.json"
            more = json.loads(extra.read_bytes()) if extra.is_file() else None
            self._tables[name] = {**json.loads(file.read_bytes()), **({"extra": more} if more else {})}
        return self._tables[name]

    def chart(self, chart: str, version: str) -> ChartKeys:
        """Return what is known of `chart` at `version`; KeyError if it is not catalogued."""
        if (chart, version) not in self._known:
            self._known[chart, version] = self._load(chart, version)
        return self._known[chart, version]

    def _load(self, chart: str, version: str) -> ChartKeys:
        file = self._folder / f"{chart}-{version}.json"
        if not file.is_file():
            raise KeyError(f"{chart} {version}")
        extra = self._folder / f"{chart}-{version}.extra.json"
        known = json.loads(extra.read_bytes()) if extra.is_file() else {}
        return chart_keys_from(json.loads(file.read_bytes()), known)
