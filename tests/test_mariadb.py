"""What mariadb-operator's Applications say, and the databases that other components plan."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import pytest
import yaml

from gitops_gen.components.mariadb_operator.database import (
    Database,
    DatabaseRequest,
    plan_database,
    watches,
)
from gitops_gen.model import Application, Deletion, HelmSource, Pruning
from gitops_gen.resources import resources
from gitops_gen.traced import origins_of
from tests.crds import UPSTREAM, faults, needs_upstream, strict
from tests.specs import compile_text, findings, spec_text

POOL = "- {name: cpu, nodes: 3, os: ubuntu-24.04}\n"
ON = "certManager: {enabled: true}\nmariadbOperator: {enabled: true}"
OPERATOR, CRDS = "mariadb-operator", "mariadb-operator-crds"
FIELDS = "mariadb-operator-crds-26.6.0.fields"
KINDS = ("MariaDB", "User")
DEPTH = 4
AT = ("components", "slurm", "accounting", "database", "mariadbOperator")


def apps(components: str = ON, body: str = "env: lab\n") -> dict[str, Application]:
    plan = compile_text(spec_text(body, pools=POOL, components=components)).plan
    return {item.name: item for item in plan.applications}


def values(settings: str = "", body: str = "env: lab\n", more: str = "") -> dict[str, Any]:
    components = f"mariadbOperator: {{enabled: true{settings}}}\ncertManager: {{enabled: true}}\n{more}"
    source = apps(components, body)[OPERATOR].sources[0]
    assert isinstance(source, HelmSource)
    return source.values.data


# --- Applications ------------------------------------------------------------------------------


def test_crds_come_first_and_stay() -> None:
    crds, operator = apps()[CRDS], apps()[OPERATOR]
    assert (crds.wave, crds.pruning, crds.deletion) == (-20, Pruning.OFF, Deletion.KEEP)
    assert (operator.wave, operator.pruning, operator.deletion) == (-15, Pruning.ON, Deletion.FOREGROUND)
    (source,) = crds.sources
    assert isinstance(source, HelmSource)
    assert (source.chart, source.release_name, source.values.data) == (CRDS, CRDS, {})
    assert {item.kind for item in source.objects} == {"CustomResourceDefinition"}
    assert "mariadbs.k8s.mariadb.com" in {item.name for item in source.objects}


def test_operators_own_application_holds_no_crd() -> None:
    (source,) = apps()[OPERATOR].sources
    assert isinstance(source, HelmSource)
    assert "CustomResourceDefinition" not in {item.kind for item in source.objects}


def test_certificate_of_the_webhook_may_differ() -> None:
    (ignored,) = apps()[OPERATOR].ignore_differences
    assert (ignored.kind, ignored.name) == ("ValidatingWebhookConfiguration", "mariadb-operator-webhook")


def test_cert_manager_is_switched_on_unless_the_operator_issues_by_itself() -> None:
    assert "cert-manager" in apps("mariadbOperator: {enabled: true}")
    found = apps("mariadbOperator: {enabled: true, certificates: operator}")
    assert "cert-manager" not in found
    source = found[OPERATOR].sources[0]
    assert isinstance(source, HelmSource)
    webhook: Any = source.values.data["webhook"]
    assert "cert" not in webhook
    assert ("Deployment", "mariadb-operator-cert-controller") in {
        (item.kind, item.name) for item in source.objects
    }


def test_provided_renders_nothing() -> None:
    assert not {OPERATOR, CRDS} & set(apps("mariadbOperator: {provided: true}"))


@pytest.mark.parametrize(("host", "level"), [("false", "restricted"), ("true", "privileged")])
def test_namespace_is_as_strict_as_the_webhook_allows(host: str, level: str) -> None:
    components = f"mariadbOperator: {{enabled: true, webhookHostNetwork: {host}}}"
    (namespace,) = apps(components)[OPERATOR].namespaces
    assert namespace.labels == {"pod-security.kubernetes.io/enforce": level}


# --- values ------------------------------------------------------------------------------------


def test_list_of_namespaces_goes_through_the_operators_variable() -> None:
    assert values(", watchNamespaces: [slurm, lab]")["extraEnv"] == [
        {"name": "WATCH_NAMESPACE", "value": "slurm,lab"}
    ]
    assert "extraEnv" not in values()
    assert "currentNamespaceOnly" not in values(", watchNamespaces: [slurm]")


@pytest.mark.parametrize(
    ("distribution", "host", "port"),
    [("gke", "false", 10250), ("gke", "true", None), ("kubeadm", "false", None)],
)
def test_webhook_listens_where_a_private_control_plane_reaches_it(
    distribution: str, host: str, port: int | None
) -> None:
    body = f'env: lab\nkubernetes: {{version: "1.35", distribution: {distribution}}}\n'
    pools = POOL.replace("ubuntu-24.04", "cos") if distribution == "gke" else POOL
    components = f"{ON[:-1]}, webhookHostNetwork: {host}}}"
    plan = compile_text(spec_text(body, pools=pools, components=components)).plan
    (app,) = (item for item in plan.applications if item.name == OPERATOR)
    source = app.sources[0]
    assert isinstance(source, HelmSource)
    webhook: Any = source.values.data["webhook"]
    assert webhook.get("port") == port


def test_mirrors_reach_the_operator_and_what_it_starts() -> None:
    body = "env: lab\nregistry: {mirrors: {docker.io: r.example.com/hub, ghcr.io: r.example.com/gh}}\n"
    found = values(body=body)
    operator = {"repository": "r.example.com/gh/mariadb-operator/mariadb-operator"}
    assert (found["image"], found["webhook"]["image"]) == (operator, operator)
    assert "certController" not in found
    assert found["config"] == {
        "mariadbImage": {"repository": "r.example.com/hub/library/mariadb"},
        "mariadbImageName": "r.example.com/hub/library/mariadb",
        "maxscaleImage": {"repository": "r.example.com/hub/mariadb/maxscale"},
        "exporterImage": {"repository": "r.example.com/hub/prom/mysqld-exporter"},
        "exporterMaxscaleImage": {"repository": "r.example.com/hub/mariadb/maxscale-prometheus-exporter-ubi"},
    }


def test_metrics_follow_monitoring() -> None:
    assert "metrics" not in values()
    found = values(more="monitoring: {enabled: true}")
    labels = {"serviceMonitor": {"additionalLabels": {"release": "kube-prometheus-stack"}}}
    assert found["metrics"] == {"enabled": True, **labels}
    assert found["webhook"]["serviceMonitor"] == labels["serviceMonitor"]


def test_high_availability_reaches_every_pod_that_runs() -> None:
    found = values(", highAvailability: true")
    for part, name in ((found, OPERATOR), (found["webhook"], f"{OPERATOR}-webhook")):
        assert (part["ha"], part["pdb"]) == ({"enabled": True}, {"enabled": True})
        (spread,) = part["topologySpreadConstraints"]
        assert spread["labelSelector"]["matchLabels"] == {
            "app.kubernetes.io/instance": OPERATOR,
            "app.kubernetes.io/name": name,
        }
    assert "certController" not in found
    own = values(", highAvailability: true, certificates: operator")
    assert own["certController"]["ha"] == {"enabled": True}


def test_resources_and_log_level_are_the_users() -> None:
    found = values(", logLevel: debug, resources: {requests: {cpu: 50m}, limits: {memory: 1Gi}}")
    assert found["logLevel"] == "debug"
    assert found["resources"] == {"requests": {"cpu": "50m"}, "limits": {"memory": "1Gi"}}
    assert not {"logLevel", "resources"} & set(values())


def test_air_gap_needs_mirrors_of_both_registries() -> None:
    body = "env: lab\nairGap: true\nregistry: {mirrors: {quay.io: r.example.com/quay}}\n"
    found = [
        item.message
        for item in findings(spec_text(body, pools=POOL, components=ON))
        if item.code == "air-gap-mirror-missing"
    ]
    assert found == [
        "images of mariadb-operator and its servers come from docker.io (docker.io/library/mariadb among "
        "them), and there is no mirror of it",
        "images of mariadb-operator and its servers come from ghcr.io "
        "(ghcr.io/mariadb-operator/mariadb-operator among them), and there is no mirror of it",
    ]


# --- databases ---------------------------------------------------------------------------------


def planned(components: str = ON, body: str = "env: lab\n", **request: Any) -> Database:
    spec = compile_text(spec_text(body, pools=POOL, components=components)).plan.spec
    given = {
        "name": "mariadb",
        "namespace": "slurm",
        "database": "slurm_acct_db",
        "username": "slurm",
        "size": "100Gi",
        "buffer_pool": "4Gi",
        "at": AT,
        "namespace_at": ("components", "slurm", "namespace"),
        **request,
    }
    return plan_database(spec, DatabaseRequest(**given))


def objects(database: Database) -> tuple[Any, Any]:
    server, user = (item.object.data for item in database.manifests)
    return server, user


def test_database_is_what_slurm_asks_for() -> None:
    server, user = objects(planned(storage_class="ceph-block"))
    assert server == {
        "apiVersion": "k8s.mariadb.com/v1alpha1",
        "kind": "MariaDB",
        "metadata": {
            "name": "mariadb",
            "namespace": "slurm",
            "annotations": {"argocd.argoproj.io/sync-options": "Prune=false,Delete=false"},
        },
        "spec": {
            "image": "docker.io/library/mariadb:11.8.8",
            "rootPasswordSecretKeyRef": {"name": "mariadb-root", "key": "password", "generate": True},
            "database": "slurm_acct_db",
            "username": "slurm",
            "passwordSecretKeyRef": {"name": "mariadb-password", "key": "password", "generate": True},
            "cleanupPolicy": "Skip",
            "storage": {"size": "100Gi", "storageClassName": "ceph-block"},
            "resources": {"requests": {"memory": "6144Mi"}, "limits": {"memory": "6144Mi"}},
            "myCnf": "[mariadb]\nbind-address=*\ndefault_storage_engine=InnoDB\nbinlog_format=row\n"
            "innodb_autoinc_lock_mode=2\ninnodb_buffer_pool_size=4096M\ninnodb_lock_wait_timeout=900\n"
            "innodb_log_file_size=1024M\ninnodb_snapshot_isolation=OFF\nmax_allowed_packet=256M\n"
            "max_connections=220\n",
        },
    }
    assert user["spec"] == {
        "mariaDbRef": {"name": "mariadb"},
        "name": "slurm",
        "host": "%",
        "passwordSecretKeyRef": {"name": "mariadb-password", "key": "password"},
        "maxUserConnections": 200,
        "cleanupPolicy": "Skip",
    }


def test_client_is_told_how_to_reach_the_database() -> None:
    found = planned(name="acct", namespace="hpc")
    assert (found.host, found.port, found.database, found.username) == (
        "acct.hpc.svc",
        3306,
        "slurm_acct_db",
        "slurm",
    )
    server, _ = objects(found)
    reference = server["spec"]["passwordSecretKeyRef"]
    assert (found.password_secret, found.password_key) == (reference["name"], reference["key"])
    assert found.secrets == ("acct-password", "acct-root")


def test_user_has_the_name_that_the_operator_would_give_it() -> None:
    """Under another name the operator makes a second User with its own limit of connections."""
    _, user = objects(planned(name="acct"))
    assert user["metadata"]["name"] == "acct-user"


@pytest.mark.parametrize(
    ("pool", "lines", "memory"),
    [
        ("4Gi", ("innodb_buffer_pool_size=4096M", "innodb_log_file_size=1024M"), "6144Mi"),
        ("16Gi", ("innodb_buffer_pool_size=16384M", "innodb_log_file_size=4096M"), "24576Mi"),
        ("2000M", ("innodb_buffer_pool_size=1907M", "innodb_log_file_size=476M"), "2861Mi"),
    ],
)
def test_log_and_memory_follow_the_buffer_pool(pool: str, lines: tuple[str, str], memory: str) -> None:
    server, _ = objects(planned(buffer_pool=pool))
    assert set(lines) <= set(server["spec"]["myCnf"].splitlines())
    assert server["spec"]["resources"]["limits"] == {"memory": memory}


@pytest.mark.parametrize(
    ("body", "chosen", "wanted"),
    [
        ("env: lab\n", None, {"size": "100Gi"}),
        ("env: lab\nstorage: {defaultClass: ceph}\n", None, {"size": "100Gi", "storageClassName": "ceph"}),
        (
            "env: lab\nstorage: {defaultClass: ceph}\n",
            "fast",
            {"size": "100Gi", "storageClassName": "fast"},
        ),
    ],
)
def test_storage_class_is_the_databases_own_or_the_clusters(
    body: str, chosen: str | None, wanted: dict[str, str]
) -> None:
    server, _ = objects(planned(body=body, storage_class=chosen))
    assert server["spec"]["storage"] == wanted


def test_database_is_pulled_from_the_mirror_with_the_pull_secret() -> None:
    body = "env: lab\nregistry: {mirrors: {docker.io: r.example.com/hub}, pullSecrets: [pull]}\n"
    server, _ = objects(planned(body=body))
    assert server["spec"]["image"] == "r.example.com/hub/library/mariadb:11.8.8"
    assert server["spec"]["imagePullSecrets"] == [{"name": "pull"}]


@pytest.mark.parametrize(
    ("labels", "metrics", "inherited"),
    [
        ("{release: prom}", {"enabled": True, "serviceMonitor": {"prometheusRelease": "prom"}}, None),
        ("{team: hpc}", {"enabled": True}, {"labels": {"team": "hpc"}}),
        ("{}", {"enabled": True}, None),
    ],
)
def test_prometheus_finds_the_database_by_its_labels(
    labels: str, metrics: dict[str, Any], inherited: dict[str, Any] | None
) -> None:
    monitoring = f"monitoring: {{provided: true, serviceMonitorLabels: {labels}}}"
    server, _ = objects(planned(f"{ON}\n{monitoring}"))
    assert server["spec"]["metrics"] == metrics
    assert server["spec"].get("inheritMetadata") == inherited


def test_provided_operator_serves_databases_too() -> None:
    server, _ = objects(planned("mariadbOperator: {provided: true}"))
    assert server["spec"]["image"] == "docker.io/library/mariadb:11.8.8"


@pytest.mark.parametrize(
    ("settings", "wanted"),
    [("", True), (", watchNamespaces: [slurm, lab]", True), (", watchNamespaces: [lab]", False)],
)
def test_operator_watches_all_namespaces_or_those_named(settings: str, wanted: bool) -> None:
    components = f"mariadbOperator: {{enabled: true{settings}}}"
    spec = compile_text(spec_text("env: lab\n", pools=POOL, components=components)).plan.spec
    assert watches(spec, "slurm") is wanted


def test_every_part_of_a_database_knows_where_it_comes_from() -> None:
    for item in planned().manifests:
        for path in leaves(item.object.data):
            assert origins_of(item.object, path), path
    (server, _) = planned().manifests
    (size,) = origins_of(server.object, ("spec", "storage", "size"))
    assert size.path == ("spec", *AT, "size")


def leaves(value: Any, path: tuple[str, ...] = ()) -> Iterator[tuple[str, ...]]:
    if isinstance(value, dict):
        for key, below in value.items():
            yield from leaves(below, (*path, key))
    else:
        yield path


# --- databases against the CRDs ----------------------------------------------------------------


def field_facts(schema: Mapping[str, Any], path: str = "spec", depth: int = DEPTH) -> Iterator[Any]:
    """Yield the fields of a CRD's schema down to some depth: type, words, whether the map is open."""
    fact = {key: schema[key] for key in ("enum", "required", "maxLength") if key in schema}
    kind = "quantity" if schema.get("x-kubernetes-int-or-string") else schema.get("type", "any")
    opened = "additionalProperties" in schema or depth == 1
    yield path, {"type": kind, **fact, **({"open": True} if kind == "object" and opened else {})}
    if depth > 1:
        for name, below in schema.get("properties", {}).items():
            yield from field_facts(below, f"{path}.{name}", depth - 1)
        if schema.get("type") == "array":
            yield from field_facts(schema["items"], f"{path}[]", depth - 1)


def crd_faults(data: Any, known: Mapping[str, Any], path: str = "spec") -> Iterator[str]:
    """Yield what the facts of a kind have against a part of its object."""
    fact = known.get(path)
    if fact is None:
        yield f"{path}: unknown"
        return
    types: dict[str, tuple[type, ...]] = {
        "object": (dict,),
        "array": (list,),
        "string": (str,),
        "boolean": (bool,),
        "integer": (int,),
        "quantity": (int, str),
    }
    if not isinstance(data, types[fact["type"]]) or (isinstance(data, bool) and fact["type"] != "boolean"):
        yield f"{path}: not of type {fact['type']}"
    elif data not in fact.get("enum", [data]):
        yield f"{path}: not a word of {fact['enum']}"
    elif isinstance(data, str) and len(data) > fact.get("maxLength", len(data)):
        yield f"{path}: too long"
    elif isinstance(data, dict) and not fact.get("open"):
        yield from (f"{path}.{name}: missing" for name in fact.get("required", ()) if name not in data)
        for key, value in data.items():
            yield from crd_faults(value, known, f"{path}.{key}")
    elif isinstance(data, list):
        for value in data:
            yield from crd_faults(value, known, f"{path}[]")


def known_fields(kind: str) -> Mapping[str, Any]:
    facts: Any = resources().component("mariadbOperator").facts.table(FIELDS)
    found: Mapping[str, Any] = facts["kinds"][kind]
    return found


def fullest() -> Database:
    body = (
        "env: lab\nstorage: {defaultClass: ceph}\nregistry: {mirrors: {docker.io: r.example.com/hub}, "
        "pullSecrets: [pull]}\n"
    )
    monitoring = "monitoring: {provided: true, serviceMonitorLabels: {release: prom, team: hpc}}"
    tolerations = ({"key": "dedicated", "operator": "Exists", "effect": "NoSchedule"},)
    return planned(f"{ON}\n{monitoring}", body, tolerations=tolerations)


@pytest.mark.parametrize("database", [planned(), fullest()], ids=["plain", "full"])
def test_every_field_of_a_database_is_known_to_its_crd(database: Database) -> None:
    for data in objects(database):
        assert list(crd_faults(data["spec"], known_fields(data["kind"]))) == []


@pytest.mark.parametrize(
    ("change", "fault"),
    [
        ({"nosuch": 1}, "spec.nosuch: unknown"),
        ({"cleanupPolicy": "Keep"}, "spec.cleanupPolicy: not a word of ['Skip', 'Delete']"),
        ({"storage": {"size": "1Gi", "class": "x"}}, "spec.storage.class: unknown"),
        ({"passwordSecretKeyRef": {"name": "x"}}, "spec.passwordSecretKeyRef.key: missing"),
        ({"image": 11}, "spec.image: not of type string"),
        ({"metrics": {"enabled": "yes"}}, "spec.metrics.enabled: not of type boolean"),
    ],
)
def test_field_facts_refuse_what_the_crd_refuses(change: dict[str, Any], fault: str) -> None:
    server, _ = objects(planned())
    assert list(crd_faults({**server["spec"], **change}, known_fields("MariaDB"))) == [fault]


def test_field_facts_refuse_a_user_whose_name_is_too_long() -> None:
    _, user = objects(planned(username="x" * 81))
    assert list(crd_faults(user["spec"], known_fields("User"))) == ["spec.name: too long"]


def crd_version(kind: str) -> Any:
    file = UPSTREAM / "mariadb-operator" / "26.6.0" / "crds" / f"k8s.mariadb.com_{kind.lower()}s.yaml"
    (version,) = yaml.load(file.read_bytes(), Loader=yaml.CSafeLoader)["spec"]["versions"]
    return version


@needs_upstream
@pytest.mark.parametrize("kind", KINDS)
def test_field_facts_are_those_of_the_crd(kind: str) -> None:
    spec = crd_version(kind)["schema"]["openAPIV3Schema"]["properties"]["spec"]
    assert dict(field_facts(spec)) == known_fields(kind)


@needs_upstream
@pytest.mark.parametrize("database", [planned(), fullest()], ids=["plain", "full"])
def test_database_fits_the_crd(database: Database) -> None:
    for data in objects(database):
        assert faults(data, strict(crd_version(data["kind"]))) == []
