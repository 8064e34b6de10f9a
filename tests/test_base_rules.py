"""Rules about the spec itself, as messages of a compiled spec and as silence where all is well."""

from __future__ import annotations

from pathlib import Path

import pytest

from gitops_gen.diagnostics import Diagnostic, Severity
from gitops_gen.resources import resources
from gitops_gen.spec.build import build_spec
from gitops_gen.spec.load import load_cluster
from gitops_gen.spec.rules import base_rules
from tests import specs
from tests.catalogue import rows
from tests.specs import POOL, findings

ROOT = Path(__file__).parents[1]
EXAMPLES = ROOT.parent / "shared" / "examples"
LABEL = "node.example.com/pool"


def _pool(name: str, body: str, selector: str | None = None) -> str:
    head = f"- name: {name}\n  nodes: 4\n  nodeSelector: {{{LABEL}: {selector or name}}}\n"
    return head + "".join(f"  {line}\n" for line in body.splitlines())


def spec_text(body: str = "", *, pools: str = POOL, components: str = "gpuOperator: {enabled: true}") -> str:
    return specs.spec_text(body and f"{body}\n", pools=pools, components=components)


def _own(text: str) -> list[Diagnostic]:
    """Return the findings of the base rules alone, with their places."""
    loaded = load_cluster("cluster.yaml", lambda _: text.encode())
    assert isinstance(loaded.data, dict)
    known = resources()
    spec = build_spec(loaded.data, known.schema, known.components, "cluster.yaml").spec
    return list(loaded.source_map.locate(tuple(base_rules(spec, known.catalog))))


def _said(text: str) -> list[tuple[str, str, str]]:
    return [(item.code, item.message, item.hint) for item in _own(text)]


def _quiet(text: str) -> None:
    assert _said(text) == []


def _gpu(model: str, more: str = "") -> str:
    return spec_text(pools=_pool("gpu", f"gpu: {{model: {model}, count: 8{more}}}"))


@pytest.mark.parametrize(
    "cluster", sorted((ROOT / "clusters").glob("*/cluster.yaml")), ids=lambda f: f.parent.name
)
def test_committed_clusters_are_quiet(cluster: Path) -> None:
    name = cluster.relative_to(ROOT).as_posix()
    loaded = load_cluster(name, lambda file: (ROOT / file).read_bytes())
    assert isinstance(loaded.data, dict)
    known = resources()
    spec = build_spec(loaded.data, known.schema, known.components, name).spec
    assert list(base_rules(spec, known.catalog)) == []


@pytest.mark.skipif(not EXAMPLES.is_dir(), reason="the examples beside the checkout are not there")
@pytest.mark.parametrize(
    "name", ["gpu-only", "k3s-lab", "a100-mig", "slurm-only", "dgx-full", "eks-kubeflow", "gke-addon"]
)
def test_examples_are_quiet(name: str) -> None:
    """Parts of components that are not here yet are left out: the rules look at the rest."""
    loaded = load_cluster(f"{name}.yaml", lambda file: (EXAMPLES / file).read_bytes())
    known = resources()
    data = loaded.data
    assert isinstance(data, dict)
    assert isinstance(data["spec"], dict)
    here = {item.name for item in known.components}
    parts = data["spec"]["components"]
    assert isinstance(parts, dict)
    left = {key: part for key, part in parts.items() if key in here}
    spec = build_spec(
        {**data, "spec": {**data["spec"], "components": left}}, known.schema, known.components, name
    ).spec
    assert list(base_rules(spec, known.catalog)) == []


def test_all_faults_come_in_one_run_in_the_order_of_their_lines() -> None:
    text = spec_text(
        "argocd: {version: 2.14.0}",
        pools=_pool("a", "gpu: {model: h10O, count: 8}") + _pool("b", "gpu: {model: l4, count: 17}"),
    )
    found = findings(text)
    assert [item.code for item in found if item.severity is Severity.ERROR] == [
        "unsupported-argocd-version",
        "unknown-gpu-model",
        "too-many-gpus",
    ]


@pytest.mark.parametrize(
    ("written", "hint"),
    [
        ("h10O", 'did you mean "h100-sxm-80gb"?'),
        ("h100-sxm-80", 'did you mean "h100-sxm-80gb"?'),
        ("H100-SXM-80GB", 'did you mean "h100-sxm-80gb"?'),
        ("A100_SXM_40GB", 'did you mean "a100-sxm-40gb"?'),
        ("NVIDIA-L40S", 'did you mean "l40s"?'),
        ("Tesla-T4", 'did you mean "t4"?'),
        ("gh200", 'did you mean "gh200-96gb" or "gh200-144gb"?'),
        (
            "a100",
            'did you mean "a100-sxm-40gb", "a100-pcie-40gb", "a100-sxm-80gb" or "a100-pcie-80gb"?',
        ),
        ("geforce", "`gitops-gen catalog` lists the accelerators"),
    ],
)
def test_unknown_model_is_answered_with_the_nearest(written: str, hint: str) -> None:
    assert _said(_gpu(written)) == [("unknown-gpu-model", f'"{written}" is not a known accelerator', hint)]


@pytest.mark.parametrize(
    ("earlier", "later", "code"),
    [
        ("{a: x}", "{a: x}", "pools-overlap"),
        ("{a: x}", "{a: x, b: v}", "pools-overlap"),
        ("{a: x, b: v}", "{b: v}", "pools-overlap"),
        ("{a: x}", "{a: w}", None),
        ("{a: x}", "{b: v}", None),
        ("{a: x, b: v}", "{a: x, b: w}", None),
    ],
)
def test_pools_overlap_when_one_selector_holds_for_all_nodes_of_the_other(
    earlier: str, later: str, code: str | None
) -> None:
    selectors = {"one": earlier, "two": later}
    pools = "".join(f"- {{name: {name}, nodes: 1, nodeSelector: {it}}}\n" for name, it in selectors.items())
    found = _own(spec_text(pools=pools))
    assert [item.code for item in found] == ([code] if code else [])
    assert all(item.path == ("spec", "nodePools", 1, "nodeSelector") for item in found)


def test_pools_that_both_name_their_nodes_may_have_one_selector() -> None:
    pools = "".join(_pool(name, f"nodeNames: [{name}-1]", "gpu") for name in ("one", "two"))
    _quiet(spec_text(pools=pools))


def test_a_single_pool_needs_no_selector() -> None:
    _quiet(spec_text(pools="- {name: only, nodes: 3}\n"))


@pytest.mark.parametrize(
    ("layout", "said"),
    [
        (
            "{devices: all, profiles: {1g.10gb: 3, 2g.20gb: 1, 3g.40gb: 1}}",
            "3×1g.10gb + 1×2g.20gb + 1×3g.40gb needs 8 of 7 compute slices and 9 of 8 memory slices",
        ),
        ("{devices: [8], profiles: {7g.80gb: 1}}", "there is no GPU 8: a node has 8, 0 to 7"),
    ],
)
def test_layout_of_an_a100_is_checked(layout: str, said: str) -> None:
    assert [item.message for item in _own(_gpu("a100-sxm-80gb", f", mig: {{layout: [{layout}]}}"))] == [said]


def test_b200_names_the_profiles_that_it_has() -> None:
    text = _gpu("b200", ", mig: {layout: [{devices: all, profiles: {2g.40gb: 3}}]}")
    (found,) = _own(text)
    assert found.message == (
        "B200 has no profile 2g.40gb; it has "
        "1g.23gb, 1g.23gb+me, 1g.45gb, 2g.45gb, 3g.90gb, 4g.90gb, 7g.180gb"
    )
    assert found.position is not None
    assert text.splitlines()[found.position.line - 1][found.position.column - 1 :].startswith("2g.40gb: 3")


@pytest.mark.parametrize("profile", ["1g.10gb", "1g.10gb+me", "7g.80gb"])
def test_profile_of_the_model_is_quiet(profile: str) -> None:
    _quiet(_gpu("a100-sxm-80gb", f", mig: {{profile: {profile}}}"))


@pytest.mark.parametrize(
    ("model", "sharing", "codes"),
    [
        ("l4", "{mps: {replicas: 48}}", []),
        ("l4", "{mps: {replicas: 49}}", ["mps-replicas"]),
        ("v100-sxm-32gb", "{mps: {replicas: 16}}", []),
        ("v100-sxm-32gb", "{mps: {replicas: 17}}", ["mps-replicas"]),
        ("l4", "{timeSlicing: {replicas: 100}}", []),
        ("mi300x", "{timeSlicing: {replicas: 2}}", ["sharing-unsupported"]),
    ],
)
def test_limits_of_sharing_are_those_of_the_model(model: str, sharing: str, codes: list[str]) -> None:
    assert [item.code for item in _own(_gpu(model, f", sharing: {sharing}"))] == codes


def test_instances_can_be_sliced_in_time_but_not_by_mps() -> None:
    mig = ", mig: {profile: 1g.10gb}, sharing: "
    _quiet(_gpu("a100-sxm-80gb", mig + "{timeSlicing: {replicas: 2}}"))
    assert [item.code for item in _own(_gpu("a100-sxm-80gb", mig + "{mps: {replicas: 2}}"))] == [
        "mps-with-mig"
    ]


@pytest.mark.parametrize(
    ("model", "architecture", "codes"),
    [
        ("gb200", "amd64", ["architecture-mismatch"]),
        ("gb200", "arm64", []),
        ("l4", "arm64", []),
        ("l4", "amd64", []),
    ],
)
def test_superchips_are_arm64_and_cards_go_into_either(
    model: str, architecture: str, codes: list[str]
) -> None:
    pools = _pool("gpu", f"architecture: {architecture}\ngpu: {{model: {model}, count: 4}}")
    assert [item.code for item in _own(spec_text(pools=pools))] == codes


@pytest.mark.parametrize(
    ("machine", "messages"),
    [
        ("{sockets: 1, coresPerSocket: 8, threadsPerCore: 2, memory: 64Gi, reserved: {cores: 7}}", []),
        (
            "{sockets: 1, coresPerSocket: 8, threadsPerCore: 2, memory: 64Gi, reserved: {cores: 8}}",
            ["8 of 8 cores (1 × 8) are reserved; nothing is left"],
        ),
        (
            "{sockets: 1, coresPerSocket: 8, memory: 64Gi, reserved: {memory: 65536Mi}}",
            ["65536Mi of 64Gi memory is reserved; nothing is left"],
        ),
        (
            '{sockets: 1, coresPerSocket: 8, memory: "64"}',
            ['memory "64" is less than 1Gi for a whole node'],
        ),
    ],
)
def test_reserve_leaves_something(machine: str, messages: list[str]) -> None:
    found = _own(spec_text(pools=_pool("cpu", f"machine: {machine}")))
    assert [item.message for item in found] == messages


@pytest.mark.parametrize(
    ("distribution", "system", "codes"),
    [
        ("gke", "cos", []),
        ("gke", "ubuntu-24.04", []),
        ("gke", "rhel-9", ["os-distribution-mismatch"]),
        ("kubeadm", "cos", ["os-distribution-mismatch"]),
        ("eks", "bottlerocket", []),
        ("kubeadm", "bottlerocket", ["os-distribution-mismatch"]),
        ("openshift", "rhcos", []),
        ("rke2", "rhcos", ["os-distribution-mismatch"]),
        ("openshift", "ubuntu-24.04", ["os-distribution-mismatch"]),
        ("talos", "talos", []),
        ("talos", "ubuntu-24.04", ["os-distribution-mismatch"]),
        ("k3s", "talos", ["os-distribution-mismatch"]),
        ("rke2", "dgx-os-7", []),
        ("eks", "dgx-os-7", ["os-distribution-mismatch"]),
        ("aks", "azurelinux-3", []),
        ("oke", "oracle-linux-9", []),
        ("kubeadm", "oracle-linux-9", []),
        ("k3s", "debian-12", []),
    ],
)
def test_systems_stand_where_they_belong(distribution: str, system: str, codes: list[str]) -> None:
    text = spec_text(
        f'kubernetes: {{version: "1.35", distribution: {distribution}}}', pools=_pool("cpu", f"os: {system}")
    )
    assert [item.code for item in _own(text)] == codes


def test_systems_of_the_facts_are_those_of_the_schema() -> None:
    pools = resources().base_schema["properties"]["spec"]["properties"]
    allowed = set(pools["nodePools"]["items"]["properties"]["os"]["enum"])
    named = set(pools["kubernetes"]["properties"]["distribution"]["enum"])
    facts = rows("distributions")
    assert set(facts["operatingSystems"]) <= allowed
    assert {name for row in facts["operatingSystems"].values() for name in row["only"]} <= named
    assert {name for row in facts["distributions"].values() for name in row["os"]} <= allowed


TAINT = "taints: [{key: slurm, value: only, effect: %s}]"


@pytest.mark.parametrize(
    ("effect", "codes"),
    [
        ("NoSchedule", ["all-pools-tainted"]),
        ("NoExecute", ["all-pools-tainted"]),
        ("PreferNoSchedule", ["slurm-pool-untainted"]),
    ],
)
def test_only_a_taint_that_repels_counts(effect: str, codes: list[str]) -> None:
    found = _own(spec_text(pools=_pool("cpu", f"use: slurm\n{TAINT % effect}")))
    assert [(item.code, item.severity) for item in found] == [(code, Severity.WARNING) for code in codes]


def test_one_pool_without_taints_is_enough() -> None:
    _quiet(spec_text(pools=POOL + _pool("slurm", f"use: slurm\n{TAINT % 'NoSchedule'}")))


def test_all_pools_may_be_tainted_where_nothing_is_installed() -> None:
    _quiet(spec_text(pools=_pool("cpu", TAINT % "NoSchedule"), components="{}"))


@pytest.mark.parametrize(
    ("url", "codes"),
    [
        ("https://git.example.com/platform/clusters.git", []),
        ("ssh://git@git.example.com:2222/platform/clusters.git", []),
        ("git@git.example.com:platform/clusters.git", []),
        ("ssh://git:hunter2@git.example.com/platform/clusters.git", ["credentials-in-url"]),
        ("https://oauth2:hunter2@git.example.com/platform/clusters.git", ["credentials-in-url"]),
        ("https://hunter2@git.example.com/platform/clusters.git", ["credentials-in-url"]),
        ("https://git.example.com/clusters.git?private_token=hunter2", ["credentials-in-url"]),
        ("https://oauth2:hun/ter2@git.example.com/clusters.git", ["credentials-in-url"]),
        ("https://git.example.com:8443/clusters.git?ref=a", []),
        ("ssh://git@git.example.com:2222/clusters.git", []),
        ("http://git.example.com/platform/clusters.git", ["repository-over-http"]),
    ],
)
def test_address_of_the_repository_holds_no_secret(url: str, codes: list[str]) -> None:
    found = _own(spec_text(f'gitops: {{repoURL: "{url}"}}'))
    assert [item.code for item in found] == codes
    assert "hunter2" not in str(found)


def test_no_message_shows_a_password() -> None:
    for scheme in ("https", "ssh"):
        url = f"{scheme}://git:hunter2@git.example.com/platform/clusters.git"
        found = findings(spec_text(f'gitops: {{repoURL: "{url}"}}'))
        assert found
        assert not any("hunter2" in item.message + item.hint for item in found)


@pytest.mark.parametrize(
    ("revision", "message", "hint"),
    [
        (
            "HEAD",
            '"HEAD" is whatever branch the repository has out; Argo CD is told to follow a branch',
            "name the branch, such as main",
        ),
        (
            "refs/heads/main",
            '"refs/heads/main" is a full reference; Argo CD is told to follow a branch',
            "write the branch alone: main",
        ),
        (
            "0123456789abcdef0123456789abcdef01234567",
            '"0123456789abcdef0123456789abcdef01234567" is a commit, which never changes; '
            "Argo CD is told to follow a branch",
            "name the branch to follow",
        ),
        (
            "release..next",
            '"release..next" cannot be the name of a branch; Argo CD is told to follow a branch',
            "name the branch, such as main",
        ),
    ],
)
def test_revision_is_a_branch(revision: str, message: str, hint: str) -> None:
    url = "https://git.example.com/platform/clusters.git"
    text = spec_text(f'gitops: {{repoURL: "{url}", revision: "{revision}"}}')
    assert _said(text) == [("revision-not-a-branch", message, hint)]


@pytest.mark.parametrize("revision", ["main", "release/1.2", "feature_x", "v1"])
def test_branch_is_quiet(revision: str) -> None:
    url = "https://git.example.com/platform/clusters.git"
    _quiet(spec_text(f'gitops: {{repoURL: "{url}", revision: "{revision}"}}'))


@pytest.mark.parametrize(
    ("version", "codes"),
    [
        ("3.3", []),
        ("3.4.7", []),
        ("v3.5.1", []),
        ("3.2", ["unsupported-argocd-version"]),
        ("3.6", ["unsupported-argocd-version"]),
    ],
)
def test_supported_lines_of_argocd(version: str, codes: list[str]) -> None:
    assert [item.code for item in _own(spec_text(f'argocd: {{version: "{version}"}}'))] == codes


def test_newer_argocd_is_told_what_to_write() -> None:
    (found,) = _own(spec_text('argocd: {version: "3.6"}'))
    assert found.message == 'Argo CD "3.6" is not supported; 3.3, 3.4 and 3.5 are'
    assert found.hint == "write 3.5: a newer Argo CD reads what it reads"


@pytest.mark.parametrize(
    ("template", "message"),
    [
        ("{cluster}/{namespace}/{name}", None),
        ("kv/{name}", None),
        ("kv/{cluster}", 'keyTemplate "kv/{cluster}" lacks {name}: all Secrets would have one key'),
        (
            "{cluster}/{secret}",
            'keyTemplate "{cluster}/{secret}" holds "secret"; '
            "what is filled in is {cluster}, {namespace} and {name}",
        ),
        ("{name", 'keyTemplate "{name" holds "{"; what is filled in is {cluster}, {namespace} and {name}'),
    ],
)
def test_key_template_is_filled_in_wholly(template: str, message: str | None) -> None:
    secrets = f'secrets: {{store: external-secrets, storeRef: {{name: vault}}, keyTemplate: "{template}"}}'
    assert [item.message for item in _own(spec_text(secrets))] == ([message] if message else [])


@pytest.mark.parametrize(("version", "codes"), [("1.35", []), ("2.0", ["bad-kubernetes-version"])])
def test_kubernetes_is_at_version_one(version: str, codes: list[str]) -> None:
    text = spec_text(f'kubernetes: {{version: "{version}", distribution: kubeadm}}')
    assert [item.code for item in _own(text)] == codes


@pytest.mark.parametrize(
    ("written", "meant"),
    [
        ("1G.10GB", 'did you mean "1g.10gb"?'),
        ("mig-1g.10gb", 'did you mean "1g.10gb"?'),
        ("all-1g.10gb.me", 'did you mean "1g.10gb+me"?'),
        ("all-balanced", "all-balanced is a layout of several profiles: write it as `layout`"),
    ],
)
def test_other_names_of_a_mig_profile_are_understood(written: str, meant: str) -> None:
    pool = (
        "- {name: a, nodes: 1, os: ubuntu-24.04, nodeSelector: {a: b}, "
        f"gpu: {{model: a100-sxm-80gb, count: 8, mig: {{profile: {written}}}}}}}\n"
    )
    text = spec_text(pools=pool, components="gpuOperator: {enabled: true, mig: {strategy: mixed}}")
    assert [(item.code, item.hint) for item in findings(text)] == [("mig-profile-unknown", meant)]


@pytest.mark.parametrize(
    ("kubernetes", "hint"),
    [
        ("1.30", "choose gpuOperator v25.10.1, or upgrade the cluster first"),
        ("1.20", "upgrade the cluster first"),
    ],
)
def test_the_version_that_fits_an_old_cluster_is_named(kubernetes: str, hint: str) -> None:
    text = spec_text(f'kubernetes: {{version: "{kubernetes}", distribution: kubeadm}}')
    assert [item.hint for item in findings(text) if item.code == "kubernetes-too-old"] == [hint]


def test_version_without_its_v_is_understood() -> None:
    (found,) = findings(spec_text(components="gpuOperator: {enabled: true, version: 26.7.0}"))
    assert found.hint.startswith('did you mean "v26.7.0"? ')
