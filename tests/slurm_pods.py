"""The containers and pod templates of Slinky's objects, as a Pod that Kubernetes' own schema can judge.

The CRDs leave both free, so that a misspelt field passes the API server and does nothing.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import kubernetes_validate  # type: ignore[import-untyped]

CONTAINERS = (
    "slurmctld",
    "reconfigure",
    "logfile",
    "slurmd",
    "login",
    "initconf",
    "slurmrestd",
    "slurmdbd",
)


def pod_faults(
    template: Mapping[str, Any], containers: Mapping[str, Any], version: str = "1.35"
) -> list[str]:
    """Return what Kubernetes has against a pod of the template with these containers.

    A field that is null is one that is not there, as for the API server.
    """
    found = [{"name": name, **without_nulls(item)} for name, item in containers.items()]
    spec = without_nulls(template.get("spec") or {})
    pod = {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": "pod", **without_nulls(template.get("metadata") or {})},
        "spec": {**spec, "containers": [*found, *spec.get("containers", ())]},
    }
    try:
        kubernetes_validate.validate(pod, version, strict=True)
    except kubernetes_validate.ValidationError as error:
        return [f"{'.'.join(map(str, error.path))}: {error.message}"]
    return [*_unmounted(pod)]


def without_nulls(value: Any) -> Any:
    """Return a value without what is null below it."""
    if isinstance(value, dict):
        return {key: without_nulls(item) for key, item in value.items() if item is not None}
    return [without_nulls(item) for item in value] if isinstance(value, list) else value


def _unmounted(pod: Any) -> list[str]:
    """Return what no schema sees: mounts without a volume, volumes that nobody mounts, names used twice."""
    spec = pod["spec"]
    volumes = [item["name"] for item in spec.get("volumes", ())]
    containers = [*spec["containers"], *spec.get("initContainers", ())]
    mounts = [(each["name"], item) for each in containers for item in each.get("volumeMounts", ())]
    named = {item["name"] for _, item in mounts}
    places = [f"{name}:{item['mountPath']}" for name, item in mounts]
    return [
        *(
            f"no volume {item['name']} for {item['mountPath']}"
            for _, item in mounts
            if item["name"] not in volumes
        ),
        *(f"nobody mounts {name}" for name in volumes if name not in named),
        *(f"volume {name} twice" for name in set(volumes) if volumes.count(name) > 1),
        *(f"mount {place} twice" for place in set(places) if places.count(place) > 1),
    ]
