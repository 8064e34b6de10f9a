"""Paths as the user typed them in, spec files with their repository out."""

from __future__ import annotations

import errno
import hashlib
import os
from collections.abc import Iterable, Iterator
from pathlib import Path

import msgspec

from gitops_gen.diagnostics import Diagnostic, SpecError
from gitops_gen.spec.place import SPEC_NAME

IGNORE_FILE = ".gitops-gen-ignore"
OUTSIDE_GIT = (
    "note: this is no Git work tree, so paths in the tree are relative to the spec's own folder; "
    "run `git init` at the top of the repository that Argo CD reads"
)
_SKIPPED = frozenset({"rendered", "node_modules", "__pycache__"})


class SpecFile(msgspec.Struct, frozen=True, kw_only=True):
    """A spec and its repository: the Git work tree, else the folder of the spec."""

    repo_root: Path
    source: str

    @property
    def path(self) -> Path:
        """The file itself."""
        return self.repo_root / self.source

    @property
    def label(self) -> str:
        """The file as messages name it: relative to the current folder where that is shorter."""
        return display(self.repo_root, self.source)


class Reader(msgspec.Struct):
    """Reads the files of one spec below its repository and remembers their digests."""

    repo_root: Path
    digests: dict[str, str] = {}

    def __call__(self, path: str) -> bytes:
        """Return the bytes of a file of the repository; OSError if it cannot be read.

        A symlink may not lead out of the repository, nor anything but a file be read: a pipe never ends.
        """
        file = _real(self.repo_root / path)
        if not file.is_relative_to(_real(self.repo_root)):
            raise OSError(errno.EXDEV, "it leads outside the repository")
        if file.exists() and not (file.is_file() or file.is_dir()):
            raise OSError(errno.EINVAL, "it is not a regular file")
        raw = file.read_bytes()
        self.digests[path] = hashlib.sha256(raw).hexdigest()
        return raw


def display(repo_root: Path, source: str) -> str:
    """Return a repository path relative to the current folder, or absolute when it lies outside."""
    path = repo_root / source
    relative = os.path.relpath(path)
    return str(path.absolute()) if relative.startswith("..") else relative


def find_specs(arguments: Iterable[Path]) -> tuple[SpecFile, ...]:
    """Return the specs that the arguments name: files, or every `cluster.yaml` below a folder.

    Without arguments: every `cluster.yaml` of the work tree. Folders below that hold a file
    `.gitops-gen-ignore` are left out. SpecError if there is none.
    """
    given = tuple(arguments)
    if not given:
        top = git_top(Path.cwd()) or Path.cwd()
        found = tuple(_below(top))
        if not found:
            raise _no_spec(f"no {SPEC_NAME} in {top.name}/ or below")
    else:
        found = tuple(file for argument in given for file in _named(argument))
    return tuple(dict.fromkeys(_spec_file(_real(path)) for path in found))


def git_top(folder: Path) -> Path | None:
    """Return the top of the Git work tree that holds the folder, None outside of one."""
    resolved = _real(folder)
    return next((at for at in (resolved, *resolved.parents) if (at / ".git").exists()), None)


def _named(argument: Path) -> Iterator[Path]:
    if argument.is_dir():
        found = tuple(_below(argument))
        if not found:
            raise _no_spec(f"no {SPEC_NAME} in {argument} or below")
        yield from found
    elif argument.is_file():
        yield argument
    else:
        odd = os.path.lexists(argument)
        raise _no_spec(f"{'neither a file nor a' if odd else 'no such file or'} folder: {argument}")


def _below(folder: Path) -> Iterator[Path]:
    for at, folders, files in os.walk(folder):
        folders[:] = sorted(name for name in folders if not name.startswith(".") and name not in _SKIPPED)
        if IGNORE_FILE in files and Path(at) != folder:
            folders.clear()
        elif SPEC_NAME in files:
            yield Path(at) / SPEC_NAME


def _spec_file(path: Path) -> SpecFile:
    top = git_top(path.parent) or path.parent
    return SpecFile(repo_root=top, source=path.relative_to(top).as_posix())


def _real(path: Path) -> Path:
    """Return the path without symlinks; one that leads to itself stays, for the reader to refuse."""
    return Path(os.path.realpath(path))


def _no_spec(message: str) -> SpecError:
    hint = "write one with `gitops-gen init`, or name a file or a folder"
    return SpecError((Diagnostic(code="no-spec", message=message, hint=hint),))
