"""A tree is written whole or not at all, and nothing that people wrote is lost unless they say so."""

from __future__ import annotations

import errno
import fcntl
import hashlib
import json
import os
import signal
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gitops_gen.diagnostics import SpecError, ToolError
from gitops_gen.report import render_text
from gitops_gen.shell.exchange import Disk, standing, workplace
from gitops_gen.shell.tree import Compared, Written, compare_tree, write_tree

LOCK = ".gitops-gen.lock"
OLD = {"README.md": "old", "apps/gone/application.yaml": "gone", "apps/gpu/values.yaml": "a: 1\n"}
NEW = {"README.md": "new", "apps/gpu/values.yaml": "a: 1\n", "apps/more/application.yaml": "more"}


def tree(files: Mapping[str, str]) -> dict[str, bytes]:
    made = {path: text.encode() for path, text in files.items()}
    digests = {path: hashlib.sha256(data).hexdigest() for path, data in made.items()}
    return {**made, LOCK: json.dumps({"files": digests}, sort_keys=True).encode()}


def content(folder: Path) -> dict[str, bytes]:
    """Every file below a folder, symlinks by what they name."""
    return {
        path.relative_to(folder).as_posix(): str(path.readlink()).encode()
        if path.is_symlink()
        else path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_symlink() or not path.is_dir()
    }


def folders(folder: Path) -> set[str]:
    return {path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_dir()}


def times(folder: Path) -> dict[str, int]:
    """When every file and folder was changed, the one above included."""
    return {str(path): path.lstat().st_mtime_ns for path in (folder.parent, folder, *folder.rglob("*"))}


@pytest.fixture
def target(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A tree of an earlier render, in the current folder."""
    monkeypatch.chdir(tmp_path)
    write_tree(tree(OLD), tmp_path / "rendered")
    return tmp_path / "rendered"


def refusal(
    files: Mapping[str, str], target: Path, *, force: bool = False, inside: Path | None = None
) -> str:
    """What the user reads when the write is refused; nothing may have changed then."""
    before, seen = content(target), times(target)
    with pytest.raises(SpecError) as caught:
        write_tree(tree(files), target, force=force)
    assert (content(target), {path.name for path in target.parent.glob(".*")}) == (before, set())
    assert {path: seen[path] for path in seen if path != str(target.parent)} == {
        path: at for path, at in times(target).items() if path != str(target.parent)
    }
    return render_text(caught.value.diagnostics, lambda _: "")


def codes(files: Mapping[str, str], target: Path) -> list[str]:
    with pytest.raises(SpecError) as caught:
        write_tree(tree(files), target)
    return [item.code for item in caught.value.diagnostics]


def test_first_write_makes_the_folders_above(tmp_path: Path) -> None:
    target = tmp_path / "clusters/lab/rendered"
    written = write_tree(tree(OLD), target)
    assert written == Written(
        created=(LOCK, *OLD), changed=(), removed=(), unchanged=(), foreign=()
    )  # fmt: skip
    assert content(target) == tree(OLD)
    assert [path.name for path in target.parent.iterdir()] == ["rendered"]


def test_next_write_reports_what_it_did(target: Path) -> None:
    assert write_tree(tree(NEW), target) == Written(
        created=("apps/more/application.yaml",),
        changed=(LOCK, "README.md"),
        removed=("apps/gone/application.yaml",),
        unchanged=("apps/gpu/values.yaml",),
        foreign=(),
    )
    assert content(target) == tree(NEW)
    assert [path.name for path in target.parent.iterdir()] == ["rendered"]


def test_folders_that_became_empty_are_gone(target: Path) -> None:
    write_tree(tree(NEW), target)
    assert folders(target) == {"apps", "apps/gpu", "apps/more"}


def test_nothing_changed_means_nothing_touched(target: Path) -> None:
    (target / "mine.txt").write_text("mine")
    before = times(target)
    written = write_tree(tree(OLD), target)
    assert written == Written(
        created=(), changed=(), removed=(), unchanged=(LOCK, *OLD), foreign=("mine.txt",)
    )
    assert times(target) == before


def test_unchanged_files_keep_their_times_and_permissions(target: Path) -> None:
    kept = target / "apps/gpu/values.yaml"
    kept.chmod(0o640)
    before = kept.stat()
    write_tree(tree(NEW), target)
    after = kept.stat()
    assert (after.st_mtime_ns, after.st_mode) == (before.st_mtime_ns, before.st_mode)


def test_folders_keep_their_permissions(target: Path) -> None:
    target.chmod(0o750)
    (target / "apps").chmod(0o2770)
    write_tree(tree(NEW), target)
    assert [(target / name).stat().st_mode & 0o7777 for name in (".", "apps")] == [0o750, 0o2770]


def test_foreign_files_are_left_alone_and_named(target: Path) -> None:
    notes = target / "apps/gone/notes/by-hand.md"
    notes.parent.mkdir()
    notes.write_text("ours")
    script = target / "apply.sh"
    script.write_text("#!/bin/sh\n")
    script.chmod(0o755)
    (target / "link").symlink_to("nowhere/at-all")
    (target / "folder-link").symlink_to(target.parent)
    written = write_tree(tree(NEW), target)
    assert written.foreign == ("apply.sh", "apps/gone/notes/by-hand.md", "folder-link", "link")
    assert notes.read_text() == "ours"
    assert script.stat().st_mode & 0o777 == 0o755
    assert (str((target / "link").readlink()), str((target / "folder-link").readlink())) == (
        "nowhere/at-all",
        str(target.parent),
    )


def test_foreign_files_are_copied_where_links_are_impossible(
    target: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: object, **__: object) -> None:
        raise OSError(errno.EPERM, "Operation not permitted")

    (target / "mine.txt").write_text("mine")
    (target / "link").symlink_to("mine.txt")
    before = times(target)
    monkeypatch.setattr(os, "link", refuse)
    write_tree(tree(NEW), target)
    assert content(target) == {**tree(NEW), "link": b"mine.txt", "mine.txt": b"mine"}
    assert times(target)[str(target / "mine.txt")] == before[str(target / "mine.txt")]


def test_file_edited_by_hand_stops_the_write_and_is_named(target: Path) -> None:
    (target / "apps/gpu/values.yaml").write_text("a: 2\n")
    (target / "apps/gone/application.yaml").write_text("edited, and no longer made")
    assert refusal(NEW, target) == (
        "rendered/apps/gone/application.yaml: error[hand-edited-file]: "
        "this file was edited by hand since the last render\n"
        "  hint: say it in the spec instead and undo the edit, or overwrite the file with `--force`\n"
        "rendered/apps/gpu/values.yaml: error[hand-edited-file]: "
        "this file was edited by hand since the last render\n"
        "  hint: say it in the spec instead and undo the edit, or overwrite the file with `--force`\n"
    )
    assert codes(NEW, target) == ["hand-edited-file", "hand-edited-file"]


def test_force_overwrites_what_was_edited_by_hand(target: Path) -> None:
    (target / "apps/gpu/values.yaml").write_text("a: 2\n")
    (target / "apps/gone/application.yaml").write_text("edited, and no longer made")
    written = write_tree(tree(NEW), target, force=True)
    assert written.changed == (LOCK, "README.md", "apps/gpu/values.yaml")
    assert written.removed == ("apps/gone/application.yaml",)
    assert content(target) == tree(NEW)


def test_edit_that_says_what_the_spec_now_says_is_no_hand_edit(target: Path) -> None:
    (target / "README.md").write_text("new")
    assert write_tree(tree(NEW), target).unchanged == ("README.md", "apps/gpu/values.yaml")


def test_deleted_file_comes_back(target: Path) -> None:
    (target / "README.md").unlink()
    assert write_tree(tree(OLD), target).created == ("README.md",)
    assert content(target) == tree(OLD)


def test_our_file_replaced_by_a_symlink_is_a_hand_edit(target: Path) -> None:
    outside = target.parent / "outside"
    outside.write_text("keep")
    (target / "README.md").unlink()
    (target / "README.md").symlink_to(outside)
    assert codes(NEW, target) == ["hand-edited-file"]
    write_tree(tree(NEW), target, force=True)
    assert not (target / "README.md").is_symlink()
    assert outside.read_text() == "keep"


def test_file_in_our_place_is_not_overwritten(target: Path) -> None:
    (target / "apps/more").mkdir()
    (target / "apps/more/application.yaml").write_text("somebody's own")
    assert refusal(NEW, target) == (
        "rendered/apps/more/application.yaml: error[foreign-file]: "
        "this file was not written by gitops-gen, and its place is needed\n"
        "  hint: move it elsewhere, or overwrite it with `--force`\n"
    )
    assert codes(NEW, target) == ["foreign-file"]
    write_tree(tree(NEW), target, force=True)
    assert content(target) == tree(NEW)


def test_tree_without_a_lock_is_taken_over_where_it_is_equal(target: Path) -> None:
    (target / LOCK).unlink()
    assert write_tree(tree(OLD), target).created == (LOCK,)
    (target / LOCK).unlink()
    assert codes(NEW, target) == ["foreign-file"]


@pytest.mark.parametrize(
    "raw",
    [
        b"",
        b"<<<<<<< ours\n{}",
        b"[]",
        b"{}",
        b'{"files": []}x',
        b'{"files": {"a": 1}}',
        b"\xff",
        b"[" * 100_000,
    ],
    ids=["empty", "conflict", "list", "no files", "trailing", "no digest", "binary", "deep"],
)
def test_lock_that_cannot_be_read_stops_the_write(target: Path, raw: bytes) -> None:
    (target / LOCK).write_bytes(raw)
    assert refusal(NEW, target) == (
        "rendered/.gitops-gen.lock: error[broken-lock]: the lock of the last render cannot be read, "
        "so nobody can tell which files were edited by hand\n"
        "  hint: restore it from Git, or overwrite the tree with `--force`\n"
    )
    assert codes(NEW, target) == ["broken-lock"]
    assert write_tree(tree(NEW), target, force=True).foreign == ("apps/gone/application.yaml",)


def test_target_that_is_a_symlink_is_refused(target: Path) -> None:
    link = target.parent / "link"
    link.symlink_to(target)
    with pytest.raises(SpecError) as caught:
        write_tree(tree(NEW), link, force=True)
    assert render_text(caught.value.diagnostics, lambda _: "") == (
        "link: error[tree-not-a-folder]: a folder belongs here, not a symlink\n"
        "  hint: move it elsewhere: gitops-gen writes into real folders only\n"
    )
    assert content(target) == tree(OLD)


def test_target_that_is_a_file_is_refused(target: Path) -> None:
    assert codes(NEW, target / "README.md") == ["tree-not-a-folder"]
    with pytest.raises(SpecError, match="a folder belongs here, not a file"):
        compare_tree(tree(NEW), target / "README.md")


def test_symlink_above_the_target_is_refused_inside_the_repository(target: Path) -> None:
    outside = target.parent / "outside"
    outside.mkdir()
    repository = target.parent / "repository"
    repository.mkdir()
    (repository / "clusters").symlink_to(outside)
    with pytest.raises(SpecError) as caught:
        write_tree(tree(NEW), repository / "clusters/lab/rendered", inside=repository)
    assert [(item.code, item.position and item.position.file) for item in caught.value.diagnostics] == [
        ("tree-not-a-folder", "repository/clusters")
    ]
    assert list(outside.iterdir()) == []


def test_symlink_above_the_repository_is_fine(target: Path) -> None:
    (target.parent / "work").symlink_to(target.parent)
    repository = target.parent / "work/repository"
    write_tree(tree(NEW), repository / "rendered", inside=repository)
    assert content(target.parent / "repository/rendered") == tree(NEW)


def test_symlink_in_place_of_a_folder_of_the_tree_is_refused(target: Path) -> None:
    outside = target.parent / "outside"
    (target / "apps").rename(outside)
    (target / "apps").symlink_to(outside)
    before = content(outside)
    for force in (False, True):
        assert refusal(NEW, target, force=force) == (
            "rendered/apps: error[tree-not-a-folder]: a folder belongs here, not a symlink\n"
            "  hint: move it elsewhere: gitops-gen writes into real folders only\n"
        )
    assert content(outside) == before


def test_folder_with_foreign_files_in_place_of_a_file_is_refused_even_with_force(target: Path) -> None:
    (target / "README.md").unlink()
    (target / "README.md").mkdir()
    (target / "README.md/mine").write_text("mine")
    for force in (False, True):
        assert refusal(NEW, target, force=force) == (
            "rendered/README.md/mine: error[foreign-file]: this file was not written by gitops-gen, "
            "and its folder stands where a file belongs\n"
            "  hint: move it elsewhere\n"
        )


def test_our_own_folder_can_become_a_file_and_back(target: Path) -> None:
    write_tree(tree({"apps": "a file now"}), target)
    assert content(target) == tree({"apps": "a file now"})
    write_tree(tree(OLD), target)
    assert content(target) == tree(OLD)


@pytest.mark.parametrize("path", ["/etc/x", "../x", "a/../x", "a//x", "./x", "", "a/", "a\0b"])
def test_path_outside_the_tree_is_a_bug(target: Path, path: str) -> None:
    with pytest.raises(ValueError, match="not a path below the tree"):
        write_tree(tree({path: ""}), target)


def test_path_that_is_file_and_folder_is_a_bug(target: Path) -> None:
    with pytest.raises(ValueError, match="a file and a folder have one path: 'a/b'"):
        write_tree(tree({"a/b": "", "a/b/c": ""}), target)


def test_comparison_names_every_difference_and_writes_nothing(target: Path) -> None:
    (target / "mine.txt").write_text("mine")
    (target / "apps/gpu/values.yaml").write_text("a: 2\n")
    before = times(target)
    assert compare_tree(tree(NEW), target) == Compared(
        missing=("apps/more/application.yaml",),
        differing=(LOCK, "README.md"),
        stale=("apps/gone/application.yaml",),
        hand_edited=("apps/gpu/values.yaml",),
        foreign=("mine.txt",),
    )
    assert times(target) == before


def test_comparison_of_equal_and_of_missing_trees(target: Path) -> None:
    assert compare_tree(tree(OLD), target) == Compared(
        missing=(), differing=(), stale=(), hand_edited=(), foreign=()
    )
    assert compare_tree(tree(OLD), target.parent / "none").missing == (LOCK, *OLD)
    assert not (target.parent / "none").exists()


def test_comparison_with_a_broken_lock_still_compares(target: Path) -> None:
    (target / LOCK).write_text("garbled")
    assert compare_tree(tree(OLD), target).differing == (LOCK,)


class Impatient(Disk):
    """A disk that does not wait for another run."""

    patience = 0.0


def test_second_run_at_the_same_time_is_refused(target: Path) -> None:
    with workplace(target, Disk()):
        with pytest.raises(SpecError) as caught:
            write_tree(tree(NEW), target, disk=Impatient())
        assert [item.code for item in caught.value.diagnostics] == ["tree-busy"]
        assert render_text(caught.value.diagnostics, lambda _: "") == (
            "rendered: error[tree-busy]: another run of gitops-gen is writing this tree\n"
            "  hint: wait for it to end, then run again\n"
        )
        assert content(target) == tree(OLD)
    write_tree(tree(NEW), target)
    assert content(target) == tree(NEW)


def test_second_run_waits_for_one_that_soon_ends(target: Path) -> None:
    with ThreadPoolExecutor(1) as pool:
        with workplace(target, Disk()):
            second = pool.submit(write_tree, tree(NEW), target)
            with pytest.raises(TimeoutError):
                second.result(timeout=0.1)
            assert content(target) == tree(OLD)
        assert second.result(timeout=10).created == ("apps/more/application.yaml",)
    assert content(target) == tree(NEW)


def test_lock_that_was_replaced_while_it_was_opened_is_not_relied_on(
    target: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The run before ends, and another one starts, between our opening of the lock and our hold on it."""
    lock, hold = target.with_name(".rendered.gitops-gen-work") / "lock", fcntl.flock

    def hold_late(opened: int, how: int) -> None:
        monkeypatch.setattr(fcntl, "flock", hold)
        lock.rename(target.parent / "ended")
        lock.touch()
        hold(opened, how)

    monkeypatch.setattr(fcntl, "flock", hold_late)
    with workplace(target, Disk()), pytest.raises(SpecError, match="another run of gitops-gen"):
        write_tree(tree(NEW), target, disk=Impatient())
    assert content(target) == tree(OLD)


def test_file_that_vanishes_while_we_look_means_another_run(
    target: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The first look is taken without the lock: what it misses is looked at again under the lock."""
    opened = os.open

    def vanish(path: str | Path, flags: int, mode: int = 0o777) -> int:
        if path == f"{target}/README.md":
            monkeypatch.setattr(os, "open", opened)
            raise FileNotFoundError(errno.ENOENT, "No such file or directory", path)
        return opened(path, flags, mode)

    monkeypatch.setattr(os, "open", vanish)
    assert write_tree(tree(OLD), target).unchanged == (LOCK, *OLD)


WRITES_AGAIN_AND_AGAIN = """
import sys
from pathlib import Path
from gitops_gen.shell.exchange import Disk
from gitops_gen.shell.tree import write_tree
from tests.test_tree_writer import tree

class Patient(Disk):
    patience = 60.0

for turn in range(25):
    word = f"{sys.argv[2]}-{turn % 2}"
    made = tree({"README.md": word, f"apps/{word}/values.yaml": word})
    assert write_tree(made, Path(sys.argv[1]), disk=Patient()).foreign == ()
"""


def test_two_processes_on_one_tree_take_turns(tmp_path: Path) -> None:
    """A mixture of two writes would be a hand edit or a foreign file to the next one."""
    root, target = Path(__file__).parents[1], tmp_path / "rendered"
    env = {**os.environ, "PYTHONPATH": str(root)}
    calls = [[sys.executable, "-c", WRITES_AGAIN_AND_AGAIN, str(target), word] for word in ("one", "two")]
    running = [subprocess.Popen(call, cwd=root, env=env) for call in calls]
    assert [item.wait(timeout=60) for item in running] == [0, 0]
    last = ("one-0", "two-0")
    assert content(target) in [tree({"README.md": w, f"apps/{w}/values.yaml": w}) for w in last]
    assert [path.name for path in tmp_path.iterdir()] == ["rendered"]


def test_trees_side_by_side_do_not_wait_for_each_other(target: Path) -> None:
    with workplace(target, Disk()):
        write_tree(tree(NEW), target.with_name("other"))
    assert content(target.with_name("other")) == tree(NEW)


@pytest.mark.parametrize("size", [0, 1, 65_535, 65_536, 65_537, 200_000])
def test_files_of_every_size_are_recognised(tmp_path: Path, size: int) -> None:
    files = tree({"big.txt": "x" * size})
    write_tree(files, tmp_path / "rendered")
    assert content(tmp_path / "rendered") == files
    assert write_tree(files, tmp_path / "rendered").unchanged == (LOCK, "big.txt")
    assert write_tree(tree({"big.txt": "x" * size + "y"}), tmp_path / "rendered").changed == (LOCK, "big.txt")


class Killed(BaseException):
    """The process is gone: nothing that follows happens any more."""


class FaultyDisk(Disk):
    """A disk whose step number `at` fails; with `dead`, so do all later ones, as after a kill."""

    def __init__(self, at: int, *, dead: bool, exchanges: bool) -> None:
        self.at, self.dead, self.exchanges, self.steps = at, dead, exchanges, 0

    def step(self) -> None:
        self.steps += 1
        if self.dead and self.steps >= self.at:
            raise Killed
        if self.steps == self.at:
            raise OSError(errno.ENOSPC, "No space left on device")

    def make_folder(self, path: str, like: str) -> None:
        self.step()
        super().make_folder(path, like)

    def write(self, path: str, data: bytes) -> None:
        self.step()
        super().write(path, data)

    def carry(self, source: str, path: str) -> None:
        self.step()
        super().carry(source, path)

    def rename(self, source: Path, path: Path) -> None:
        self.step()
        super().rename(source, path)

    def exchange(self, one: Path, other: Path) -> bool:
        self.step()
        return self.exchanges and super().exchange(one, other)

    def remove(self, path: Path) -> None:
        self.step()
        super().remove(path)


FOREIGN = {"apps/gpu/mine.txt": b"mine"}
BEFORE, AFTER = {**tree(OLD), **FOREIGN}, {**tree(NEW), **FOREIGN}


def count_steps(folder: Path, *, exchanges: bool) -> int:
    """How many steps a write of NEW over OLD takes."""
    disk = FaultyDisk(0, dead=False, exchanges=exchanges)
    write_tree(tree(OLD), folder)
    write_tree(tree(NEW), folder, disk=disk)
    return disk.steps


@pytest.fixture
def mixed(target: Path) -> Path:
    """The tree of an earlier render with a foreign file in it."""
    (target / "apps/gpu/mine.txt").write_bytes(FOREIGN["apps/gpu/mine.txt"])
    return target


@pytest.mark.parametrize("exchanges", [True, False], ids=["exchange", "two renames"])
def test_kill_at_any_step_leaves_the_old_tree_or_the_new_one(mixed: Path, exchanges: bool) -> None:
    seen = set()
    for at in range(1, count_steps(mixed.with_name("trial"), exchanges=exchanges) + 2):
        with pytest.raises(Killed):
            write_tree(tree(NEW), mixed, disk=FaultyDisk(at, dead=True, exchanges=exchanges))
        left = content(standing(mixed))
        assert left in (BEFORE, AFTER), f"step {at}"
        seen.add(("old" if left == BEFORE else "new", standing(mixed) == mixed))
        write_tree(tree(NEW), mixed)
        assert content(mixed) == AFTER, f"step {at}"
        assert not list(mixed.parent.glob(".*")), f"step {at}"
        write_tree(tree(OLD), mixed)
    assert seen == {("old", True), ("new", True), *([] if exchanges else [("old", False)])}


@pytest.mark.parametrize("exchanges", [True, False], ids=["exchange", "two renames"])
def test_failure_at_any_step_is_told_and_leaves_a_whole_tree(mixed: Path, exchanges: bool) -> None:
    steps = count_steps(mixed.with_name("trial"), exchanges=exchanges)
    seen = set()
    for at in range(1, steps + 1):
        with pytest.raises(ToolError, match=r"rendered cannot be written.*No space left"):
            write_tree(tree(NEW), mixed, disk=FaultyDisk(at, dead=False, exchanges=exchanges))
        left = content(mixed)
        assert left in (BEFORE, AFTER), f"step {at}"
        seen.add("old" if left == BEFORE else "new")
        write_tree(tree(NEW), mixed)
        assert content(mixed) == AFTER, f"step {at}"
        write_tree(tree(OLD), mixed)
        assert not list(mixed.parent.glob(".*")), f"step {at}"
    assert seen == {"old", "new"}


def test_systems_that_cannot_exchange_folders_write_the_same_tree(mixed: Path) -> None:
    write_tree(tree(NEW), mixed, disk=FaultyDisk(0, dead=False, exchanges=False))
    assert content(mixed) == AFTER
    assert not list(mixed.parent.glob(".*"))


KILLED_BETWEEN_TWO_RENAMES = """
import os, signal, sys
from pathlib import Path
from gitops_gen.shell.exchange import Disk
from gitops_gen.shell.tree import write_tree

class Dying(Disk):
    def exchange(self, one, other):
        return False
    def rename(self, source, path):
        super().rename(source, path)
        os.kill(os.getpid(), signal.SIGKILL)

write_tree({"README.md": b"new"}, Path(sys.argv[1]), force=True, disk=Dying())
"""


def test_run_that_was_really_killed_is_undone_by_the_next_one(mixed: Path) -> None:
    """The kernel lets go of the lock; until the next write the tree is read from where it was left."""
    root = Path(__file__).parents[1]
    call = [sys.executable, "-c", KILLED_BETWEEN_TWO_RENAMES, str(mixed)]
    done = subprocess.run(call, cwd=root, env={**os.environ, "PYTHONPATH": str(root)}, check=False)
    assert done.returncode == -signal.SIGKILL
    assert not mixed.exists()
    assert content(standing(mixed)) == BEFORE
    assert compare_tree(tree(OLD), mixed).foreign == ("apps/gpu/mine.txt",)
    write_tree(tree(OLD), mixed)
    assert content(mixed) == BEFORE
    assert not list(mixed.parent.glob(".*"))


def test_tree_that_came_back_meanwhile_is_not_thrown_away(mixed: Path) -> None:
    place = mixed.with_name(".rendered.gitops-gen-work")
    place.mkdir()
    (place / "new").mkdir()
    mixed.rename(place / "old")
    write = tree(OLD)
    mixed.mkdir()
    (mixed / "theirs").write_text("theirs")
    with pytest.raises(ToolError) as caught:
        write_tree(write, mixed)
    assert str(caught.value) == (
        f"{mixed} was made anew after a run that was interrupted; {place}/old holds what stood there before: "
        f"keep what you need of it, then remove {place}"
    )
    assert content(place / "old") == BEFORE
    assert content(mixed) == {"theirs": b"theirs"}


def test_workplace_that_is_a_symlink_is_refused(target: Path) -> None:
    outside = target.parent / "outside"
    (outside / "new").mkdir(parents=True)
    target.with_name(".rendered.gitops-gen-work").symlink_to(outside)
    with pytest.raises(ToolError, match=r"\.rendered\.gitops-gen-work is a symlink: remove it"):
        write_tree(tree(NEW), target)
    assert (outside / "new").is_dir()


def test_file_that_cannot_be_read_is_named(target: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    opened = os.open

    def refuse(path: str | Path, flags: int, mode: int = 0o777) -> int:
        if path == f"{target}/README.md":
            raise PermissionError(errno.EACCES, "Permission denied", path)
        return opened(path, flags, mode)

    monkeypatch.setattr(os, "open", refuse)
    with pytest.raises(ToolError) as caught:
        write_tree(tree(NEW), target)
    assert (
        str(caught.value) == f"{target} cannot be written or compared: {target}/README.md: Permission denied"
    )


def files_of_a_tree(names: str, text: st.SearchStrategy[str]) -> st.SearchStrategy[dict[str, str]]:
    """Draw files one to three folders deep, the names from few letters so that trees share paths."""
    paths = st.lists(st.sampled_from(names), min_size=1, max_size=3).map("/".join)
    return st.dictionaries(paths.map(lambda path: f"{path}.txt"), text, max_size=8)


@settings(max_examples=40, deadline=None)
@given(
    old=files_of_a_tree("abc", st.sampled_from(["", "1", "2"])),
    new=files_of_a_tree("abc", st.sampled_from(["", "1", "2"])),
    foreign=files_of_a_tree("xya", st.just("mine")),
    exchanges=st.booleans(),
)
def test_folder_holds_the_files_and_what_is_foreign_and_nothing_else(
    old: dict[str, str], new: dict[str, str], foreign: dict[str, str], exchanges: bool
) -> None:
    foreign = {path: text for path, text in foreign.items() if path not in {*old, *new}}
    with tempfile.TemporaryDirectory() as above:
        target = Path(above) / "rendered"
        write_tree(tree(old), target)
        for path, text in foreign.items():
            (target / path).parent.mkdir(parents=True, exist_ok=True)
            (target / path).write_text(text)
        written = write_tree(tree(new), target, disk=FaultyDisk(0, dead=False, exchanges=exchanges))
        wanted = {**tree(new), **{path: text.encode() for path, text in foreign.items()}}
        assert content(target) == wanted
        assert folders(target) == {str(up) for path in wanted for up in Path(path).parents} - {"."}
        assert set(written.foreign) == set(foreign)
        assert set(written.created) == new.keys() - old.keys()
        assert set(written.removed) == old.keys() - new.keys()
        assert [path.name for path in Path(above).iterdir()] == ["rendered"]
        again = times(target)
        assert set(write_tree(tree(new), target).unchanged) == set(tree(new))
        assert times(target) == again
