"""The fields of Slinky's kinds are kept per release, and refuse what the API server would refuse."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml

from gitops_gen.maintain.charts import known_charts, read_facts
from gitops_gen.maintain.crds import fields_file, kind_fields
from gitops_gen.model import Object
from tests.crd_fields import field_faults, schemas
from tests.crds import UPSTREAM

CHARTS = {it.version: it for it in known_charts() if it.chart == "slurm-operator-crds"}
KINDS = ("Accounting", "Controller", "LoginSet", "NodeSet", "RestApi", "Token")
COPY = UPSTREAM / "slurm-operator-crds" / "v1.2.1"


def found(document: Any, version: str = "1.2.1") -> list[str]:
    return field_faults(document, "slurm", "slurm-operator-crds", version)


def nodeset(**spec: Any) -> dict[str, Any]:
    return {
        "apiVersion": "slinky.slurm.net/v1beta1",
        "kind": "NodeSet",
        "metadata": {"name": "slurm-worker-gpu"},
        "spec": {"controllerRef": {"name": "slurm"}, **spec},
    }


@pytest.mark.parametrize("version", CHARTS)
def test_all_kinds_are_kept(version: str) -> None:
    known = schemas("slurm", "slurm-operator-crds", version)
    assert set(known) == {("slinky.slurm.net/v1beta1", kind) for kind in KINDS}


@pytest.mark.parametrize(
    "spec",
    [
        {},
        {"replicas": 0, "slurmd": {"image": "a", "anything": 1}, "template": {"spec": {"anything": []}}},
        {"partition": {"config": "State=UP"}, "volumeClaimTemplates": [{"spec": {}}]},
        {"template": {"metadata": {"labels": {"a/b": "c"}, "annotations": None}}},
        {"updateStrategy": {"rollingUpdate": {"maxUnavailable": 1}}},
    ],
)
def test_right_objects_pass(spec: dict[str, Any]) -> None:
    assert found(nodeset(**spec)) == []


UNEXPECTED = "$.spec: Additional properties are not allowed ({} was unexpected)"


@pytest.mark.parametrize(
    ("spec", "fault"),
    [
        ({"replica": 1}, UNEXPECTED.format("'replica'")),
        ({"taintKubeNodes": True}, UNEXPECTED.format("'taintKubeNodes'")),
        ({"replicas": "1"}, "$.spec.replicas: '1' is not of type 'integer'"),
        ({"replicas": None}, "$.spec.replicas: None is not of type 'integer'"),
        ({"scalingMode": "Job"}, "$.spec.scalingMode: 'Job' is not one of ['DaemonSet', 'StatefulSet']"),
        ({"partition": {"config": "a\nb"}}, "$.spec.partition.config: 'a\\nb' does not match '^[^\\\\n]+$'"),
        ({"ssh": {}}, "$.spec.ssh: 'sssdConfRef' is a required property"),
        (
            {"template": {"metadata": {"labels": {"a": 1}}}},
            "$.spec.template.metadata.labels.a: 1 is not of type 'string'",
        ),
    ],
)
def test_wrong_objects_are_refused(spec: dict[str, Any], fault: str) -> None:
    assert found(nodeset(**spec)) == [fault]


def test_releases_differ() -> None:
    assert found(nodeset(taintKubeNodes=False), "1.1.2") == []
    assert found(nodeset(pinToNode=False)) == []
    assert found(nodeset(pinToNode=False), "1.1.2") != []
    without = nodeset()
    del without["spec"]["controllerRef"]
    assert found(without) == ["$.spec: 'controllerRef' is a required property"]


CRD: Any = {
    "kind": "CustomResourceDefinition",
    "spec": {
        "group": "example.com",
        "names": {"kind": "Thing"},
        "versions": [
            {
                "name": "v1",
                "storage": True,
                "schema": {
                    "openAPIV3Schema": {
                        "properties": {
                            "status": {"type": "object"},
                            "spec": {
                                "type": "object",
                                "required": ["size"],
                                "properties": {
                                    "size": {"x-kubernetes-int-or-string": True, "description": "How big."},
                                    "mode": {"type": "string", "enum": ["a", "b"], "default": "a"},
                                    "pod": {"type": "object", "x-kubernetes-preserve-unknown-fields": True},
                                    "refs": {
                                        "type": "array",
                                        "nullable": True,
                                        "items": {
                                            "type": "object",
                                            "properties": {"name": {"type": "string"}},
                                        },
                                    },
                                    "labels": {"type": "object", "additionalProperties": {"type": "string"}},
                                },
                            },
                        },
                        "required": ["spec"],
                    }
                },
            }
        ],
    },
}


def test_fields_say_what_a_crd_says(tmp_path: Path) -> None:
    (tmp_path / "things.yaml").write_text(yaml.safe_dump(CRD))
    wanted: dict[str, Object] = {
        "spec": {"type": "object", "required": True},
        "spec.size": {"type": ["integer", "string"], "required": True},
        "spec.mode": {"type": "string", "enum": ["a", "b"], "default": "a"},
        "spec.pod": {"type": "object", "free": True},
        "spec.refs": {"type": "array", "nullable": True},
        "spec.refs[]": {"type": "object"},
        "spec.refs[].name": {"type": "string"},
        "spec.labels": {"type": "object"},
        "spec.labels.*": {"type": "string"},
    }
    assert kind_fields(tmp_path) == {"Thing": wanted}


@pytest.mark.skipif(not COPY.is_dir(), reason="upstream's CRDs are not beside the checkout")
def test_recorded_fields_are_those_of_upstreams_crds() -> None:
    recorded = read_facts(fields_file(CHARTS["1.2.1"]))
    assert {kind: recorded[kind] for kind in KINDS} == kind_fields(COPY)
