"""The documentation: its specs are valid, commands print what it shows, its links lead somewhere."""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from textwrap import indent
from typing import Any

import pytest
import yaml

from gitops_gen.diagnostics import SpecError
from gitops_gen.resources import resources
from gitops_gen.spec.explain import explain
from tests.specs import compile_text
from tests.trees import ROOT

BASES = ROOT / "tests" / "docs"
GUIDE = ROOT / "docs" / "slurm-in-one-pull-request.md"
SPEC = "clusters/hpc/cluster.yaml"
_FENCE = re.compile(r"^```(\w*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
_LINK = re.compile(r"\]\((?!https?:|#|mailto:)([^)#\s]+)[^)]*\)")


@dataclass(frozen=True)
class Block:
    """A fenced block of a document."""

    document: Path
    line: int
    language: str
    text: str

    @property
    def name(self) -> str:
        """The place as pytest prints it."""
        return f"{self.document.relative_to(ROOT)}:{self.line}"


@cache
def documents() -> tuple[Path, ...]:
    """Return every document that people write, those of trees and cases left out."""
    found = [*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md"), *ROOT.glob("benchmarks/*.md")]
    found += [path for path in ROOT.glob("gitops_gen/**/*.md") if "cases" not in path.parts]
    return tuple(sorted(found))


@cache
def blocks(document: Path) -> tuple[Block, ...]:
    text = document.read_text(encoding="utf-8")
    return tuple(
        Block(document, text.count("\n", 0, found.start()) + 1, found[1], found[2])
        for found in _FENCE.finditer(text)
    )


def examples() -> Iterator[Block]:
    for document in documents():
        yield from (block for block in blocks(document) if block.language == "yaml")


# --- examples ----------------------------------------------------------------------------------


@pytest.mark.parametrize("block", [pytest.param(block, id=block.name) for block in examples()])
def test_examples_are_valid(block: Block) -> None:
    try:
        found = compile_text(spec_of(block), files=bases()).diagnostics
    except SpecError as error:
        found = error.diagnostics
    assert [f"{item.code}: {item.message}" for item in found if item.severity != "notice"] == []


def spec_of(block: Block) -> str:
    """Return the whole spec of an example: itself, or the base of its document with it in its place."""
    data = yaml.safe_load(block.text)
    if "apiVersion" in data:
        return block.text
    folder = block.document.parent.name
    base = folder if f"{folder}.yaml" in {path.name for path in BASES.iterdir()} else "default"
    head = (
        f"apiVersion: gitops-gen/v1alpha1\nkind: Cluster\nmetadata: {{name: test}}\nextends: [{base}.yaml]\n"
    )
    path = place(data, block)
    inside = "".join(f"{'  ' * depth}{key}:\n" for depth, key in enumerate(path))
    return head + inside + indent(block.text, "  " * len(path))


def place(data: dict[str, Any], block: Block) -> tuple[str, ...]:
    """Return where the keys of an example belong: below `spec`, `components` or the document's component."""
    own = re.sub(r"_(\w)", lambda found: found[1].upper(), block.document.parent.name)
    for path in (("spec",), ("spec", "components"), ("spec", "components", own)):
        if data.keys() <= keys_of(*path):
            return path
    pytest.fail(f"{block.name}: {', '.join(data)} belong nowhere")


@cache
def keys_of(*path: str) -> frozenset[str]:
    """Return the keys that the schema has at a place."""
    return frozenset(child.name for child in explain(resources().schema, ".".join(path)).children)


def bases() -> dict[str, str]:
    return {f"clusters/test/{path.name}": path.read_text(encoding="utf-8") for path in BASES.iterdir()}


# --- names -------------------------------------------------------------------------------------


@pytest.mark.parametrize("document", documents(), ids=lambda path: str(path.relative_to(ROOT)))
def test_links_lead_somewhere(document: Path) -> None:
    text = _FENCE.sub("", document.read_text(encoding="utf-8"))
    missing = [link for link in _LINK.findall(text) if not (document.parent / link).exists()]
    assert missing == []


@pytest.mark.parametrize("document", documents(), ids=lambda path: str(path.relative_to(ROOT)))
def test_rows_of_a_table_have_the_cells_of_its_head(document: Path) -> None:
    lines = _FENCE.sub("", document.read_text(encoding="utf-8")).split("\n")
    for index, line in enumerate(lines):
        if re.fullmatch(r"\|(-+\|)+", line):
            rows = [lines[index - 1], *_while_rows(lines[index + 1 :])]
            assert {_cells(row) for row in rows} == {line.count("|") - 1}, lines[index - 1]


def _while_rows(lines: list[str]) -> Iterator[str]:
    for line in lines:
        if not line.startswith("|"):
            return
        yield line


def _cells(row: str) -> int:
    return row.replace("\\|", "").count("|") - 1


def slurm_readme() -> str:
    return _FENCE.sub("", (ROOT / "gitops_gen/components/slurm/README.md").read_text(encoding="utf-8"))


def test_slurm_names_codes_that_exist() -> None:
    known = {path.name for path in (ROOT / "tests" / "invalid").iterdir()}
    section = slurm_readme().split("## What it refuses")[1].split("\n## ")[0]
    named = set(re.findall(r"`((?:slurm|air|locked|unknown|dead|moved)-[a-z-]+)`", section))
    assert len(named) > 50
    assert named - known == set()


def test_slurm_documents_every_setting() -> None:
    text = slurm_readme()
    named = {word for code in re.findall(r"`([^`]+)`", text) for word in re.findall(r"\w+", code)}
    everywhere = keys_of("spec", "components", "certManager")
    assert keys_of("spec", "components", "slurm") - everywhere - named == set()


@pytest.mark.parametrize("field", sorted(set(re.findall(r"→ `([A-Za-z.]+)`", slurm_readme()))))
def test_slurm_moves_old_keys_to_fields_that_exist(field: str) -> None:
    explain(resources().schema, f"components.slurm.{field}")


# --- the guide ---------------------------------------------------------------------------------


def test_guide_shows_what_commands_print(tmp_path: Path, request: pytest.FixtureRequest) -> None:
    work, program = tmp_path / "repository", tmp_path / "bin" / "gitops-gen"
    work.mkdir()
    program.parent.mkdir()
    entry = "from gitops_gen.cli.main import main; main()"
    program.write_text(f'#!/bin/sh\nexec {shlex.quote(sys.executable)} -c "{entry}" "$@"\n', encoding="utf-8")
    program.chmod(0o755)
    text = GUIDE.read_text(encoding="utf-8")
    real = _FENCE.sub(lambda found: _real(found[1], found[2], work, program.parent), text)
    if request.config.getoption("--update-golden"):
        GUIDE.write_text(real, encoding="utf-8")
        return
    assert text == real


def _real(language: str, text: str, work: Path, path: Path) -> str:
    """Return a block of the guide once it was tried: specs and patches are applied, commands run."""
    if language == "yaml":
        (work / SPEC).write_text(text, encoding="utf-8")
    elif language == "diff":
        subprocess.run(["git", "apply", "-"], cwd=work, input=text.encode(), check=True)
    elif language == "bash":
        tree = (work / SPEC).with_name("rendered") / "README.md"
        known = tree.read_text(encoding="utf-8").splitlines()
        assert [line for line in text.splitlines() if line not in known] == []
    elif language == "console":
        commands = [line.removeprefix("$ ") for line in text.splitlines() if line.startswith("$ ")]
        text = "".join(f"$ {command}\n{_printed(command, work, path)}" for command in commands)
    return f"```{language}\n{text}```"


def _printed(command: str, work: Path, path: Path) -> str:
    who = {f"GIT_{role}_{key}": "you" for role in ("AUTHOR", "COMMITTER") for key in ("NAME", "EMAIL")}
    environment = {
        **who,
        "PATH": f"{path}:{os.environ['PATH']}",
        "PYTHONPATH": str(ROOT),
        "GIT_CONFIG_GLOBAL": os.devnull,
        "GIT_CONFIG_SYSTEM": os.devnull,
        "HOME": str(work.parent),
    }
    ended = subprocess.run(
        ["bash", "-c", command],
        cwd=work,
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        encoding="utf-8",
        check=True,
    )
    return ended.stdout
