"""The compiled `argocd` data in, typed facts out: fields, options, closed sets and floors."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Literal

import msgspec

Shape = str | list[str] | dict[str, str]
"""A field's type: a word, `[X]` for a list, `{string: X}` for a map."""


class Facts(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """Base of the parts; `source` and `checked` of the data are for readers of the data."""


class Option(Facts, frozen=True, kw_only=True):
    """A sync or compare option: its values and where it is read, since when at the Application."""

    values: tuple[str, ...]
    app: bool
    resource: bool
    since: str | None = None
    severity: Literal["error", "warning"] = "error"


class SyncOptions(Facts, frozen=True, kw_only=True):
    """The known sync options; `on_applications` make sense as annotation of a child."""

    options: dict[str, Option]
    on_applications: tuple[str, ...]


class CompareOptions(Facts, frozen=True, kw_only=True):
    """The known compare options."""

    options: dict[str, Option]


class Since(Facts, frozen=True, kw_only=True):
    """The first version that has something."""

    since: str | None = None
    name: str = ""


class Hooks(Facts, frozen=True, kw_only=True):
    """The known hook types and deletion policies."""

    types: dict[str, Since]
    delete_policies: tuple[str, ...]


class Finalizers(Facts, frozen=True, kw_only=True):
    """Finalizers that a user sets and those that only the controller sets."""

    cascade: tuple[str, ...]
    controller: tuple[str, ...]


class Enums(Facts, frozen=True, kw_only=True):
    """Closed sets that the CRDs leave open."""

    strategy_type: tuple[str, ...]
    deletion_order: tuple[str, ...]
    step_operator: tuple[str, ...]
    applications_sync: tuple[str, ...]
    window_kind: tuple[str, ...]
    gpg_mode: tuple[str, ...]
    helm_versions: tuple[str, ...]
    policy_resources: tuple[str, ...]
    policy_actions: tuple[str, ...]
    policy_effects: tuple[str, ...]
    label_operators: tuple[str, ...]
    go_template_options: tuple[str, ...]


class Limits(Facts, frozen=True, kw_only=True):
    """Greatest lengths in characters, and how many generators a combination takes."""

    name: int
    label: int
    release_name: int
    description: int
    matrix_generators: int
    merge_generators: int


class Cluster(Facts, frozen=True, kw_only=True):
    """A cluster by its name and by its API server."""

    name: str
    server: str


class Field(Facts, frozen=True, kw_only=True):
    """A field of a type; `since` is the first version that has it."""

    shape: Shape
    required: bool
    since: str | None


class HelmFacts(Facts, frozen=True, kw_only=True):
    """Schemes that a value file's URL may have by default."""

    values_file_schemes: tuple[str, ...]


class Names(Facts, frozen=True, kw_only=True):
    """A list of names."""

    names: tuple[str, ...]


class HealthKey(Facts, frozen=True, kw_only=True):
    """A key of argocd-cm."""

    key: str


class RetiredRepository(Facts, frozen=True, kw_only=True):
    """A chart repository that is no longer filled, and what stands in its place."""

    repository: str
    replacement: str


class CrdUpgrade(Facts, frozen=True, kw_only=True):
    """The value that switches a chart's own CRD upgrade hook."""

    chart: str
    value: str
    default: bool


class ArgocdFacts(Facts, frozen=True, kw_only=True):
    """What Argo CD knows and since when; made by `facts_from`."""

    api_version: str
    in_cluster: Cluster
    types: dict[str, dict[str, Field]]
    feature_floors: dict[str, Since]
    sync_options: SyncOptions
    compare_options: CompareOptions
    hooks: Hooks
    finalizers: Finalizers
    enums: Enums
    limits: Limits
    helm: HelmFacts
    build_environment: Names
    floating_revisions: Names
    time_zones: Names
    application_health: HealthKey
    retired_repositories: tuple[RetiredRepository, ...]
    crd_upgrades: tuple[CrdUpgrade, ...]


def facts_from(data: Mapping[str, Any]) -> ArgocdFacts:
    """Return the facts of the catalogue's `argocd` data; ValueError says what it lacks."""
    floors = data["fieldFloors"]["fields"]
    types = {name: dict(_fields(name, fields, floors)) for name, fields in data["types"].items()}
    return msgspec.convert({**data, "types": types}, ArgocdFacts)


def _fields(name: str, fields: Mapping[str, Any], floors: Mapping[str, str]) -> Iterator[tuple[str, object]]:
    """Yield a type's fields; in the data, a name that ends in `!` is required."""
    for key, shape in fields.items():
        field = key.removesuffix("!")
        yield field, {"shape": shape, "required": key != field, "since": floors.get(f"{name}.{field}")}
