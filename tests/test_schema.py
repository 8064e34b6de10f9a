"""The base schema is sound, agrees with the typed model, and its faults teach."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from copy import deepcopy
from pathlib import Path
from typing import Any

import jsonschema
import msgspec
import pytest

from gitops_gen import model
from gitops_gen.diagnostics import Diagnostic
from gitops_gen.maintain import schema as maintain
from gitops_gen.spec.explain import UnknownPathError, explain, explained_text
from gitops_gen.spec.schema import (
    check_schema,
    cluster_schema,
    fill_defaults,
    with_models,
    with_versions,
)
from gitops_gen.spec.tree import at, part_for
from tests.schemas import VECTOR, cluster, read, schema

SHARED = Path(__file__).parents[2] / "shared"
KEYWORDS = frozenset(
    (
        "type",
        "enum",
        "const",
        "description",
        "default",
        "examples",
        "pattern",
        "properties",
        "required",
        "items",
        "minItems",
        "maxItems",
        "uniqueItems",
        "minimum",
        "maximum",
        "exclusiveMinimum",
        "exclusiveMaximum",
        "minLength",
        "maxLength",
        "minProperties",
        "maxProperties",
        "additionalProperties",
        "propertyNames",
        "oneOf",
        "anyOf",
        "not",
        "if",
        "then",
        "else",
        "title",
        "multipleOf",
        "x-error",
        "x-uniqueBy",
        "x-instead",
        "x-version",
    )
)
CONTAINERS = ("items", "additionalProperties", "propertyNames", "not", "if", "then", "else")


def _schemas(value: Mapping[str, Any], path: str = "") -> Iterator[tuple[str, Mapping[str, Any]]]:
    yield path, value
    for name, below in value.get("properties", {}).items():
        yield from _schemas(below, f"{path}.{name}")
    for key in CONTAINERS:
        if isinstance(value.get(key), Mapping):
            yield from _schemas(value[key], f"{path}/{key}")
    for key in ("oneOf", "anyOf"):
        for index, one in enumerate(value.get(key, ())):
            yield from _schemas(one, f"{path}/{key}{index}")


def _whole() -> dict[str, Any]:
    sources = sorted(Path(__file__).parents[1].glob("gitops_gen/components/*/schema.yaml"))
    fragments = {item.parent.name: read(f"components/{item.parent.name}/schema.yaml") for item in sources}
    return cluster_schema(read("spec/schema.yaml"), fragments)


def _one(data: Any) -> Diagnostic:
    found = check_schema(data, schema())
    assert len(found) == 1, found
    return found[0]


def _said(data: Any) -> tuple[str, str, str]:
    found = _one(data)
    return found.code, found.message, found.hint


def _pool(**parts: Any) -> dict[str, Any]:
    return cluster(nodePools=[{"name": "a", "nodes": 1, **parts}])


# --- the schema itself -------------------------------------------------------------------------


def test_schema_uses_only_keywords_that_have_words_for_their_faults() -> None:
    unknown = [
        (path, key) for path, part in _schemas(part_for(_whole())) for key in part if key not in KEYWORDS
    ]
    assert unknown == []


def test_every_property_has_a_description_that_ends_a_sentence() -> None:
    bare = [
        path
        for path, part in _schemas(part_for(_whole()))
        if not path.rsplit("/", 1)[-1].startswith(("not", "if", "then", "oneOf", "additional"))
        and path.split(".")[-1].isidentifier()
        and not str(part.get("description", "")).strip().endswith((".", "!", ")"))
        and "/if" not in path
    ]
    assert bare == []


def test_every_pattern_says_in_words_what_it_wants() -> None:
    mute = [
        path for path, part in _schemas(part_for(_whole())) if "pattern" in part and not part.get("x-error")
    ]
    assert mute == []


def test_every_object_refuses_keys_that_nobody_knows() -> None:
    open_objects = [
        path
        for path, part in _schemas(part_for(_whole()))
        if part.get("properties") and "/if" not in path and part.get("additionalProperties") is not False
    ]
    assert open_objects == []


def test_defaults_and_examples_fit_their_own_schema() -> None:
    for path, part in _schemas(part_for(_whole())):
        for value in (*([part["default"]] if "default" in part else ()), *part.get("examples", ())):
            plain = {key: item for key, item in part.items() if key != "required"}
            found = list(jsonschema.Draft202012Validator(plain).iter_errors(value))
            assert not found, (path, value, [item.message for item in found])


def test_published_schema_is_valid_and_has_no_open_references() -> None:
    whole = _whole()
    jsonschema.Draft202012Validator.check_schema(whole)
    references = set()
    text = json.dumps(whole)
    for part in text.split('"$ref": "')[1:]:
        references.add(part.split('"')[0])
    assert references == {"#/$defs/Cluster", "#/$defs/ClusterBase"}


def test_fragment_may_not_repeat_what_all_components_share() -> None:
    with pytest.raises(ValueError, match="the schema of vector repeats shared properties: values"):
        cluster_schema(read("spec/schema.yaml"), {"vector": {"properties": {"values": {}}}})


def _allowed(*path: str | int) -> set[str]:
    part = at(part_for(schema()), ("spec", *path))
    assert part is not None
    return set(part["enum"])


def test_every_os_and_distribution_of_the_catalogue_can_be_chosen() -> None:
    known = read("catalog/data/distributions.yaml")
    systems, distributions = known["operatingSystems"], known["distributions"]
    assert set(systems) <= _allowed("nodePools", 0, "os")
    assert set(distributions) <= _allowed("kubernetes", "distribution")
    for facts in systems.values():
        assert set(facts.get("only", ())) <= _allowed("kubernetes", "distribution")
    for facts in distributions.values():
        assert set(facts.get("os", ())) <= _allowed("nodePools", 0, "os")


def _conditions(value: Any) -> Iterator[Mapping[str, Any]]:
    if isinstance(value, dict):
        if isinstance(value.get("when"), dict):
            yield value["when"]
        for item in value.values():
            yield from _conditions(item)
    elif isinstance(value, list):
        for item in value:
            yield from _conditions(item)


def test_recipes_name_only_what_can_be_chosen() -> None:
    files = sorted(Path(__file__).parents[1].glob("gitops_gen/components/*/component.yaml"))
    recipes = [
        when for file in files for when in _conditions(read(f"components/{file.parent.name}/component.yaml"))
    ]
    assert recipes
    for when in recipes:
        assert set(when.get("os", ())) <= _allowed("nodePools", 0, "os"), when
        assert set(when.get("distribution", ())) <= _allowed("kubernetes", "distribution"), when


# --- agreement with the typed model ------------------------------------------------------------

STRUCTS: dict[tuple[str | int, ...], type[msgspec.Struct]] = {
    ("spec", "kubernetes"): model.Kubernetes,
    ("spec", "gitops"): model.Gitops,
    ("spec", "argocd"): model.ArgoCD,
    ("spec", "storage"): model.Storage,
    ("spec", "secrets"): model.Secrets,
    ("spec", "registry"): model.Registry,
    ("spec", "proxy"): model.Proxy,
    ("spec", "nodePools", 0): model.NodePool,
    ("spec", "accept", 0): model.Accept,
    ("spec", "components", "vector", "sync"): model.Sync,
}


def _pairs(
    part: Mapping[str, Any], struct: type[msgspec.Struct], path: str
) -> Iterator[tuple[str, Any, Any]]:
    """Yield each field with its schema and its struct field, also those of inner structs."""
    known = part["properties"]
    fields = {item.encode_name: item for item in msgspec.structs.fields(struct)}
    assert set(known) == set(fields), path
    for name, field in fields.items():
        yield f"{path}.{name}", known[name], field
        inner = _struct_of(field.type)
        if inner is not None:
            yield from _pairs(known[name].get("items", known[name]), inner, f"{path}.{name}")


def _struct_of(kind: Any) -> type[msgspec.Struct] | None:
    if isinstance(kind, type) and issubclass(kind, msgspec.Struct):
        return kind
    found = (_struct_of(item) for item in getattr(kind, "__args__", ()))
    return next((item for item in found if item is not None), None)


def _all_pairs() -> list[tuple[str, Any, Any, bool]]:
    whole = part_for(schema())
    found = []
    for path, struct in STRUCTS.items():
        part = at(whole, path)
        assert part is not None
        for name, below, field in _pairs(part, struct, ".".join(map(str, path))):
            holder = name.rsplit(".", 1)[0]
            found.append((name, below, field, holder == ""))
    return found


@pytest.mark.parametrize(("path", "part", "field", "_top"), _all_pairs(), ids=lambda item: str(item)[:60])
def test_model_and_schema_have_the_same_default(path: str, part: Any, field: Any, _top: bool) -> None:
    default = field.default
    if field.default_factory is not msgspec.NODEFAULT:
        default = field.default_factory()
    if default is msgspec.NODEFAULT or default is None:
        assert "default" not in part, path
    elif isinstance(default, msgspec.Struct):
        assert part["default"] == {}, path
    else:
        written = part.get("default", [] if part.get("minItems") else None)
        assert written == json.loads(msgspec.json.encode(default)), path


@pytest.mark.parametrize("path", STRUCTS, ids=lambda path: ".".join(map(str, path)))
def test_model_and_schema_require_the_same_fields(path: tuple[str | int, ...]) -> None:
    part = at(part_for(schema()), path)
    assert part is not None
    fields = msgspec.structs.fields(STRUCTS[path])
    needed = {item.encode_name for item in fields if item.required}
    assert set(part.get("required", ())) == needed


def test_model_and_schema_allow_the_same_words() -> None:
    for path, part, field, _ in _all_pairs():
        words = [item for item in getattr(field.type, "__args__", ()) if isinstance(item, str)]
        nested = [
            word
            for item in getattr(field.type, "__args__", ())
            for word in getattr(item, "__args__", ())
            if isinstance(word, str)
        ]
        if "enum" in part and path != "spec.nodePools.0.os":
            assert part["enum"] == (words or nested), path


# --- examples ----------------------------------------------------------------------------------


@pytest.mark.skipif(not SHARED.is_dir(), reason="the examples lie beside the checkout")
@pytest.mark.parametrize("name", ["gpu-only", "a100-mig", "slurm-only", "gke-addon"])
def test_examples_without_bases_are_valid(name: str) -> None:
    import yaml

    data = yaml.safe_load((SHARED / "examples" / f"{name}.yaml").read_text(encoding="utf-8"))
    data["spec"]["components"] = {}
    assert check_schema(data, schema()) == ()


def test_smallest_cluster_is_valid() -> None:
    assert check_schema(cluster(), schema()) == ()


def test_nothing_is_required_of_a_base() -> None:
    base = {
        "apiVersion": "gitops-gen/v1alpha1",
        "kind": "ClusterBase",
        "spec": {
            "gitops": {"revision": "main"},
            "secrets": {"store": "external-secrets"},
            "nodePools": [{"name": "a", "gpu": {"mig": {}}}],
        },
    }
    assert check_schema(base, schema()) == ()
    assert {item.code for item in check_schema({**base, "kind": "Cluster"}, schema())} == {
        "missing-key",
        "one-of",
    }


def test_a_base_is_still_held_to_types_and_names() -> None:
    base = {
        "apiVersion": "gitops-gen/v1alpha1",
        "kind": "ClusterBase",
        "spec": {"env": "live", "airgap": True, "nodePools": [{"nodes": "2"}]},
    }
    assert sorted(item.code for item in check_schema(base, schema())) == [
        "unknown-key",
        "unknown-value",
        "wrong-type",
    ]


# --- faults ------------------------------------------------------------------------------------


def test_unknown_key_names_the_nearest_one() -> None:
    found = _one(_pool(node_selector={}))
    assert found.code == "unknown-key"
    assert found.message == '"node_selector" is not known under "nodePools[a]"'
    assert found.hint == 'did you mean "nodeSelector"?'
    assert found.path == ("spec", "nodePools", 0, "node_selector")
    assert found.on_key


def test_unknown_key_is_led_to_the_place_further_in() -> None:
    assert _said(_pool(mig={"profile": "1g.10gb"})) == (
        "unknown-key",
        '"mig" is not known under "nodePools[a]"',
        'it belongs further in: "gpu.mig"',
    )


def test_unknown_key_is_led_to_the_place_elsewhere() -> None:
    gpu = {"model": "l4", "count": 1, "taints": []}
    assert _said(_pool(gpu=gpu)) == (
        "unknown-key",
        '"taints" is not known under "gpu"',
        'it belongs elsewhere: "spec.nodePools[].taints"',
    )


def test_unknown_key_without_any_likeness_lists_what_is_known() -> None:
    assert _said(cluster(storage={"zfs": "tank"})) == (
        "unknown-key",
        '"zfs" is not known under "storage"',
        "known here: defaultClass, sharedClass",
    )


def test_unknown_key_at_the_top_of_the_file() -> None:
    assert _said({**cluster(), "meta": {}})[:2] == (
        "unknown-key",
        '"meta" is not known at the top of the file',
    )


def test_missing_key_stands_at_the_mapping_that_lacks_it() -> None:
    found = _one(cluster(kubernetes={"version": "1.35"}))
    assert found.code == "missing-key"
    assert found.path == ("spec", "kubernetes")
    assert found.message == '"distribution" is missing under "kubernetes"'
    assert found.hint == (
        "distribution: Who built the cluster; decides container runtime paths, the driver and what the "
        "control plane shows (one of kubeadm, k3s, rke2, microk8s, eks, gke, aks, oke, openshift, talos)"
    )


def test_missing_key_names_the_condition_it_stands_under() -> None:
    found = _one(cluster(secrets={"store": "external-secrets"}))
    assert found.message == '"storeRef" is missing under "secrets", where "store" is "external-secrets"'
    assert found.hint == "storeRef: The External Secrets store that holds them (a map)"


def test_wrong_type_says_what_was_found_and_what_to_write() -> None:
    cases = {
        "8": ('"nodes" must be an integer, not the text "8"', "write it without quotes: 8"),
        2.5: (
            '"nodes" must be an integer, not the number 2.5',
            "Number of nodes; of a pool that scales, the largest number.",
        ),
        None: ('"nodes" is empty; it must be an integer', "give it a value, or remove the key"),
        True: (
            '"nodes" must be an integer, not the truth value true',
            "Number of nodes; of a pool that scales, the largest number.",
        ),
    }
    for value, (message, hint) in cases.items():
        assert _said(_pool(nodes=value)) == ("wrong-type", message, hint)


def test_wrong_type_of_containers_says_how_to_write_them() -> None:
    assert _said(_pool(nodeNames="node-1")) == (
        "wrong-type",
        '"nodeNames" must be a list of strings, not the text "node-1"',
        "write it as a list: [node-1]",
    )
    assert _said(_pool(taints={"key": "a"})) == (
        "wrong-type",
        '"taints" must be a list of maps, not a map',
        "begin each item with a dash",
    )
    assert _said(cluster(storage="ceph")) == (
        "wrong-type",
        '"storage" must be a map, not the text "ceph"',
        "known here: defaultClass, sharedClass",
    )


def test_component_without_settings_is_shown_how_to_switch_it_on() -> None:
    for value in (None, True, "on"):
        assert _one(cluster(components={"vector": value})).hint == "write vector: {enabled: true}"


def test_number_in_place_of_text_is_shown_as_the_user_wrote_it() -> None:
    fabric = {"type": "roce", "rdma": "sriov", "deviceIds": [1017]}
    found = check_schema(_pool(fabric=fabric), schema(), lambda _: "1_017")[0]
    assert found.message == 'item 1 of "deviceIds" must be a string, not the number 1_017'
    assert found.hint == 'put it in quotes: "1_017"'


def test_unquoted_version_shows_the_users_own_text() -> None:
    data = cluster(kubernetes={"version": 1.1, "distribution": "k3s"})
    (found,) = check_schema(data, schema(), lambda _: "1.10")
    assert found.code == "unquoted-version"
    assert found.message == (
        "version 1.10 is written without quotes, so that it is read as the number 1.1; a version is text"
    )
    assert found.hint == 'write version: "1.10"'


def test_unquoted_version_that_loses_nothing_says_only_that_it_is_text() -> None:
    found = _one(cluster(argocd={"version": 3.5}))
    assert found.message == "version 3.5 is written without quotes; a version is text"
    assert found.hint == 'write version: "3.5"'


def test_unknown_value_names_the_nearest_and_all() -> None:
    assert _said(cluster(env="production")) == (
        "unknown-value",
        '"production" is not a known value of "env"',
        'did you mean "prod"? known: prod, staging, lab',
    )


def test_value_of_the_wrong_type_is_not_also_an_unknown_value() -> None:
    assert [item.code for item in check_schema(cluster(env=3), schema())] == ["wrong-type"]


def test_bad_pattern_speaks_words_and_offers_the_repaired_value() -> None:
    data = {**cluster(), "metadata": {"name": "GPU_Prod"}}
    assert _said(data) == (
        "bad-pattern",
        '"name" is "GPU_Prod"; it must be lower-case letters, digits and "-", at most 63 characters, '
        "beginning and ending with a letter or digit",
        'did you mean "gpu-prod"?',
    )


def test_bad_key_is_marked_at_the_key() -> None:
    found = _one(cluster(registry={"mirrors": {"https://nvcr.io": "registry.example.com"}}))
    assert found.message == (
        '"https://nvcr.io" cannot be a key under "mirrors"; '
        "it must be a registry, or a path in one, without https:// and without a slash at its end"
    )
    assert found.hint == 'did you mean "nvcr.io"?'
    assert found.on_key


def test_empty_text_is_named() -> None:
    gpu = {"model": "", "count": 1}
    assert _said(_pool(gpu=gpu))[:2] == ("bad-pattern", '"model" must not be empty')


@pytest.mark.parametrize(
    ("nodes", "message"),
    [
        (0, '"nodes" is 0; it must be at least 1'),
        (100001, '"nodes" is 100001; it must be at most 100000'),
    ],
)
def test_number_out_of_range(nodes: int, message: str) -> None:
    assert _said(_pool(nodes=nodes))[:2] == ("out-of-range", message)


def test_too_few_items() -> None:
    gpu = {"model": "l4", "count": 1, "mig": {"layout": []}}
    assert _said(_pool(gpu=gpu)) == (
        "too-few-items",
        '"layout" is empty; it needs at least 1 item',
        "Which profiles are made on which GPUs of a node.",
    )


def test_item_that_stands_twice_is_marked_at_the_second() -> None:
    found = _one(_pool(nodeNames=["n1", "n2", "n1"]))
    assert (found.code, found.message) == ("duplicate-item", '"n1" stands twice in "nodeNames"')
    assert found.path == ("spec", "nodePools", 0, "nodeNames", 2)


def test_two_pools_with_one_name() -> None:
    pools = [{"name": "a", "nodes": 1}, {"name": "b", "nodes": 1}, {"name": "a", "nodes": 2}]
    found = _one(cluster(nodePools=pools))
    assert found.code == "duplicate-item"
    assert found.message == 'items 1 and 3 of "nodePools" both have the name "a"'
    assert found.path == ("spec", "nodePools", 2, "name")


def test_destination_takes_a_name_or_a_server() -> None:
    destination = {"name": "a", "server": "https://10.0.0.1:6443"}
    assert _said(cluster(argocd={"destination": destination})) == (
        "one-of",
        '"destination" takes at most one of "name" and "server"; it has both',
        "remove one of them",
    )


def test_mig_needs_a_profile_or_a_layout() -> None:
    gpu = {"model": "l4", "count": 1, "mig": {}}
    assert _said(_pool(gpu=gpu)) == (
        "one-of",
        '"mig" needs exactly one of "profile" and "layout"; it has none',
        'add "profile" or "layout"',
    )
    both = {"profile": "1g.10gb", "layout": [{"devices": "all", "profiles": {"1g.10gb": 7}}]}
    assert _said(_pool(gpu={**gpu, "mig": both})) == (
        "one-of",
        '"mig" needs exactly one of "profile" and "layout"; it has "profile" and "layout"',
        "remove one of them",
    )


def _vector(**settings: Any) -> dict[str, Any]:
    return cluster(components={"vector": settings})


def test_alternatives_are_held_to_the_one_that_was_meant() -> None:
    assert check_schema(_vector(replicas=3), schema()) == ()
    assert _said(_vector(replicas=0))[:2] == (
        "out-of-range",
        '"replicas" is 0; it must be at least 1',
    )
    assert _said(_vector(replicas={"min": 1}))[:2] == (
        "missing-key",
        '"max" is missing under "replicas"',
    )
    assert _said(_vector(replicas="many"))[:2] == (
        "wrong-type",
        '"replicas" must be an integer or map, not the text "many"',
    )
    layout = {"layout": [{"devices": "al", "profiles": {"1g.10gb": 7}}]}
    gpu = {"model": "l4", "count": 1, "mig": layout}
    assert _said(_pool(gpu=gpu)) == (
        "unknown-value",
        '"al" is not a known value of "devices"',
        "known: all or a list of integers",
    )


def test_secrets_are_never_quoted() -> None:
    for value in ("hunter2!", 12345678):
        (found,) = check_schema(_vector(password=value), schema())
        assert str(value) not in found.message + found.hint
    url = "https://user:hunter2@git.example.com/clusters.git"
    (found,) = check_schema(cluster(gitops={"repoURL": url}), schema())
    assert "hunter2" not in found.message + found.hint


def test_all_faults_are_found_in_one_run() -> None:
    data = cluster(env="live", airGap="yes", storage={"zfs": 1}, kubernetes={})
    assert sorted(item.code for item in check_schema(data, schema())) == [
        "missing-key",
        "missing-key",
        "unknown-key",
        "unknown-value",
        "wrong-type",
    ]


@pytest.mark.parametrize("data", [None, [], "text", 3, {}])
def test_documents_of_any_type_are_answered(data: Any) -> None:
    assert check_schema(data, schema())


# --- defaults ----------------------------------------------------------------------------------


def test_defaults_fill_what_is_left_out_and_nothing_else() -> None:
    data = _vector(replicas={"min": 1, "max": 2}, values={"a": {"b": 1}})
    data["spec"]["nodePools"] = [{"name": "a", "nodes": 1, "use": "slurm"}]
    before = deepcopy(data)
    filled = fill_defaults(data, schema())
    assert data == before
    assert filled["spec"]["components"]["vector"] == {
        "enabled": False,
        "provided": False,
        "values": {"a": {"b": 1}},
        "sync": {"syncOptions": []},
        "mode": "safe",
        "limits": {"cpu": 2},
        "replicas": {"min": 1, "max": 2, "step": 1},
    }
    assert filled["spec"]["nodePools"] == [
        {"name": "a", "nodes": 1, "use": "slurm", "nodeSelector": {}, "nodeNames": [], "taints": []}
    ]
    assert filled["spec"]["env"] == "prod"
    assert filled["spec"]["argocd"]["retry"] == {
        "limit": 10,
        "duration": "30s",
        "factor": 2,
        "maxDuration": "5m",
    }
    assert filled["spec"]["gitops"]["revision"] == "main"


def test_filling_twice_changes_nothing() -> None:
    once = fill_defaults(_vector(), schema())
    assert fill_defaults(once, schema()) == once
    assert check_schema(once, schema()) == ()


def test_components_that_are_left_out_stay_out() -> None:
    assert fill_defaults(cluster(), schema())["spec"]["components"] == {}


def test_defaults_are_not_shared_between_documents() -> None:
    first = fill_defaults(cluster(), schema())
    first["spec"]["registry"]["pullSecrets"].append("x")
    assert fill_defaults(cluster(), schema())["spec"]["registry"]["pullSecrets"] == []


def test_version_and_namespace_defaults_come_from_the_component() -> None:
    fragment = with_versions(VECTOR, "2.0.0", ["1.0.0", "2.0.0"], "vector-system")
    whole = cluster_schema(read("spec/schema.yaml"), {"vector": fragment})
    part = explain(whole, "vector.version")
    assert (part.default, part.examples) == ("2.0.0", ("2.0.0", "1.0.0"))
    assert fill_defaults(_vector(), whole)["spec"]["components"]["vector"]["namespace"] == "vector-system"


def test_models_become_examples_for_editors() -> None:
    whole = with_models(schema(), ["l4", "h100-nvl-94gb"], ["v5e"])
    assert explain(whole, "nodePools.gpu.model").examples == ("l4", "h100-nvl-94gb")
    assert explain(whole, "nodePools.tpu.model").examples == ("v5e",)
    assert explain(schema(), "nodePools.gpu.model").examples == ()


# --- explain -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "path",
    [
        "nodePools.gpu.mig",
        "spec.nodePools[].gpu.mig",
        "nodePools[a].gpu.mig",
        "nodePools[0].gpu.mig",
    ],
)
def test_path_may_be_written_in_many_ways(path: str) -> None:
    assert explain(schema(), path).path == "spec.nodePools[].gpu.mig"


def test_explain_tells_type_default_and_allowed_values() -> None:
    assert explained_text(explain(schema(), "gitops.delivery")) == (
        "spec.gitops.delivery: string\n"
        "\n"
        "  What Argo CD gets: the upstream chart with our values (multi-source), a generated chart that "
        "pins it (wrapper-chart), or manifests rendered by us (manifests).\n"
        "\n"
        "  required: no\n"
        '  default: "multi-source"\n'
        "  allowed: multi-source, wrapper-chart, manifests"
    )


def test_explain_lists_the_keys_below() -> None:
    found = explain(schema(), "components.vector")
    assert [item.name for item in found.children][:3] == ["enabled", "provided", "version"]
    assert explain(schema(), "vector") == found
    assert [item.name for item in explain(schema(), "").children] == [
        "apiVersion",
        "kind",
        "extends",
        "metadata",
        "spec",
    ]


@pytest.mark.parametrize(
    ("path", "nearest"),
    [
        ("mig", "nodePools.gpu.mig"),
        ("mgi", "nodePools.gpu.mig"),
        ("nodePool.gpu", "nodePools.gpu"),
        ("gpu.timeslicing", "nodePools.gpu.sharing.timeSlicing"),
        ("qqqq", None),
    ],
)
def test_unknown_path_names_the_nearest(path: str, nearest: str | None) -> None:
    with pytest.raises(UnknownPathError) as caught:
        explain(schema(), path)
    assert caught.value.nearest == nearest
    advice = f'; did you mean "{nearest}"?' if nearest else ""
    assert caught.value.args == (f'the spec has no "{path}"{advice}',)


# --- the published schema ----------------------------------------------------------------------


def test_published_schema_is_fresh(capsys: pytest.CaptureFixture[str]) -> None:
    assert maintain.main(["--check"]) == 0, capsys.readouterr().err


def test_published_schema_says_that_it_is_generated() -> None:
    text = maintain.schema_text(schema())
    first = list(json.loads(text))
    assert first[:3] == ["$schema", "$comment", "title"]
    assert "python -m gitops_gen.maintain.schema" in text
    assert json.loads(text)["$defs"] == schema()["$defs"]


def test_stale_schema_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "schemas" / "cluster.schema.json"
    monkeypatch.setattr(maintain, "FILE", file)
    assert maintain.main(["--check"]) == 1
    assert capsys.readouterr().err == (
        "cluster.schema.json is stale: run python -m gitops_gen.maintain.schema\n"
    )
    assert maintain.main([]) == 0
    assert maintain.main(["--check"]) == 0
    assert file.read_text(encoding="utf-8").endswith("}\n")


def test_editors_reach_the_right_part_by_kind() -> None:
    editor = jsonschema.Draft202012Validator(dict(schema()))
    base = {"apiVersion": "gitops-gen/v1alpha1", "kind": "ClusterBase", "spec": {"env": "lab"}}
    assert editor.is_valid(cluster())
    assert editor.is_valid(base)
    assert not editor.is_valid({**base, "kind": "Cluster"})
    assert not editor.is_valid({**base, "spec": {"env": "live"}})


@pytest.mark.parametrize(
    ("pool", "hint"),
    [
        ({"labels": {"a": "b"}}, "`nodeSelector` finds the nodes of a pool by their labels"),
        ({"tolerations": []}, "write the `taints` of the nodes; tolerations follow from them"),
        ({"count": 4}, "`nodes` is the number of nodes, `gpu.count` that of GPUs in each"),
    ],
)
def test_names_that_people_try_lead_to_the_right_one(pool: dict[str, Any], hint: str) -> None:
    found = _one(cluster(nodePools=[{"name": "a", "nodes": 1, **pool}]))
    assert (found.code, found.hint) == ("unknown-key", hint)


def test_systems_are_known_by_their_usual_names() -> None:
    found = _one(cluster(nodePools=[{"name": "a", "nodes": 1, "os": "amazon-linux-2023"}]))
    assert found.hint.startswith("write al2023-nvidia for NVIDIA's AMI of EKS, else al2023; known: ")
