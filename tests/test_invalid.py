"""Each diagnostic code has a folder with an input and the exact text that the user sees.

`invalid/<code>/` holds the input (`cluster.yaml`, and whatever it needs beside it), `expected.txt`,
and `args` if the command is not `validate cluster.yaml`. `--update-golden` rewrites the texts.
"""

from __future__ import annotations

import re
import shlex
import shutil
import sys
from pathlib import Path

import pytest

from gitops_gen.cli.main import main
from tests.codes import source_codes

INVALID = Path(__file__).parent / "invalid"
FOLDERS = sorted(item for item in INVALID.iterdir() if item.is_dir()) if INVALID.is_dir() else []
NOT_INPUT = ("expected.txt", "args")
TESTED_APART = {
    "test_slurm_chart_values": ("discouraged-value",),
    "test_build": ("component-required", "required-component-disabled"),
    "test_slurm_scripts": ("slurm-files-size",),
    "test_slurm_sacctmgr": ("slurm-bootstrap-size",),
    "test_tree_writer": ("hand-edited-file", "foreign-file", "broken-lock", "tree-busy", "tree-not-a-folder"),
}
"""Codes that no single spec can show, by the test module that asserts their messages."""
_FOUND = re.compile(r"^(?:.*: )?(error|warning|notice)\[([a-z0-9-]+)\]: ", re.MULTILINE)


def _run(
    folder: Path,
    args: list[str],
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> tuple[int, str]:
    """Run the command line in `folder`; return its exit status and what it prints."""
    monkeypatch.chdir(folder)
    monkeypatch.setattr(sys, "argv", ["gitops-gen", *args])
    with pytest.raises(SystemExit) as ended:
        main()
    printed = capsys.readouterr()
    return int(ended.value.code or 0), printed.out + printed.err


@pytest.mark.parametrize("folder", FOLDERS, ids=lambda folder: folder.name)
def test_message_is_exactly_as_written(
    folder: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    request: pytest.FixtureRequest,
) -> None:
    """The input is copied, so that nothing above it (a Git work tree, say) plays a part."""
    work = tmp_path / "work"
    shutil.copytree(folder, work, ignore=shutil.ignore_patterns(*NOT_INPUT))
    command = folder / "args"
    args = shlex.split(command.read_text()) if command.is_file() else ["validate", "cluster.yaml"]
    status, text = _run(work, args, monkeypatch, capsys)
    found = _FOUND.findall(text)
    assert folder.name in {code for _, code in found}, text
    assert status == (3 if "error" in {severity for severity, _ in found} else 0), text
    assert str(tmp_path) not in text
    expected = folder / "expected.txt"
    if request.config.getoption("--update-golden"):
        expected.write_text(text, encoding="utf-8")
    assert text == expected.read_text(encoding="utf-8")


def test_every_code_has_a_folder_and_every_folder_a_code() -> None:
    known = source_codes()
    folders = {folder.name for folder in FOLDERS}
    for name, codes in TESTED_APART.items():
        text = Path(__file__).with_name(f"{name}.py").read_text(encoding="utf-8")
        assert [code for code in codes if f'"{code}"' not in text] == []
    elsewhere = {code for codes in TESTED_APART.values() for code in codes}
    missing = {code: file for code, file in known.items() if code not in folders | elsewhere}
    assert (missing, sorted(folders - known.keys())) == ({}, [])


def test_codes_are_kebab_case_words() -> None:
    odd = [code for code in source_codes() if not re.fullmatch(r"[a-z0-9]+(-[a-z0-9]+)+", code)]
    assert odd == []
