"""Mirrors and pull Secrets in, repositories and pull Secrets of every image that is used out."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from gitops_gen.components.gpu_operator.context import Context, own
from gitops_gen.model import Json, Origin, Setting, from_spec
from gitops_gen.traced import put

_REPOSITORY = ".repository"
_PULL_SECRETS = ".imagePullSecrets"
_OWN_SECRETS = ("driver", "vgpuManager")


def registry_values(context: Context) -> Iterator[Setting]:
    """Yield the mirrored repositories, then the pull Secrets in the shape that each key has."""
    mirrors = context.spec.registry.mirrors
    for path, repository in used_repositories(context) if mirrors else ():
        found = mirrored(repository, mirrors)
        if found is not None:
            mirror, origin = found
            yield put(f"{path}{_REPOSITORY}", mirror, origin)
    if any(pull_secrets(context, path) for path in _OWN_SECRETS):
        yield from _pull_secrets(context)


def mirrored(repository: str, mirrors: Mapping[str, str]) -> tuple[str, Origin] | None:
    """Return the mirror of a repository by the longest registry or path that is mirrored."""
    for source in sorted(mirrors, key=len, reverse=True):
        if repository == source or repository.startswith(f"{source}/"):
            mirror = mirrors[source] + repository.removeprefix(source)
            return mirror, from_spec("registry", "mirrors", source)
    return None


def used_repositories(context: Context) -> Iterator[tuple[str, str]]:
    """Yield `(values path, repository)` of each image that the chart's operands can pull."""
    for key in context.keys.keys:
        repository = context.default(key)
        if key.endswith(_REPOSITORY) and isinstance(repository, str) and repository:
            path = key.removesuffix(_REPOSITORY)
            replaced = path == "driver" and context.settings.driver.repository is not None
            if _is_used(context, path) and not replaced:
                yield path, repository


def pull_secrets(context: Context, path: str) -> list[tuple[str, Origin]]:
    """Return the pull Secrets of the images below `path`, the image's own ones last."""
    found = {name: from_spec("registry", "pullSecrets") for name in context.spec.registry.pull_secrets}
    if path == "driver":
        origin = own("driver", "imagePullSecrets")
        found |= dict.fromkeys(context.settings.driver.image_pull_secrets, origin)
    manager = context.settings.sandbox_workloads.vgpu_manager
    if path == "vgpuManager" and manager is not None:
        origin = own("sandboxWorkloads", "vgpuManager", "imagePullSecrets")
        found |= dict.fromkeys(manager.image_pull_secrets, origin)
    return list(found.items())


def _pull_secrets(context: Context) -> Iterator[Setting]:
    for key in (*context.keys.keys, *context.keys.extra):
        path = key.removesuffix(_PULL_SECRETS)
        if key.endswith(_PULL_SECRETS) and _takes_pull_secrets(context, path):
            for name, origin in pull_secrets(context, path):
                value: Json = {"name": name} if path == context.facts.images.nfd else name
                yield put(f"{key}[]", value, origin)


def _takes_pull_secrets(context: Context, path: str) -> bool:
    if path == context.facts.images.nfd:
        return context.nfd_enabled
    if path == "driver.manager":
        # Only the chart's own NVIDIADriver takes them there.
        return context.driver_objects and not context.own_driver_objects
    has_image = f"{path}{_REPOSITORY}" in context.keys.keys
    return has_image and not path.startswith(context.facts.images.nfd) and _is_used(context, path)


def _is_used(context: Context, path: str) -> bool:
    """Say whether a pod of this cluster can pull the image at `path`."""
    images, settings, top = context.facts.images, context.settings, path.split(".")[0]
    only = {
        **dict.fromkeys(images.sandbox, settings.sandbox_workloads.mode != "none"),
        **dict.fromkeys(images.kata, settings.sandbox_workloads.mode == "kata"),
        **dict.fromkeys(images.gpu_cluster, settings.gpu_cluster.enabled),
        **dict.fromkeys(images.vgpu_host, settings.sandbox_workloads.vgpu_manager is not None),
        **dict.fromkeys(images.never, False),
        images.nfd: context.nfd_enabled,
        "gds": settings.gds,
        "gdrcopy": settings.gdrcopy,
        "dcgm": settings.dcgm,
        "dcgmExporter": settings.dcgm_exporter.enabled,
        "toolkit": context.operand_enabled("toolkit"),
        "devicePlugin": context.operand_enabled("devicePlugin"),
    }
    if path == "driver":
        return context.driver_enabled and not context.own_driver_objects
    return only.get(top, True)
