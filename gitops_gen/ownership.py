"""A plan and the places of its spec in, every object that two Applications would both make out."""

from __future__ import annotations

from collections.abc import Iterator

import msgspec

from gitops_gen import argocd
from gitops_gen.diagnostics import Diagnostic, Path, Position, Severity
from gitops_gen.model import Application, ClusterSpec, DirectorySource, ObjectIdentity, Origin, OwnChart, Plan
from gitops_gen.spec.source_map import SourceMap
from gitops_gen.traced import origins_of

_NAME: Path = ("metadata", "name")


class _Maker(msgspec.Struct, frozen=True, kw_only=True):
    """Who makes an object; `path` and `position` are the line of the spec to blame, if there is one.

    `certain` says that the object is ours: those of others' charts are known from renders alone.
    """

    app: str
    certain: bool
    path: Path
    position: Position | None


def objects_made_twice(plan: Plan, source_map: SourceMap) -> Iterator[Diagnostic]:
    """Yield a finding for each object with two makers, at the later line and naming the other.

    Argo CD would hand such an object from one Application to the other at each sync; two
    Applications of one name would overwrite each other's files. Where somebody else's chart is
    concerned, it is a warning that the spec can accept.
    """
    makers: dict[ObjectIdentity, _Maker] = {}
    for app in plan.applications:
        for identity, maker in _made(app, plan.spec, source_map):
            first = makers.setdefault(identity, maker)
            if first is not maker:
                yield _twice(identity, first, maker)


def _made(
    app: Application, spec: ClusterSpec, source_map: SourceMap
) -> Iterator[tuple[ObjectIdentity, _Maker]]:
    """Yield the Application itself and what it makes; hooks go by themselves."""
    own = ObjectIdentity(
        group="argoproj.io",
        kind="Application",
        name=argocd.application_name(spec, app.name),
        namespace=spec.argocd.namespace,
    )
    yield own, _maker(app, app.origins, source_map, certain=True)
    for source in app.sources:
        if isinstance(source, DirectorySource):
            for manifest in source.manifests:
                origins = (*origins_of(manifest.object, _NAME), *app.origins)
                yield argocd.manifest_identity(manifest), _maker(app, origins, source_map, certain=True)
        else:
            chart = _maker(app, app.origins, source_map, certain=isinstance(source, OwnChart))
            for identity in dict.fromkeys(item for item in source.objects if not item.hook):
                yield identity, chart


def _maker(app: Application, origins: tuple[Origin, ...], source_map: SourceMap, *, certain: bool) -> _Maker:
    for origin in origins:
        if origin.kind == "spec" and source_map.has(origin.path):
            position = source_map.key(origin.path)
            return _Maker(app=app.name, certain=certain, path=origin.path, position=position)
    path = ("spec", "components", app.component)
    return _Maker(app=app.name, certain=certain, path=path, position=None)


def _twice(identity: ObjectIdentity, one: _Maker, other: _Maker) -> Diagnostic:
    first, last = sorted((one, other), key=_place)
    where = f"{identity.namespace}/" if identity.namespace else ""
    what = f"the {identity.kind} {where}{identity.name}"
    at = _line(first.position, last.position)
    said = (
        f"the app {last.app} makes {what} twice{at}"
        if first.app == last.app
        else f"the apps {last.app} and {first.app}{at} both make {what}: "
        "each sync would take it from the other"
    )
    return Diagnostic(
        code="object-made-twice",
        severity=Severity.ERROR if first.certain and last.certain else Severity.WARNING,
        message=said,
        path=last.path,
        on_key=True,
        hint="give one of the two another name or namespace, or leave the object to one of them",
    )


def _line(position: Position | None, here: Position | None) -> str:
    """Write the place of the other maker, as far as it says more than the place that is shown."""
    if position is None or position == here:
        return ""
    same = here is not None and here.file == position.file
    return f" (line {position.line})" if same else f" ({position.file}:{position.line})"


def _place(maker: _Maker) -> tuple[bool, Position, str]:
    at = maker.position
    return at is not None, at or Position(file="", line=0, column=0), maker.app
