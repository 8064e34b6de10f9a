"""Images and versions in, what cannot be pulled or is not what it says out."""

from __future__ import annotations

import re
from collections.abc import Iterator

from gitops_gen.components.slurm.context import Context
from gitops_gen.components.slurm.finding import Finding
from gitops_gen.components.slurm.images import Chosen, image, system_of, used_parts
from gitops_gen.components.slurm.settings import Image
from gitops_gen.diagnostics import Path

_SERIES = re.compile(r"(\d\d\.(?:02|05|08|11))(?!\d)")
"""How a tag of an image of Slurm begins where it tells the series."""


def images(context: Context) -> Iterator[Finding]:
    """Yield every finding about images."""
    settings = context.settings
    if settings.images.profile is None and settings.operator.managed_by == "gke":
        yield Finding(
            code="slurm-image-profile",
            message="the add-on brings no images of Slurm, and nothing says which to run",
            hint="write images.profile: custom (or google) and name each image, or profile: slinky "
            "for SchedMD's",
            path=("images",),
            on_key=True,
        )
        return
    yield from _system(context)
    for part in used_parts(context):
        path: Path = ("images", part) if getattr(settings.images, part) is not None else ("images",)
        special = [item.image for item in settings.node_sets] if part == "slurmd" else []
        special = [item.image for item in settings.logins] if part == "login" else special
        if special and all(item is not None and item.repository for item in special):
            continue
        yield from _image(context, image(context, part), part, path)
    for given, part, path in (*_of_node_sets(context), *_of_logins(context)):
        if given.repository or not image(context, part).missing:
            yield from _image(context, image(context, part, given), part, path)
    yield from _skew(context)


def _of_node_sets(context: Context) -> Iterator[tuple[Image, str, Path]]:
    for index, item in enumerate(context.settings.node_sets):
        if item.image is not None:
            yield item.image, "slurmd", ("nodeSets", index, "image")


def _of_logins(context: Context) -> Iterator[tuple[Image, str, Path]]:
    for index, item in enumerate(context.settings.logins):
        if item.image is not None:
            yield item.image, "login", ("logins", index, "image")


def _image(context: Context, chosen: Chosen, part: str, path: Path) -> Iterator[Finding]:
    if chosen.missing:
        profile = context.settings.images.profile
        yield Finding(
            code="slurm-image-missing",
            message=f"nothing says which image {part} runs: profile {profile} has none of its own",
            hint=f"write images.{part}: {{repository: …, tag: …}}"
            if path[0] == "images"
            else "write its tag or its digest here",
            path=path,
            on_key=path == ("images",),
        )
    if chosen.digest and not context.supports("imageDigest"):
        yield Finding(
            code="slurm-unsupported",
            message=f"chart slurm {context.part.version} takes images by tag only",
            hint="write a tag, or version 1.2.1",
            path=(*path, "digest"),
            on_key=True,
        )
    if chosen.tag == "latest" and not chosen.digest:
        yield Finding(
            code="slurm-image-latest",
            level="warning",
            message=f'{part} runs "latest", which is another image on each node and after each restart',
            hint="write a version as the tag, or a digest",
            path=(*path, "tag") if path != ("images",) else path,
        )


def _system(context: Context) -> Iterator[Finding]:
    wanted = context.settings.images
    if wanted.profile not in (None, "slinky"):
        if wanted.system is not None:
            yield Finding(
                code="slurm-image-system",
                message="system chooses among SchedMD's images; this profile has images of its own",
                hint="leave it out",
                path=("images", "system"),
                on_key=True,
            )
        return
    systems = context.data["images"]["systems"].get(context.series, ())
    if system_of(context) not in systems:
        yield Finding(
            code="slurm-image-system",
            message=f"SchedMD has no images of Slurm {context.series} on {system_of(context)}",
            hint=f"systems of {context.series}: {', '.join(systems)}",
            path=("images", "system"),
        )
    usual = str(context.release["slurm"]["series"])
    if context.series > usual:
        yield Finding(
            code="slurm-series-newer",
            level="warning",
            message=f"Slurm {context.series} is newer than operator {context.part.version} was made "
            f"for ({usual})",
            hint=f'take a newer `version` of the component first, or write series: "{usual}"',
            path=("images", "series"),
        )


# --- series of the tags ------------------------------------------------------------------------


def _skew(context: Context) -> Iterator[Finding]:
    """Yield parts whose tags tell a series that does not go with slurmctld's."""
    if context.settings.controller.external is not None:
        return
    told = _told(context, "slurmctld", None)
    here = told or context.series
    if told is not None and told != context.series:
        yield Finding(
            code="slurm-series-skew",
            level="warning",
            message=f"the tag of slurmctld says Slurm {told}, but keywords are checked for {context.series}",
            hint=f'write images.series: "{told}"'
            if told in context.data["images"]["systems"]
            else f"use an image of {context.series}",
            path=("images", "slurmctld", "tag"),
        )
        return
    oldest = str(context.release["slurm"]["minimum"])
    for part, given, path in _tagged(context):
        series = _told(context, part, given)
        if series is None:
            continue
        if part == "slurmdbd" and series < here:
            flaw = f"slurmdbd of {series} cannot serve slurmctld of {here}: it may not be the older one"
        elif part != "slurmdbd" and series > here:
            flaw = f"{part} of {series} is newer than slurmctld of {here}, which does not understand it"
        elif series < oldest:
            flaw = f"operator {context.part.version} needs Slurm {oldest} or later, and {part} is of {series}"
        else:
            continue
        yield Finding(
            code="slurm-series-skew",
            level="warning",
            message=flaw,
            hint=f"use an image of {here}",
            path=(*path, "tag"),
        )


def _tagged(context: Context) -> Iterator[tuple[str, Image | None, Path]]:
    for part in used_parts(context):
        given = getattr(context.settings.images, part)
        if given is not None and part != "sidecar":
            yield part, None, ("images", part)
    for given, part, path in (*_of_node_sets(context), *_of_logins(context)):
        if given.tag is not None:
            yield part, given, path


def _told(context: Context, part: str, given: Image | None) -> str | None:
    found = _SERIES.match(image(context, part, given).tag)
    return found[1] if found else None
