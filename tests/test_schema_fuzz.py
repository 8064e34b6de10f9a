"""Whatever a user writes, the schema answers with words, and with the verdict of JSON Schema."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from copy import deepcopy
from typing import Any

import jsonschema
import msgspec
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from gitops_gen import model
from gitops_gen.diagnostics import Path
from gitops_gen.report import render_github, render_json, render_sarif, render_text
from gitops_gen.spec.schema import check_schema, fill_defaults
from gitops_gen.spec.tree import part_for
from tests.schemas import cluster, schema

CODES = {
    "bad-pattern",
    "duplicate-item",
    "missing-key",
    "one-of",
    "out-of-range",
    "too-few-items",
    "unknown-key",
    "unknown-value",
    "unquoted-version",
    "wrong-type",
}

PATTERNS = {pattern for pattern in re.findall(r'"pattern": "([^"]*)"', json.dumps(schema())) if pattern}

FULL = cluster(
    env="lab",
    argocd={
        "version": "3.4",
        "destination": {"name": "lab"},
        "syncWindows": [{"kind": "deny", "schedule": "0 9 * * 1-5", "duration": "9h", "apps": ["a"]}],
    },
    secrets={"store": "external-secrets", "storeRef": {"name": "vault"}},
    registry={"mirrors": {"nvcr.io": "registry.example.com/nvcr"}, "pullSecrets": ["pull"]},
    proxy={"http": "http://proxy.example.com:3128", "noProxy": [".svc"]},
    nodePools=[
        {
            "name": "a",
            "nodes": 2,
            "os": "ubuntu-24.04",
            "machine": {"sockets": 2, "coresPerSocket": 56, "memory": "2048Gi"},
            "nodeSelector": {"node.example.com/pool": "a"},
            "taints": [{"key": "slurm", "effect": "NoSchedule"}],
            "gpu": {
                "model": "a100-sxm-80gb",
                "count": 8,
                "mig": {"layout": [{"devices": [0, 1], "profiles": {"1g.10gb": 7}}]},
            },
            "fabric": {"type": "roce", "rdma": "sriov", "network": {"subnet": "10.0.0.0/16"}},
        }
    ],
    components={"vector": {"enabled": True, "replicas": {"min": 1, "max": 2}, "sync": {"wave": 3}}},
    accept=[{"code": "some-code", "path": "spec.env", "reason": "known"}],
)


def _paths(value: Any, path: Path = ()) -> Iterator[Path]:
    yield path
    if isinstance(value, dict):
        for key, item in value.items():
            yield from _paths(item, (*path, key))
    elif isinstance(value, list):
        for index, item in enumerate(value):
            yield from _paths(item, (*path, index))


def _with(data: Any, path: Path, value: Any) -> Any:
    if not path:
        return value
    copy = deepcopy(data)
    here = copy
    for part in path[:-1]:
        here = here[part]
    here[path[-1]] = value
    return copy


WORDS = st.sampled_from(["a", "Gpu", "name", "nodes", "all", "mig", "l4", "1.10", "yes", "10.0.0.0/8", ""])
SCALARS = st.none() | st.booleans() | st.integers(-3, 200000) | st.floats(-1, 9) | WORDS | st.text(max_size=9)
VALUES = st.recursive(
    SCALARS,
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(WORDS | st.text(max_size=5), inner, max_size=3)
    ),
    max_leaves=6,
)
QUICK = settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.too_slow])


ODD: tuple[Any, ...] = (
    None,
    True,
    0,
    -1,
    2.0,
    2.5,
    10**30,
    "",
    "a",
    "A b",
    [],
    [None],
    ["a", "a"],
    {},
    {"a": 1},
)


def test_every_place_takes_every_odd_value_without_a_crash() -> None:
    for path in _paths(FULL):
        for value in ODD:
            found = check_schema(_with(FULL, path, value), schema())
            assert {item.code for item in found} <= CODES, (path, value)


def test_full_cluster_is_valid() -> None:
    assert check_schema(FULL, schema()) == ()


@QUICK
@given(path=st.sampled_from(list(_paths(FULL))), value=VALUES)
def test_every_fault_has_words(path: Path, value: Any) -> None:
    found = check_schema(_with(FULL, path, value), schema())
    for item in found:
        assert item.code in CODES
        assert not any(pattern in item.message for pattern in PATTERNS)
        assert item.message[:1].isprintable()
        assert not item.message.endswith((".", " "))
    for text in (
        render_text(found, lambda _: "", file="f"),
        render_github(found),
        render_json(found),
        render_sarif(found),
    ):
        assert text or not found


@QUICK
@given(path=st.sampled_from(list(_paths(FULL))), value=VALUES)
def test_verdict_is_that_of_another_validator(path: Path, value: Any) -> None:
    data = _with(FULL, path, value)
    kind = data.get("kind") if isinstance(data, dict) else None
    other = jsonschema.Draft202012Validator(dict(part_for(schema(), kind)))
    found = [item for item in check_schema(data, schema()) if "both have the name" not in item.message]
    assert (found == []) == other.is_valid(data)


TYPED = {
    "kubernetes": model.Kubernetes,
    "gitops": model.Gitops,
    "argocd": model.ArgoCD,
    "storage": model.Storage,
    "secrets": model.Secrets,
    "registry": model.Registry,
    "proxy": model.Proxy,
    "nodePools": tuple[model.NodePool, ...],
    "accept": tuple[model.Accept, ...],
}


@QUICK
@given(path=st.sampled_from(list(_paths(FULL))), value=VALUES)
def test_what_the_schema_takes_the_typed_model_takes(path: Path, value: Any) -> None:
    data = _with(FULL, path, value)
    if check_schema(data, schema()) == () and data.get("kind") == "Cluster":
        body = fill_defaults(data, schema())["spec"]
        for name, kind in TYPED.items():
            msgspec.convert(body[name], kind)


def test_whole_numbers_may_have_a_decimal_point() -> None:
    data = cluster(nodePools=[{"name": "a", "nodes": 2.0}], components={"vector": {"replicas": 3.0}})
    assert check_schema(data, schema()) == ()
    body = fill_defaults(data, schema())["spec"]
    assert isinstance(body["nodePools"][0]["nodes"], int)
    assert isinstance(body["components"]["vector"]["replicas"], int)


@QUICK
@given(path=st.sampled_from(list(_paths(FULL))), value=VALUES)
def test_filled_data_is_as_valid_as_what_was_written(path: Path, value: Any) -> None:
    data = _with(FULL, path, value)
    filled = fill_defaults(data, schema())
    assert (check_schema(filled, schema()) == ()) == (check_schema(data, schema()) == ())
    assert fill_defaults(filled, schema()) == filled
