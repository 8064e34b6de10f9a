"""Facts that only some specs need lie beside a component and are read when somebody asks."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from gitops_gen.resources import _UpstreamReader, resources


def written(folder: Path, name: str, data: object) -> Path:
    file = folder / f"{name}.json"
    file.write_text(json.dumps(data), encoding="utf-8")
    return file


def test_table_is_the_file_of_its_name(tmp_path: Path) -> None:
    written(tmp_path, "keywords", {"source": "slurm.conf(5)", "known": ["A", "B"]})
    assert _UpstreamReader(tmp_path).table("keywords") == {"source": "slurm.conf(5)", "known": ["A", "B"]}


def test_what_is_kept_by_hand_stands_under_extra(tmp_path: Path) -> None:
    written(tmp_path, "keywords", {"known": ["A"], "extra": "derived"})
    written(tmp_path, "keywords.extra", {"known": ["Z"]})
    assert _UpstreamReader(tmp_path).table("keywords") == {"known": ["A"], "extra": {"known": ["Z"]}}


def test_empty_hand_kept_facts_add_nothing(tmp_path: Path) -> None:
    written(tmp_path, "keywords", {"known": ["A"]})
    written(tmp_path, "keywords.extra", {})
    assert _UpstreamReader(tmp_path).table("keywords") == {"known": ["A"]}


def test_table_is_read_once_and_not_before_it_is_asked_for(tmp_path: Path) -> None:
    """A broken file is no fault of a reader that nobody asks for it, nor of other tables."""
    broken = tmp_path / "broken.json"
    broken.write_text("{", encoding="utf-8")
    file = written(tmp_path, "keywords", {"known": ["A"]})
    reader = _UpstreamReader(tmp_path)
    first = reader.table("keywords")
    file.unlink()
    assert reader.table("keywords") is first
    with pytest.raises(json.JSONDecodeError):
        reader.table("broken")


def test_unknown_table_is_named(tmp_path: Path) -> None:
    written(tmp_path, "lonely.extra", {"known": ["Z"]})
    reader = _UpstreamReader(tmp_path)
    for name in ("keywords", "lonely"):
        with pytest.raises(KeyError, match=name):
            reader.table(name)


def test_components_read_tables_of_their_own_folder() -> None:
    mariadb, keda = resources().component("mariadbOperator"), resources().component("keda")
    name = "mariadb-operator-crds-26.6.0.fields"
    table = mariadb.facts.table(name)
    assert "MariaDB" in json.dumps(table)
    assert mariadb.facts.table(name) is table
    with pytest.raises(KeyError, match=name):
        keda.facts.table(name)
