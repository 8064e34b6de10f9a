"""The objects of one path in; each place that names a container image out.

Images of workloads are pulled at once; the hidden ones later, by what a controller makes from a
variable, an argument, the text of a ConfigMap or a template. `transformed` marks the hidden places
that kustomize's own `images` reaches.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import Any

import yaml

from gitops_gen.maintain.charts import HelmLoader
from gitops_gen.maintain.kubeflow_facts import WORKLOADS, ClusterKinds, Manifest, place, pod_spec
from gitops_gen.model import Object

_MOVED = "moved.invalid"
_TAG = r"(?::\w[\w.-]*)?(?:@sha256:[0-9a-f]{64})?"
_REGISTRIES = r"(?:ghcr\.io|gcr\.io|quay\.io|docker\.io|nvcr\.io|registry\.k8s\.io|moved\.invalid)"
_IMAGE = re.compile(rf"(?=.*[/:])(?:[a-z0-9.-]+(?::\d+)?/)?[a-z0-9][a-z0-9._/-]*{_TAG}")
"""A whole text that is a reference; a lone word is none."""
_HOSTED = re.compile(rf"(?<![\w./:@-]){_REGISTRIES}/[a-z0-9][a-z0-9._/-]*[a-z0-9]{_TAG}")
"""A reference inside a text, known by its registry."""
_FIELD = re.compile(rf"^[ \t-]*[\"']?image[\"']?\s*:\s*[\"']?({_IMAGE.pattern})[\"']?\s*,?\s*$", re.MULTILINE)
"""A reference after `image:` in a text that is no YAML, such as a template."""
_UNREAD = ("_example", "merged-values", "original-values")
"""Keys that no controller reads: documentation, and what istiod was rendered from."""


def image_places(manifests: Iterable[Manifest], cluster: ClusterKinds) -> list[Object]:
    """List all places that name an image, those of workloads' containers with `pulled`."""
    found = [entry for item in manifests for entry in _places(item, cluster)]
    unique = {tuple(entry.items()): entry for entry in found}
    return sorted(unique.values(), key=lambda entry: [str(it) for it in entry.values()])


def moved_images(images: Iterable[str]) -> Iterator[tuple[str, str]]:
    """Yield the name of each image, without a tag, and a name on a registry that cannot exist."""
    for name in sorted({_untagged(image) for image in images}):
        yield name, f"{_MOVED}/{name}"


def mark_moved(manifests: Iterable[Manifest], moved: Iterable[Manifest], cluster: ClusterKinds) -> Object:
    """Tell a path's `images` and `hidden` ones, given its objects and those built with images moved.

    `unreached` are the images of workloads that did not move.
    """
    before, after = image_places(manifests, cluster), image_places(moved, cluster)
    kept = [_without_image(it) for it in after if _MOVED not in str(it["image"])]
    went = {_key(it) for it in after if _MOVED in str(it["image"])}
    pulled = [it for it in before if it.get("pulled")]
    hidden = [it for it in before if not it.get("pulled")]
    unreached = sorted({str(it["image"]) for it in pulled if _without_image(it) in kept})
    return {
        "images": [*sorted({str(it["image"]) for it in pulled})],
        **({"unreached": [*unreached]} if unreached else {}),
        "hidden": [{**it, "transformed": True} if _key(it) in went else it for it in hidden],
    }


def _key(entry: Object) -> tuple[object, ...]:
    image = str(entry["image"]).replace(f"{_MOVED}/", "")
    return (image, *_without_image(entry).items())


def _without_image(entry: Object) -> Object:
    return {name: value for name, value in entry.items() if name != "image"}


def _untagged(image: str) -> str:
    name = image.partition("@")[0]
    head, colon, tag = name.rpartition(":")
    return head if colon and "/" not in tag else name


def _places(manifest: Manifest, cluster: ClusterKinds) -> Iterator[Object]:
    kind = manifest["kind"]
    if kind in WORKLOADS:
        yield from _in_workload(manifest)
    elif kind in ("ConfigMap", "Secret"):
        yield from _in_data(manifest)
    elif kind != "CustomResourceDefinition":
        for path, text in _leaves(manifest.get("spec")):
            if path[-1] == "image" and _IMAGE.fullmatch(text):
                yield {"image": text, "in": place(manifest, cluster), "field": ".".join(("spec", *path))}


def _in_workload(manifest: Manifest) -> Iterator[Object]:
    pod, own = pod_spec(manifest), place(manifest)
    for container in (it for field in ("containers", "initContainers") for it in pod.get(field) or []):
        name = container["name"]
        yield {"image": container["image"], "in": own, "container": name, "pulled": True}
        for item in container.get("env") or []:
            for image in _in_text(item["name"], item.get("value") or ""):
                yield {"image": image, "in": own, "container": name, "env": item["name"]}
        for image, argument in _in_arguments(container):
            yield {"image": image, "in": own, "container": name, "arg": argument}


def _in_arguments(container: Manifest) -> Iterator[tuple[str, str]]:
    """Yield images and their flag: `--flag=image`, or `--flag` and then the image."""
    flag = ""
    for item in (*(container.get("command") or []), *(container.get("args") or [])):
        name, _, value = item.partition("=") if item.startswith("-") else (flag, "", item)
        for image in _in_text(name, value):
            yield image, name
        flag = item if item.startswith("-") else ""


def _in_data(manifest: Manifest) -> Iterator[Object]:
    named = str(manifest["metadata"]["name"])
    whole = "images" if named.endswith("-images") else ""
    for key, text in (manifest.get("data") or {}).items():
        if key not in _UNREAD:
            for image in _in_text(whole or key, text):
                yield {"image": image, "in": place(manifest), "key": key}


def _in_text(name: str, text: str) -> Iterator[str]:
    """Yield the references in a value: itself where its name says so, or those inside."""
    if "image" in name.lower() and _IMAGE.fullmatch(text.strip()):
        yield text.strip()
        return
    parsed = _parsed(text)
    proxy = _istio_proxy(parsed)
    if proxy is not None:
        yield proxy
        return
    yield from _HOSTED.findall(text)
    yield from _FIELD.findall(text)
    for path, leaf in _leaves(parsed):
        if any("image" in part.lower() for part in path) and _IMAGE.fullmatch(leaf):
            yield leaf


def _istio_proxy(parsed: Any) -> str | None:
    """Put together the proxy that Istio's injector adds to pods: hub, name and tag stand apart."""
    shared = parsed.get("global") if isinstance(parsed, dict) else None
    if isinstance(shared, dict) and {"hub", "tag", "proxy"} <= shared.keys():
        return f"{shared['hub']}/{shared['proxy']['image']}:{shared['tag']}"
    return None


def _parsed(text: str) -> Any:
    if ":" not in text:
        return None
    try:
        return yaml.load(text, Loader=HelmLoader)  # noqa: S506
    except yaml.YAMLError:
        return None


def _leaves(value: Any, path: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], str]]:
    if isinstance(value, dict):
        for key, below in value.items():
            yield from _leaves(below, (*path, str(key)))
    elif isinstance(value, list):
        for number, item in enumerate(value):
            yield from _leaves(item, (*path, str(number)))
    elif isinstance(value, str) and path:
        yield path, value
