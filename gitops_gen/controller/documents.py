"""Parsed objects in, typed views of Applications, their sources and projects out."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence

import msgspec

from gitops_gen.catalog.versions import Met, Version
from gitops_gen.controller.facts import ArgocdFacts
from gitops_gen.diagnostics import Path, Position
from gitops_gen.model import ObjectIdentity

GROUP = "argoproj.io"
KINDS = ("Application", "AppProject", "ApplicationSet")


class Document(msgspec.Struct, frozen=True):
    """One parsed object of a file, of plain dictionaries and lists.

    `locate` finds the place of a path, if the caller can tell.
    """

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


class Source(msgspec.Struct, frozen=True, kw_only=True):
    """One source of an Application and where it stands."""

    path: Path
    data: Mapping[str, object]
    repo_url: str
    helm: Mapping[str, object]

    def text(self, key: str) -> str:
        """Return a field's text, empty if it is missing."""
        return text(self.data.get(key))

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


class ValueFile(msgspec.Struct, frozen=True, kw_only=True):
    """An entry of valueFiles, or the file of a file parameter."""

    source: Source
    path: Path
    entry: str

    @property
    def ref(self) -> str:
        """The name after a leading `$`, empty if there is none."""
        first = self.entry.partition("/")[0]
        return first[1:] if first.startswith("$") else ""


class Application(msgspec.Struct, frozen=True, kw_only=True):
    """An Application, or the template of an ApplicationSet (then `templated`) at `path`.

    Parts that are missing or of another type are empty. `sources` are those that Argo CD reads:
    the hydrator's dry one, else `sources` (then `is_multi_source`, and `$ref` means another
    source), else `source`. An empty project is `default`. `refs` are the ref sources in order.
    """

    data: Mapping[str, object]
    path: Path
    templated: bool
    metadata: Mapping[str, object]
    annotations: Mapping[str, object]
    name: str
    spec: Mapping[str, object]
    project: str
    sources: tuple[Source, ...]
    is_multi_source: bool
    refs: tuple[tuple[str, Source], ...]
    value_files: tuple[ValueFile, ...]
    sync_policy: Mapping[str, object]
    sync_options: tuple[str, ...]

    def at(self, *path: str | int) -> Path:
        """Return a path inside the Application as a path of the document."""
        return (*self.path, *path)

    def literal(self, value: object) -> str | None:
        """Return text whose value is known: not another type, not made by a template."""
        if not isinstance(value, str) or (self.templated and "{{" in value):
            return None
        return value


def application_of(data: Mapping[str, object], path: Path = (), *, templated: bool = False) -> Application:
    """Return the view of an Application whose metadata and spec stand at `path`."""
    metadata, spec = mapping(data.get("metadata")), mapping(data.get("spec"))
    policy, sources = mapping(spec.get("syncPolicy")), tuple(_sources(spec, path))
    is_multi_source = "sourceHydrator" not in spec and bool(items(spec.get("sources")))
    return Application(
        data=data,
        path=path,
        templated=templated,
        metadata=metadata,
        annotations=mapping(metadata.get("annotations")),
        name=text(metadata.get("name")),
        spec=spec,
        project=text(spec.get("project")) or "default",
        sources=sources,
        is_multi_source=is_multi_source,
        refs=tuple(_refs(sources)) if is_multi_source else (),
        value_files=tuple(file for source in sources for file in _value_files(source)),
        sync_policy=policy,
        sync_options=tuple(text(item) for item in items(policy.get("syncOptions"))),
    )


def _sources(spec: Mapping[str, object], path: Path) -> Iterator[Source]:
    if "sourceHydrator" in spec:
        dry = mapping(mapping(spec["sourceHydrator"]).get("drySource"))
        yield _source((*path, "spec", "sourceHydrator", "drySource"), dry)
    elif items(spec.get("sources")):
        for index, item in enumerate(items(spec["sources"])):
            yield _source((*path, "spec", "sources", index), mapping(item))
    elif isinstance(spec.get("source"), dict):
        yield _source((*path, "spec", "source"), mapping(spec["source"]))


def _source(path: Path, data: Mapping[str, object]) -> Source:
    return Source(path=path, data=data, repo_url=text(data.get("repoURL")), helm=mapping(data.get("helm")))


def _refs(sources: Iterable[Source]) -> Iterator[tuple[str, Source]]:
    return ((source.text("ref"), source) for source in sources if source.text("ref"))


def _value_files(source: Source) -> Iterator[ValueFile]:
    for index, entry in entries(source.helm.get("valueFiles")):
        yield ValueFile(source=source, path=(*source.path, "helm", "valueFiles", index), entry=entry)
    for index, item in enumerate(items(source.helm.get("fileParameters"))):
        entry = text(mapping(item).get("path"))
        if entry:
            place = (*source.path, "helm", "fileParameters", index, "path")
            yield ValueFile(source=source, path=place, entry=entry)


class Scope(msgspec.Struct, frozen=True, kw_only=True):
    """What rules may look at beside their own document.

    `files` are paths of the repository that `repositories` (normalised URLs) name, `objects` what
    an Application makes, by its name, `namespace` that of Argo CD. `display_only` names Applications
    that mean their ignored fields to be written by each sync.
    """

    facts: ArgocdFacts
    version: Version
    namespace: str = "argocd"
    files: Collection[str] = ()
    folders: Collection[str] = ()
    repositories: Collection[str] = ()
    projects: Mapping[str, Document] = {}
    objects: Mapping[str, Sequence[ObjectIdentity]] = {}
    display_only: Collection[str] = ()

    def supports(self, since: str | None) -> bool:
        """Say whether this Argo CD has what came with the version `since`."""
        return since is None or self.version.meets(Version.parse(since)) is not Met.NO


def mapping(value: object) -> Mapping[str, object]:
    """Return the value if it is a mapping, else an empty one."""
    return value if isinstance(value, dict) else {}


def items(value: object) -> Sequence[object]:
    """Return the value if it is a list, else an empty one."""
    return value if isinstance(value, list) else ()


def text(value: object) -> str:
    """Return the value if it is text, else the empty one."""
    return value if isinstance(value, str) else ""


def entries(value: object) -> Iterator[tuple[int, str]]:
    """Yield the texts of a list with their index."""
    return ((index, item) for index, item in enumerate(items(value)) if isinstance(item, str))
