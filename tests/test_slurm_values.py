"""What an administrator looks for in the trees with Slurm, read from what is rendered."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from functools import cache
from textwrap import dedent, indent
from typing import Any

import pytest
import yaml

from gitops_gen.catalog.charts import check_values
from gitops_gen.model import Application
from gitops_gen.resources import resources
from gitops_gen.stages import Compiled
from tests.slurm_cases import SLURM, as_previous_release, helm_source, params, previous_release
from tests.slurm_pods import pod_faults
from tests.specs import codes, compile_text, spec_text
from tests.trees import Case, prepared, tree


def case(name: str) -> Case:
    (found,) = (item for item in SLURM if item.name.rpartition("/")[2] == name)
    return found


def document(name: str, path: str) -> Any:
    return yaml.safe_load(tree(case(name).spec)[path])


def plan_of(chosen: Case) -> tuple[Application, ...]:
    return prepared(chosen.spec).compiled.plan.applications


def values(name: str) -> Any:
    return document(name, "apps/slurm/slurm/values.yaml")


def app(name: str, path: str = "apps/slurm/slurm") -> Any:
    return document(name, f"{path}/application.yaml")


def readme(name: str) -> str:
    return tree(case(name).spec)["README.md"]


# --- slurm-only --------------------------------------------------------------------------------


def test_keys_are_references_that_the_chart_never_makes() -> None:
    found = values("slurm-only")
    assert found["slurmKey"] == {
        "create": False,
        "secretRef": {"name": "slurm-auth-slurm", "key": "slurm.key"},
    }
    assert found["jwtKey"] == {"create": False, "secretRef": {"name": "slurm-auth-jwt", "key": "jwt.key"}}
    assert "| `slurm` | `slurm-auth-slurm` | `slurm.key` (1024 random bytes) |" in readme("slurm-only")


def test_gpus_agree_in_four_places_and_cpu_nodes_have_none() -> None:
    found = values("slurm-only")
    sets = found["nodesets"]
    assert sets["h100"]["slurmd"]["resources"]["limits"]["nvidia.com/gpu"] == 8
    assert sets["h100"]["extraConfMap"]["Gres"] == "gpu:h100:8"
    assert found["controller"]["extraConfMap"]["GresTypes"] == "gpu"
    assert found["configFiles"]["gres.conf"] == "AutoDetect=nvidia\n"
    assert found["controller"]["extraConfMap"]["AccountingStorageTRES"] == "gres/gpu,gres/gpu:h100"
    assert set(sets["cpu"]["slurmd"]["resources"]["limits"]) == {"cpu", "memory"}
    assert "Gres" not in sets["cpu"]["extraConfMap"]


def test_partitions_say_their_nodes_times_and_default() -> None:
    found = values("slurm-only")["partitions"]
    assert found["prep"]["configMap"]["MaxTime"] == "UNLIMITED"
    assert found["prep"]["nodesets"] == ["cpu"]
    assert found["all"]["nodesets"] == ["ALL"]
    assert found["all"]["configMap"]["MaxTime"] == "04:00:00"
    defaults = {name: item["configMap"]["Default"] for name, item in found.items()}
    assert defaults == {"train": "YES", "prep": "NO", "all": "NO"}


def test_weight_of_fairshare_is_a_plain_number() -> None:
    assert values("slurm-only")["controller"]["extraConfMap"]["PriorityWeightFairshare"] == "100000"


def test_daemonsets_of_the_gpu_operator_tolerate_slurms_taint() -> None:
    taint = {"key": "slurm", "operator": "Equal", "value": "only", "effect": "NoSchedule"}
    gpu = document("slurm-only", "apps/gpu/gpu-operator/values.yaml")
    assert taint in gpu["daemonsets"]["tolerations"]
    assert taint in gpu["node-feature-discovery"]["worker"]["tolerations"]
    for name in ("h100", "cpu"):
        assert values("slurm-only")["nodesets"][name]["podSpec"]["tolerations"] == [taint]


@pytest.mark.parametrize(
    ("name", "cpu", "memory"),
    [("h100", 2 * 56 * 2 - 4 * 2, 2048 - 64), ("cpu", 2 * 32 * 2 - 2 * 2, 512 - 16)],
)
def test_limits_leave_the_reserved_cores_and_memory(name: str, cpu: int, memory: int) -> None:
    resources = values("slurm-only")["nodesets"][name]["slurmd"]["resources"]
    assert (resources["limits"]["cpu"], resources["limits"]["memory"]) == (cpu, f"{memory * 1024}Mi")
    assert resources["requests"] == resources["limits"]
    assert "RealMemory" not in str(values("slurm-only"))


def test_database_is_outside_and_its_password_in_a_secret() -> None:
    assert values("slurm-only")["accounting"] == {
        "enabled": True,
        "storageConfig": {
            "host": "db.example.com",
            "passwordKeyRef": {"name": "slurmdbd-db", "key": "password"},
        },
    }
    assert "| `slurm` | `slurmdbd-db` | `password` |" in readme("slurm-only")
    conf = values("slurm-only")["controller"]["extraConfMap"]
    assert conf["AccountingStorageEnforce"] == "associations,limits,qos"


def test_home_is_the_same_on_logins_and_workers() -> None:
    found = values("slurm-only")
    home = {"name": "home", "nfs": {"server": "nfs.example.com", "path": "/export/home"}}
    mount = {"name": "home", "mountPath": "/home"}
    login = found["loginsets"]["main"]
    assert home in login["podSpec"]["volumes"]
    assert mount in login["login"]["volumeMounts"]
    for name in ("h100", "cpu"):
        assert home in found["nodesets"][name]["podSpec"]["volumes"], name
        assert mount in found["nodesets"][name]["slurmd"]["volumeMounts"], name


def test_load_balancer_lets_in_only_the_source_ranges() -> None:
    login = values("slurm-only")["loginsets"]["main"]
    assert login["service"] == {"spec": {"loadBalancerSourceRanges": ["10.0.0.0/8"]}}
    facts = helm_keys("slurm", "1.2.1")
    assert facts["loginsetDefaults.service.spec.type"]["default"] == "LoadBalancer"


def test_accounts_and_qos_are_commands_of_the_readme() -> None:
    text = readme("slurm-only")
    assert "kubectl -n slurm exec -i slurm-controller-0 -c slurmctld -- bash -s <<'EOF'" in text
    assert "sacctmgr --immediate add qos name=short" in text
    assert "sacctmgr --immediate add account name=research cluster=slurmonly parent=root" in text


def test_waves_bring_crds_operator_and_slurm_in_order() -> None:
    names = ("slurm-operator-crds", "slurm-operator", "slurm")
    assert [wave(app("slurm-only", f"apps/slurm/{name}")) for name in names] == [-20, -15, 0]
    crds = app("slurm-only", "apps/slurm/slurm-operator-crds")
    assert "finalizers" not in crds["metadata"]
    assert crds["spec"]["syncPolicy"]["automated"]["prune"] is False
    options = app("slurm-only")["spec"]["syncPolicy"]["syncOptions"]
    assert {"ServerSideApply=true", "SkipDryRunOnMissingResource=true"} <= set(options)


def test_operator_and_webhook_keep_to_slurms_namespace() -> None:
    found = document("slurm-only", "apps/slurm/slurm-operator/values.yaml")
    assert (found["operator"]["namespaces"], found["webhook"]["namespaces"]) == ("slurm", "slurm")
    folder = "apps/platform/namespaces/manifests"
    labels = document("slurm-only", f"{folder}/namespace-slurm.yaml")["metadata"]["labels"]
    assert labels["pod-security.kubernetes.io/enforce"] == "privileged"


# --- gke-addon ---------------------------------------------------------------------------------


def test_addon_brings_operator_and_crds() -> None:
    files = tree(case("gke-addon").spec)
    assert {name.split("/")[2] for name in files if name.startswith("apps/slurm/")} == {"slurm", "stack.yaml"}
    assert not [name for name in files if "slurm-operator" in name or "cert-manager" in name]
    assert "slinky" not in {name.rpartition("namespace-")[2] for name in files}


def test_keda_scales_the_gpu_node_set_from_one_to_four() -> None:
    folder = "apps/slurm/slurm/manifests"
    names = [name for name in tree(case("gke-addon").spec) if name.startswith(f"{folder}/scaledobject")]
    assert names == [f"{folder}/scaledobject-slurm-worker-h100.yaml"]
    spec = document("gke-addon", names[0])["spec"]
    assert spec["scaleTargetRef"] == {
        "apiVersion": "slinky.slurm.net/v1beta1",
        "kind": "NodeSet",
        "name": "slurm-worker-h100",
    }
    assert (spec["minReplicaCount"], spec["maxReplicaCount"]) == (1, 4)
    (trigger,) = spec["triggers"]
    assert 'slurm_partition_jobs_pending{namespace="slurm",partition=~"gpu"}' in trigger["metadata"]["query"]
    assert trigger["metadata"]["serverAddress"].startswith(
        "http://kube-prometheus-stack-prometheus.monitoring"
    )
    assert values("gke-addon")["nodesets"]["h100"]["replicas"] == 1


def test_argo_cd_leaves_the_replicas_to_keda() -> None:
    spec = app("gke-addon")["spec"]
    assert spec["ignoreDifferences"] == [
        {
            "group": "slinky.slurm.net",
            "kind": "NodeSet",
            "name": "slurm-worker-h100",
            "jsonPointers": ["/spec/replicas"],
        }
    ]
    assert "RespectIgnoreDifferences=true" in spec["syncPolicy"]["syncOptions"]


def test_tpus_are_asked_for_selected_and_counted() -> None:
    found = values("gke-addon")
    tpu = found["nodesets"]["tpu"]
    assert tpu["slurmd"]["resources"]["limits"]["google.com/tpu"] == 8
    assert tpu["podSpec"]["nodeSelector"] == {
        "cloud.google.com/gke-tpu-accelerator": "tpu-v5-lite-podslice",
        "cloud.google.com/gke-tpu-topology": "2x4",
    }
    assert {"name": "dev", "hostPath": {"path": "/dev", "type": "Directory"}} in tpu["podSpec"]["volumes"]
    assert tpu["extraConfMap"]["Gres"] == "tpu:8"
    assert found["controller"]["extraConfMap"]["GresTypes"] == "gpu,tpu"
    assert "NodeName=tpu-[0-1] Name=tpu Count=8\n" in found["configFiles"]["gres.conf"]


def test_pool_that_serves_is_not_slurms() -> None:
    text = tree(case("gke-addon").spec)["apps/slurm/slurm/values.yaml"]
    assert "serve" not in text
    assert set(values("gke-addon")["nodesets"]) == {"h100", "tpu"}


def test_login_of_gke_stays_inside_the_network() -> None:
    service = values("gke-addon")["loginsets"]["main"]["service"]
    assert service["metadata"]["annotations"] == {"networking.gke.io/load-balancer-type": "Internal"}


def test_customers_database_and_files_are_bound() -> None:
    found = values("gke-addon")
    storage = found["accounting"]["storageConfig"]
    assert storage["host"] == "10.10.0.5"
    assert storage["passwordKeyRef"] == {"name": "cloudsql-slurm", "key": "password"}
    volume = document("gke-addon", "apps/slurm/slurm/manifests/persistentvolume-slurm-slurm-home.yaml")
    assert volume["spec"]["csi"]["volumeHandle"] == "modeInstance/asia-northeast3-a/home-1/home"
    for item in (found["nodesets"]["h100"], found["nodesets"]["tpu"], found["loginsets"]["main"]):
        claim = {"name": "home", "persistentVolumeClaim": {"claimName": "slurm-home"}}
        assert claim in item["podSpec"]["volumes"]


# --- the whole stack, without Kubeflow ---------------------------------------------------------

BODY = """\
storage: {defaultClass: ceph-block, sharedClass: ceph-fs}
"""
POOLS = """\
- name: dgx-h100
  nodes: 16
  os: ubuntu-24.04
  driver: operator
  use: slurm
  machine: {sockets: 2, coresPerSocket: 56, threadsPerCore: 2, memory: 2048Gi, reserved: {cores: 4, memory: 64Gi}}
  nodeSelector: {node.example.com/pool: dgx-h100}
  taints: [{key: slurm, value: only, effect: NoSchedule}]
  gpu: {model: h100-sxm-80gb, count: 8}
  fabric: {type: infiniband, rdma: sharedDevice, interfaces: [ibp24s0, ibp41s0], network: {subnet: 192.168.100.0/22, perNodeBlockSize: 32}}
- name: cpu
  nodes: 6
  os: ubuntu-24.04
  nodeSelector: {node.example.com/pool: cpu}
"""  # noqa: E501
SLURM_PART = """\
slurm:
  enabled: true
  clusterName: dgxfull
  controller:
    persistence: {size: 20Gi, storageClass: ceph-block}
    metrics: true
    config: {PreemptType: preempt/partition_prio, PreemptMode: REQUEUE}
  sssd: {secretRef: {name: sssd-conf, key: sssd.conf}}
  nodeSets:
    - {name: h100, pool: dgx-h100, replicas: 16, features: [hopper, ib]}
  partitions:
    - {name: normal, nodeSets: [h100], default: true, maxTime: 3-00:00:00, config: {PriorityTier: 10, DefMemPerCPU: 8000}}
    - {name: preempt, nodeSets: [h100], maxTime: 1-00:00:00, config: {PriorityTier: 2, PreemptMode: REQUEUE, DefMemPerCPU: 8000}}
  logins:
    - {name: main, replicas: 2, service: {type: LoadBalancer, sourceRanges: [10.0.0.0/8]}}
  accounting:
    enabled: true
    database: {mariadbOperator: {size: 100Gi, storageClass: ceph-block}}
  prolog:
    10-check.sh: |
      #!/bin/sh
      nvidia-smi -L >/dev/null || exit 1
  volumes:
    - {name: home, mountPath: /home, claim: slurm-home}
"""  # noqa: E501
OTHERS = """\
gpuOperator:
  enabled: true
  dcgmExporter: {serviceMonitor: true, slurmJobMapping: true}
networkOperator: {enabled: true}
mariadbOperator: {enabled: true}
monitoring: {enabled: true}
"""


@cache
def whole_stack() -> Compiled:
    return compile_text(spec_text(BODY, pools=POOLS, components=OTHERS + SLURM_PART))


def of_stack(path: str) -> Any:
    return whole_stack().documents[path]


def test_whole_stack_has_no_warning() -> None:
    assert [item.code for item in whole_stack().diagnostics if item.severity != "notice"] == []


def test_database_comes_before_slurm_and_makes_its_own_passwords() -> None:
    server = of_stack("apps/slurm/slurm-database/manifests/mariadb-slurm-database.yaml")
    secret = server["spec"]["passwordSecretKeyRef"]
    assert (secret["generate"], server["spec"]["rootPasswordSecretKeyRef"]["generate"]) == (True, True)
    storage = of_stack("apps/slurm/slurm/values.yaml")["accounting"]["storageConfig"]
    assert storage["host"] == "slurm-database.slurm.svc"
    assert storage["passwordKeyRef"] == {"name": secret["name"], "key": secret["key"]}
    names = ("slurm-operator", "slurm-database", "slurm")
    waves = [wave(of_stack(f"apps/slurm/{name}/application.yaml")) for name in names]
    assert waves == sorted(waves)
    assert len(set(waves)) == len(names)


def wave(application: Any) -> int:
    return int(application["metadata"]["annotations"]["argocd.argoproj.io/sync-wave"])


def test_preemption_has_mode_and_type_together() -> None:
    found = of_stack("apps/slurm/slurm/values.yaml")
    conf = found["controller"]["extraConfMap"]
    assert (conf["PreemptType"], conf["PreemptMode"]) == ("preempt/partition_prio", "REQUEUE")
    assert found["partitions"]["preempt"]["configMap"]["PreemptMode"] == "REQUEUE"
    alone = SLURM_PART.replace("PreemptType: preempt/partition_prio, ", "")
    wanted = ["slurm-preempt", "slurm-partition-preempt"]
    assert codes(spec_text(BODY, pools=POOLS, components=OTHERS + alone)) == wanted


def test_jobs_of_gpus_are_mapped_in_the_same_folder() -> None:
    gpu = of_stack("apps/gpu/gpu-operator/values.yaml")["dcgmExporter"]
    dcgm = of_stack("apps/slurm/slurm/values.yaml")["vendor"]["nvidia"]["dcgm"]
    assert dcgm["enabled"] is True
    usual = helm_keys("slurm", "1.2.1")["vendor.nvidia.dcgm.jobMappingDir"]["default"]
    assert gpu["hpcJobMapping"]["directory"] == dcgm.get("jobMappingDir", usual)


def test_folder_of_the_job_mapping_is_told_to_both() -> None:
    others = OTHERS.replace("slurmJobMapping: true", "slurmJobMapping: {directory: /var/lib/jobs}")
    made = compile_text(spec_text(BODY, pools=POOLS, components=others + SLURM_PART)).documents
    gpu: Any = made["apps/gpu/gpu-operator/values.yaml"]["dcgmExporter"]
    slurm: Any = made["apps/slurm/slurm/values.yaml"]["vendor"]
    assert gpu["hpcJobMapping"]["directory"] == "/var/lib/jobs"
    assert slurm["nvidia"]["dcgm"]["jobMappingDir"] == "/var/lib/jobs"


def test_prolog_keeps_its_first_line() -> None:
    found = of_stack("apps/slurm/slurm/values.yaml")["prologScripts"]
    assert found == {"10-check.sh": "#!/bin/sh\nnvidia-smi -L >/dev/null || exit 1\n"}


def test_fabric_of_the_pool_reaches_jobs() -> None:
    found = of_stack("apps/slurm/slurm/values.yaml")
    item = found["nodesets"]["h100"]
    assert item["slurmd"]["resources"]["limits"]["rdma/rdma_shared_device_ib"] == 1
    networks = item["metadata"]["annotations"]["k8s.v1.cni.cncf.io/networks"]
    files: Mapping[str, Any] = whole_stack().documents
    made = [
        f"{document['spec'].get('networkNamespace', 'default')}/{document['metadata']['name']}"
        for name, document in files.items()
        if "/network-operator/manifests/ipoibnetwork-" in name
    ]
    assert networks.split(",") == made
    assert item["slurmd"]["command"] == [
        "bash",
        "-c",
        'ulimit -l unlimited; exec entrypoint.sh "$@"',
        "slurmd",
    ]
    assert found["controller"]["extraConfMap"]["PropagateResourceLimitsExcept"] == "MEMLOCK"
    assert {"name": "shm", "mountPath": "/dev/shm"} in item["slurmd"]["volumeMounts"]


def test_pool_of_slurm_and_of_kubernetes_is_refused() -> None:
    pools = POOLS.replace("use: slurm", "use: kubernetes")
    assert "slurm-pool-of-kubernetes" in codes(spec_text(BODY, pools=pools, components=OTHERS + SLURM_PART))


# --- slurmdbd outside --------------------------------------------------------------------------

CPU = """\
- name: cpu
  nodes: 4
  os: ubuntu-24.04
  use: slurm
  machine: {sockets: 2, coresPerSocket: 32, threadsPerCore: 2, memory: 512Gi}
  nodeSelector: {node.example.com/pool: cpu}
  taints: [{key: slurm, value: only, effect: NoSchedule}]
- {name: system, nodes: 3, os: ubuntu-24.04, nodeSelector: {node.example.com/pool: system}}
"""
PARTITIONS = "partitions: [{name: all, nodeSets: [ALL], default: true, config: {DefMemPerCPU: 1000}}]"
OUTSIDE = "controller: {external: {host: slurmctld.example.com, port: 6817}}"
SERVICE = "apps/slurm/slurm/manifests/service-slurm-accounting.yaml"


def with_database(host: str, port: int = 6819, more: str = PARTITIONS) -> Mapping[str, Any]:
    text = f"""\
certManager: {{provided: true}}
slurm:
  enabled: true
  clusterName: test
  nodeSets: [{{name: cpu, pool: cpu}}]
  accounting: {{enabled: true, external: {{host: "{host}", port: {port}}}}}
  {more}
"""
    return compile_text(spec_text(pools=CPU, components=text)).documents


def test_name_of_a_database_daemon_is_a_service() -> None:
    made = with_database("slurmdbd.example.com")
    assert made[SERVICE]["spec"] == {"type": "ExternalName", "externalName": "slurmdbd.example.com"}
    found = made["apps/slurm/slurm/values.yaml"]
    assert found["accounting"]["externalConfig"] == {"host": "slurmdbd.example.com", "port": 6819}
    assert "AccountingStorageHost" not in found["controller"]["extraConfMap"]


@pytest.mark.parametrize("host", ["192.0.2.10", "2001:db8::10"])
def test_address_of_a_database_daemon_stands_in_slurm_conf(host: str) -> None:
    """Argo CD leaves out what would stand behind a Service of the address."""
    made = with_database(host)
    conf = made["apps/slurm/slurm/values.yaml"]["controller"]["extraConfMap"]
    assert conf["AccountingStorageHost"] == host
    assert "AccountingStoragePort" not in conf
    assert not [name for name in made if "endpointslice" in name or name == SERVICE]
    conf = with_database(host, 7819)["apps/slurm/slurm/values.yaml"]["controller"]["extraConfMap"]
    assert conf["AccountingStoragePort"] == "7819"


def test_slurmrestd_of_a_controller_outside_knows_the_address() -> None:
    made = with_database("192.0.2.10", more=OUTSIDE)
    found = made["apps/slurm/slurm/values.yaml"]
    aliases = [{"ip": "192.0.2.10", "hostnames": ["slurm-accounting"]}]
    assert found["restapi"]["podSpec"]["hostAliases"] == aliases
    assert "extraConfMap" not in found["controller"]
    named = with_database("slurmdbd.example.com", more=OUTSIDE)
    assert "restapi" not in named["apps/slurm/slurm/values.yaml"]
    assert named[SERVICE]["spec"]["externalName"] == "slurmdbd.example.com"


@pytest.mark.parametrize("name", ["outside", "outside-database"])
def test_keys_of_a_daemon_outside_are_never_made_anew(name: str) -> None:
    """A random key would shut the daemon outside out."""
    found = [item for app in plan_of(case(name)) for item in app.secrets if "key" in item.purpose]
    assert len(found) == 3 if name == "outside" else 2
    assert {item.random_bytes for item in found} == {0}
    assert "/dev/urandom" not in readme(name)
    assert "outside |" in readme(name)
    assert "/dev/urandom" in readme("slurm-only")


@pytest.mark.parametrize(
    ("more", "note"),
    [
        ("", "Slurm refuses jobs of users that its database does not know; "),
        ("accounts: [{name: research}], ", "Slurm refuses jobs until the accounts and QOS below exist"),
        ("accounts: [{name: research}], bootstrapJob: true, ", None),
    ],
)
def test_note_about_accounts_speaks_of_commands_only_where_there_are_some(
    more: str, note: str | None
) -> None:
    database = "external: {host: db.example.com, passwordRef: {name: db, key: password}}"
    text = f"""\
certManager: {{provided: true}}
slurm:
  enabled: true
  clusterName: test
  nodeSets: [{{name: cpu, pool: cpu}}]
  accounting: {{enabled: true, enforce: [associations], {more}database: {{{database}}}}}
  {PARTITIONS}
"""
    (app,) = (
        item
        for item in compile_text(spec_text(pools=CPU, components=text)).plan.applications
        if item.name == "slurm"
    )
    found = [item for item in app.notes if item.startswith("Slurm refuses jobs")]
    assert [item.startswith(note or "-") for item in found] == ([True] if note else [])
    assert bool(app.commands) is bool(note and more)


def test_argo_cd_applies_everything_that_is_rendered() -> None:
    """The kinds of `resource.exclusions` in Argo CD's own argocd-cm are never applied."""
    excluded = {"Endpoints", "EndpointSlice", "Lease", "CertificateRequest", "CertificateSigningRequest"}
    for item in SLURM:
        kinds = {
            yaml.safe_load(text).get("kind")
            for name, text in tree(item.spec).items()
            if name.endswith(".yaml") and "/manifests/" in name
        }
        assert kinds & excluded == set(), item.name


# --- pods --------------------------------------------------------------------------------------


def helm_keys(chart: str, version: str) -> Mapping[str, Any]:
    return resources().component("slurm").facts.chart_keys(chart, version).keys


def merged(base: Any, over: Any) -> Any:
    """Merge as the chart merges a set over its defaults: maps merge, everything else replaces."""
    if isinstance(base, dict) and isinstance(over, dict):
        return {**base, **{key: merged(base.get(key), value) for key, value in over.items()}}
    return over


PARTS = {
    "controller": ("slurmctld", "reconfigure", "logfile"),
    "restapi": ("slurmrestd",),
    "accounting": ("slurmdbd",),
    "loginsets": ("login", "initconf"),
    "nodesets": ("slurmd", "logfile"),
}


def pods(found: Any) -> Iterator[tuple[str, Any, dict[str, Any]]]:
    """Yield name, template and containers of each pod as far as our values say them."""
    for place in ("controller", "restapi", "accounting"):
        if place in found:
            yield place, *pod(found[place], PARTS[place])
    for place in ("loginsets", "nodesets"):
        defaults = found.get(f"{place.removesuffix('s')}Defaults", {})
        for name, item in found.get(place, {}).items():
            yield f"{place}.{name}", *pod(merged(defaults, item), PARTS[place])


def pod(item: Any, parts: tuple[str, ...]) -> tuple[Any, dict[str, Any]]:
    containers = {name: {**item.get(name, {}), "image": "image"} for name in parts}
    return {"metadata": item.get("metadata", {}), "spec": item.get("podSpec", {})}, containers


@pytest.mark.parametrize("item", params(SLURM))
def test_pods_are_such_as_kubernetes_knows(item: Case) -> None:
    found = list(pods(helm_source(item, "slurm").values.data))
    assert "nodesets" in {name.partition(".")[0] for name, _, _ in found}
    for name, template, containers in found:
        assert pod_faults(template, containers) == [], name


@pytest.mark.parametrize(
    ("spec", "container", "fault"),
    [
        ({"nodeSelectors": {}}, {}, "'nodeSelectors' was unexpected"),
        ({"tolerations": [{"key": "a", "effects": "NoSchedule"}]}, {}, "'effects' was unexpected"),
        ({}, {"volumeMounts": [{"name": "a", "path": "/a"}]}, "'mountPath' is a required property"),
        ({}, {"volumeMounts": [{"name": "a", "mountPath": "/a"}]}, "no volume a for /a"),
        ({"volumes": [{"name": "a", "emptyDir": {}}]}, {}, "nobody mounts a"),
        ({}, {"resources": {"limit": {}}}, "'limit' was unexpected"),
    ],
)
def test_pods_are_judged_strictly(spec: Any, container: Any, fault: str) -> None:
    found = pod_faults({"spec": spec}, {"slurmd": {"image": "a", **container}})
    assert len(found) == 1
    assert fault in found[0]


def test_a_set_replaces_the_lists_of_its_defaults() -> None:
    """So that ours stand in the sets, and never half in the defaults."""
    for item in SLURM:
        found: Any = helm_source(item, "slurm").values.data
        for name in ("nodesetDefaults", "loginsetDefaults"):
            assert [path for path, value in leaves(found.get(name, {})) if isinstance(value, list)] == []


def leaves(value: Any, path: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], Any]]:
    if isinstance(value, dict):
        for key, below in value.items():
            yield from leaves(below, (*path, key))
    else:
        yield path, value


# --- what users write in their own way ---------------------------------------------------------


def with_parts(more: str) -> Any:
    text = f"""\
certManager: {{provided: true}}
slurm:
  enabled: true
  clusterName: test
  nodeSets: [{{name: cpu, pool: cpu}}]
  sssd: {{secretRef: {{name: sssd-conf, key: sssd.conf}}}}
  {PARTITIONS}
{indent(dedent(more), "  ")}
"""
    return compile_text(spec_text(pools=CPU, components=text)).documents["apps/slurm/slurm/values.yaml"]


LUA = """\
function slurm_job_submit(job, partitions, uid)
   return slurm.SUCCESS
end
function slurm_job_modify(job, record, partitions, uid)
   return slurm.SUCCESS
end
"""


def test_texts_begin_at_the_margin() -> None:
    """The chart prints them as blocks, which an indented first line would break."""
    found = with_parts(
        f"""\
        jobSubmitLua: {json.dumps("   " + LUA)}
        logins:
          - name: main
            extraSshdConfig: "  PasswordAuthentication no\\nX11Forwarding no\\n"
            rootAuthorizedKeys: ["  ssh-ed25519 AAAA a", "ssh-ed25519 BBBB b "]
        """
    )
    assert found["configFiles"]["job_submit.lua"] == LUA
    login = found["loginsets"]["main"]
    assert login["extraSshdConfig"] == "PasswordAuthentication no\nX11Forwarding no\n"
    assert login["rootSshAuthorizedKeys"] == "ssh-ed25519 AAAA a\nssh-ed25519 BBBB b\n"


def test_pod_spec_adds_to_lists_merges_maps_and_takes_out() -> None:
    found = with_parts(
        """\
        restApi:
          nodeSelector: {pool: system, zone: a}
          tolerations: [{key: own, operator: Exists}]
          podSpec:
            nodeSelector: {zone: null, rack: b}
            tolerations: [{key: theirs, operator: Exists}]
            affinity: {nodeAffinity: null}
            priorityClassName: null
        """
    )
    assert found["restapi"]["podSpec"] == {
        "nodeSelector": {"pool": "system", "rack": "b"},
        "tolerations": [{"key": "own", "operator": "Exists"}, {"key": "theirs", "operator": "Exists"}],
        "affinity": {},
    }


# --- the release before ------------------------------------------------------------------------


def test_previous_release_has_whole_sets_and_no_newer_keys() -> None:
    found: Any = helm_source(case("previous-release"), "slurm").values.data
    for name in ("nodesetDefaults", "loginsetDefaults"):
        assert name not in found
    assert found["nodesets"]["slinky"] == {"enabled": False}
    assert found["partitions"]["all"] == {"enabled": False}
    assert {"enabled", "replicas", "slurmd", "logfile"} <= set(found["nodesets"]["h100"])
    assert {"enabled", "replicas", "login", "initconf"} <= set(found["loginsets"]["main"])
    assert "inplaceReconfigure" not in found["controller"]
    assert len(found["controller"]["metadata"]["annotations"]["checksum/config"]) == 16
    assert "extraConfMap" not in found["controller"], "the operator of this release writes them all"


def test_keys_of_the_newer_release_are_unknown_to_the_one_before() -> None:
    facts = resources().component("slurm").facts.chart_keys("slurm", "1.1.2")
    newer: Any = helm_source(case("fabric"), "slurm").values.data
    unknown = {item.code for item in check_values(newer, facts, ())}
    assert "unknown-values-key" in unknown


REFUSED = {
    "containers": {"slurm-unsupported"},
    "eks-logins": {"slurm-unsupported"},
    "fabric": {"slurm-unsupported", "slurm-keyword-series"},
}
"""What the release before cannot do of the cases, in the words of the rules."""
NEWER_IMAGES = "slurm-series-skew"
"""Said where a case names images of the newer series, which the release before was not made for."""


@pytest.mark.parametrize("item", params(SLURM))
def test_previous_release_does_what_it_can_and_is_refused_what_it_cannot(item: Case) -> None:
    name = item.name.rpartition("/")[2]
    text = as_previous_release(item)
    said = {code for code in codes(text) if code.startswith("slurm-")}
    assert said - {NEWER_IMAGES} == REFUSED.get(name, set())
    if name in REFUSED:
        return
    source = previous_release(item)
    facts = resources().component("slurm").facts.chart_keys("slurm", source.version)
    assert [found.message for found in check_values(source.values.data, facts, ())] == []
    for place, template, containers in pods(source.values.data):
        assert pod_faults(template, containers) == [], place
