"""An unpacked chart and values in; the objects that the real `helm template` makes of them out."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

import yaml

from gitops_gen.maintain.charts import HelmLoader, KnownChart
from gitops_gen.model import Json, Object
from gitops_gen.shell.command import Command, run
from gitops_gen.traced import parse_path

Assignment = tuple[tuple[str, Json], ...]
NAMESPACE = "ns-zq"
ANY_TEXT = "zq-set"
"""A value of charts.yaml that stands for any text; names that hold it are named by that value."""
ANY_KEY = "zq-key"
"""A key of charts.yaml that stands for any key of a map; names that hold it are named by that key."""


class Identity(NamedTuple):
    """An object as a chart names it.

    `{release}` and `{namespace}` stand for the install's own, `{values.<path>}` for a value and
    `{keys.<path>}` for each key of a map.
    """

    group: str
    kind: str
    name: str
    namespace: str | None
    hook: bool


Rendered = frozenset[Identity] | None


@dataclass(slots=True)
class Renderer:
    """Renders one chart with values set; remembers results; None where the chart refuses.

    With a `suffix` on the release name, the places where the release enters a name are marked.
    """

    chart: KnownChart
    folder: Path
    helm: tuple[str, ...]
    cluster_kinds: Mapping[str, list[str]]
    suffix: str = "-zq"
    _seen: dict[str, Rendered] = field(default_factory=dict)

    def render(self, assignment: Assignment) -> Rendered:
        """Return the objects made with these values over the chart's defaults."""
        values = json.dumps(nested(assignment), sort_keys=True)
        if values not in self._seen:
            self._seen[values] = self._run(values, _marks(assignment))
        return self._seen[values]

    def render_all(self, assignments: Iterable[Assignment]) -> list[Rendered]:
        """Render several, two at a time."""
        with ThreadPoolExecutor(2) as pool:
            return list(pool.map(self.render, assignments))

    def _run(self, values: str, marks: Mapping[str, str]) -> Rendered:
        release = self.chart.release + self.suffix
        argv = [*self.helm, "template", release, str(self.folder), "--namespace", NAMESPACE]
        argv += ["--include-crds", "--skip-tests", "--kube-version", self.chart.kubernetes, "-f", "-"]
        argv += [option for it in self.chart.api_versions for option in ("--api-versions", it)]
        done = run(Command(argv=tuple(argv), stdin=values), check=False)
        if done.status != 0:
            return None
        return frozenset(self._identities(done.stdout, marks))

    def _identities(self, text: str, marks: Mapping[str, str]) -> Iterator[Identity]:
        for group, kind, metadata in object_heads(text):
            cluster = kind in self.cluster_kinds.get(group, ())
            annotations = metadata.get("annotations")
            namespace = str(metadata.get("namespace") or NAMESPACE)
            yield Identity(
                group,
                kind,
                self._marked(str(metadata.get("name")), marks),
                None if cluster else self._marked(namespace, marks),
                isinstance(annotations, dict) and "helm.sh/hook" in annotations,
            )

    def _marked(self, name: str, marks: Mapping[str, str]) -> str:
        own = {self.chart.release + self.suffix: "{release}"} if self.suffix else {}
        for text, mark in {**own, NAMESPACE: "{namespace}", **marks}.items():
            name = name.replace(text, mark)
        return name


def object_heads(text: str) -> Iterator[tuple[str, str, Object]]:
    """Yield group, kind and metadata of each object in rendered text, without reading the rest."""
    for document in re.split(r"^---.*$", text, flags=re.MULTILINE):
        version = re.search(r"^apiVersion:\s*[\"']?([^\s\"']+)", document, re.MULTILINE)
        kind = re.search(r"^kind:\s*[\"']?(\w+)", document, re.MULTILINE)
        if version is None or kind is None:
            continue
        group = version[1].rpartition("/")[0]
        if kind[1].endswith("List"):
            for item in yaml.load(document, Loader=HelmLoader).get("items") or []:  # noqa: S506
                yield group, kind[1].removesuffix("List"), item["metadata"]
            continue
        block = re.search(r"^metadata:.*\n((?:[ \t#].*\n|\n)*)", document + "\n", re.MULTILINE)
        assert block is not None, document[:200]
        yield group, kind[1], yaml.load(block[0], Loader=HelmLoader)["metadata"]  # noqa: S506


def nested(assignment: Assignment) -> Object:
    """Write assignments as the tree of values that they are."""
    tree: Object = {}
    for name, value in assignment:
        *parents, leaf = (str(part) for part in parse_path(name))
        at = tree
        for part in parents:
            below = at.setdefault(part, {})
            assert isinstance(below, dict)
            at = below
        at[leaf] = value
    return tree


def _marks(assignment: Assignment) -> dict[str, str]:
    """Say what a name that holds a made-up value or key is named by."""
    found: dict[str, str] = {}
    for name, value in assignment:
        if value == ANY_TEXT:
            found.setdefault(ANY_TEXT, f"{{values.{name}}}")
        elif isinstance(value, dict) and ANY_KEY in value:
            found.setdefault(ANY_KEY, f"{{keys.{name}}}")
    return found
