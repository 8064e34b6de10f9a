"""helm and kustomize are found when recent enough, else fetched and verified; what is wrong is said."""

from __future__ import annotations

import hashlib
import io
import os
import tarfile
import zipfile
from pathlib import Path
from typing import Any

import pytest

from gitops_gen.diagnostics import ToolError
from gitops_gen.maintain.tools import fetch, this_platform
from gitops_gen.shell.command import Command, find_helm, find_kustomize, run


def fake(folder: Path, name: str, output: str) -> Path:
    path = folder / name
    path.write_text(f"#!/bin/sh\nprintf '%s' '{output}'\n", encoding="utf-8")
    path.chmod(0o755)
    return path


@pytest.mark.parametrize("version", ["v3.18.0", "v3.19.4", "v4.3.1"])
def test_recent_helm_is_found(tmp_path: Path, version: str) -> None:
    helm = fake(tmp_path, "helm", version)
    assert find_helm([tmp_path]) == (str(helm),)


def test_old_helm_is_named_with_what_is_needed(tmp_path: Path) -> None:
    helm = fake(tmp_path, "helm", "v3.17.1")
    with pytest.raises(ToolError) as caught:
        find_helm([tmp_path])
    assert str(caught.value) == (f"helm: version 3.18 or later is needed; {helm} has helm v3.17.1")


def test_missing_helm_says_where_it_was_looked_for(tmp_path: Path) -> None:
    with pytest.raises(ToolError) as caught:
        find_helm([tmp_path])
    assert str(caught.value) == ("helm: version 3.18 or later is needed; none is on PATH or in .tools/bin")


def test_a_newer_program_further_on_the_path_is_taken(tmp_path: Path) -> None:
    old, new = tmp_path / "old", tmp_path / "new"
    old.mkdir()
    new.mkdir()
    fake(old, "kubectl", '{"kustomizeVersion": "v5.5.0"}')
    kubectl = fake(new, "kubectl", '{"kustomizeVersion": "v5.8.1"}')
    assert find_kustomize([old, new]) == (str(kubectl), "kustomize")


def test_kustomize_itself_builds_with_its_own_command(tmp_path: Path) -> None:
    kustomize = fake(tmp_path, "kustomize", "v5.7.1")
    assert find_kustomize([tmp_path]) == (str(kustomize), "build")


def test_failing_program_is_quoted(tmp_path: Path) -> None:
    path = tmp_path / "bad"
    path.write_text("#!/bin/sh\necho it broke >&2\nexit 7\n", encoding="utf-8")
    path.chmod(0o755)
    with pytest.raises(ToolError) as caught:
        run(Command(argv=(str(path),)))
    assert str(caught.value) == f"{path} ended with status 7: it broke"
    assert run(Command(argv=(str(path),)), check=False).status == 7


def test_program_that_is_not_there_is_named() -> None:
    with pytest.raises(ToolError, match="no-such-program cannot be started: No such file or directory"):
        run(Command(argv=("no-such-program",)))


def test_slow_program_is_ended() -> None:
    with pytest.raises(ToolError, match="sleep did not end within 0 s"):
        run(Command(argv=("sleep", "5"), timeout=0.2))


def test_real_helm_answers(helm: tuple[str, ...]) -> None:
    assert run(Command(argv=(*helm, "version", "--short"))).stdout.startswith("v")


BINARY = b"\x7fELF the program"
URL = "https://downloads.example.com/v9.9.9/linux-{arch}.tar.gz"


def sha256(raw: bytes) -> str:
    return hashlib.sha256(raw).hexdigest()


def tgz(member: str, raw: bytes) -> bytes:
    made = io.BytesIO()
    with tarfile.open(fileobj=made, mode="w:gz") as archive:
        item = tarfile.TarInfo(member)
        item.size = len(raw)
        archive.addfile(item, io.BytesIO(raw))
    return made.getvalue()


def zipped(member: str, raw: bytes) -> bytes:
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w") as archive:
        archive.writestr(member, raw)
    return made.getvalue()


WHEEL = zipped("layer/asset.tgz", tgz("package/lib/layer.zip", zipped("helm/helm", BINARY)))
FACTS: dict[str, Any] = {
    "tools": {
        "helm": {
            "version": "v9.9.9",
            "release": "https://downloads.example.com/{version}/{system}-{arch}.tar.gz",
            "sums": "{url}.sha256sum",
            "member": "{system}-{arch}/helm",
            "sha256": {"linux-amd64": sha256(BINARY)},
        }
    },
    "package": {
        "name": "a-package",
        "version": "2.0.0",
        "sha256": sha256(WHEEL),
        "layer": "package/lib/layer.zip",
        "members": {"helm": "helm/helm"},
    },
}


class Served(dict[str, bytes]):
    """Answers to downloads; what is not there cannot be reached."""

    def __call__(self, url: str) -> bytes:
        if url not in self:
            raise OSError("no route to host")
        return self[url]


def no_package(requirement: str) -> bytes:
    raise ToolError(f"pip ended with status 1: no {requirement}")


def released(arch: str, raw: bytes = BINARY) -> Served:
    archive = tgz(f"linux-{arch}/helm", raw)
    url = URL.format(arch=arch)
    return Served({url: archive, f"{url}.sha256sum": f"{sha256(archive)}  helm.tar.gz\n".encode()})


def test_release_download_with_the_pinned_sum_is_installed(tmp_path: Path) -> None:
    folder = tmp_path / ".tools/bin"
    path = fetch("helm", FACTS, folder, target="linux-amd64", download=released("amd64"), package=no_package)
    assert (path, path.read_bytes(), os.access(path, os.X_OK)) == (folder / "helm", BINARY, True)
    assert list(folder.iterdir()) == [path]


def test_package_is_unpacked_where_the_release_cannot_be_reached(tmp_path: Path) -> None:
    asked = []

    def package(requirement: str) -> bytes:
        asked.append(requirement)
        return WHEEL

    path = fetch("helm", FACTS, tmp_path, target="linux-amd64", download=Served(), package=package)
    assert (path.read_bytes(), asked) == (BINARY, ["a-package==2.0.0"])


def test_program_with_another_sum_is_never_installed(tmp_path: Path) -> None:
    with pytest.raises(ToolError) as caught:
        fetch(
            "helm",
            FACTS,
            tmp_path,
            target="linux-amd64",
            download=released("amd64", b"evil"),
            package=lambda _: WHEEL + b"evil",
        )
    assert str(caught.value) == (
        "helm v9.9.9 for linux-amd64 cannot be had: "
        f"its own release: SHA-256 is {sha256(b'evil')}, expected {sha256(BINARY)}; "
        f"the package a-package: SHA-256 is {sha256(WHEEL + b'evil')}, expected {sha256(WHEEL)}"
    )
    assert list(tmp_path.iterdir()) == []


def test_program_in_the_right_wheel_is_checked_too(tmp_path: Path) -> None:
    wheel = zipped("layer/asset.tgz", tgz("package/lib/layer.zip", zipped("helm/helm", b"evil")))
    facts = {**FACTS, "package": {**FACTS["package"], "sha256": sha256(wheel)}}
    with pytest.raises(ToolError, match=f"SHA-256 is {sha256(b'evil')}, expected {sha256(BINARY)}"):
        fetch("helm", facts, tmp_path, target="linux-amd64", download=Served(), package=lambda _: wheel)


def test_platform_without_a_pinned_sum_takes_the_published_one(tmp_path: Path) -> None:
    path = fetch(
        "helm", FACTS, tmp_path, target="linux-arm64", download=released("arm64"), package=no_package
    )
    assert path.read_bytes() == BINARY


def test_platform_without_any_sum_is_told_so(tmp_path: Path) -> None:
    served = released("arm64")
    served[URL.format(arch="arm64") + ".sha256sum"] = b"0000  helm.tar.gz\n"
    with pytest.raises(ToolError) as caught:
        fetch("helm", FACTS, tmp_path, target="linux-arm64", download=served, package=lambda _: WHEEL)
    assert str(caught.value) == (
        "helm v9.9.9 for linux-arm64 cannot be had: "
        f"its own release: SHA-256 is {sha256(served[URL.format(arch='arm64')])}, expected 0000; "
        "the package a-package: holds nothing for linux-arm64"
    )


def test_archive_without_the_program_is_told_so(tmp_path: Path) -> None:
    served = Served({URL.format(arch="amd64"): tgz("linux-amd64/README.md", b"")})
    with pytest.raises(ToolError, match=r"its own release: .*linux-amd64/helm"):
        fetch("helm", FACTS, tmp_path, target="linux-amd64", download=served, package=no_package)


def test_platform_is_named_as_downloads_name_it() -> None:
    system, _, arch = this_platform().partition("-")
    assert system in {"linux", "darwin"}
    assert arch not in {"x86_64", "aarch64", ""}
