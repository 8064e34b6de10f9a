"""Programs in, their output out: one way to run a subprocess, and to find helm and kustomize."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path

import msgspec

from gitops_gen.catalog.versions import Version
from gitops_gen.diagnostics import ToolError

TOOLS_FOLDER = Path(".tools") / "bin"
_PROJECT = Path(__file__).resolve().parents[2]
_FLOORS = {"helm": "3.18", "kustomize": "5.7"}


class Command(msgspec.Struct, frozen=True, kw_only=True):
    """A program with its arguments; `env` is added to the environment, `timeout` is in seconds.

    Without `stdin` the program reads nothing rather than the user's keyboard.
    """

    argv: tuple[str, ...]
    cwd: Path | None = None
    env: Mapping[str, str] = {}
    stdin: str | None = None
    timeout: float = 120.0


class Completed(msgspec.Struct, frozen=True, kw_only=True):
    """What a program printed, and its exit status."""

    stdout: str
    stderr: str
    status: int


class Program(msgspec.Struct, frozen=True, kw_only=True):
    """A program that we rely on: its command, or what to do about it where it is not usable."""

    name: str
    usable: bool
    detail: str
    argv: tuple[str, ...] = ()


def run(command: Command, *, check: bool = True) -> Completed:
    """Run a program; ToolError with its own text if it is missing, too slow or (`check`) fails."""
    name = command.argv[0]
    try:
        done = subprocess.run(
            command.argv,
            cwd=command.cwd,
            env={**os.environ, **command.env},
            input=command.stdin or "",
            timeout=command.timeout,
            capture_output=True,
            encoding="utf-8",
            errors="replace",
            check=False,
        )
    except OSError as error:
        raise ToolError(f"{name} cannot be started: {error.strerror}") from error
    except subprocess.TimeoutExpired as error:
        raise ToolError(f"{name} did not end within {command.timeout:.0f} s") from error
    if check and done.returncode != 0:
        said = (done.stderr or done.stdout).strip()
        raise ToolError(f"{name} ended with status {done.returncode}: {said}")
    return Completed(stdout=done.stdout, stderr=done.stderr, status=done.returncode)


def find_helm(folders: Sequence[Path] | None = None) -> tuple[str, ...]:
    """Return helm 3.18 or later from the search path or `.tools/bin`; ToolError says what is wrong."""
    return _usable(_helm(_folders(folders)))


def find_kustomize(folders: Sequence[Path] | None = None) -> tuple[str, ...]:
    """Return a command that builds with kustomize 5.7 or later: `kustomize build` or `kubectl kustomize`."""
    return _usable(_kustomize(_folders(folders)))


def find_programs() -> tuple[Program, ...]:
    """Return every program that some command relies on, usable or not."""
    folders = _folders(None)
    return (_git(folders), _helm(folders), _kustomize(folders))


def _usable(program: Program) -> tuple[str, ...]:
    if not program.usable:
        raise ToolError(f"{program.name}: {program.detail}")
    return program.argv


def _folders(folders: Sequence[Path] | None) -> tuple[Path, ...]:
    if folders is not None:
        return tuple(folders)
    searched = os.environ.get("PATH", os.defpath).split(os.pathsep)
    return (*(Path(item) for item in searched if item), Path.cwd() / TOOLS_FOLDER, _PROJECT / TOOLS_FOLDER)


def _candidates(name: str, folders: Iterable[Path]) -> Iterable[str]:
    for folder in folders:
        found = shutil.which(name, path=str(folder))
        if found is not None:
            yield found


def _git(folders: Sequence[Path]) -> Program:
    for path in _candidates("git", folders):
        said = run(Command(argv=(path, "--version"))).stdout.strip()
        detail = f"{said.removeprefix('git version ')} ({path})"
        return Program(name="git", usable=True, detail=detail, argv=(path,))
    return Program(name="git", usable=False, detail="not found on PATH")


def _helm(folders: Sequence[Path]) -> Program:
    return _newest("helm", [(path, (path,), _helm_version) for path in _candidates("helm", folders)])


def _kustomize(folders: Sequence[Path]) -> Program:
    alone = [(path, (path, "build"), _kustomize_version) for path in _candidates("kustomize", folders)]
    inside = [(path, (path, "kustomize"), _kubectl_version) for path in _candidates("kubectl", folders)]
    return _newest("kustomize", [*alone, *inside])


Candidate = tuple[str, tuple[str, ...], Callable[[str], str]]


def _newest(name: str, candidates: Sequence[Candidate]) -> Program:
    """Return the first candidate that is recent enough, else say which ones are too old."""
    floor = _FLOORS[name]
    old = []
    for path, argv, version_of in candidates:
        try:
            version = version_of(path)
            recent = Version.parse(version) >= Version.parse(floor)
        except (ToolError, ValueError, KeyError):
            old.append(f"{path} tells no version")
            continue
        if recent:
            return Program(name=name, usable=True, detail=f"{version} ({path})", argv=argv)
        old.append(f"{path} has {name} {version}")
    wanted = f"version {floor} or later is needed"
    found = f"; {', '.join(old)}" if old else "; none is on PATH or in .tools/bin"
    return Program(name=name, usable=False, detail=f"{wanted}{found}")


def _helm_version(path: str) -> str:
    return run(Command(argv=(path, "version", "--template", "{{.Version}}"))).stdout.strip()


def _kustomize_version(path: str) -> str:
    return run(Command(argv=(path, "version"))).stdout.strip()


def _kubectl_version(path: str) -> str:
    said = json.loads(run(Command(argv=(path, "version", "--client", "-o", "json"))).stdout)
    return str(said["kustomizeVersion"])
