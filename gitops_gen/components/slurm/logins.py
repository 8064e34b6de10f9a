"""Logins in, the chart's values for them and for how users reach them out."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from gitops_gen.components.slurm.context import FULLNAME, Context, own
from gitops_gen.components.slurm.images import image
from gitops_gen.components.slurm.pods import (
    at_margin,
    default_images,
    placement,
    pod_settings,
    resource_values,
    shipped,
    volume_origins,
)
from gitops_gen.components.slurm.scripts import enroot
from gitops_gen.components.slurm.settings import Login, LoginService
from gitops_gen.components.slurm.storage import pod_volumes, volume_mounts
from gitops_gen.model import Json, Origin, Setting
from gitops_gen.traced import put


def logins(context: Context) -> Iterator[Setting]:
    """Yield the values of every login."""
    yield from default_images(context, "loginsets", {"login": "login", "sidecar": "initconf"})
    for index, login in enumerate(context.settings.logins):
        yield from _login(context, index, login)
    yield from shipped(context, "loginsets", {login.name for login in context.settings.logins})


def _login(context: Context, index: int, item: Login) -> Iterator[Setting]:
    place, at = ("logins", index), ("loginsets", item.name)
    own_defaults = context.release["defaults"].get("loginsets") is not None
    if not own_defaults:
        yield put((*at, "enabled"), True, own(*place))
    if item.replicas != 1 or not own_defaults:
        yield put((*at, "replicas"), item.replicas, own(*place, "replicas"))
    chosen = image(context, "login", item.image, *place, "image")
    if item.image is not None or not own_defaults:
        yield put((*at, "login", "image"), chosen.value, *chosen.origins)
    if item.privileged:
        yield put((*at, "login", "securityContext", "privileged"), True, own(*place, "privileged"))
    yield from resource_values((*at, "login"), item.resources, *place)
    settings = context.settings
    enroot_file = enroot(settings, fullname=FULLNAME, namespace=context.namespace)
    files = (enroot_file,) if enroot_file is not None else ()
    mounts: list[Json] = [*volume_mounts(settings.volumes, "logins", item.volumes)]
    mounts += [file.mount for file in files]
    volumes: list[Json] = [*pod_volumes(settings.volumes, "logins", item.volumes, fullname=FULLNAME)]
    volumes += [file.volume for file in files]
    origins = tuple(volume_origins(context, place, item.volumes))
    origins = (*origins, *((own("pyxis", "enrootConfig"),) if files else ()))
    if mounts:
        yield put((*at, "login", "volumeMounts"), mounts, *origins)
    if not own_defaults:
        sidecar = image(context, "sidecar")
        yield put((*at, "initconf", "image"), sidecar.value, *sidecar.origins)
    if item.root_authorized_keys:
        lines = "".join(f"{key.strip()}\n" for key in item.root_authorized_keys)
        yield put((*at, "rootSshAuthorizedKeys"), lines, own(*place, "rootAuthorizedKeys"))
    if item.extra_sshd_config is not None:
        config = at_margin(item.extra_sshd_config)
        yield put((*at, "extraSshdConfig"), config, own(*place, "extraSshdConfig"))
    fields = placement(item, *place)
    if volumes:
        fields = {**fields, "volumes": (volumes, origins)}
    yield from pod_settings((*at, "podSpec"), fields, item.pod_spec, place)
    yield from _service(context, item.service, (*at, "service"), (*place, "service"))


def _service(
    context: Context, service: LoginService, at: tuple[str, ...], place: tuple[str | int, ...]
) -> Iterator[Setting]:
    if service.type != "LoadBalancer" or context.release["defaults"].get("loginsets") is None:
        yield put((*at, "spec", "type"), service.type, own(*place, "type"))
    for name, (value, why) in balancer_annotations(context, service, place).items():
        yield put((*at, "metadata", "annotations", name), value, *why)
    if service.source_ranges:
        ranges: list[Json] = [*service.source_ranges]
        yield put((*at, "spec", "loadBalancerSourceRanges"), ranges, own(*place, "sourceRanges"))
    if service.load_balancer_class is not None:
        by = own(*place, "loadBalancerClass")
        yield put((*at, "spec", "loadBalancerClass"), service.load_balancer_class, by)
    if service.port != LoginService().port:
        yield put((*at, "port"), service.port, own(*place, "port"))
    if service.node_port is not None:
        yield put((*at, "nodePort"), service.node_port, own(*place, "nodePort"))


def balancer_annotations(
    context: Context, service: LoginService, place: tuple[str | int, ...]
) -> Mapping[str, tuple[str, tuple[Origin, ...]]]:
    """Return the annotations of a login's Service: those that keep it inside, then the user's."""
    found: dict[str, tuple[str, tuple[Origin, ...]]] = {}
    if is_internal(context, service):
        facts: Any = context.data["loadBalancers"]
        by = (own(*place, "internal"), context.fact("internal load balancers", facts["source"]))
        for name, value in facts.get(context.spec.kubernetes.distribution, {}).items():
            found[name] = (value, by)
    for name, value in service.annotations.items():
        found[name] = (value, (own(*place, "annotations", name),))
    return found


def is_internal(context: Context, service: LoginService) -> bool:
    """Whether the load balancer stays inside the network: as the spec says, on GKE by default.

    A source range or an annotation says that the user has chosen otherwise.
    """
    if service.type != "LoadBalancer":
        return False
    if service.internal is not None:
        return service.internal
    chosen = service.source_ranges or service.annotations or service.load_balancer_class
    return context.spec.kubernetes.distribution == "gke" and not chosen
