"""Parsed objects in, typed views of Applications, their sources and projects out."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from gitops_gen.catalog.versions import Met, Version
from gitops_gen.controller.facts import ArgocdFacts
from gitops_gen.diagnostics import Path, Position
from gitops_gen.model import ObjectIdentity

GROUP = "argoproj.io"
KINDS = ("Application", "AppProject", "ApplicationSet")


@dataclass(frozen=True, slots=True)
class Document:
    """One parsed object of a file; `locate` finds the place of a path, if the caller can tell."""

    file: str
    data: Mapping[str, object]
    locate: Callable[[Path], Position | None] | None = None

    @property
    def kind(self) -> str:
        """`Application`, `AppProject` or `ApplicationSet` of Argo CD's group, else empty."""
        kind = text(self.data.get("kind"))
        group = text(self.data.get("apiVersion")).rpartition("/")[0]
        return kind if kind in KINDS and group == GROUP else ""

    @property
    def name(self) -> str:
        """`metadata.name`, empty if there is none."""
        return text(mapping(self.data.get("metadata")).get("name"))

    @property
    def title(self) -> str:
        """What a message calls it: kind, name and file."""
        kind = text(self.data.get("kind")) or "object"
        return f'{kind} "{self.name}" ({self.file})'


@dataclass(frozen=True, slots=True, kw_only=True)
class Source:
    """One source of an Application and where it stands."""

    path: Path
    data: Mapping[str, object]

    def text(self, key: str) -> str:
        """Return a field's text, empty if it is missing."""
        return text(self.data.get(key))

    @property
    def repo_url(self) -> str:
        """The repository as it is written."""
        return self.text("repoURL")

    @property
    def helm(self) -> Mapping[str, object]:
        """The Helm part, empty if there is none."""
        return mapping(self.data.get("helm"))

    @property
    def is_chart(self) -> bool:
        """Whether it names a chart of a Helm repository."""
        return bool(self.text("chart"))

    @property
    def is_oci(self) -> bool:
        """Whether it is an OCI artifact by URL."""
        return self.repo_url.startswith("oci://")

    @property
    def is_git(self) -> bool:
        """Whether it is read from Git."""
        return not self.is_chart and not self.is_oci


@dataclass(frozen=True, slots=True, kw_only=True)
class Application:
    """An Application, or the template of an ApplicationSet (then `templated`) at `path`."""

    document: Document
    data: Mapping[str, object]
    path: Path = ()
    templated: bool = False

    @property
    def metadata(self) -> Mapping[str, object]:
        """`metadata`, empty if it is no mapping."""
        return mapping(self.data.get("metadata"))

    @property
    def name(self) -> str:
        """`metadata.name`."""
        return text(self.metadata.get("name"))

    @property
    def spec(self) -> Mapping[str, object]:
        """`spec`, empty if it is no mapping."""
        return mapping(self.data.get("spec"))

    @property
    def sync_policy(self) -> Mapping[str, object]:
        """`spec.syncPolicy`, empty if there is none."""
        return mapping(self.spec.get("syncPolicy"))

    @property
    def sync_options(self) -> tuple[str, ...]:
        """The sync options of the Application."""
        return tuple(text(item) for item in items(self.sync_policy.get("syncOptions")))

    @property
    def project(self) -> str:
        """The project's name; the empty one is `default`."""
        return text(self.spec.get("project")) or "default"

    @property
    def sources(self) -> tuple[Source, ...]:
        """The sources that Argo CD reads: the hydrator's dry one, else `sources`, else `source`."""
        if "sourceHydrator" in self.spec:
            dry = mapping(mapping(self.spec["sourceHydrator"]).get("drySource"))
            return (Source(path=self.at("spec", "sourceHydrator", "drySource"), data=dry),)
        if items(self.spec.get("sources")):
            return tuple(
                Source(path=self.at("spec", "sources", index), data=mapping(item))
                for index, item in enumerate(items(self.spec["sources"]))
            )
        if isinstance(self.spec.get("source"), Mapping):
            return (Source(path=self.at("spec", "source"), data=mapping(self.spec["source"])),)
        return ()

    @property
    def is_multi_source(self) -> bool:
        """Whether Argo CD reads `sources`; only then does `$ref` mean another source."""
        return "sourceHydrator" not in self.spec and bool(items(self.spec.get("sources")))

    def at(self, *path: str | int) -> Path:
        """Return a path inside the Application as a path of the document."""
        return (*self.path, *path)

    def literal(self, value: object) -> str | None:
        """Return text whose value is known: not another type, not made by a template."""
        if not isinstance(value, str) or (self.templated and "{{" in value):
            return None
        return value


@dataclass(frozen=True, slots=True, kw_only=True)
class Scope:
    """What rules may look at beside their own document.

    `files` are paths of the repository that `repositories` (normalised URLs) name, `objects` what
    an Application makes, by its name, `namespace` that of Argo CD.
    """

    facts: ArgocdFacts
    version: Version
    namespace: str = "argocd"
    files: Collection[str] = ()
    folders: Collection[str] = ()
    repositories: Collection[str] = ()
    projects: Mapping[str, Document] = field(default_factory=dict)
    objects: Mapping[str, Sequence[ObjectIdentity]] = field(default_factory=dict)

    def supports(self, since: str | None) -> bool:
        """Say whether this Argo CD has what came with the version `since`."""
        return since is None or self.version.meets(Version.parse(since)) is not Met.NO


def mapping(value: object) -> Mapping[str, object]:
    """Return the value if it is a mapping, else an empty one."""
    return value if isinstance(value, Mapping) else {}


def items(value: object) -> Sequence[object]:
    """Return the value if it is a list, else an empty one."""
    return value if isinstance(value, list | tuple) else ()


def text(value: object) -> str:
    """Return the value if it is text, else the empty one."""
    return value if isinstance(value, str) else ""


def entries(value: object) -> Iterator[tuple[int, str]]:
    """Yield the texts of a list with their index."""
    return ((index, item) for index, item in enumerate(items(value)) if isinstance(item, str))
