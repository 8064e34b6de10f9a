"""Every setting of the component does something, and this page shows one way to use each."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from gitops_gen.catalog.charts import check_values
from gitops_gen.components import gpu_operator
from gitops_gen.resources import resources
from tests.gpu_operator import app, chart, cluster, part, pool
from tests.specs import compile_text, findings, spec_text

MONITORED = "monitoring: {enabled: true}\n"
FABRIC = "fabric: {type: infiniband, rdma: sharedDevice, ofed: host, interfaces: [ibp24s0]}"
A100 = pool("a100", model="a100-sxm-80gb", gpu="mig: {profile: 1g.10gb}")
A40 = pool("a40", model="a40", os="ubuntu-22.04")
CRD = "driver: {nvidiaDriverCRD: {enabled: true%s}}"

# Setting: the text that uses it, the same text without it, and what it needs around.
USES: dict[str, tuple[str, str, dict[str, str]]] = {
    "mig.strategy": ("mig: {strategy: mixed}", "", {"pools": A100}),
    "driver.version": ("driver: {version: 580.173.02}", "", {}),
    "driver.repository": ("driver: {repository: registry.example.com/nvidia}", "", {}),
    "driver.image": ("driver: {image: own-driver}", "", {}),
    "driver.imagePullSecrets": ("driver: {imagePullSecrets: [pull]}", "", {}),
    "driver.kernelModuleType": ("driver: {kernelModuleType: open}", "", {}),
    "driver.usePrecompiled": ('driver: {version: "580", usePrecompiled: true}', "", {}),
    "driver.rdma": ("driver: {kernelModuleType: proprietary, rdma: true}", "", {"pools": pool(more=FABRIC)}),
    "driver.env": ('driver: {env: {A: "1"}}', "", {}),
    "driver.envSecret": ("driver: {envSecret: login}", "", {}),
    "driver.repoConfigMap": ("driver: {repoConfigMap: repositories}", "", {}),
    "driver.certConfigMap": ("driver: {certConfigMap: certificates}", "", {}),
    "driver.kernelModuleConfigMap": ("driver: {kernelModuleConfigMap: parameters}", "", {}),
    "driver.licensing.secretName": ("driver: {licensing: {secretName: licence}}", "", {}),
    "driver.licensing.nls": (
        "driver: {licensing: {secretName: licence, nls: false}}",
        "driver: {licensing: {secretName: licence}}",
        {},
    ),
    "driver.virtualTopologyConfigMap": ("driver: {virtualTopologyConfigMap: topology}", "", {}),
    "driver.upgradePolicy.autoUpgrade": ("driver: {upgradePolicy: {autoUpgrade: false}}", "", {}),
    "driver.upgradePolicy.maxParallelUpgrades": ("driver: {upgradePolicy: {maxParallelUpgrades: 3}}", "", {}),
    "driver.upgradePolicy.maxUnavailable": ("driver: {upgradePolicy: {maxUnavailable: 10%}}", "", {}),
    **{
        f"driver.upgradePolicy.{group}.{key}": (
            f"driver: {{upgradePolicy: {{{group}: {{{key}: {value}}}}}}}",
            "",
            {},
        )
        for group, keys in {
            "waitForCompletion": {"podSelector": "app=x", "timeoutSeconds": "60"},
            "gpuPodDeletion": {"force": "true", "timeoutSeconds": "60", "deleteEmptyDir": "true"},
            "drain": {
                "enable": "true",
                "force": "true",
                "podSelector": "app=x",
                "timeoutSeconds": "60",
                "deleteEmptyDir": "true",
            },
        }.items()
        for key, value in keys.items()
    },
    "driver.nvidiaDriverCRD.enabled": (CRD % "", "", {}),
    "driver.nvidiaDriverCRD.perPool": (CRD % ", perPool: false", CRD % "", {}),
    **{
        f"driver.nvidiaDriverCRD.pools.*.{key}": (
            CRD % f", pools: {{h100: {{{text}}}}}",
            CRD % "",
            {},
        )
        for key, text in {
            "version": "version: 580.173.02",
            "repository": "repository: registry.example.com/nvidia",
            "image": "image: own-driver",
            "kernelModuleType": "kernelModuleType: open",
            "usePrecompiled": 'usePrecompiled: true, version: "580"',
            "driverType": "driverType: vgpu",
        }.items()
    },
    "toolkit.enabled": ("toolkit: {enabled: false}", "", {}),
    "toolkit.env": ('toolkit: {env: {A: "1"}}', "", {}),
    "devicePlugin.enabled": ("devicePlugin: {enabled: false}", "", {}),
    "devicePlugin.env": ('devicePlugin: {env: {A: "1"}}', "", {}),
    "dcgmExporter.enabled": ("dcgmExporter: {enabled: false}", "", {}),
    "dcgmExporter.serviceMonitor": ("dcgmExporter: {serviceMonitor: false}", "", {"others": MONITORED}),
    "dcgmExporter.interval": ("dcgmExporter: {interval: 30s}", "", {"others": MONITORED}),
    "dcgmExporter.additionalLabels": (
        "dcgmExporter: {additionalLabels: {team: gpu}}",
        "",
        {"others": MONITORED},
    ),
    "dcgmExporter.slurmJobMapping": ("dcgmExporter: {slurmJobMapping: {directory: /jobs}}", "", {}),
    "dcgmExporter.metrics": ('dcgmExporter: {metrics: ["A, gauge, a"]}', "", {}),
    "dcgmExporter.podLabels": ("dcgmExporter: {podLabels: true}", "", {}),
    "dcgmExporter.env": ('dcgmExporter: {env: {A: "1"}}', "", {}),
    "dcgm": ("dcgm: true", "", {}),
    "gds": ("gds: true", "", {}),
    "gdrcopy": ("gdrcopy: true", "", {}),
    "cdi.enabled": ("cdi: {enabled: false}", "", {}),
    "cdi.nri": ("cdi: {nri: true}", "", {}),
    "sandboxWorkloads.mode": ("sandboxWorkloads: {mode: kubevirt}", "", {}),
    "sandboxWorkloads.defaultWorkload": (
        "sandboxWorkloads: {mode: kubevirt, defaultWorkload: vm-passthrough}",
        "sandboxWorkloads: {mode: kubevirt}",
        {},
    ),
    "sandboxWorkloads.pools": (
        "sandboxWorkloads: {mode: kubevirt, pools: {a40: vm-passthrough}}",
        "sandboxWorkloads: {mode: kubevirt}",
        {"pools": A40},
    ),
    **{
        f"sandboxWorkloads.vgpuManager.{key}": (
            f"sandboxWorkloads: {{mode: kubevirt, vgpuManager: {{repository: r, version: v1, {text}}}}}",
            "sandboxWorkloads: {mode: kubevirt, vgpuManager: {repository: q, version: v0}}",
            {"pools": A40},
        )
        for key, text in {
            "repository": "",
            "version": "",
            "image": "image: own-manager",
            "imagePullSecrets": "imagePullSecrets: [pull]",
        }.items()
    },
    "gpuCluster.enabled": ("gpuCluster: {enabled: true}", "", {}),
    "gpuCluster.computeDomains": (
        "gpuCluster: {enabled: true, computeDomains: false}",
        "gpuCluster: {enabled: true}",
        {},
    ),
    "gpuCluster.featureGates": (
        "gpuCluster: {enabled: true, featureGates: {DynamicMIG: true}}",
        "gpuCluster: {enabled: true}",
        {},
    ),
    "nodeLabels": ("nodeLabels: node-feature-rule", "", {"pools": A100}),
    "gpuClientsConfigMap": ("gpuClientsConfigMap: clients", "", {}),
    "kubeletRootDir": ("kubeletRootDir: /var/lib/k0s/kubelet", "", {}),
}
ONLY_CHECKED = {"gpuCluster.standaloneCRDs"}
"""Settings that only a rule looks at."""


def paths(schema: Any, at: str = "") -> Iterator[str]:
    """Yield the settings of a schema; maps with names of the user's are written `*`."""
    below = schema.get("additionalProperties")
    if schema.get("properties"):
        for key, item in schema["properties"].items():
            yield from paths(item, f"{at}.{key}" if at else key)
    elif isinstance(below, dict) and below.get("properties"):
        yield from paths(below, f"{at}.*")
    else:
        yield at


def outcome(body: str, *, pools: str = "", others: str = "") -> str:
    """Return all that depends on the component: values, objects, labels, secrets."""
    components = part(body, others=others)
    kubernetes = cluster("kubeadm", "1.35.1")
    planned = app(pools, components=components, body=kubernetes)
    spec = compile_text(spec_text(kubernetes, pools=pools or pool(), components=components)).plan.spec
    return json.dumps(
        [
            chart(planned).values.data,
            [item.object.data for item in planned.manifests],
            [[item.pool, dict(item.labels), dict(item.resources)] for item in spec.resources],
            [item.name for item in planned.secrets],
        ]
    )


def test_every_setting_has_a_use_here() -> None:
    schema = resources().component("gpuOperator").facts.schema
    assert set(paths(schema)) == USES.keys() | ONLY_CHECKED


def test_page_of_the_component_shows_every_setting() -> None:
    folder = Path(gpu_operator.__file__).parent
    page = (folder / "README.md").read_text(encoding="utf-8")
    settings = page[page.index("## Settings") : page.index("## Who wins")]
    keys = {
        part
        for path in paths(resources().component("gpuOperator").facts.schema)
        for part in path.split(".")[:2]
    }
    assert {key for key in keys - {"*"} if key not in settings} == set()


@pytest.mark.parametrize("setting", USES)
def test_setting_changes_what_is_made(setting: str) -> None:
    text, without, around = USES[setting]
    assert outcome(text, **around) != outcome(without, **around)


@pytest.mark.parametrize("version", ["v26.3.3", "v25.10.1"])
@pytest.mark.parametrize("setting", USES)
def test_older_version_takes_a_setting_or_says_that_it_cannot(setting: str, version: str) -> None:
    """Whatever an older chart would leave unread is an error, never silence."""
    text, _, around = USES[setting]
    components = part(f"version: {version}\n{text}", others=around.get("others", ""))
    body = cluster("kubeadm", "1.34.2")
    pools = around.get("pools") or pool()
    found = findings(spec_text(body, pools=pools, components=components))
    errors = {item.code for item in found if item.severity == "error"}
    if errors:
        assert errors == {"feature-needs-newer-version"}
        return
    source = chart(app(pools, components=components, body=body))
    keys = resources().component("gpuOperator").facts.chart_keys(source.chart, version)
    assert list(check_values(source.values.data, keys, ())) == []
