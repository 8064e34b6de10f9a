"""The commands that fill the accounting database, run through a real shell, and the Job that runs them."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import kubernetes_validate  # type: ignore[import-untyped]
import msgspec
import pytest

from gitops_gen.components.slurm.bootstrap import bootstrap_job, script_of
from gitops_gen.components.slurm.finding import Finding
from gitops_gen.components.slurm.sacctmgr import findings, lines, parents_first, undeclared
from gitops_gen.components.slurm.settings import Account, SlurmSettings

KEYS = {
    name: {"secretRef": {"name": f"slurm-auth-{name}", "key": f"{name}.key"}} for name in ("slurm", "jwt")
}

# What sacctmgr 26.05 does, as far as the commands depend on it: `add` of something that exists fails,
# and so does moving an account to the parent that it has, with all that the command sets beside it.
SACCTMGR = """\
import json, sys
from pathlib import Path

state, log = Path("state.json"), Path("log")
data = json.loads(state.read_text()) if state.exists() else {}
words = [word for word in sys.argv[1:] if not word.startswith("--")]
log.open("a").write(" ".join(words) + "\\n")
verb, kind, rest = words[0], words[1], words[2:]
pairs = dict(word.split("=", 1) for word in rest if "=" in word)
kind = {"clusters": "cluster", "associations": "user" if "user" in pairs else "account"}.get(kind, kind)
name = pairs.get("user") or pairs.get("name") or pairs.get("account")
key = "/".join([kind, pairs.get("account", "") if kind == "user" else "", name])
there = data.get(key)
if verb == "show":
    if there is not None and pairs.get("parent", there.get("parent")) == there.get("parent"):
        print(name)
elif verb == "add":
    if there is not None:
        sys.exit("already there")
    if kind == "account" and pairs["parent"] != "root" and f"account//{pairs['parent']}" not in data:
        sys.exit("no such parent")
    if kind == "user" and f"account//{pairs['account']}" not in data:
        sys.exit("no such account")
    data[key] = {"parent": pairs["parent"]} if kind == "account" else {}
elif verb == "modify":
    if there is None:
        sys.exit("nothing there")
    new = dict(word.split("=", 1) for word in rest[rest.index("set") + 1 :])
    if new.get("parent", "") == there.get("parent"):
        sys.exit("nothing modified")
    for used in new.get("preempt", "").split(","):
        if used and f"qos//{used}" not in data:
            sys.exit("no such QOS")
    there.update(new)
state.write_text(json.dumps(data))
"""


def settings(*, partitions: Any = (), **accounting: Any) -> SlurmSettings:
    data = {"clusterName": "hpc", "keys": KEYS, "partitions": list(partitions), "accounting": accounting}
    return msgspec.convert(data, SlurmSettings)


def commands(**accounting: Any) -> tuple[str, ...]:
    return lines(settings(**accounting).accounting, "hpc")


def run(folder: Path, text: str) -> tuple[dict[str, dict[str, str]], list[str]]:
    """Run shell text against a sacctmgr of our own; return the database and the calls."""
    bin_folder = folder / "bin"
    if not bin_folder.exists():
        bin_folder.mkdir()
        program = bin_folder / "sacctmgr"
        program.write_text(f"#!{sys.executable} -IS\n{SACCTMGR}", encoding="utf-8")
        program.chmod(0o755)
    (folder / "log").unlink(missing_ok=True)
    environment = {"PATH": f"{bin_folder}:{os.environ['PATH']}"}
    shell = shutil.which("sh")
    assert shell is not None
    done = subprocess.run(
        [shell, "-eu", "-c", text], cwd=folder, env=environment, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    return json.loads((folder / "state.json").read_text()), (folder / "log").read_text().splitlines()


def found(value: SlurmSettings) -> list[tuple[str, str, tuple[str | int, ...]]]:
    return [(item.code, item.message, item.path) for item in findings(value)]


FULL: dict[str, Any] = {
    "qos": [
        {
            "name": "high",
            "priority": 100,
            "maxWall": "04:00:00",
            "preempt": ["low"],
            "flags": ["DenyOnLimit"],
        },
        {
            "name": "low",
            "description": "Anybody's; isn't billed",
            "maxTresPerUser": {"gres/gpu": 16, "cpu": 64},
        },
        {"name": "plain"},
    ],
    "accounts": [
        {"name": "physics", "parent": "science", "fairshare": 10, "users": ["ann", "bob"]},
        {
            "name": "science",
            "organization": "Faculty of Science",
            "qos": ["high", "low"],
            "defaultQos": "low",
        },
        {"name": "guests", "users": ["ann", "cy$"]},
    ],
}


def test_order_is_qos_then_preemption_then_parents_then_users() -> None:
    called = [line.split("|| ")[-1].removeprefix("sacctmgr --immediate ") for line in commands(**FULL)]
    assert called == [
        "add qos name=high",
        "modify qos where name=high set priority=100 maxwall=04:00:00 flags=DenyOnLimit",
        "add qos name=low",
        "modify qos where name=low set 'description=Anybody'\"'\"'s; isn'\"'\"'t billed'"
        " maxtresperuser=gres/gpu=16,cpu=64",
        "add qos name=plain",
        "modify qos where name=high set preempt=low",
        "add account name=science cluster=hpc parent=root",
        "modify account where name=science cluster=hpc set parent=root",
        "modify account where name=science cluster=hpc set 'organization=Faculty of Science' qos=high,low"
        " defaultqos=low",
        "add account name=physics cluster=hpc parent=science",
        "modify account where name=physics cluster=hpc set parent=science",
        "modify account where name=physics cluster=hpc set fairshare=10",
        "add account name=guests cluster=hpc parent=root",
        "modify account where name=guests cluster=hpc set parent=root",
        "add user name=ann cluster=hpc account=physics",
        "add user name=bob cluster=hpc account=physics",
        "add user name=ann cluster=hpc account=guests",
        "add user 'name=cy$' cluster=hpc account=guests",
    ]


def test_each_add_asks_first() -> None:
    assert commands(qos=[{"name": "high"}]) == (
        'test -n "$(sacctmgr --noheader --parsable2 show qos where name=high format=name)"'
        " || sacctmgr --immediate add qos name=high",
    )
    adds = [line for line in commands(**FULL) if "--immediate add" in line]
    assert len(adds) == 10
    assert all(line.startswith('test -n "$(sacctmgr --noheader --parsable2 show ') for line in adds)


def test_commands_make_what_the_spec_says_and_do_nothing_the_second_time(tmp_path: Path) -> None:
    text = "\n".join(commands(**FULL))
    first, _ = run(tmp_path, text)
    assert first["qos//low"] == {
        "description": "Anybody's; isn't billed",
        "maxtresperuser": "gres/gpu=16,cpu=64",
    }
    assert first["qos//high"]["preempt"] == "low"
    assert first["account//physics"] == {"parent": "science", "fairshare": "10"}
    assert {key for key in first if key.startswith("user/")} == {
        "user/physics/ann",
        "user/physics/bob",
        "user/guests/ann",
        "user/guests/cy$",
    }
    second, calls = run(tmp_path, text)
    assert second == first
    assert not [call for call in calls if call.startswith("add") or " set parent=" in call]


def test_account_moves_to_its_new_parent(tmp_path: Path) -> None:
    run(tmp_path, "\n".join(commands(**FULL)))
    moved = [{**FULL["accounts"][0], "parent": "guests"}, *FULL["accounts"][1:]]
    data, calls = run(tmp_path, "\n".join(commands(qos=FULL["qos"], accounts=moved)))
    assert data["account//physics"] == {"parent": "guests", "fairshare": "10"}
    assert [call for call in calls if " set parent=" in call] == [
        "modify account where name=physics cluster=hpc set parent=guests"
    ]


def test_nothing_to_make_is_no_command() -> None:
    assert commands() == ()


def test_parents_come_first_however_deep() -> None:
    accounts = tuple(Account(name=name, parent=parent) for name, parent in ("cb", "ba", ("a", None)))
    assert [item.name for item in parents_first(accounts)] == ["a", "b", "c"]
    loop = (Account(name="a", parent="b"), Account(name="b", parent="a"))
    assert sorted(item.name for item in parents_first(loop)) == ["a", "b"]


# --- checks ------------------------------------------------------------------------------------


def test_complete_spec_has_no_finding() -> None:
    assert found(settings(partitions=[{"name": "p", "nodeSets": ["ALL"], "qos": "high"}], **FULL)) == []


def test_what_partitions_and_accounts_use_must_be_declared() -> None:
    partitions = [
        {"name": "p", "nodeSets": ["ALL"], "qos": "a", "allowQos": ["normal", "b"], "allowAccounts": ["x"]},
        {"name": "q", "nodeSets": ["ALL"], "config": {"DenyQos": ["c"], "allowaccounts": "y,root,ALL"}},
    ]
    value = settings(
        partitions=partitions,
        qos=[{"name": "d", "preempt": ["e"]}],
        accounts=[{"name": "z", "parent": "v", "qos": ["f"], "defaultQos": "f"}],
    )
    assert [(item.kind, item.name, item.path) for item in undeclared(value)] == [
        ("qos", "a", ("partitions", 0, "qos")),
        ("qos", "b", ("partitions", 0, "allowQos", 1)),
        ("account", "x", ("partitions", 0, "allowAccounts", 0)),
        ("qos", "c", ("partitions", 1, "config", "DenyQos")),
        ("account", "y", ("partitions", 1, "config", "allowaccounts")),
        ("qos", "e", ("accounting", "qos", 0, "preempt", 0)),
        ("qos", "f", ("accounting", "accounts", 0, "qos", 0)),
        ("qos", "f", ("accounting", "accounts", 0, "defaultQos")),
        ("account", "v", ("accounting", "accounts", 0, "parent")),
    ]
    levels = {(item.code, item.path[0], item.level) for item in findings(value)}
    assert levels == {
        ("slurm-qos-undeclared", "partitions", "error"),
        ("slurm-qos-undeclared", "accounting", "error"),
        ("slurm-account-undeclared", "partitions", "warning"),
        ("slurm-account-undeclared", "accounting", "error"),
    }


@pytest.mark.parametrize(
    ("accounting", "expected"),
    [
        (
            {"qos": [{"name": "a", "preempt": ["b"]}, {"name": "b", "preempt": ["a"]}]},
            [
                (
                    "slurm-qos-preempt-cycle",
                    "these QOS preempt each other: a → b → a; slurmdbd refuses that",
                    ("accounting", "qos", 0, "preempt"),
                ),
            ],
        ),
        (
            {"qos": [{"name": "a", "preempt": ["a"]}]},
            [
                (
                    "slurm-qos-preempt-cycle",
                    "these QOS preempt each other: a → a; slurmdbd refuses that",
                    ("accounting", "qos", 0, "preempt"),
                )
            ],
        ),
        (
            {"qos": [{"name": "a", "flags": ["denyonlimit"]}]},
            [("slurm-qos-flag", '"denyonlimit" is no flag of a QOS', ("accounting", "qos", 0, "flags", 0))],
        ),
        (
            {"accounts": [{"name": "a", "parent": "a"}]},
            [
                (
                    "slurm-account-cycle",
                    "these accounts are each other's parents: a → a",
                    ("accounting", "accounts", 0, "parent"),
                )
            ],
        ),
        (
            {"accounts": [{"name": "root"}]},
            [
                (
                    "slurm-account-root",
                    "the account root exists in every cluster and cannot be made",
                    ("accounting", "accounts", 0, "name"),
                )
            ],
        ),
        (
            {
                "qos": [{"name": "x"}, {"name": "y"}],
                "accounts": [
                    {"name": "a", "qos": ["x"], "defaultQos": "y"},
                    {"name": "b", "parent": "a", "defaultQos": "y"},
                    {"name": "c", "defaultQos": "normal"},
                ],
            },
            [
                (
                    "slurm-default-qos",
                    'the default QOS "y" is none of its own `qos`: x',
                    ("accounting", "accounts", 0, "defaultQos"),
                ),
                (
                    "slurm-default-qos",
                    'the default QOS "y" is none of the QOS that it inherits: x',
                    ("accounting", "accounts", 1, "defaultQos"),
                ),
            ],
        ),
        (
            {"accounts": [{"name": "a", "users": ["ann,bob", "node[1-3]", "-x", "a.b_c-d@e"]}]},
            [
                (
                    "slurm-user-name",
                    f'"{name}" cannot be the name of a user: sacctmgr reads "," and "[" as lists',
                    ("accounting", "accounts", 0, "users", place),
                )
                for place, name in enumerate(["ann,bob", "node[1-3]", "-x"])
            ],
        ),
    ],
)
def test_what_slurmdbd_would_refuse_is_found(
    accounting: dict[str, Any], expected: list[tuple[str, str, tuple[str | int, ...]]]
) -> None:
    assert found(settings(**accounting)) == expected


def test_hint_has_the_right_spelling_of_a_flag() -> None:
    value = settings(qos=[{"name": "a", "flags": ["denyonlimit", "nonsense"]}])
    hints = [item.hint for item in findings(value)]
    assert hints[0] == 'write "DenyOnLimit"'
    assert hints[1].startswith("flags are DenyOnLimit, ")


def test_more_users_than_a_config_map_holds_are_refused_for_the_job_only() -> None:
    accounts = [{"name": "a", "users": [f"user{number}" for number in range(8000)]}]
    assert [item[0] for item in found(settings(accounts=accounts, bootstrapJob=True))] == [
        "slurm-bootstrap-size"
    ]
    assert found(settings(accounts=accounts)) == []


def test_findings_are_words_of_their_own() -> None:
    value = settings(qos=[{"name": "a", "preempt": ["b"]}])
    assert list(findings(value)) == [
        Finding(
            code="slurm-qos-undeclared",
            message='"b" is no QOS of accounting.qos; slurmdbd refuses it',
            hint="add {name: b} to accounting.qos; one that exists is left as it is",
            path=("accounting", "qos", 0, "preempt", 0),
        )
    ]


# --- the Job -----------------------------------------------------------------------------------


def objects(**accounting: Any) -> tuple[dict[str, Any], dict[str, Any]]:
    value = settings(**FULL, bootstrapJob=True, **accounting)
    made = bootstrap_job(
        value,
        fullname="slurm",
        namespace="slurm",
        image="ghcr.io/slinkyproject/login:tag",
        pull_secrets=["pull"],
    )
    assert not any(item.cluster_scoped for item in made)
    config, job = (item.object.data for item in made)
    return config, job


@pytest.mark.parametrize("version", ["1.31", "1.35"])
def test_job_and_script_fit_the_schemas_of_kubernetes(version: str) -> None:
    for item in objects(nodeSelector={"pool": "system"}, tolerations=[{"key": "a", "operator": "Exists"}]):
        kubernetes_validate.validate(item, version, strict=True)


def test_job_runs_beside_slurmctld_at_each_sync() -> None:
    config, job = objects()
    assert job["metadata"] == {
        "name": "slurm-accounting-bootstrap",
        "namespace": "slurm",
        "annotations": {
            "argocd.argoproj.io/hook": "Sync",
            "argocd.argoproj.io/hook-delete-policy": "BeforeHookCreation",
        },
    }
    assert config["metadata"] == {"name": "slurm-accounting-bootstrap", "namespace": "slurm"}


def test_pod_has_what_the_operator_gives_its_own() -> None:
    pod = objects(nodeSelector={"pool": "system"})[1]["spec"]["template"]["spec"]
    ids = {key: value for key, value in pod["securityContext"].items() if key != "seccompProfile"}
    assert ids == {"runAsNonRoot": True, "runAsUser": 401, "runAsGroup": 401, "fsGroup": 401}
    assert pod["nodeSelector"] == {"kubernetes.io/os": "linux", "pool": "system"}
    assert pod["imagePullSecrets"] == [{"name": "pull"}]
    etc, run_dir, script = pod["volumes"]
    assert etc["projected"] == {
        "defaultMode": 0o440,
        "sources": [
            {"configMap": {"name": "slurm-config"}},
            {
                "secret": {
                    "name": "slurm-auth-slurm",
                    "items": [{"key": "slurm.key", "path": "slurm.key"}],
                }
            },
        ],
    }
    assert run_dir["emptyDir"] == {"medium": "Memory"}
    assert script["configMap"] == {"name": "slurm-accounting-bootstrap"}
    mounts = {item["name"]: item["mountPath"] for item in pod["containers"][0]["volumeMounts"]}
    assert mounts == {"slurm-etc": "/etc/slurm", "sackd-dir": "/run/slurm", "bootstrap": "/bootstrap"}
    assert pod["containers"][0]["command"] == ["bash", "/bootstrap/bootstrap.sh"]


def test_script_waits_for_the_cluster_before_the_first_command() -> None:
    text = objects()[0]["data"]["bootstrap.sh"]
    assert text == script_of(settings(**FULL))
    assert text.startswith("#!/bin/bash\nset -euo pipefail\nsackd -D &\n")
    waits = "show clusters where name=hpc format=cluster"
    assert 0 < text.index(waits) < text.index("--immediate add qos name=high")
    assert "add cluster" not in text


def test_script_is_good_bash_and_does_its_work(tmp_path: Path) -> None:
    """The socket and sackd are stood in for; slurmctld has registered the cluster already."""
    text = script_of(settings(**FULL)).replace("sackd -D &", "true &").replace("test -S", "test -n")
    (tmp_path / "state.json").write_text(json.dumps({"cluster//hpc": {}}))
    bash = shutil.which("bash")
    assert bash is not None
    data, calls = run(tmp_path, f"cat > script <<'END'\n{text}END\n{bash} script")
    assert calls[0] == "show clusters where name=hpc format=cluster"
    assert data["account//physics"] == {"parent": "science", "fairshare": "10"}


def test_job_is_the_same_each_time() -> None:
    assert objects() == objects()
