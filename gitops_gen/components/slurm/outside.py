"""A slurmdbd outside of the cluster in, what leads Slurm to it out.

slurm.conf names the Service of the Accounting object and port 6819, and the operator makes that Service
for a slurmdbd of its own only (1.1.2 and 1.2.1). A DNS name at that port becomes a Service of the name.
No Service can stand for an address: its EndpointSlice is of a kind that Argo CD leaves out by default
(`resource.exclusions`). There slurm.conf says where slurmdbd is, as its last line of a keyword counts;
where slurm.conf is kept outside as well, only slurmrestd looks for the Service, by its file of hosts.
"""

from __future__ import annotations

import ipaddress
from collections.abc import Iterator

from gitops_gen.components.slurm.context import FULLNAME, Context, own
from gitops_gen.components.slurm.pods import Fields
from gitops_gen.components.slurm.settings import Host
from gitops_gen.model import Json, Manifest, Object, Setting, from_fact, from_spec
from gitops_gen.traced import collect, put

SERVICE = f"{FULLNAME}-accounting"
_PLACE = ("accounting", "external")
_NAMED = from_fact(
    "Slinky 1.2.1 internal/builder/controllerbuilder: slurm.conf names the Service of the Accounting object, "
    "which the operator makes for a slurmdbd of its own only"
)
_LAST = from_fact("Slurm 26.05.3 src/common/parse_config.c: the last line of a keyword counts")
_EXCLUDED = from_fact("Argo CD 3.5.1 manifests/base/config/argocd-cm.yaml: resource.exclusions")


def outside_objects(context: Context) -> Iterator[Manifest]:
    """Yield the Service by whose name slurm.conf finds a slurmdbd outside of the cluster."""
    host = _host(context)
    if host is None or is_address(host.host) or _in_config(context, host):
        return
    by = own(*_PLACE)
    settings = (
        put("apiVersion", "v1", by, _NAMED),
        put("kind", "Service", by, _NAMED),
        put("metadata.name", SERVICE, by, _NAMED),
        put("metadata.namespace", context.namespace, from_spec("components", "slurm", "namespace")),
        put("spec.type", "ExternalName", by, _NAMED),
        put("spec.externalName", host.host, own(*_PLACE, "host")),
    )
    yield Manifest(object=collect(settings))


def outside_config(context: Context) -> Iterator[Setting]:
    """Yield the keywords of slurm.conf that say where slurmdbd is, where no Service can."""
    host = _host(context)
    if host is None or not _in_config(context, host):
        return
    path = ("controller", "extraConfMap")
    yield put((*path, "AccountingStorageHost"), host.host, own(*_PLACE, "host"), _EXCLUDED, _LAST)
    if host.port != _usual_port(context):
        yield put((*path, "AccountingStoragePort"), str(host.port), own(*_PLACE, "port"), _LAST)


def outside_aliases(context: Context) -> Fields:
    """Return the field of slurmrestd's pod that gives an address the Service's name."""
    host = _host(context)
    if host is None or not is_address(host.host) or context.settings.controller.external is None:
        return {}
    names: list[Json] = [SERVICE]
    alias: Object = {"ip": host.host, "hostnames": names}
    return {"hostAliases": ([alias], (own(*_PLACE, "host"), _NAMED, _EXCLUDED))}


def is_address(host: str) -> bool:
    """Whether a host is written as an IP address, which no DNS name can stand for."""
    try:
        ipaddress.ip_address(host)
    except ValueError:
        return False
    return True


def _host(context: Context) -> Host | None:
    accounting = context.settings.accounting
    return accounting.external if accounting.enabled else None


def _in_config(context: Context, host: Host) -> bool:
    here = context.settings.controller.external is None
    return here and (is_address(host.host) or host.port != _usual_port(context))


def _usual_port(context: Context) -> int:
    return int(context.data["ports"]["slurmdbd"])
