"""The README of a tree, as the person reads it who starts the cluster."""

from __future__ import annotations

import re

import pytest

from gitops_gen.model import Storage
from gitops_gen.readme import create_command, label_commands, tree_readme
from gitops_gen.resources import template
from gitops_gen.secrets import needed
from tests.specs import compile_text, spec_text
from tests.trees import Case, cases, tree

CASES = [pytest.param(case, id=case.name) for case in cases()]
BOTH = "gpuOperator: {enabled: true}\nmonitoring: {enabled: true}"
SLICED = """\
- name: sliced
  nodes: 2
  os: ubuntu-24.04
  {nodes}
  gpu: {{model: h100-sxm-80gb, count: 8, mig: {{profile: 1g.10gb}}}}
"""


def readme(text: str) -> str:
    return tree_readme(compile_text(text).plan, template("tree-readme.md.j2"))


def section(text: str, title: str) -> str:
    """Return the text below a heading, without the blank lines around it; empty if it is not there."""
    found = re.search(rf"^## {title}\n(.*?)(?=^## |\Z)", text, re.MULTILINE | re.DOTALL)
    return found[1].strip("\n") if found else ""


@pytest.mark.parametrize("case", CASES)
def test_markdown_has_no_stray_blank_lines(case: Case) -> None:
    text = tree(case.spec)["README.md"]
    assert "\n\n\n" not in text
    assert not re.search(r"[ \t]+$", text, re.MULTILINE)
    assert text.endswith("\n")
    for before, line in zip(text.split("\n"), text.split("\n")[1:], strict=False):
        if line.startswith("#") and not line.startswith("# "):
            assert before == "", line
        if line.startswith("|"):
            assert before == "" or before.startswith("|"), line


@pytest.mark.parametrize("case", CASES)
def test_rows_of_a_table_have_the_cells_of_its_head(case: Case) -> None:
    lines = tree(case.spec)["README.md"].split("\n")
    for index, line in enumerate(lines):
        if line.startswith("|---"):
            row = index - 1
            while lines[row].startswith("|"):
                assert lines[row].count("|") == line.count("|"), lines[row]
                row += 1


@pytest.mark.parametrize("case", CASES)
def test_every_application_and_stack_is_listed(case: Case) -> None:
    text, files = tree(case.spec)["README.md"], tree(case.spec)
    for name in files:
        if name.endswith("/application.yaml"):
            _, stack, app, _ = name.split("/")
            assert f"### Stack `{stack}`" in text
            assert re.search(rf"^\| -?\d+ \| `[a-z0-9-]+-{app}` \| ", text, re.MULTILINE)


@pytest.mark.parametrize(
    ("nodes", "chosen"),
    [
        ("nodeSelector: {pool: sliced, site: a}", "-l pool=sliced,site=a"),
        ("nodeNames: [node-1, node-2]", "node-1 node-2"),
    ],
)
def test_nodes_are_labelled_by_selector_or_name(nodes: str, chosen: str) -> None:
    spec = compile_text(spec_text(pools=SLICED.format(nodes=nodes))).plan.spec
    assert [item.command for item in label_commands(spec)] == [
        f"kubectl label node {chosen} nvidia.com/mig.config=all-1g.10gb --overwrite"
    ]


def test_labels_belong_to_the_cluster_that_the_workloads_run_on() -> None:
    pools = SLICED.format(nodes="nodeSelector: {pool: sliced}")
    away = readme(spec_text("argocd: {destination: {name: prod-1}}", pools=pools))
    assert section(away, "Node labels to set").startswith(
        "On the cluster that Argo CD knows as `prod-1`:\n\n"
    )
    assert "share the ConfigMap `argocd-cm`" in section(away, "Start")
    for body in ("", "argocd: {destination: {name: in-cluster}}"):
        here = readme(spec_text(body, pools=pools))
        assert section(here, "Node labels to set").startswith("Pool `sliced`:\n\n")
        assert "share the ConfigMap" not in here


def test_secrets_come_with_commands_that_make_them() -> None:
    found = section(readme(spec_text("registry: {pullSecrets: [pull]}")), "Secrets that must exist")
    assert "| `gpu-operator` | `pull` | `.dockerconfigjson` | pulling images of the GPU Operator |" in found
    assert (
        "kubectl -n gpu-operator create secret generic pull --type=kubernetes.io/dockerconfigjson "
        "--from-file=.dockerconfigjson"
    ) in found.split("\n")


def test_config_maps_whose_keys_are_free_come_from_a_folder() -> None:
    app = compile_text(spec_text("proxy: {https: 'http://proxy:3128', caConfigMap: company-ca}")).plan
    (request,) = needed(app.applications)
    assert (
        create_command(request, Storage())
        == "kubectl -n gpu-operator create configmap company-ca --from-file=company-ca/"
    )


def test_external_secrets_are_listed_with_their_entries_in_the_store() -> None:
    body = "registry: {pullSecrets: [pull]}\nsecrets: {store: external-secrets, storeRef: {name: vault}}"
    text = readme(spec_text(body))
    found = section(text, "Secrets that must exist")
    assert "as ExternalSecrets from ClusterSecretStore `vault`" in found
    assert "| `gpu-operator` | `pull` | `.dockerconfigjson` | `test/gpu-operator/pull` | pulling" in found
    assert "create secret" not in found
    assert "make the Secrets" not in section(text, "Start")


def test_sealed_secrets_are_the_users_own() -> None:
    body = "registry: {pullSecrets: [pull]}\nsecrets: {store: sealed-secrets}"
    found = section(readme(spec_text(body)), "Secrets that must exist")
    assert found.startswith("Only you can seal a value")
    assert "create secret" not in found


@pytest.mark.parametrize(
    ("body", "said"),
    [
        (
            "",
            "they wait for an approval before they prune it or are deleted themselves: `test-gpu-operator`, "
            "`test-kube-prometheus-stack`, `test-namespaces`.",
        ),
        (
            'argocd: {version: "3.3"}',
            "(`argocd app sync <name> --prune` does): `test-gpu-operator`, `test-kube-prometheus-stack`.",
        ),
    ],
)
def test_what_waits_for_an_approval_is_named(body: str, said: str) -> None:
    found = section(readme(spec_text(body, components=BOTH)), "Take out")
    assert said in found
    assert "argocd app confirm-deletion test-" in found


def test_warnings_and_what_was_accepted_are_listed() -> None:
    kube = 'kubernetes: {version: "1.37", distribution: kubeadm}'
    warned = section(readme(spec_text(kube)), "Warnings")
    assert re.match(r"- `kubernetes-untested`: gpuOperator v\S+ is supported up to Kubernetes", warned)
    accept = "accept: [{code: kubernetes-untested, path: spec.kubernetes.version, reason: tried it}]"
    text = readme(spec_text(f"{kube}\n{accept}"))
    assert section(text, "Warnings") == ""
    assert section(text, "Accepted") == "- `kubernetes-untested` at `spec.kubernetes.version`: tried it"


def test_tree_without_components_says_so() -> None:
    assert section(readme(spec_text(components="{}")), "What runs") == "Nothing yet: no component is on."
