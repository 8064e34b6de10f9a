"""What must exist before the apps run: listed once, made by commands for a real shell or by a store."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import kubernetes_validate  # type: ignore[import-untyped]
import pytest
import yaml
from msgspec.structs import replace

from gitops_gen.cli.plan import plan_data
from gitops_gen.model import Application, CommandBlock, Plan, SecretRequest, Storage
from gitops_gen.readme import create_command, tree_readme
from gitops_gen.resources import template
from gitops_gen.secrets import Needed, external_secrets, needed
from tests.specs import compile_text, spec_text
from tests.test_readme import section
from tests.trees import Case, cases, tree

CLAIMS = "PersistentVolumeClaims that must exist"
STORE = "secrets: {store: external-secrets, storeRef: {name: vault}}"
SEALED = "secrets: {store: sealed-secrets}"
KEY = SecretRequest(
    namespace="slurm", name="slurm-key", keys=("slurm.key",), purpose="Slurm's own key", random_bytes=1024
)
TOKEN = SecretRequest(
    namespace="slurm", name="slurm-key", keys=("jwt.key",), purpose="tokens of the REST API", random_bytes=32
)
PASSWORD = SecretRequest(namespace="slurm", name="slurm-key", keys=("password",), purpose="the database")
CONFIG = SecretRequest(
    namespace="slurm", name="slurm-key", keys=("a",), purpose="configuration", kind="ConfigMap"
)
HOME = SecretRequest(
    namespace="slurm",
    name="home",
    purpose="the volume home at /home",
    kind="PersistentVolumeClaim",
    access_mode="ReadWriteMany",
    size="1Ti",
)

# Reads what the commands hand over, as kubectl does: every key of a Secret, or a manifest.
KUBECTL = """\
import json, sys
from pathlib import Path

if sys.argv[-2:] == ["-f", "-"]:
    print(json.dumps(sys.stdin.read()))
else:
    made = {}
    for word in sys.argv[1:]:
        if word.startswith("--from-file="):
            key, _, path = word.removeprefix("--from-file=").rpartition("=")
            made[key or Path(path).name] = Path(path).read_bytes().hex()
    print(json.dumps(made))
"""


def app(*requests: SecretRequest, name: str = "slurm", stack: str = "slurm", wave: int = 0) -> Application:
    return Application(
        name=name,
        component="slurm",
        stack=stack,
        namespace="slurm",
        wave=wave,
        sources=(),
        secrets=requests,
    )


def plan_of(*apps: Application, body: str = "") -> Plan:
    return replace(compile_text(spec_text(body, components="{}")).plan, applications=apps)


def readme(*requests: SecretRequest, body: str = "") -> str:
    return tree_readme(plan_of(app(*requests), body=body), template("tree-readme.md.j2"))


def secrets(*requests: SecretRequest, body: str = "") -> str:
    return section(readme(*requests, body=body), "Secrets that must exist")


def claims(request: SecretRequest, body: str = "") -> str:
    return section(readme(request, body=body), CLAIMS)


def only(*requests: SecretRequest) -> Needed:
    """Return the one object that these requests, each of an app of its own, are for."""
    (found,) = needed([app(item, name=f"app-{index}") for index, item in enumerate(requests)])
    return found


def bash() -> str:
    found = shutil.which("bash")
    if found is None:
        pytest.skip("no bash here")
    return found


def run_in(folder: Path, command: str) -> Any:
    """Run a command in a real bash with a kubectl that says what it was given."""
    tools = folder.with_name("tools")
    tools.mkdir()
    script = tools / "kubectl"
    script.write_text(f"#!{sys.executable}\n{KUBECTL}", encoding="utf-8")
    script.chmod(0o755)
    folder.mkdir(exist_ok=True)
    done = subprocess.run(
        [bash(), "-euo", "pipefail", "-c", command],
        cwd=folder,
        env={"PATH": f"{tools}{os.pathsep}{os.environ['PATH']}"},
        capture_output=True,
        text=True,
        check=True,
        timeout=30,
    )
    return json.loads(done.stdout)


# --- one list ----------------------------------------------------------------------------------


def test_one_secret_that_several_apps_ask_for_is_needed_once_with_all_keys() -> None:
    assert only(KEY, PASSWORD, TOKEN, KEY) == Needed(
        namespace="slurm",
        name="slurm-key",
        kind="Secret",
        type="Opaque",
        keys=("slurm.key", "password", "jwt.key"),
        random={"slurm.key": 1024, "jwt.key": 32},
        any_key=False,
        purposes=("Slurm's own key", "the database", "tokens of the REST API"),
    )


def test_a_key_is_random_if_one_of_its_users_says_so() -> None:
    reader = replace(KEY, random_bytes=0, purpose="a reader")
    assert only(reader, KEY).random == only(KEY, reader).random == {"slurm.key": 1024}


def test_a_secret_keeps_the_type_that_one_app_needs() -> None:
    typed = replace(PASSWORD, keys=(".dockerconfigjson",), type="kubernetes.io/dockerconfigjson")
    assert only(KEY, typed).type == only(typed, KEY).type == "kubernetes.io/dockerconfigjson"


def test_keys_of_the_users_own_stay_beside_named_ones() -> None:
    found = only(PASSWORD, replace(PASSWORD, keys=(), purpose="the environment"))
    assert (found.keys, found.any_key) == (("password",), True)
    assert create_command(found, Storage()).endswith(" --from-file=password --from-file=slurm-key/")


def test_objects_of_one_name_are_told_apart_by_namespace_and_kind() -> None:
    found = needed([app(HOME, replace(KEY, namespace="a"), CONFIG, KEY)])
    assert [(item.kind, item.namespace, item.name) for item in found] == [
        ("Secret", "a", "slurm-key"),
        ("Secret", "slurm", "slurm-key"),
        ("ConfigMap", "slurm", "slurm-key"),
        ("PersistentVolumeClaim", "slurm", "home"),
    ]


@pytest.mark.parametrize(
    ("modes", "wanted"),
    [
        (("ReadOnlyMany", "ReadOnlyMany"), "ReadOnlyMany"),
        (("ReadOnlyMany", "ReadWriteOnce"), "ReadWriteMany"),
        (("", "ReadWriteOnce"), "ReadWriteOnce"),
        (("", ""), ""),
    ],
)
def test_a_shared_claim_has_a_mode_that_serves_all(modes: tuple[str, ...], wanted: str) -> None:
    assert only(*(replace(HOME, access_mode=mode) for mode in modes)).access_mode == wanted


def test_a_shared_claim_has_the_largest_size() -> None:
    assert only(*(replace(HOME, size=size) for size in ("900Gi", "1Ti", "", "1000G"))).size == "1Ti"


def test_a_claim_has_no_keys_of_the_users_own() -> None:
    assert only(HOME).any_key is False


# --- commands ----------------------------------------------------------------------------------


def test_random_keys_reach_kubectl_and_no_file(tmp_path: Path) -> None:
    work = tmp_path / "work"
    work.mkdir()
    (work / "password").write_bytes(b"hunter2")
    command = create_command(only(KEY, TOKEN, PASSWORD), Storage())
    assert command == (
        "kubectl -n slurm create secret generic slurm-key "
        "--from-file=slurm.key=<(head -c 1024 /dev/urandom) "
        "--from-file=jwt.key=<(head -c 32 /dev/urandom) --from-file=password"
    )
    made = {key: bytes.fromhex(value) for key, value in run_in(work, command).items()}
    assert {key: len(value) for key, value in made.items()} == {
        "slurm.key": 1024,
        "jwt.key": 32,
        "password": 7,
    }
    assert len(set(made["slurm.key"])) > 100
    assert [item.name for item in work.iterdir()] == ["password"]


@pytest.mark.parametrize(
    ("mode", "storage", "wanted"),
    [
        ("ReadWriteMany", Storage(default_class="fast", shared_class="nfs"), "nfs"),
        ("ReadOnlyMany", Storage(default_class="fast", shared_class="nfs"), "nfs"),
        ("ReadWriteOnce", Storage(default_class="fast", shared_class="nfs"), "fast"),
        ("ReadWriteMany", Storage(default_class="fast"), None),
        ("ReadWriteOnce", Storage(), None),
    ],
)
def test_manifest_of_a_claim_is_one_that_kubernetes_takes(
    tmp_path: Path, mode: str, storage: Storage, wanted: str | None
) -> None:
    text = run_in(tmp_path / "work", create_command(only(replace(HOME, access_mode=mode)), storage))
    manifest = yaml.safe_load(text)
    assert manifest == {
        "apiVersion": "v1",
        "kind": "PersistentVolumeClaim",
        "metadata": {"name": "home", "namespace": "slurm"},
        "spec": {
            "accessModes": [mode],
            **({"storageClassName": wanted} if wanted else {}),
            "resources": {"requests": {"storage": "1Ti"}},
        },
    }
    kubernetes_validate.validate(manifest, "1.35", strict=True)


def test_claims_are_listed_with_what_they_need_and_how_to_make_them() -> None:
    assert claims(HOME, "storage: {sharedClass: nfs}").split("\n") == [
        "| namespace | PersistentVolumeClaim | at least | for |",
        "|---|---|---|---|",
        "| `slurm` | `home` | ReadWriteMany, 1Ti | the volume home at /home |",
        "",
        "You make them, as what is on them outlives this tree. For example:",
        "",
        "```sh",
        "kubectl create -f - <<'EOF'",
        "apiVersion: v1",
        "kind: PersistentVolumeClaim",
        "metadata:",
        "  name: home",
        "  namespace: slurm",
        "spec:",
        "  accessModes:",
        "    - ReadWriteMany",
        "  storageClassName: nfs",
        "  resources:",
        "    requests:",
        "      storage: 1Ti",
        "EOF",
        "```",
    ]


def test_a_size_that_nobody_knows_is_left_to_the_reader() -> None:
    found = claims(replace(HOME, size=""))
    assert "| `slurm` | `home` | ReadWriteMany | the volume home at /home |" in found
    assert "For example, with a size in place of `<size>`:" in found
    assert '      storage: "<size>"\n' in found


def test_a_claim_that_is_only_read_must_be_filled() -> None:
    assert "What is only read must be filled by somebody" in claims(replace(HOME, access_mode="ReadOnlyMany"))
    assert "filled by somebody" not in claims(HOME)


def test_a_claim_without_needs_is_the_readers_choice() -> None:
    found = claims(replace(HOME, access_mode="", size=""))
    assert "| `slurm` | `home` | your choice | the volume home at /home |" in found
    assert "  accessModes:\n    - ReadWriteOnce\n" in found


def test_what_nobody_asks_for_has_no_section() -> None:
    assert "that must exist" not in readme()
    assert [line for line in readme(HOME).splitlines() if line.endswith("must exist")] == [f"## {CLAIMS}"]


def test_keys_of_the_users_own_are_listed_behind_named_ones() -> None:
    found = secrets(PASSWORD, replace(PASSWORD, keys=(), purpose="the environment"))
    assert "| `slurm` | `slurm-key` | `password`, your own | the database; the environment |" in found


def test_random_keys_are_told_with_their_size_and_made_once() -> None:
    assert secrets(KEY, PASSWORD).split("\n") == [
        "| namespace | Secret | keys | for |",
        "|---|---|---|---|",
        "| `slurm` | `slurm-key` | `slurm.key` (1024 random bytes), `password` | "
        "Slurm's own key; the database |",
        "",
        "For example, each key from a file of its name, random keys from the system (in bash or zsh):",
        "",
        "```bash",
        "kubectl -n slurm create secret generic slurm-key --from-file=slurm.key=<(head -c 1024 /dev/urandom) "
        "--from-file=password",
        "```",
        "",
        "Random keys are made once: `create` never replaces what is there.",
    ]


def test_nothing_is_said_of_randomness_where_no_key_is_random() -> None:
    found = secrets(PASSWORD)
    assert "andom" not in found
    assert "```sh\n" in found


@pytest.mark.parametrize(
    ("requests", "body", "said"),
    [
        ((KEY,), "", "make the Secrets below"),
        ((KEY, HOME), "", "make the Secrets and PersistentVolumeClaims below"),
        ((HOME, CONFIG, KEY), "", "make the Secrets, ConfigMaps and PersistentVolumeClaims below"),
        ((KEY, HOME), STORE, "make the PersistentVolumeClaims below"),
        ((HOME,), SEALED, "make the PersistentVolumeClaims below"),
    ],
)
def test_start_names_what_is_made_by_hand(requests: tuple[SecretRequest, ...], body: str, said: str) -> None:
    assert said in section(readme(*requests, body=body), "Start")


def test_start_has_nothing_to_make_where_the_store_makes_it_all() -> None:
    assert "below as soon as" not in readme(KEY, body=STORE)


def test_claims_are_made_on_the_cluster_that_the_workloads_run_on() -> None:
    found = claims(HOME, "argocd: {destination: {name: prod-1}}")
    assert found.startswith("On the cluster that Argo CD knows as `prod-1`:\n\n|")


# --- stores ------------------------------------------------------------------------------------


def made_secrets(*apps: Application, body: str = STORE) -> Mapping[str, list[Any]]:
    """Return the ExternalSecrets that each app makes."""
    return {
        item.name: [manifest.object.data for manifest in item.manifests]
        for item in external_secrets(apps, plan_of(body=body).spec)
        if item.manifests
    }


def test_store_makes_one_secret_of_all_keys() -> None:
    ((name, (made,)),) = made_secrets(app(KEY, PASSWORD)).items()
    assert (name, made["kind"], made["metadata"]["name"]) == ("slurm", "ExternalSecret", "slurm-key")
    assert made["spec"] == {
        "secretStoreRef": {"kind": "ClusterSecretStore", "name": "vault"},
        "target": {"name": "slurm-key", "creationPolicy": "Owner"},
        "data": [
            {"secretKey": key, "remoteRef": {"key": "test/slurm/slurm-key", "property": key}}
            for key in ("slurm.key", "password")
        ],
    }


def test_store_takes_every_property_where_keys_are_the_users_own() -> None:
    ((_, (made,)),) = made_secrets(app(PASSWORD, replace(PASSWORD, keys=()))).items()
    assert made["spec"]["dataFrom"] == [{"extract": {"key": "test/slurm/slurm-key"}}]
    assert "data" not in made["spec"]


@pytest.mark.parametrize(
    ("first", "second", "owner"),
    [
        ({"wave": -10}, {"wave": 0}, "a"),
        ({"wave": 0}, {"wave": -10}, "b"),
        ({"wave": -20, "stack": "gpu"}, {"wave": 0, "stack": "platform"}, "b"),
        ({"wave": 0, "stack": "gpu"}, {"wave": -10, "stack": "slurm"}, "b"),
        ({"wave": 0, "stack": "slurm"}, {"wave": 0, "stack": "gpu"}, "b"),
    ],
)
def test_a_shared_secret_has_one_owner_the_first_that_is_synced(
    first: dict[str, Any], second: dict[str, Any], owner: str
) -> None:
    made = made_secrets(app(KEY, name="a", **first), app(PASSWORD, name="b", **second))
    assert list(made) == [owner]
    assert len(made[owner]) == 1


@pytest.mark.parametrize("other", [CONFIG, replace(PASSWORD, namespace="mariadb")])
def test_a_like_named_object_makes_nobody_an_owner(other: SecretRequest) -> None:
    first, second = app(other, name="a", wave=-10), app(KEY, name="b")
    made = made_secrets(first, second)
    assert [item["metadata"]["namespace"] for item in made["b"]] == ["slurm"]


def test_store_makes_a_secret_of_the_type_that_is_asked_for() -> None:
    pull = replace(PASSWORD, keys=(".dockerconfigjson",), type="kubernetes.io/dockerconfigjson")
    (made,) = made_secrets(app(pull))["slurm"]
    assert made["spec"]["target"]["template"] == {"type": "kubernetes.io/dockerconfigjson"}


def test_a_stored_secret_says_for_whom_it_is() -> None:
    (changed,) = external_secrets([app(KEY, PASSWORD)], plan_of(body=STORE).spec)
    (manifest,) = changed.manifests
    said = [origin.ref for origin in manifest.object.origins[("spec",)]]
    assert said[1:] == [
        "a Secret for Slurm's own key must exist",
        "a Secret for the database must exist",
    ]


def test_two_components_in_one_namespace_share_a_pull_secret_in_a_whole_tree() -> None:
    body = f"{STORE}\nregistry: {{pullSecrets: [pull]}}\n"
    both = "certManager: {enabled: true, namespace: ops}\nkeda: {enabled: true, namespace: ops}"
    made = [
        (app.name, manifest.object.data["kind"])
        for app in compile_text(spec_text(body, components=both)).plan.applications
        for manifest in app.manifests
        if manifest.object.data["kind"] == "ExternalSecret"
    ]
    assert made == [("cert-manager", "ExternalSecret")]


def test_a_store_makes_neither_config_maps_nor_claims() -> None:
    assert made_secrets(app(HOME, CONFIG)) == {}


@pytest.mark.parametrize("body", ["", SEALED, "secrets: {store: existing, storeRef: {name: vault}}"])
def test_without_a_store_apps_stay_as_they_are(body: str) -> None:
    assert made_secrets(app(KEY), body=body) == {}


def test_entries_of_the_store_are_listed_with_random_values_as_text() -> None:
    found = secrets(KEY, PASSWORD, body=STORE)
    assert (
        "| `slurm` | `slurm-key` | `slurm.key` (1024 random bytes), `password` | `test/slurm/slurm-key` | "
        "Slurm's own key; the database |"
    ) in found
    assert "create secret" not in found
    (block,) = (part for part in found.split("```")[1:] if part.startswith("sh\n"))
    head, command = block.removeprefix("sh\n").strip().split("\n")
    assert head == "# test/slurm/slurm-key, slurm.key"
    done = subprocess.run([bash(), "-c", command], capture_output=True, text=True, check=True, timeout=30)
    assert len(done.stdout) == 1024
    assert done.stdout.isascii()
    assert "\n" not in done.stdout


def test_entries_without_random_keys_have_no_commands() -> None:
    found = secrets(PASSWORD, body=STORE)
    assert found.endswith("| `password` | `test/slurm/slurm-key` | the database |")


def test_sealed_random_keys_have_no_command_that_bypasses_the_seal() -> None:
    found = secrets(KEY, body=SEALED)
    assert found.endswith("| `slurm-key` | `slurm.key` (1024 random bytes) | Slurm's own key |")


# --- what the plan prints ----------------------------------------------------------------------


def test_plan_as_data_lists_each_object_once_with_what_it_needs() -> None:
    assert plan_data(plan_of(app(KEY, HOME, name="a"), app(PASSWORD, name="b")))["secrets"] == [
        {
            "namespace": "slurm",
            "kind": "Secret",
            "name": "slurm-key",
            "keys": ["slurm.key", "password"],
            "purpose": "Slurm's own key; the database",
            "randomBytes": {"slurm.key": 1024},
        },
        {
            "namespace": "slurm",
            "kind": "PersistentVolumeClaim",
            "name": "home",
            "keys": [],
            "purpose": "the volume home at /home",
            "size": "1Ti",
            "accessMode": "ReadWriteMany",
        },
    ]


# --- commands of the apps ----------------------------------------------------------------------


def with_commands(body: str = "") -> str:
    blocks = (
        CommandBlock(
            purpose="the accounts of Slurm", lines=("sacctmgr -i add qos normal", "sacctmgr show qos")
        ),
        CommandBlock(purpose="a look at the queue", lines=("squeue",)),
    )
    plan = plan_of(replace(app(), commands=blocks), body=body)
    return section(tree_readme(plan, template("tree-readme.md.j2")), "Commands")


def test_commands_of_apps_are_blocks_in_their_order() -> None:
    assert with_commands().split("\n") == [
        "To be run in the folder of this README.",
        "",
        "For the accounts of Slurm (`slurm`):",
        "",
        "```sh",
        "sacctmgr -i add qos normal",
        "sacctmgr show qos",
        "```",
        "",
        "For a look at the queue (`slurm`):",
        "",
        "```sh",
        "squeue",
        "```",
    ]


def test_commands_run_against_the_cluster_of_the_workloads() -> None:
    assert with_commands("argocd: {destination: {name: prod-1}}").startswith(
        "To be run in the folder of this README, against the cluster that Argo CD knows as `prod-1`.\n"
    )


def test_apps_that_nothing_protects_need_no_approval() -> None:
    assert "approve" not in section(readme(KEY), "Take out")


def test_apps_without_commands_have_no_section() -> None:
    assert "## Commands" not in readme(KEY)


# --- every tree --------------------------------------------------------------------------------


@pytest.mark.parametrize("case", [pytest.param(case, id=case.name) for case in cases()])
def test_every_command_of_a_tree_is_one_that_bash_can_read(case: Case) -> None:
    blocks = tree(case.spec)["README.md"].split("\n```")
    read = [text for text in blocks if text.startswith(("sh\n", "bash\n"))]
    assert read
    for text in read:
        script = text.partition("\n")[2]
        done = subprocess.run([bash(), "-n"], input=script, capture_output=True, text=True, timeout=30)
        assert (done.returncode, done.stderr) == (0, ""), script
