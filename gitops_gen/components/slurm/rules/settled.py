"""A path of the chart's values in, the field of the spec that decides it out."""

from __future__ import annotations

from collections.abc import Mapping

from gitops_gen.diagnostics import Path
from gitops_gen.model import Json

SETS: Mapping[str, str] = {"nodesets": "nodeSets", "loginsets": "logins", "partitions": "partitions"}
DEFAULTS = {"nodesets": "nodesetDefaults", "loginsets": "loginsetDefaults"}
USUAL: Mapping[str, Json] = {"loginsetDefaults.service.port": 22}
"""What the operator takes where the chart shows no default."""
_SETTLED = {
    "clusterName": "clusterName",
    "slurmKey.secretRef": "keys.slurm.secretRef",
    "jwtKey.secretRef": "keys.jwt.secretRef",
    "jwksKeys": "keys.jwks",
    "priorityClass": "priorityClass",
    "imagePullPolicy": "images.pullPolicy",
    "controller.external": "controller.external",
    "controller.externalConfig": "controller.external",
    "controller.inplaceReconfigure": "controller.inplaceReconfigure",
    "controller.persistence.enabled": "controller.persistence.enabled",
    "controller.persistence.existingClaim": "controller.persistence.existingClaim",
    "controller.persistence.storageClassName": "controller.persistence.storageClass",
    "controller.persistence.accessModes": "controller.persistence.accessModes",
    "controller.persistence.resources.requests.storage": "controller.persistence.size",
    "controller.metrics.enabled": "controller.metrics",
    "controller.metrics.serviceMonitor.enabled": "controller.metrics.serviceMonitor",
    "controller.metrics.serviceMonitor.interval": "controller.metrics.interval",
    "controller.metrics.serviceMonitor.endpoints": "controller.metrics.endpoints",
    "controller.slurmctld.image": "images.slurmctld",
    "controller.reconfigure.image": "images.slurmctld",
    "controller.logfile.image": "images.sidecar",
    "restapi.replicas": "restApi.replicas",
    "restapi.pdb": "restApi.disruptionBudget",
    "restapi.slurmrestd.image": "images.slurmrestd",
    "accounting.enabled": "accounting.enabled",
    "accounting.external": "accounting.external",
    "accounting.externalConfig": "accounting.external",
    "accounting.storageConfig": "accounting.database",
    "accounting.slurmdbd.image": "images.slurmdbd",
    "sssd": "sssd.secretRef",
    "vendor.nvidia.dcgm": "components.gpuOperator.dcgmExporter.slurmJobMapping",
    "partitions.*.enabled": "partitions",
    "partitions.*.nodesets": "partitions[].nodeSets",
}
_OF_SETS = {
    "nodesets": {
        "enabled": "nodeSets",
        "replicas": "nodeSets[].replicas",
        "scalingMode": "nodeSets[].mode",
        "ordinalPadding": "nodeSets[].ordinalPadding",
        "pinToNode": "nodeSets[].pinToNode",
        "workloadDisruptionProtection": "nodeSets[].protectJobs",
        "updateStrategy": "nodeSets[].updateStrategy",
        "ssh": "nodeSets[].ssh",
        "partition": "partitions",
        "slurmd.image": "nodeSets[].image",
        "logfile.image": "images.sidecar",
        "podSpec.hostNetwork": "nodeSets[].hostNetwork",
    },
    "loginsets": {
        "enabled": "logins",
        "replicas": "logins[].replicas",
        "rootSshAuthorizedKeys": "logins[].rootAuthorizedKeys",
        "extraSshdConfig": "logins[].extraSshdConfig",
        "login.image": "logins[].image",
        "login.securityContext.privileged": "logins[].privileged",
        "initconf.image": "images.sidecar",
        "service.spec.type": "logins[].service.type",
        "service.spec.loadBalancerSourceRanges": "logins[].service.sourceRanges",
        "service.spec.loadBalancerClass": "logins[].service.loadBalancerClass",
        "service.metadata.annotations": "logins[].service.annotations",
        "service.port": "logins[].service.port",
        "service.nodePort": "logins[].service.nodePort",
    },
}


def deciding_field(path: Path) -> str | None:
    """Return the field of the spec that decides a raw value."""
    for size in range(len(path), 0, -1):
        found = _SETTLED.get(pattern(path[:size]))
        if found is not None:
            return found
    section, below = in_set(path)
    fields = _OF_SETS.get(section, {})
    names = (".".join(map(str, below[:size])) for size in range(len(below), 0, -1))
    return next((fields[name] for name in names if name in fields), None)


def in_set(path: Path) -> tuple[str, Path]:
    """Return the kind of set that a raw value is about, by itself or by the defaults, and the path in it."""
    for section, defaults in DEFAULTS.items():
        if path[0] == section:
            return section, path[2:]
        if path[0] == defaults:
            return section, path[1:]
    return "", ()


def chart_key(path: Path) -> str:
    """Return what the chart's facts call a key: sets have the keys of their defaults."""
    section, below = in_set(path)
    return ".".join(map(str, (DEFAULTS[section], *below) if section else path))


def pattern(path: Path) -> str:
    """Return a path with `*` for the name of a set or partition."""
    if path and path[0] in SETS:
        return ".".join((str(path[0]), "*", *map(str, path[2:])))
    return ".".join(map(str, path))
