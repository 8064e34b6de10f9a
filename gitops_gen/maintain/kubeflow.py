"""A checkout of Kubeflow's manifests in; what each of its catalogued paths makes out.

The paths are those that `kubeflow-<release>.extra.json` names and those of the checkout's example.
They are built in a scratch copy where local folders stand in for remote bases. The asset of a JobSet
release is what `kustomize build config/default` gives at its tag.
"""

from __future__ import annotations

import argparse
import json
import re
import shutil
import sys
import tempfile
from collections.abc import Callable, Iterable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from os.path import normpath, relpath
from pathlib import Path

from gitops_gen.diagnostics import ToolError
from gitops_gen.maintain.charts import COMPONENTS, read_facts, read_yaml
from gitops_gen.maintain.kubeflow_facts import ClusterKinds, Manifest, cluster_kinds, path_facts, read_objects
from gitops_gen.maintain.kubeflow_images import image_places, mark_moved, moved_images
from gitops_gen.maintain.kubeflow_patches import LATE, marking_patches, told_addresses
from gitops_gen.model import Json, Object
from gitops_gen.shell.command import Command, find_kustomize, find_programs, run

REPOSITORY = "https://github.com/kubeflow/community-distribution"
UPSTREAM = COMPONENTS / "kubeflow" / "upstream"
Bases = Mapping[str, Path]
"""Remote bases, `https://github.com/<owner>/<name>?ref=<tag>` or a file's URL, with what stands in."""

_FILE = "kustomization.yaml"
_LISTS = ("resources", "bases", "components")
_REMOTE = re.compile(r"https?://|github\.com/|git@")


@dataclass(frozen=True, slots=True, kw_only=True)
class Checkout:
    """The manifests of one release, as they are and as a copy that builds without a network."""

    folder: Path
    scratch: Path
    kustomize: tuple[str, ...]

    def build(self, path: str) -> str:
        """Build one path of the copy; ToolError says what kustomize said."""
        return run(Command(argv=(*self.kustomize, str(self.scratch / path)))).stdout

    def build_early(self, path: str) -> str:
        """Build a path as its own patches see it."""
        return self._build_changed(path, lambda it: {key: it[key] for key in it if key not in LATE})

    def build_changed(self, path: str, images: Iterable[str], patches: list[Json]) -> str:
        """Build a path with each image renamed and with patches, both as Argo CD does it."""
        renamed: dict[str, Object] = {
            name: {"name": name, "newName": moved} for name, moved in moved_images(images)
        }
        return self._build_changed(path, lambda it: _with_images(_with_patches(it, patches), renamed))

    def _build_changed(self, path: str, change: Callable[[Object], Object]) -> str:
        file = self.scratch / path / _FILE
        text = file.read_text("utf-8")
        file.write_text(json.dumps(change(read_yaml(file))), "utf-8")
        try:
            return self.build(path)
        finally:
            file.write_text(text, "utf-8")


def checkout_with_bases(folder: Path, bases: Bases, scratch: Path) -> Checkout:
    """Copy a checkout and replace each remote base that `bases` knows."""
    copy = scratch / "checkout"
    shutil.copytree(folder, copy, ignore=shutil.ignore_patterns(".git"))
    for number, (url, base) in enumerate(sorted(bases.items())):
        if base.is_dir():
            shutil.copytree(base, copy / f"base-{number}")
        for file in copy.rglob(_FILE):
            _replace_base(file, url, base, copy / f"base-{number}")
    return Checkout(folder=folder, scratch=copy, kustomize=find_kustomize())


def release_facts(
    release: str, checkout: Checkout, paths: Iterable[str], stamp: Mapping[str, Json]
) -> Object:
    """Build the paths and tell what they make; `stamp` has `commit` and `checked`."""
    wanted = sorted(paths)
    with ThreadPoolExecutor(2) as pool:
        built = dict(zip(wanted, map(read_objects, pool.map(checkout.build, wanted)), strict=True))
    cluster = cluster_kinds(item for objects in built.values() for item in objects)
    entries = {path: _entry(checkout, path, objects, cluster) for path, objects in built.items()}
    return {
        "release": release,
        "repository": REPOSITORY,
        "commit": stamp["commit"],
        "kustomize": kustomize_version(),
        "source": f"kustomize build of each path at tag {release}, with local copies of the remote bases",
        "checked": stamp["checked"],
        "example": [*example_paths(checkout.folder)],
        "paths": dict(entries),
    }


def _entry(checkout: Checkout, path: str, objects: list[Manifest], cluster: ClusterKinds) -> Object:
    """Tell one path: its objects, what patches call them, its images and its remote bases."""
    images = {str(item["image"]) for item in image_places(objects, cluster)}
    early = read_objects(checkout.build_early(path))
    changed = read_objects(checkout.build_changed(path, images, marking_patches(early)))
    return {
        **path_facts(objects, cluster, told_addresses(changed)),
        **mark_moved(objects, changed, cluster),
        "remote": [*sorted(set(remote_bases(checkout.folder, path)))],
    }


def example_paths(folder: Path) -> Iterator[str]:
    """Yield the paths that upstream's own example installs, in its order."""
    for item in read_yaml(folder / "example" / _FILE)["resources"]:
        yield normpath(f"example/{item}")


def remote_bases(folder: Path, path: str) -> Iterator[str]:
    """Yield the URLs that a build of the path fetches."""
    file = folder / path / _FILE
    if not file.exists():
        return
    content = read_yaml(file)
    for item in (entry for name in _LISTS for entry in content.get(name) or []):
        if _REMOTE.match(item):
            yield item
        else:
            yield from remote_bases(folder, normpath(f"{path}/{item}"))


def catalogued_paths(extra: Mapping[str, Json]) -> frozenset[str]:
    """Return every path that the facts kept by hand name, wherever they stand."""
    return frozenset(_named(dict(extra), "path"))


def kustomize_version() -> str:
    """Return the version of the kustomize that builds here."""
    program = next(item for item in find_programs() if item.name == "kustomize")
    return program.detail.partition(" ")[0]


def release_file(release: str) -> Path:
    """Where the derived facts of a release are kept."""
    return UPSTREAM / f"kubeflow-{release}.json"


def dump_release(facts: Mapping[str, Json]) -> str:
    """Write the facts of a release: one object, one ConfigMap, one workload a line."""
    return f"{_dump(dict(facts), 0)}\n"


def main(arguments: list[str] | None = None) -> int:
    """Derive the facts of a release, or with `--check` compare them with what is recorded."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--checkout", type=Path, required=True, help="the manifests at the release's tag")
    parser.add_argument("--release", required=True)
    parser.add_argument("--base", action="append", default=[], metavar="URL=PATH", type=parse_base)
    parser.add_argument("--commit", help="of the tag; the recorded one by default")
    parser.add_argument("--checked", help="date; the recorded one by default")
    parser.add_argument("--check", action="store_true", help="write nothing, exit 1 where something differs")
    options = parser.parse_args(arguments)
    file = release_file(options.release)
    recorded = read_facts(file)
    stamp = {name: getattr(options, name) or recorded.get(name) for name in ("commit", "checked")}
    if None in stamp.values():
        parser.error("nothing is recorded for this release yet: give --commit and --checked")
    try:
        text = dump_release(derive_release(options.release, options.checkout, dict(options.base), stamp))
    except ToolError as error:
        print(error, file=sys.stderr)
        return 1
    if options.check:
        fresh = file.exists() and file.read_text("utf-8") == text
        print(f"{file.name} is {'fresh' if fresh else 'stale'}", file=sys.stderr)
        return 0 if fresh else 1
    file.write_text(text, "utf-8")
    return 0


def derive_release(release: str, folder: Path, bases: Bases, stamp: Mapping[str, Json]) -> Object:
    """Build all catalogued paths of a release from a checkout of its tag."""
    paths = catalogued_paths(read_facts(release_file(release).with_suffix(".extra.json")))
    with tempfile.TemporaryDirectory() as scratch:
        checkout = checkout_with_bases(folder, bases, Path(scratch))
        return release_facts(release, checkout, paths | {*example_paths(folder)}, stamp)


def parse_base(text: str) -> tuple[str, Path]:
    """Read `URL=PATH`; a URL may hold `=` itself."""
    url, _, folder = text.rpartition("=")
    if not url or not Path(folder).exists():
        raise argparse.ArgumentTypeError(f"{text!r} is not URL=PATH with a path that exists")
    return url, Path(folder)


def _with_patches(kustomization: Object, patches: list[Json]) -> Object:
    """Append patches to those that are there."""
    known = kustomization.get("patches")
    return {**kustomization, "patches": [*(known if isinstance(known, list) else []), *patches]}


def _with_images(kustomization: Object, renamed: Mapping[str, Object]) -> Object:
    """Set images the way `kustomize edit` does: an entry a name, sorted by name."""
    known = kustomization.get("images")
    entries = {str(it["name"]): it for it in known if isinstance(it, dict)} if isinstance(known, list) else {}
    entries |= renamed
    return {**kustomization, "images": [entries[name] for name in sorted(entries)]}


def _replace_base(file: Path, url: str, base: Path, copied: Path) -> None:
    """Write the stand-in for a remote base into one kustomization of the copy."""
    text = file.read_text("utf-8")
    repository, _, query = url.partition("?")
    if base.is_file() and url in text:
        shutil.copy(base, file.parent / f"{copied.name}.yaml")
        file.write_text(text.replace(url, f"{copied.name}.yaml"), "utf-8")
    elif repository in text and base.is_dir():
        pattern = re.compile(rf"{re.escape(repository)}/+([^?\s]*)\?{re.escape(query)}(?=\s|$)")
        local = relpath(copied, file.parent)
        file.write_text(pattern.sub(lambda it: f"{local}/{it[1]}", text), "utf-8")


def _named(value: Json, key: str) -> Iterator[str]:
    if isinstance(value, dict):
        for name, below in value.items():
            if name == key and isinstance(below, str):
                yield below
            yield from _named(below, key)
    elif isinstance(value, list):
        for item in value:
            yield from _named(item, key)


_DEEP = 4
"""Nesting of an entry of a section of a path, which takes one line."""


def _dump(value: Json, depth: int) -> str:
    pad = " " * (depth + 1)
    if depth < _DEEP and value and isinstance(value, dict):
        lines = (f"{pad}{json.dumps(name)}: {_dump(below, depth + 1)}" for name, below in value.items())
        return "{\n" + ",\n".join(lines) + "\n" + " " * depth + "}"
    if depth < _DEEP and value and isinstance(value, list):
        return "[\n" + ",\n".join(f"{pad}{_dump(item, _DEEP)}" for item in value) + "\n" + " " * depth + "]"
    return json.dumps(value, ensure_ascii=False)


if __name__ == "__main__":
    sys.exit(main())
