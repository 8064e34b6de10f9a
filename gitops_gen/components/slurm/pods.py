"""Settings of pods in, the chart's values that node sets, logins and daemons write alike out."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from gitops_gen.components.slurm.context import Context, own
from gitops_gen.components.slurm.images import image
from gitops_gen.model import Json, Object, Origin, Setting
from gitops_gen.traced import put

Fields = Mapping[str, tuple[Json, tuple[Origin, ...]]]
"""Fields of a PodSpec, each with its reasons."""


def default_images(context: Context, kind: str, images: Mapping[str, str]) -> Iterator[Setting]:
    """Write the images once where the chart has defaults for all sets of a kind, and a set takes them."""
    defaults = context.release["defaults"].get(kind)
    if defaults is None:
        return
    settings = context.settings
    sets = {
        "nodesets": [item.image for item in settings.node_sets],
        "loginsets": [item.image for item in settings.logins],
    }[kind]
    for part, container in images.items():
        if sets and (part == "sidecar" or None in sets):
            yield from image_values(context, (defaults, container), part)


def image_values(context: Context, container: tuple[str, ...], part: str) -> Iterator[Setting]:
    """Yield the image of a part, unless it is the one that the chart has by itself."""
    chosen = image(context, part)
    if chosen.value != _chart_image(context, (*container, "image")):
        yield put((*container, "image"), chosen.value, *chosen.origins)


def _chart_image(context: Context, path: tuple[str, ...]) -> Object:
    keys = context.facts.chart_keys("slurm", context.part.version).keys
    found = {name: keys.get(".".join((*path, name)), {}).get("default") for name in ("repository", "tag")}
    return {name: value for name, value in found.items() if value is not None}


def shipped(context: Context, kind: str, used: set[str]) -> Iterator[Setting]:
    """Switch off what the chart would make by itself."""
    shipped = context.release["own"].get(kind)
    keys = context.facts.chart_keys("slurm", context.part.version).keys
    if shipped is not None and shipped not in used and keys[f"{kind}.{shipped}.enabled"].get("default"):
        yield put((kind, shipped, "enabled"), False, context.fact(f"{kind} that the chart has by itself"))


def volume_origins(
    context: Context, place: tuple[str | int, ...], named: tuple[str, ...] | None
) -> list[Origin]:
    """Return why the volumes of a node set or login are mounted."""
    if named is not None:
        return [own(*place, "volumes")]
    return [own("volumes")] if context.settings.volumes else []


def placement(item: Any, *place: str | int) -> Fields:
    """Return where the pods of a daemon or login may run, as its settings say."""
    fields: dict[str, tuple[Json, tuple[Origin, ...]]] = {}
    if item.node_selector:
        selector: Object = dict(item.node_selector)
        fields["nodeSelector"] = (selector, (own(*place, "nodeSelector"),))
    if item.tolerations:
        tolerations: list[Json] = [dict(one) for one in item.tolerations]
        fields["tolerations"] = (tolerations, (own(*place, "tolerations"),))
    return fields


def pod_settings(
    path: tuple[str, ...], ours: Fields, theirs: Mapping[str, Json], place: tuple[str | int, ...]
) -> Iterator[Setting]:
    """Yield the fields of a pod: the user's maps merge with ours, lists follow ours, null takes ours out."""
    for name in dict.fromkeys((*ours, *theirs)):
        value, origins = ours.get(name, (None, ()))
        if name in theirs:
            value = _joined(value, theirs[name])
            origins = (*origins, own(*place, "podSpec", name))
        if value is not None:
            yield put((*path, name), value, *origins)


def _joined(ours: Json, theirs: Json) -> Json:
    if isinstance(theirs, dict):
        known = ours if isinstance(ours, dict) else {}
        merged = {**known, **{name: _joined(known.get(name), value) for name, value in theirs.items()}}
        return {name: value for name, value in merged.items() if value is not None}
    if isinstance(ours, list) and isinstance(theirs, list):
        return [*ours, *theirs]
    return theirs


def at_margin(text: str) -> str:
    """Return a text without what blanks begin it.

    The chart prints it as a block of YAML, whose first line says how far the others are indented.
    """
    return text.lstrip()


def resource_values(path: tuple[str, ...], resources: Any, *place: str | int) -> Iterator[Setting]:
    """Yield requests and limits of a container as the spec has them."""
    for bound in ("requests", "limits"):
        for name, value in getattr(resources, bound).items():
            yield put((*path, "resources", bound, name), value, own(*place, "resources", bound, name))
