"""Schemas for tests, read from the sources that people edit."""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path
from typing import Any

import yaml

from gitops_gen.spec.schema import ClusterSchema, cluster_schema

PACKAGE = Path(__file__).parents[1] / "gitops_gen"

VECTOR: dict[str, Any] = {
    "type": "object",
    "description": "A component of the tests.",
    "properties": {
        "mode": {"type": "string", "enum": ["fast", "safe"], "default": "safe"},
        "limits": {
            "type": "object",
            "default": {},
            "properties": {"cpu": {"type": "integer", "default": 2, "exclusiveMinimum": 0}},
        },
        "password": {"type": "string", "pattern": "^[a-z]{8}$", "x-error": "eight letters"},
        "replicas": {
            "description": "Number of replicas, or the range of it.",
            "oneOf": [
                {"type": "integer", "minimum": 1},
                {
                    "type": "object",
                    "required": ["min", "max"],
                    "additionalProperties": False,
                    "properties": {
                        "min": {"type": "integer"},
                        "max": {"type": "integer"},
                        "step": {"type": "integer", "default": 1},
                    },
                },
            ],
        },
    },
}


def read(path: str) -> Any:
    """Read a YAML file of the package."""
    return yaml.safe_load((PACKAGE / path).read_text(encoding="utf-8"))


@lru_cache(maxsize=1)
def schema() -> ClusterSchema:
    """The base schema with one small component, `vector`."""
    return cluster_schema(read("spec/schema.yaml"), {"vector": VECTOR})


def cluster(**spec: Any) -> dict[str, Any]:
    """The smallest valid cluster with parts of its spec replaced; None removes a part."""
    body = {
        "kubernetes": {"version": "1.35", "distribution": "kubeadm"},
        "gitops": {"repoURL": "https://git.example.com/platform/clusters.git"},
        **spec,
    }
    return {
        "apiVersion": "gitops-gen/v1alpha1",
        "kind": "Cluster",
        "metadata": {"name": "test"},
        "spec": {key: value for key, value in body.items() if value is not None},
    }
