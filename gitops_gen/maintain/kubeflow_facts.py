"""The objects that one kustomize path makes in; the facts that rules and patches need of them out.

An object is told as `Kind/namespace/name`: without a namespace where it has none, and without the
hash that kustomize gives to the names of generated ConfigMaps and Secrets.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

import yaml

from gitops_gen.maintain.charts import HelmLoader, read_yaml
from gitops_gen.model import Json, Object

Manifest = dict[str, Any]
ClusterKinds = frozenset[tuple[str, str]]
"""API group and kind of each kind without a namespace."""
Addresses = Mapping[tuple[str, str, str, str], Object]
"""API version, kind, namespace and name of an object, with the name and namespace that a patch needs."""
WORKLOADS = ("CronJob", "DaemonSet", "Deployment", "Job", "StatefulSet")

_HASH = re.compile(r"(?P<name>.+)-[bcdfghkmt2456789]{10}")
_HASHED = ("ConfigMap", "Secret")
_WEBHOOKS = ("MutatingWebhookConfiguration", "ValidatingWebhookConfiguration")
_CRD = "CustomResourceDefinition"


def read_objects(text: str) -> list[Manifest]:
    """Read rendered text as objects."""
    return [item for item in yaml.load_all(text, Loader=HelmLoader) if item]


def cluster_kinds(manifests: Iterable[Manifest]) -> ClusterKinds:
    """Tell the kinds without a namespace: those of Kubernetes, and of the CRDs among the objects."""
    listed = read_yaml(Path(__file__).with_name("cluster_kinds.yaml"))["kinds"]
    own = (it["spec"] for it in manifests if it["kind"] == _CRD and it["spec"]["scope"] == "Cluster")
    return frozenset(
        [(group, kind) for group, kinds in listed.items() for kind in kinds]
        + [(spec["group"], spec["names"]["kind"]) for spec in own]
    )


def path_facts(manifests: Iterable[Manifest], cluster: ClusterKinds, addresses: Addresses) -> Object:
    """Tell what the objects of one path are, as a section for each question asked of them."""
    objects = sorted(manifests, key=_order)
    return {
        "objects": [_identity(item, cluster, addresses) for item in objects],
        "crds": {item["metadata"]["name"]: _crd(item) for item in objects if item["kind"] == _CRD},
        "webhooks": [f"{it['kind']}/{it['metadata']['name']}" for it in objects if it["kind"] in _WEBHOOKS],
        "aggregated": [item["metadata"]["name"] for item in objects if item.get("aggregationRule")],
        "data": {place(item): _data_keys(item) for item in objects if item["kind"] in _HASHED},
        "secrets": {place(item): _secret(item) for item in objects if item["kind"] == "Secret"},
        "workloads": {place(item): _workload(item, objects) for item in objects if item["kind"] in WORKLOADS},
        "services": {place(item): _service(item) for item in objects if item["kind"] == "Service"},
        "claims": {place(it): _claim(it) for it in objects if it["kind"] == "PersistentVolumeClaim"},
    }


def place(manifest: Manifest, cluster: ClusterKinds = frozenset()) -> str:
    """Name an object as `Kind/namespace/name`, without a hash."""
    return f"{manifest['kind']}/{_namespace(manifest, cluster) or ''}/{plain_name(manifest)}"


def plain_name(manifest: Manifest) -> str:
    """Return the name that a patch calls the object by."""
    name = str(manifest["metadata"]["name"])
    found = _HASH.fullmatch(name) if manifest["kind"] in _HASHED else None
    return name if found is None else found["name"]


def address_key(manifest: Manifest) -> tuple[str, str, str, str]:
    """Tell an object from all others of its path."""
    metadata = manifest["metadata"]
    return (manifest["apiVersion"], manifest["kind"], metadata.get("namespace", ""), plain_name(manifest))


def pod_spec(manifest: Manifest) -> Manifest:
    """Return the pod spec of a workload."""
    spec = manifest["spec"]
    below: Manifest = spec["jobTemplate"]["spec"] if manifest["kind"] == "CronJob" else spec
    pod: Manifest = below["template"]["spec"]
    return pod


def _order(manifest: Manifest) -> tuple[str, ...]:
    metadata = manifest["metadata"]
    group = manifest["apiVersion"].rpartition("/")[0]
    return (group, manifest["kind"], str(metadata.get("namespace", "")), plain_name(manifest))


def _identity(manifest: Manifest, cluster: ClusterKinds, addresses: Addresses) -> Object:
    """Tell an object; its namespace is null where it can have none, `""` where the path sets none.

    `address` is there where a patch has to call it by another name or namespace than its own.
    """
    group, _, version = manifest["apiVersion"].rpartition("/")
    name, namespace = manifest["metadata"]["name"], _namespace(manifest, cluster)
    entry: Object = {"group": group, "version": version, "kind": manifest["kind"], "name": name}
    entry["namespace"] = namespace
    if plain_name(manifest) != name:
        entry["generated"] = plain_name(manifest)
    address = addresses[address_key(manifest)]
    if address != {"name": plain_name(manifest), "namespace": namespace or ""}:
        entry["address"] = address
    return entry


def _namespace(manifest: Manifest, cluster: ClusterKinds) -> str | None:
    """Return the namespace: none where the kind has none, empty where the path sets none."""
    kind = (manifest["apiVersion"].rpartition("/")[0], manifest["kind"])
    return None if kind in cluster else str(manifest["metadata"].get("namespace", ""))


def _crd(manifest: Manifest) -> Object:
    """Size as compact JSON, which a client-side apply would copy into an annotation."""
    spec = manifest["spec"]
    entry: Object = {"kind": spec["names"]["kind"], "scope": spec["scope"], "bytes": compact_size(manifest)}
    if spec.get("conversion", {}).get("strategy") == "Webhook":
        entry["conversion"] = "Webhook"
    return entry


def compact_size(manifest: Manifest) -> int:
    """Count the bytes of an object as compact JSON."""
    return len(json.dumps(manifest, separators=(",", ":"), ensure_ascii=False).encode())


def _data_keys(manifest: Manifest) -> list[Json]:
    return [
        *sorted({key for name in ("data", "stringData", "binaryData") for key in manifest.get(name) or {}})
    ]


def _secret(manifest: Manifest) -> Object:
    """Tell in which field each key stands and which ship without a value; never a value."""
    entry: Object = {"type": manifest.get("type", "Opaque")}
    for name in ("data", "stringData"):
        if manifest.get(name):
            entry[name] = sorted(manifest[name])
    empty = sorted(
        key for name in ("data", "stringData") for key, it in (manifest.get(name) or {}).items() if not it
    )
    return {**entry, **({"empty": [*empty]} if empty else {})}


def _workload(manifest: Manifest, objects: list[Manifest]) -> Object:
    pod, spec = pod_spec(manifest), manifest["spec"]
    names = {(it["kind"], it["metadata"]["name"]): plain_name(it) for it in objects if it["kind"] in _HASHED}
    entry: Object = {} if "replicas" not in spec else {"replicas": spec["replicas"]}
    for field in ("containers", "initContainers"):
        found = {it["name"]: _container(it, names) for it in pod.get(field) or []}
        if found or field == "containers":
            entry[field] = dict(found)
    volumes = [volume["name"] for volume in pod.get("volumes") or []]
    claims = [
        it["persistentVolumeClaim"]["claimName"]
        for it in pod.get("volumes") or []
        if "persistentVolumeClaim" in it
    ]
    claims += [item["metadata"]["name"] for item in spec.get("volumeClaimTemplates") or []]
    reads = sorted({f"{kind}/{names.get((kind, name), name)}" for kind, name in _references(pod)})
    lists = {"volumes": volumes, "claims": claims, "reads": reads}
    return {**entry, **{name: [*found] for name, found in lists.items() if found}}


def _container(container: Manifest, names: Mapping[tuple[str, str], str]) -> Object:
    """Tell a container: its image, the names of its environment, and where values come from."""
    env = container.get("env") or []
    taken = {item["name"]: source for item in env if (source := _value_source(item, names))}
    whole = [f"{kind}/{names.get((kind, name), name)}" for kind, name in _env_from(container)]
    entry: Object = {"image": container["image"]}
    if env:
        entry["env"] = [item["name"] for item in env]
    if taken:
        entry["from"] = dict(taken)
    return {**entry, **({"envFrom": [*whole]} if whole else {})}


def _value_source(item: Manifest, names: Mapping[tuple[str, str], str]) -> str | None:
    """Tell the ConfigMap's or Secret's key that a variable is taken from."""
    source = item.get("valueFrom") or {}
    for field, kind in (("configMapKeyRef", "ConfigMap"), ("secretKeyRef", "Secret")):
        if field in source:
            name = source[field]["name"]
            return f"{kind}/{names.get((kind, name), name)}/{source[field]['key']}"
    return None


def _env_from(container: Manifest) -> Iterator[tuple[str, str]]:
    for item in container.get("envFrom") or []:
        for field, kind in (("configMapRef", "ConfigMap"), ("secretRef", "Secret")):
            if field in item:
                yield kind, item[field]["name"]


def _references(pod: Manifest) -> Iterator[tuple[str, str]]:
    """Yield kind and name of each ConfigMap and Secret that the pod reads."""
    for container in (it for field in ("containers", "initContainers") for it in pod.get(field) or []):
        yield from _env_from(container)
        for item in container.get("env") or []:
            source = _value_source(item, {})
            if source is not None:
                kind, name, _ = source.split("/", 2)
                yield kind, name
    for volume in pod.get("volumes") or []:
        for item in (volume, *(volume.get("projected", {}).get("sources") or [])):
            if "configMap" in item:
                yield "ConfigMap", item["configMap"]["name"]
            if "secret" in item:
                yield "Secret", item["secret"].get("secretName") or item["secret"]["name"]


def _service(manifest: Manifest) -> Object:
    spec = manifest["spec"]
    ports = [port.get("name", "") for port in spec.get("ports") or []]
    return {"type": spec.get("type", "ClusterIP"), "ports": ports}


def _claim(manifest: Manifest) -> Object:
    spec = manifest["spec"]
    entry: Object = {"size": spec["resources"]["requests"]["storage"], "modes": spec["accessModes"]}
    return {**entry, **({"storageClass": spec["storageClassName"]} if "storageClassName" in spec else {})}
