"""Scripts, configuration files, pyxis and the health check: what is refused, and what pods mount."""

from __future__ import annotations

from typing import Any

import kubernetes_validate  # type: ignore[import-untyped]
import msgspec
import pytest

from gitops_gen.components.slurm.scripts import (
    KNOWN,
    Mounted,
    enroot,
    findings,
    health_check,
    health_check_config,
    plugstack,
)
from gitops_gen.components.slurm.settings import HealthCheckProgram, SlurmSettings

KEYS = {name: {"secretRef": {"name": name, "key": "key"}} for name in ("slurm", "jwt")}
GOOD = "#!/bin/sh\ntrue\n"


def settings(**parts: Any) -> SlurmSettings:
    return msgspec.convert({"clusterName": "hpc", "keys": KEYS, **parts}, SlurmSettings)


def found(dcgm: str | None = None, **parts: Any) -> list[tuple[str, str, str, tuple[str | int, ...]]]:
    items = findings(settings(**parts), dcgm_priority=dcgm)
    return [(item.code, item.level, item.message, item.path) for item in items]


def codes(dcgm: str | None = None, **parts: Any) -> list[str]:
    return [item[0] for item in found(dcgm, **parts)]


def test_usual_scripts_have_no_finding() -> None:
    assert (
        found(
            "90",
            prolog={"10-check.sh": GOOD, "90-dcgm": "#! /usr/bin/env bash\n"},
            epilog={"10-check.sh": GOOD},
            prologSlurmctld={"10-check.sh": GOOD},
            epilogSlurmctld={"10-check.sh": GOOD},
            configFiles={"oci.conf": "OCIRunTimeQuery=x\n  continued\n", "acct_gather.conf": "\nA=b"},
            healthCheck={"script": GOOD, "interval": 300},
            pyxis={"enabled": True, "enrootConfig": {"ENROOT_RUNTIME_PATH": "/run/enroot/user-$(id -u)"}},
        )
        == []
    )


@pytest.mark.parametrize("field", ["prolog", "epilog", "prologSlurmctld", "epilogSlurmctld"])
@pytest.mark.parametrize(
    ("text", "first"),
    [("true\n", "true"), (" #!/bin/sh\n", " #!/bin/sh"), ("\n#!/bin/sh\n", ""), ("#!sh\n", "#!sh")],
)
def test_script_begins_with_its_interpreter(field: str, text: str, first: str) -> None:
    message = f'the first line "{first}" names no interpreter, so that jobs fail to start'
    part: dict[str, Any] = {field: {"a.sh": text}}
    assert found(**part) == [("slurm-script-shebang", "error", message, (field, "a.sh"))]


@pytest.mark.parametrize(
    ("part", "path"),
    [
        ({"prolog": {"a.sh": "#!/bin/sh\r\ntrue\r\n"}}, ("prolog", "a.sh")),
        ({"configFiles": {"oci.conf": "a=b\r\n"}}, ("configFiles", "oci.conf")),
        (
            {"healthCheck": {"script": "#!/bin/sh\r\n", "interval": 300}},
            ("healthCheck", "script"),
        ),
    ],
)
def test_line_ends_of_windows_are_refused(part: dict[str, Any], path: tuple[str, ...]) -> None:
    message = "the text has line ends of Windows, which become part of each line"
    assert found(**part) == [("slurm-file-crlf", "error", message, path)]


@pytest.mark.parametrize(
    ("name", "code", "level", "message"),
    [
        ("slurm.conf", "slurm-file-owned", "error", '"slurm.conf" is written by the operator'),
        ("slurmdbd.conf", "slurm-file-owned", "error", '"slurmdbd.conf" is written by the operator'),
        ("slurm.key", "slurm-file-owned", "error", '"slurm.key" is written by the operator'),
        ("jwt.key", "slurm-file-owned", "error", '"jwt.key" is written by the operator'),
        ("gres.conf", "slurm-file-typed", "error", '"gres.conf" is made from a field of its own'),
        ("cgroup.conf", "slurm-file-typed", "error", '"cgroup.conf" is made from a field of its own'),
        ("mine.conf", "slurm-file-unknown", "warning", 'Slurm does not read "mine.conf" by itself'),
    ],
)
def test_files_of_others_are_not_written_twice(name: str, code: str, level: str, message: str) -> None:
    assert found(configFiles={name: "a=b\n"}) == [(code, level, message, ("configFiles", name))]


@pytest.mark.parametrize("name", KNOWN)
def test_every_known_file_is_either_free_or_has_a_field(name: str) -> None:
    typed = {"cgroup.conf", "gres.conf", "job_submit.lua", "plugstack.conf", "topology.yaml"}
    assert codes(configFiles={name: "a=b\n"}) == (["slurm-file-typed"] if name in typed else [])


@pytest.mark.parametrize("text", ["  a=b\nc=d\n", "\n\n\ta=b\n"])
def test_first_line_of_a_file_is_not_indented(text: str) -> None:
    assert codes(configFiles={"oci.conf": text}) == ["slurm-file-indented"]


@pytest.mark.parametrize(
    ("dcgm", "parts", "message", "path"),
    [
        (
            None,
            {"prolog": {"slurmctld-a.sh": GOOD}, "prologSlurmctld": {"a.sh": GOOD}},
            '"a.sh" becomes the file prolog-slurmctld-a.sh, which is already that of prolog',
            ("prologSlurmctld", "a.sh"),
        ),
        (
            "90",
            {"epilog": {"90-dcgm.sh": GOOD}},
            '"90-dcgm.sh" becomes the file epilog-90-dcgm.sh, which is already that of the chart\'s own'
            " script for DCGM",
            ("epilog", "90-dcgm.sh"),
        ),
    ],
)
def test_two_files_of_one_name_are_refused(
    dcgm: str | None, parts: dict[str, Any], message: str, path: tuple[str, ...]
) -> None:
    assert found(dcgm, **parts) == [("slurm-file-twice", "error", message, path)]


def test_config_file_meets_a_script() -> None:
    items = found(prolog={"a.sh": GOOD}, configFiles={"prolog-a.sh": GOOD})
    assert [item[0] for item in items] == ["slurm-file-unknown", "slurm-file-twice"]


def test_script_of_dcgm_is_only_in_the_way_where_it_is_on() -> None:
    assert found(None, prolog={"90-dcgm.sh": GOOD}) == []
    assert found("50", prolog={"90-dcgm.sh": GOOD}) == []


def test_names_and_sizes_fit_a_config_map() -> None:
    assert codes(prolog={"a" * 246: GOOD}) == []
    assert codes(prolog={"a" * 247: GOOD}) == ["slurm-file-name"]
    half = GOOD + "#" * 600_000
    assert codes(prolog={"a": half}, epilog={"a": half}) == []
    assert codes(prolog={"a": half, "b": half}) == ["slurm-files-size"]
    assert codes(configFiles={"oci.conf": "ä" * 600_000}) == ["slurm-files-size"]
    assert codes(healthCheck={"script": GOOD + "#" * 1024**2, "interval": 300}) == ["slurm-files-size"]


# --- health check ------------------------------------------------------------------------------


def test_state_that_stands_alone_stands_alone() -> None:
    check = {"program": "/usr/sbin/nhc", "interval": 300}
    items = found(healthCheck={**check, "nodeState": ["CYCLE", "START_ONLY"]})
    message = "START_ONLY stands beside other states; slurmctld does not start with that"
    assert items == [("slurm-health-check-state", "error", message, ("healthCheck", "nodeState"))]
    assert found(healthCheck={**check, "nodeState": ["START_ONLY"]}) == []


@pytest.mark.parametrize(
    ("interval", "config", "timeout"),
    [
        (60, {}, 60),
        (61, {}, None),
        (20, {"healthchecktimeout": 10}, None),
        (10, {"HealthCheckTimeout": "10"}, 10),
        (60, {"HealthCheckTimeout": 0}, 60),
    ],
)
def test_a_run_ends_before_the_next_begins(
    interval: int, config: dict[str, Any], timeout: int | None
) -> None:
    check = {"program": "/usr/sbin/nhc", "interval": interval}
    message = f"a run may take {timeout} seconds, but the next one comes after {interval}"
    path = ("healthCheck", "interval")
    expected = [("slurm-health-check-interval", "warning", message, path)] if timeout else []
    assert found(healthCheck=check, controller={"config": config}) == expected


def mounted(item: Mounted | None) -> tuple[dict[str, Any], dict[str, Any], dict[str, Any]]:
    assert item is not None
    data, volume, mount = dict(item.manifest.object.data), dict(item.volume), dict(item.mount)
    kubernetes_validate.validate(data, "1.35", strict=True)
    container = {"name": "a", "image": "a", "volumeMounts": [mount]}
    spec = {"volumes": [volume], "containers": [container]}
    pod = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "a"}, "spec": spec}
    kubernetes_validate.validate(pod, "1.35", strict=True)
    return data, volume, mount


def test_health_check_script_is_mounted_as_a_program() -> None:
    check = HealthCheckProgram(script=GOOD, interval=300)
    value = settings(healthCheck={"script": GOOD, "interval": 300})
    data, volume, mount = mounted(health_check(value, fullname="slurm", namespace="hpc"))
    assert data["metadata"] == {"name": "slurm-health-check", "namespace": "hpc"}
    assert volume == {
        "name": "health-check",
        "configMap": {"name": "slurm-health-check", "defaultMode": 0o755},
    }
    (file,) = data["data"]
    assert data["data"][file] == GOOD
    assert health_check_config(check) == {
        "HealthCheckProgram": f"{mount['mountPath']}/{file}",
        "HealthCheckInterval": "300",
        "HealthCheckNodeState": "ANY,CYCLE",
    }
    assert "subPath" not in mount


def test_program_of_the_image_needs_no_mount() -> None:
    value = settings(healthCheck={"program": "/usr/sbin/nhc", "interval": 300})
    assert health_check(value, fullname="slurm", namespace="hpc") is None
    assert health_check(settings(), fullname="slurm", namespace="hpc") is None
    assert value.health_check is not None
    assert health_check_config(value.health_check)["HealthCheckProgram"] == "/usr/sbin/nhc"


# --- pyxis -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("parts", "expected"),
    [
        ({}, None),
        ({"plugstack": ["optional x.so"]}, "optional x.so\n"),
        ({"pyxis": {"enabled": True}}, "include /usr/share/pyxis/*\n"),
        (
            {"pyxis": {"enabled": True}, "plugstack": ["optional x.so", "include /usr/share/pyxis/*"]},
            "include /usr/share/pyxis/*\noptional x.so\n",
        ),
    ],
)
def test_plugins_of_slurmd_are_included_by_glob(parts: dict[str, Any], expected: str | None) -> None:
    assert plugstack(settings(**parts)) == expected


def pyxis(config: dict[str, str], *, enabled: bool = True) -> SlurmSettings:
    return settings(pyxis={"enabled": enabled, "enrootConfig": config})


def test_enroot_configuration_is_one_file_named_by_its_content() -> None:
    config = {"ENROOT_RUNTIME_PATH": "/run/enroot/user-$(id -u)", "ENROOT_MAX_CONNECTIONS": "20"}
    data, volume, mount = mounted(enroot(pyxis(config), fullname="slurm", namespace="hpc"))
    text = "ENROOT_RUNTIME_PATH /run/enroot/user-$(id -u)\nENROOT_MAX_CONNECTIONS 20\n"
    assert data["data"] == {"enroot.conf": text}
    assert data["metadata"]["annotations"] == {"argocd.argoproj.io/sync-options": "Prune=true"}
    assert volume == {"name": "enroot", "configMap": {"name": data["metadata"]["name"]}}
    assert mount == {
        "name": "enroot",
        "mountPath": "/etc/enroot/enroot.conf",
        "subPath": "enroot.conf",
        "readOnly": True,
    }
    other = mounted(enroot(pyxis({"ENROOT_MAX_CONNECTIONS": "21"}), fullname="slurm", namespace="hpc"))[0]
    assert other["metadata"]["name"] != data["metadata"]["name"]
    assert other["metadata"]["name"].startswith("slurm-enroot-")


@pytest.mark.parametrize(("config", "enabled"), [({}, True), ({"ENROOT_LOGIN_SHELL": "no"}, False)])
def test_image_keeps_its_own_configuration(config: dict[str, str], enabled: bool) -> None:
    assert enroot(pyxis(config, enabled=enabled), fullname="slurm", namespace="hpc") is None


@pytest.mark.parametrize(
    ("key", "value", "code"),
    [
        ("ENROOT_LOGIN_SHELL", "no", None),
        ("NVIDIA_VISIBLE_DEVICES", "all", None),
        ("SSL_CERT_DIR", "${HOME}/certs", None),
        ("RUNTIME_PATH", "/a", "slurm-enroot-setting"),
        ("ENROOT_PATH2", "/a", "slurm-enroot-setting"),
        ("ENROOT_CACHE_PATH", "a\nb", "slurm-enroot-value"),
        ("ENROOT_CACHE_PATH", '"a', "slurm-enroot-value"),
        ("ENROOT_CACHE_PATH", "$(id -u", "slurm-enroot-value"),
    ],
)
def test_enroot_reads_what_is_written(key: str, value: str, code: str | None) -> None:
    items = [(item.code, item.path) for item in findings(pyxis({key: value}))]
    assert items == ([(code, ("pyxis", "enrootConfig", key))] if code else [])


def test_enroot_configuration_without_pyxis_is_told() -> None:
    assert [
        (item.code, item.level) for item in findings(pyxis({"ENROOT_LOGIN_SHELL": "no"}, enabled=False))
    ] == [("slurm-enroot-unused", "warning")]
