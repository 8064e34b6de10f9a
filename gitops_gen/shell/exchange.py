"""A folder built beside another in, the two exchanged out: the old one or the new one, never a mixture.

All work happens in one sibling of the target, `.<name>.gitops-gen-work`, that is gone afterwards:

    lock    held while a run works; the kernel lets go of it when the run dies
    new     the folder that is built, after the exchange the one that was replaced
    old     the folder that was replaced, where the system cannot exchange two folders in one step

What a killed run left there tells the next one what is to be done (`_recover`).
"""

# Paths of single files are strings: with pathlib a write takes six times as long.
# ruff: noqa: PTH101, PTH102, PTH114, PTH116

from __future__ import annotations

import errno
import fcntl
import os
import shutil
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from gitops_gen.diagnostics import Diagnostic, Position, SpecError, ToolError

_AT_FDCWD, _RENAME_EXCHANGE = -100, 2
_CANNOT_EXCHANGE = frozenset({errno.EINVAL, errno.ENOSYS, errno.ENOTSUP, errno.EPERM})
_PAUSE = 0.02
"""Seconds between two looks at a lock that another run holds."""


class Disk:
    """Every step that changes the disk, so that a test can fail any of them."""

    patience = 2.0
    """Seconds to wait for another run on the same tree."""

    def make_folder(self, path: str, like: str) -> None:
        """Make a folder with the permissions of another, if that is there."""
        os.mkdir(path)
        with suppress(FileNotFoundError, NotADirectoryError):
            os.chmod(path, os.stat(f"{like}/").st_mode & 0o7777 | 0o700)

    def write(self, path: str, data: bytes) -> None:
        """Write a new file. It is not synced: what a power cut takes, the next render makes again."""
        opened = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o666)
        try:
            written = os.write(opened, data)
            while written < len(data):
                written += os.write(opened, data[written:])
        finally:
            os.close(opened)

    def carry(self, source: str, path: str) -> None:
        """Let the same file, or the same symlink, stand at a second path; a copy is synced."""
        try:
            os.link(source, path, follow_symlinks=False)
        except (OSError, NotImplementedError):
            shutil.copy2(source, path, follow_symlinks=False)
            if not os.path.islink(path):
                _sync(path)

    def rename(self, source: Path, path: Path) -> None:
        """Move a folder to where nothing stands."""
        source.rename(path)

    def exchange(self, one: Path, other: Path) -> bool:
        """Exchange two folders in one step; False if the system cannot."""
        import ctypes

        call = getattr(ctypes.CDLL(None, use_errno=True), "renameat2", None)
        if call is None:
            return False
        if call(_AT_FDCWD, os.fsencode(one), _AT_FDCWD, os.fsencode(other), _RENAME_EXCHANGE) == 0:
            return True
        number = ctypes.get_errno()
        if number in _CANNOT_EXCHANGE:
            return False
        raise OSError(number, os.strerror(number), str(other))

    def remove(self, path: Path) -> None:
        """Remove a file, or a folder with all that is in it; what is not there is fine."""
        if not os.path.lexists(path):
            return
        if not path.is_dir():
            path.unlink()
            return
        try:
            shutil.rmtree(path)
        except PermissionError:
            for folder, _, _ in os.walk(path):
                Path(folder).chmod(0o700)
            shutil.rmtree(path)


@dataclass(frozen=True, slots=True, kw_only=True)
class Workplace:
    """Where a new version of `target` is built; `new` is free to be made and filled."""

    target: Path
    disk: Disk

    @property
    def folder(self) -> Path:
        """The sibling that holds everything a run needs."""
        return self.target.with_name(f".{self.target.name}.gitops-gen-work")

    @property
    def new(self) -> Path:
        """The folder to build."""
        return self.folder / "new"

    @property
    def old(self) -> Path:
        """Where the target waits while it is replaced in two steps."""
        return self.folder / "old"

    def put_in_place(self) -> None:
        """Let `new` be the target: in one step, or in two that `_recover` can undo."""
        if not os.path.lexists(self.target):
            self.disk.rename(self.new, self.target)
        elif not self.disk.exchange(self.new, self.target):
            self.disk.rename(self.target, self.old)
            self.disk.rename(self.new, self.target)


def interrupted(target: Path) -> bool:
    """Say whether a run that works, or one that was killed, left something beside the target."""
    return os.path.lexists(Workplace(target=target, disk=Disk()).folder)


def standing(target: Path) -> Path:
    """Return the folder that holds the tree: the target, or where a killed run left it."""
    old = Workplace(target=target, disk=Disk()).old
    return old if old.is_dir() and not os.path.lexists(target) else target


@contextmanager
def workplace(target: Path, disk: Disk) -> Iterator[Workplace]:
    """Lock the target, clean up after a killed run, and clean up again at the end, whatever happens.

    SpecError `tree-busy` if another run holds the lock for longer than the disk's `patience`.
    """
    place = Workplace(target=target, disk=disk)
    lock = _lock(place)
    try:
        _recover(place)
        yield place
    finally:
        try:
            _recover(place)
            disk.remove(place.folder / "lock")
            _remove_empty(place.folder)
        finally:
            os.close(lock)


def _recover(place: Workplace) -> None:
    """Make the target whole again and remove what is left over.

    Between its two renames a run leaves `old` without a target: roll back. `new` alone was not
    finished, or is the replaced folder after the exchange. All three at once cannot come from us.
    """
    if os.path.lexists(place.old):
        if not os.path.lexists(place.target):
            place.disk.rename(place.old, place.target)
        elif os.path.lexists(place.new):
            raise ToolError(
                f"{place.target} was made anew after a run that was interrupted; {place.old} holds what "
                f"stood there before: keep what you need of it, then remove {place.folder}"
            )
    place.disk.remove(place.new)
    place.disk.remove(place.old)


def _lock(place: Workplace) -> int:
    """Return the open lock; a lock that its holder removed while we opened it is opened anew."""
    deadline = time.monotonic() + place.disk.patience
    while True:
        place.folder.parent.mkdir(parents=True, exist_ok=True)
        if place.folder.is_symlink():
            raise ToolError(f"{place.folder} is a symlink: remove it")
        place.folder.mkdir(exist_ok=True)
        path = place.folder / "lock"
        try:
            lock = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o644)
        except FileNotFoundError:
            continue
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            if os.path.samestat(os.fstat(lock), path.stat()):
                return lock
        except BlockingIOError:
            if time.monotonic() >= deadline:
                os.close(lock)
                raise SpecError((_busy(place.target),)) from None
            time.sleep(_PAUSE)
        except FileNotFoundError:
            pass
        os.close(lock)


def _busy(target: Path) -> Diagnostic:
    return Diagnostic(
        code="tree-busy",
        message="another run of gitops-gen is writing this tree",
        hint="wait for it to end, then run again",
        position=Position(file=os.path.relpath(target), line=0, column=0),
    )


def _remove_empty(folder: Path) -> None:
    """Remove the workplace, unless another run has just locked it."""
    try:
        folder.rmdir()
    except OSError as error:
        if error.errno not in (errno.ENOTEMPTY, errno.EEXIST, errno.ENOENT):
            raise


def _sync(path: str) -> None:
    """Have the disk keep a file; some file systems cannot be asked."""
    opened = os.open(path, os.O_RDONLY)
    try:
        with suppress(OSError):
            os.fsync(opened)
    finally:
        os.close(opened)
