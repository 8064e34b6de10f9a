"""Tables of keywords in, what is known of one keyword out.

A table holds one Slurm series; it is read from `upstream/slurm-conf-<series>.json` by the caller.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from typing import Any, Literal

import msgspec

Scope = Literal["global", "node", "partition", "nodeset", "dbd", "cgroup", "gres"]
State = Literal["current", "deprecated", "defunct", "removed"]

FILES: Mapping[Scope, str] = {
    "global": "slurm.conf",
    "node": "the node lines of slurm.conf",
    "partition": "the partition lines of slurm.conf",
    "nodeset": "the node set lines of slurm.conf",
    "dbd": "slurmdbd.conf",
    "cgroup": "cgroup.conf",
    "gres": "gres.conf",
}


class Keyword(msgspec.Struct, frozen=True, kw_only=True):
    """What is known of one keyword; its name has Slurm's own spelling.

    `values` are documented, `also` are accepted beside them; `later` maps a value to the series that
    brings it. `instead` is what to write in place of a keyword that is not current. `field` is the place
    in the settings that says the same.
    """

    name: str
    type: str
    state: State = "current"
    instead: str = ""
    values: tuple[str, ...] = ()
    also: tuple[str, ...] = ()
    later: Mapping[str, str] = {}
    open: bool = False
    default: str | None = None
    min: int | None = None
    max: int | None = None
    unit: str = ""
    since: str = ""
    field: str = ""


class Operator(msgspec.Struct, frozen=True, kw_only=True):
    """What one release of the Slinky operator writes itself, by scope.

    `merged` keywords keep the operator's items beside the user's; `replaced` ones lose them, so that the
    user's value must hold the items named here.
    """

    source: str = ""
    owned: Mapping[str, tuple[str, ...]] = {}
    merged: Mapping[str, Mapping[str, tuple[str, ...]]] = {}
    replaced: Mapping[str, Mapping[str, tuple[str, ...]]] = {}


class Unknown(msgspec.Struct, frozen=True, kw_only=True):
    """A keyword that the series does not have; at most one of the others says why."""

    near: str = ""
    since: str = ""
    until: str = ""
    scope: Scope | None = None


class Table(msgspec.Struct, frozen=True, kw_only=True, dict=True):
    """The keywords of one Slurm series.

    `topology` has the shape of each kind of topology in topology.yaml: a mapping of keys (with `?` where
    one may be left out), a list of one shape, or the word `name`, `hosts`, `number`, `numbers` or `flag`.
    """

    series: str
    version: str
    scopes: Mapping[str, Mapping[str, Keyword]]
    elsewhere: Mapping[str, Mapping[str, Mapping[str, str]]] = {}
    topology: Mapping[str, Any] = {}
    operators: Mapping[str, Operator] = {}

    @cached_property
    def folded(self) -> Mapping[str, Mapping[str, Keyword]]:
        """The keywords of each scope by their names in lower case."""
        return {
            scope: {name.lower(): row for name, row in rows.items()} for scope, rows in self.scopes.items()
        }

    def operator(self, release: str) -> Operator:
        """Return what the operator of a release such as 1.2.1 writes; of the newest where it is unknown."""
        minor = ".".join(release.split(".")[:2])
        newest = max(self.operators, key=lambda name: tuple(map(int, name.split("."))))
        return self.operators.get(minor, self.operators[newest])


def table_from(data: Mapping[str, Any]) -> Table:
    """Return the table that `slurm-conf-<series>.json` holds; msgspec.ValidationError if it is not one."""
    scopes = {
        scope: {name: msgspec.convert({"name": name, **row}, Keyword) for name, row in rows.items()}
        for scope, rows in data["scopes"].items()
    }
    return Table(
        series=data["series"],
        version=data["version"],
        scopes=scopes,
        elsewhere=data.get("elsewhere", {}),
        topology=data["topology"],
        operators={name: msgspec.convert(row, Operator) for name, row in data["operator"].items()},
    )


def keyword(table: Table, scope: Scope, name: str) -> Keyword | Unknown:
    """Return the keyword whatever its case, else why the series has none of that name."""
    known = table.folded[scope].get(name.lower())
    if known is not None:
        return known
    for other, facts in table.elsewhere.get(scope, {}).items():
        if other.lower() == name.lower():
            return Unknown(since=facts.get("since", ""), until=facts.get("until", ""))
    for place in FILES:
        if place != scope and name.lower() in table.folded.get(place, {}):
            return Unknown(scope=place, near=table.folded[place][name.lower()].name)
    return Unknown(near=nearest(name, tuple(table.scopes[scope])))


def nearest(word: str, known: tuple[str, ...]) -> str:
    """Return the known word that looks most like `word`, empty where none does."""
    from difflib import get_close_matches

    folded = {item.lower(): item for item in known}
    found = get_close_matches(word.lower(), folded, n=1, cutoff=0.75)
    return folded[found[0]] if found else ""
