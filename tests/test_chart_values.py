"""A user's chart values are checked against the keys that the chart has at that version."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from gitops_gen.catalog.charts import chart_keys_from, check_values
from gitops_gen.diagnostics import Severity
from gitops_gen.maintain.charts import COMPONENTS, KnownChart, known_charts, read_yaml
from gitops_gen.model import ChartKeys, Json, Object

PROVEN = Path(__file__).resolve().parents[2] / "shared" / "facts" / "proven"
ROOT = ("spec", "components", "gpuOperator", "values")


def keys_of(chart: str, version: str) -> ChartKeys:
    known = next(it for it in known_charts() if (it.chart, it.version) == (chart, version))
    return chart_keys_from(
        json.loads(known.facts_file().read_bytes()), json.loads(known.extra_file().read_bytes())
    )


@pytest.fixture(scope="module")
def gpu() -> ChartKeys:
    return keys_of("gpu-operator", "v26.7.0")


def said(values: Object, keys: ChartKeys) -> list[tuple[str, str]]:
    """Return message and hint of each finding."""
    return [(it.message, it.hint) for it in check_values(values, keys, ROOT)]


def unknown(key: str, chart: str = "gpu-operator v26.7.0") -> str:
    return f'values key "{key}" is not known to chart {chart}'


@pytest.mark.parametrize(
    ("values", "key", "hint"),
    [
        (
            {"driver": {"useOpenKernelModules": True}},
            "driver.useOpenKernelModules",
            "use driver.kernelModuleType: auto, open or proprietary",
        ),
        (
            {"driver": {"maxParallelUpgrades": 2}},
            "driver.maxParallelUpgrades",
            "use driver.upgradePolicy.maxParallelUpgrades",
        ),
        (
            {"cdi": {"default": True}},
            "cdi.default",
            "use cdi.enabled: CDI is the default way since v25.10.0",
        ),
        (
            {"operator": {"defaultRuntime": "containerd"}},
            "operator.defaultRuntime",
            "remove it: the runtime is detected since v25.3.0",
        ),
        (
            {"operator": {"initContainer": {"image": "cuda"}}},
            "operator.initContainer",
            "remove it: it is gone since v26.3.0",
        ),
        (
            {"psp": {"enabled": False}},
            "psp",
            "remove it: PodSecurityPolicy is gone since v24.3.0; psa.enabled labels the namespace",
        ),
        ({"dcgm": {"hostPort": 5555}}, "dcgm.hostPort", "remove it: the port is fixed since v24.6.0"),
        (
            {"daemonsets": {"nodeSelector": {"a": "b"}}},
            "daemonsets.nodeSelector",
            "label the other nodes nvidia.com/gpu.deploy.operands=false: "
            "operands follow node labels only",
        ),
        (
            {"toolkit": {"affinity": {}}},
            "toolkit.affinity",
            "operands take no affinity: label nodes nvidia.com/gpu.deploy.* instead",
        ),
        ({"hostPaths": {"toolkitInstallDir": "/x"}}, "hostPaths.toolkitInstallDir", "use toolkit.installDir"),
        (
            {"nodeSelector": {"a": "b"}},
            "nodeSelector",
            "use operator.nodeSelector; operands follow the node labels nvidia.com/gpu.deploy.*",
        ),
        (
            {"nfd": {"worker": {}}},
            "nfd.worker",
            "use node-feature-discovery for the values of that sub-chart",
        ),
        (
            {"dcgmExporter": {"serviceMonitor": {"relabelings": [{"source_labels": ["a"]}]}}},
            "dcgmExporter.serviceMonitor.relabelings[0].source_labels",
            'did you mean "dcgmExporter.serviceMonitor.relabelings[].sourceLabels"?',
        ),
        (
            {"driver": {"env": [{"name": "A", "valueFrom": {}}]}},
            "driver.env[0].valueFrom",
            "use driver.secretEnv to take variables from a Secret",
        ),
        ({"driverr": {}}, "driverr", 'did you mean "driver"?'),
        ({"nosuch": {"key": 1}}, "nosuch", ""),
    ],
)  # fmt: skip
def test_unknown_key_names_the_right_one(gpu: ChartKeys, values: Object, key: str, hint: str) -> None:
    assert said(values, gpu) == [(unknown(key), hint)]


def test_unknown_key_is_an_error_at_the_key_itself(gpu: ChartKeys) -> None:
    (found,) = check_values({"cdi": {"default": True}}, gpu, ROOT)
    assert (found.code, found.severity) == ("unknown-values-key", Severity.ERROR)
    assert (found.path, found.on_key) == ((*ROOT, "cdi", "default"), True)


def test_all_faults_are_found_at_once(gpu: ChartKeys) -> None:
    values: Object = {"hostPaths": {"toolkitInstallDir": "/x"}, "cdi": {"default": True}, "x": 1}
    assert len(said(values, gpu)) == 3


@pytest.mark.parametrize("version", ["v26.3.3", "v25.10.1"])
def test_dead_key_is_a_warning_with_its_reason(version: str) -> None:
    (found,) = check_values({"cdi": {"default": True}}, keys_of("gpu-operator", version), ROOT)
    assert (found.code, found.severity) == ("dead-values-key", Severity.WARNING)
    assert found.message == (
        f'values key "cdi.default" has no effect in chart gpu-operator {version}: '
        "the operator ignores it since v25.10.0"
    )


def test_default_driver_selector_is_dead_only_since_v26_7() -> None:
    values: Object = {"driver": {"nvidiaDriverCRD": {"nodeSelector": {"a": "b"}}}}
    assert [it.code for it in check_values(values, keys_of("gpu-operator", "v26.7.0"), ROOT)] == [
        "dead-values-key"
    ]
    assert said(values, keys_of("gpu-operator", "v26.3.3")) == []


@pytest.mark.parametrize(
    "values",
    [
        {"operator": {"resources": {"limits": {"nvidia.com/x": 1}}, "nodeSelector": {"a": "b"}}},
        {"daemonsets": {"labels": {"team": "gpu"}, "annotations": {"a/b": "c"}}},
        {"devicePlugin": {"config": {"create": True, "name": "ts", "data": {"any": "version: v1"}}}},
        {"dcgmExporter": {"config": {"name": "metrics", "create": True, "data": "DCGM_FI, gauge"}}},
        {"dcgmExporter": {"hpcJobMapping": {"enabled": True, "directory": "/run/jobs"}}},
        {"node-feature-discovery": {"worker": {"config": {"core": {"labelWhiteList": "x"}}}}},
        {"hostPaths": {"kubeletRootDir": "/var/lib/kubelet"}},
        {"toolkit": {"env": [{"name": "CONTAINERD_CONFIG", "value": "/etc/containerd/config.toml"}]}},
        {"driver": {"upgradePolicy": {"maxUnavailable": 1}}},
        {"daemonsets": {"rollingUpdate": {"maxUnavailable": 1}}},
        {"gds": None, "driver": {"startupProbe": None}},
        {"operator": {"logging": {"level": "debug"}}},
    ],
)  # fmt: skip
def test_keys_of_templates_crds_and_open_maps_are_known(gpu: ChartKeys, values: Object) -> None:
    assert said(values, gpu) == []


@pytest.mark.parametrize(
    ("values", "message", "hint", "severity"),
    [
        (
            {"daemonsets": {"tolerations": {"key": "a"}}},
            'values key "daemonsets.tolerations" must be an array, not an object',
            "",
            Severity.ERROR,
        ),
        (
            {"driver": False},
            'values key "driver" must be an object, not the boolean false',
            "",
            Severity.ERROR,
        ),
        (
            {"dcgm": {"enabled": "true"}},
            'values key "dcgm.enabled" must be a boolean, not the string "true"',
            "",
            Severity.ERROR,
        ),
        (
            {"driver": {"version": 580}},
            'values key "driver.version" must be a string, not the integer 580',
            'quote it: "580"',
            Severity.WARNING,
        ),
        (
            {"dcgmExporter": {"config": {"data": {"a": "b"}}}},
            'values key "dcgmExporter.config.data" must be a string, not an object',
            "",
            Severity.ERROR,
        ),
    ],
)
def test_wrong_type_is_named(
    gpu: ChartKeys, values: Object, message: str, hint: str, severity: Severity
) -> None:
    found = [(it.code, it.message, it.hint, it.severity) for it in check_values(values, gpu, ROOT)]
    assert found == [("values-type", message, hint, severity)]


@pytest.mark.parametrize(
    ("chart", "version", "values", "key", "hint"),
    [
        (
            "network-operator",
            "26.4.1",
            {"deployCR": True},
            "deployCR",
            "remove it: the chart makes no NicClusterPolicy since v24.10.0; nodePools[].fabric does here",
        ),
        (
            "network-operator",
            "26.4.1",
            {"sriovNetworkOperator": {"operator": {}}},
            "sriovNetworkOperator.operator",
            "use sriov-network-operator for the values of that sub-chart",
        ),
        (
            "kube-prometheus-stack",
            "88.5.3",
            {"prometheus-node-exporter": {"enabled": False}},
            "prometheus-node-exporter.enabled",
            "use nodeExporter.enabled",
        ),
        (
            "cert-manager",
            "v1.20.2",
            {"prometheus": {"serviceMonitor": {"enabled": True}}},
            "prometheus.serviceMonitor",
            'did you mean "prometheus.servicemonitor"?',
        ),
    ],
)
def test_hints_of_the_other_charts(chart: str, version: str, values: Object, key: str, hint: str) -> None:
    assert said(values, keys_of(chart, version)) == [(unknown(key, f"{chart} {version}"), hint)]


@pytest.mark.parametrize(
    ("chart", "version", "values"),
    [
        ("kube-prometheus-stack", "88.5.3", {"grafana": {"grafana.ini": {"server": {"x": "y"}}}}),
        ("kube-prometheus-stack", "88.5.3", {"grafana": {"admin": {"existingSecret": "grafana"}}}),
        ("kube-prometheus-stack", "88.5.3", {"alertmanager": {"config": {"time_intervals": []}}}),
        ("cert-manager", "v1.20.2", {"config": {"apiVersion": "x", "kind": "y", "enableGatewayAPI": True}}),
        ("network-operator", "26.4.1", {"sriov-network-operator": {"images": {"operator": "x"}}}),
    ],
)  # fmt: skip
def test_open_maps_of_the_other_charts(chart: str, version: str, values: Object) -> None:
    assert said(values, keys_of(chart, version)) == []


TEMPLATE_ONLY = """
    ccManager.args ccManager.env dcgm.imagePullSecrets dcgmExporter.args dcgmExporter.config.create
    dcgmExporter.config.data dcgmExporter.config.name dcgmExporter.hpcJobMapping dcgmExporter.imagePullSecrets
    dcgmExporter.podLabelAllowlistRegex driver.args driver.licensingConfig.configMapName driver.livenessProbe
    driver.readinessProbe gfd.args hostPaths.kubeletRootDir kataManager.args kataManager.image
    kataManager.repository kataManager.version migManager.args nameOverride nodeStatusExporter.args
    nodeStatusExporter.env nodeStatusExporter.version operator.defaultGPUMode operator.labels
    operator.metrics.serviceMonitor operator.version validator.cuda.env validator.driver.env
    validator.toolkit.env validator.version validator.vfioPCI.env validator.vgpuDevices.env
    validator.vgpuManager.env vfioManager.args vgpuDeviceManager.args vgpuDeviceManager.resources
    vgpuManager.args
"""


def test_keys_that_only_templates_read_are_recorded(gpu: ChartKeys) -> None:
    assert sorted(set(TEMPLATE_ONLY.split()) - gpu.extra.keys()) == []
    assert sorted(set(TEMPLATE_ONLY.split()) & gpu.keys.keys()) == []


def test_newer_keys_are_unknown_to_older_charts() -> None:
    values: Object = {
        "hostPaths": {"kubeletRootDir": "/var/lib/kubelet"},
        "dcgmExporter": {"serviceMonitor": {"scrapeTimeout": "10s"}},
        "operator": {"metrics": {"serviceMonitor": {"enabled": True}}},
    }
    assert said(values, keys_of("gpu-operator", "v26.7.0")) == []
    found = [it.path[len(ROOT) :] for it in check_values(values, keys_of("gpu-operator", "v25.10.1"), ROOT)]
    assert ("hostPaths", "kubeletRootDir") in found
    assert ("operator", "metrics") in found


def known_ids(chart: KnownChart) -> str:
    return f"{chart.chart}-{chart.version}"


@pytest.mark.parametrize("chart", known_charts(), ids=known_ids)
def test_defaults_of_a_chart_pass_its_own_check(chart: KnownChart) -> None:
    keys = keys_of(chart.chart, chart.version)
    values: Object = {}
    for name, entry in keys.keys.items():
        at: Json = values
        *parents, leaf = [part.strip('"') for part in _split(name)]
        for part in parents:
            assert isinstance(at, dict)
            at = at.setdefault(part, {})
        assert isinstance(at, dict)
        at[leaf] = {} if entry["type"] == "object" else entry["default"]
    expected = ("dead-values-key", "discouraged-value")
    findings = [it for it in check_values(values, keys, ()) if it.code not in expected]
    assert [it.message for it in findings] == []


@pytest.mark.parametrize("chart", known_charts(), ids=known_ids)
def test_hand_kept_facts_speak_of_known_keys(chart: KnownChart) -> None:
    keys = keys_of(chart.chart, chart.version)
    names = {*keys.keys, *keys.extra}
    assert sorted(keys.open - names) == []
    assert sorted(set(keys.hints) & names - set(_switch_maps(keys))) == []
    sources = json.loads(chart.extra_file().read_bytes())
    for section in ("extra", "dead", "open", "hints"):
        assert [key for key, entry in sources[section].items() if not entry.get("source")] == []


def _switch_maps(keys: ChartKeys) -> list[str]:
    """Known maps may carry a hint for what is unknown below them."""
    return [name for name, entry in keys.keys.items() if entry["type"] == "object"]


def _split(name: str) -> list[str]:
    from gitops_gen.traced import parse_path

    return [str(part) for part in parse_path(name)]


@pytest.mark.skipif(not PROVEN.is_dir(), reason="the facts beside the checkout are missing")
@pytest.mark.parametrize("case", ["k3s-lab", "a100-mig", "slurm-only"])
def test_values_proven_by_hand_are_clean(gpu: ChartKeys, case: str) -> None:
    assert said(read_yaml(PROVEN / f"{case}.gpu-operator.values.yaml"), gpu) == []


def test_facts_lie_beside_their_component() -> None:
    for chart in known_charts():
        assert chart.facts_file().is_relative_to(COMPONENTS / chart.component)
