"""Settings in, the image of each part out: the profile's, the spec's, the mirror's."""

from __future__ import annotations

from collections.abc import Iterator

import msgspec

from gitops_gen.components.slurm.context import Context, own
from gitops_gen.components.slurm.settings import Image
from gitops_gen.images import mirrored
from gitops_gen.model import Object, Origin, from_fact


class Chosen(msgspec.Struct, frozen=True, kw_only=True):
    """An image as the chart takes it; `repository` and `tag` are empty where nobody names them.

    `upstream` is the repository before any mirror.
    """

    repository: str
    tag: str
    digest: str
    upstream: str
    origins: tuple[Origin, ...]

    @property
    def missing(self) -> bool:
        """Whether nothing can be pulled by it."""
        return not self.repository or not (self.tag or self.digest)

    @property
    def value(self) -> Object:
        """The chart's map of it; a digest wins over a tag, as in the chart."""
        named: Object = {"digest": self.digest} if self.digest else {"tag": self.tag}
        return {"repository": self.repository, **named}

    @property
    def text(self) -> str:
        """The reference as a pod takes it."""
        return self.repository + (f"@{self.digest}" if self.digest else f":{self.tag}")


def image(context: Context, part: str, special: Image | None = None, *at: str | int) -> Chosen:
    """Return the image of a part; `special` is that of one node set or login, which stands at `at`."""
    base, origins = _of_profile(context, part)
    given = _given(context, part)
    for layer, place in ((given, ("images", part)), (special, at)):
        if layer is not None:
            base = _over(base, layer)
            origins = (*origins, own(*place))
    upstream = base.repository or ""
    repository, mirror = upstream, mirrored(upstream, context.spec.registry.mirrors)
    if mirror is not None:
        repository, by = mirror
        origins = (*origins, by)
    return Chosen(
        repository=repository,
        tag=base.tag or "",
        digest=base.digest or "",
        upstream=upstream,
        origins=origins,
    )


def used_parts(context: Context) -> Iterator[str]:
    """Yield the parts that run in this cluster."""
    settings = context.settings
    if settings.controller.external is None:
        yield "slurmctld"
    if settings.node_sets:
        yield "slurmd"
    if settings.accounting.enabled and settings.accounting.external is None:
        yield "slurmdbd"
    yield "slurmrestd"
    if settings.logins:
        yield "login"
    yield "sidecar"


def system_of(context: Context) -> str:
    """Return the base system of SchedMD's images: the spec's, else the chart's, else the series' first."""
    systems = context.data["images"]["systems"].get(context.series, ())
    usual = str(context.release["slurm"]["system"])
    return context.settings.images.system or (usual if usual in systems or not systems else str(systems[0]))


def _of_profile(context: Context, part: str) -> tuple[Image, tuple[Origin, ...]]:
    images, settings = context.data["images"], context.settings
    profile = images["profiles"][settings.images.profile or "slinky"]
    if part in profile.get("required", ()):
        return Image(), (own("images", "profile"),)
    if part == "sidecar":
        plain = images["sidecar"]
        pinned = from_fact(f"slurm/component.yaml: image of sidecars ({images['sidecarSource']})")
        return Image(repository=plain["repository"], tag=str(plain["tag"])), (pinned,)
    names = images["parts"][part]
    pyxis = settings.pyxis.enabled and "pyxis" in names
    name = names["pyxis" if pyxis else "name"]
    tag = profile["tag"].format(series=context.series, system=system_of(context))
    choices = {("images", "series"): settings.images.series, ("images", "system"): settings.images.system}
    origins = [own(*at) for at, value in choices.items() if value is not None]
    if pyxis:
        origins.append(own("pyxis", "enabled"))
    origins.append(from_fact(f"slurm/component.yaml: images ({images['source']})"))
    return Image(repository=f"{profile['repository']}/{name}", tag=tag), tuple(origins)


def _given(context: Context, part: str) -> Image | None:
    found = getattr(context.settings.images, part)
    assert found is None or isinstance(found, Image)
    return found


def _over(base: Image, given: Image) -> Image:
    """What is named replaces what is below; a digest belongs to the image that it was written for."""
    kept = None if given.tag or given.repository else base.digest
    return Image(
        repository=given.repository or base.repository,
        tag=given.tag or base.tag,
        digest=given.digest or kept,
    )
