"""helm and kustomize are found when recent enough, and what is wrong is said when not."""

from __future__ import annotations

from pathlib import Path

import pytest

from gitops_gen.diagnostics import ToolError
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
    assert str(caught.value) == (
        f"helm: version 3.18 or later is needed; {helm} is v3.17.1 (`make tools` fetches one)"
    )


def test_missing_helm_says_where_it_was_looked_for(tmp_path: Path) -> None:
    with pytest.raises(ToolError) as caught:
        find_helm([tmp_path])
    assert str(caught.value) == (
        "helm: version 3.18 or later is needed; none is on PATH or in .tools/bin (`make tools` fetches one)"
    )


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
