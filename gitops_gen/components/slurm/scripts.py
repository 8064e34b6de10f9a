"""Scripts and configuration files of the spec in, what is wrong with them and where they go out.

All files end in one folder, /etc/slurm: the chart puts `prolog-`, `epilog-`, `prolog-slurmctld-` and
`epilog-slurmctld-` before the names of scripts (1.1.2 and 1.2.1), the operator adds its own files.
enroot.conf is mounted as a single file, which a running pod never sees again: its ConfigMap is named by
its content. The health check is mounted as a folder, so that a new one reaches pods without a restart.
"""

from __future__ import annotations

import hashlib
import re
import shlex
from collections.abc import Iterator, Mapping

import msgspec

from gitops_gen.components.slurm.finding import Finding
from gitops_gen.components.slurm.settings import HealthCheckProgram, SlurmSettings
from gitops_gen.diagnostics import Path
from gitops_gen.model import Manifest, Object, Origin, Setting, from_rule, from_spec
from gitops_gen.traced import collect, put

PYXIS = "include /usr/share/pyxis/*"
"""The line of plugstack.conf: a glob, since slurmctld reads the file too and has no pyxis."""

KNOWN = (
    "acct_gather.conf",
    "burst_buffer.conf",
    "cgroup.conf",
    "cli_filter.lua",
    "gres.conf",
    "helpers.conf",
    "job_container.conf",
    "job_submit.lua",
    "mpi.conf",
    "namespace.yaml",
    "oci.conf",
    "plugstack.conf",
    "topology.conf",
    "topology.yaml",
)
"""Files that Slurm reads by themselves (the operator's webhook, 1.1.2 and 1.2.1, warns of others)."""

_TYPED = {
    "cgroup.conf": "write its keywords under `cgroup`",
    "gres.conf": "GRES follow from the pools; write further lines under `gres.lines`",
    "job_submit.lua": "write its text under `jobSubmitLua`",
    "plugstack.conf": "write its lines under `plugstack`",
    "topology.yaml": "write its content under `topology`",
}
_OPERATOR = {
    "jwks.json": "name the ConfigMap under `keys.jwks`",
    "jwt.key": "name the Secret under `keys.jwt`",
    "slurm.conf": "write its keywords under `controller.config`",
    "slurm.key": "name the Secret under `keys.slurm`",
    "slurmdbd.conf": "write its keywords under `accounting.config`",
}
_PREFIXES = {
    "prolog": "prolog-",
    "epilog": "epilog-",
    "prologSlurmctld": "prolog-slurmctld-",
    "epilogSlurmctld": "epilog-slurmctld-",
}
_LARGEST = 1024**2
_LONGEST = 253
_SHEBANG = re.compile(r"#![ \t]*/\S")
_ENROOT = re.compile(r"ENROOT_[A-Z_]+|MELLANOX_\w+|NVIDIA_\w+|SSL_CERT_DIR|SSL_CERT_FILE")

_OWN = ("components", "slurm")
_OPTIONS = ("metadata", "annotations", "argocd.argoproj.io/sync-options")
_REPLACED = from_rule("a new content has a new name, so that the old ConfigMap may go at once")
_HEALTH_FOLDER = "/opt/slurm-health-check"
_HEALTH_FILE = "health-check"
_TIMEOUT = 60
"""Seconds that slurmd gives a health check unless HealthCheckTimeout says otherwise."""


class Mounted(msgspec.Struct, frozen=True, kw_only=True):
    """A ConfigMap of ours, the volume that holds it and the mount of one container."""

    manifest: Manifest
    volume: Object
    mount: Object


# --- checks ------------------------------------------------------------------------------------


def findings(settings: SlurmSettings, *, dcgm_priority: str | None = None) -> Iterator[Finding]:
    """Yield what is wrong with scripts and files; `dcgm_priority` is set where the chart adds its own.

    It is the chart's `vendor.nvidia.dcgm.scriptPriority`.
    """
    scripts = _scripts(settings)
    for field, files in scripts.items():
        for name, text in files.items():
            yield from _script(text, (field, name))
    for name, text in settings.config_files.items():
        yield from _config_file(name, text)
    yield from _collisions(settings, dcgm_priority)
    for field, files in {**scripts, "configFiles": settings.config_files}.items():
        yield from _map(field, files)
    yield from _health_check(settings)
    yield from _enroot(settings)


def _scripts(settings: SlurmSettings) -> Mapping[str, Mapping[str, str]]:
    return {
        "prolog": settings.prolog,
        "epilog": settings.epilog,
        "prologSlurmctld": settings.prolog_slurmctld,
        "epilogSlurmctld": settings.epilog_slurmctld,
    }


def _script(text: str, path: Path) -> Iterator[Finding]:
    yield from _line_ends(text, path)
    if not _SHEBANG.match(text):
        first = text.split("\n", 1)[0].rstrip("\r")
        yield Finding(
            code="slurm-script-shebang",
            message=f'the first line "{first}" names no interpreter, so that jobs fail to start',
            hint='begin the script with "#!/bin/sh" or "#!/bin/bash"',
            path=path,
        )


def _config_file(name: str, text: str) -> Iterator[Finding]:
    path: Path = ("configFiles", name)
    yield from _line_ends(text, path)
    first = next((line for line in text.split("\n") if line.strip()), "")
    if first[:1] in (" ", "\t"):
        yield Finding(
            code="slurm-file-indented",
            message=f'the first line of "{name}" is indented; the chart prints YAML that nobody can read',
            hint="begin the first line at the margin",
            path=path,
        )
    if name in _OPERATOR:
        yield Finding(
            code="slurm-file-owned",
            message=f'"{name}" is written by the operator',
            hint=_OPERATOR[name],
            path=path,
            on_key=True,
        )
    elif name in _TYPED:
        yield Finding(
            code="slurm-file-typed",
            message=f'"{name}" is made from a field of its own',
            hint=_TYPED[name],
            path=path,
            on_key=True,
        )
    elif name not in KNOWN:
        yield Finding(
            code="slurm-file-unknown",
            level="warning",
            message=f'Slurm does not read "{name}" by itself',
            hint=f"include it from another file, or use one of {', '.join(_free())}",
            path=path,
            on_key=True,
        )


def _free() -> tuple[str, ...]:
    return tuple(name for name in KNOWN if name not in _TYPED)


def _line_ends(text: str, path: Path) -> Iterator[Finding]:
    if "\r" in text:
        yield Finding(
            code="slurm-file-crlf",
            message="the text has line ends of Windows, which become part of each line",
            hint="save it with Unix line ends (LF)",
            path=path,
        )


def _collisions(settings: SlurmSettings, dcgm_priority: str | None) -> Iterator[Finding]:
    seen: dict[str, str] = {}
    if dcgm_priority is not None:
        for kind in ("prolog", "epilog"):
            seen[f"{kind}-{dcgm_priority}-dcgm.sh"] = "the chart's own script for DCGM"
    for field, files in _scripts(settings).items():
        for name in files:
            yield from _collision(f"{_PREFIXES[field]}{name}", (field, name), seen)
    for name in settings.config_files:
        yield from _collision(name, ("configFiles", name), seen)


def _collision(file: str, path: Path, seen: dict[str, str]) -> Iterator[Finding]:
    other = seen.setdefault(file, str(path[0]))
    if other != path[0]:
        yield Finding(
            code="slurm-file-twice",
            message=f'"{path[1]}" becomes the file {file}, which is already that of {other}',
            hint="give the file another name",
            path=path,
            on_key=True,
        )


def _map(field: str, files: Mapping[str, str]) -> Iterator[Finding]:
    prefix = _PREFIXES.get(field, "")
    names = [f"{prefix}{name}" for name in files]
    for name, file in zip(files, names, strict=True):
        if len(file) > _LONGEST:
            yield Finding(
                code="slurm-file-name",
                message=f"the file name {file} has {len(file)} characters; a ConfigMap takes {_LONGEST}",
                hint="give the file a shorter name",
                path=(field, name),
                on_key=True,
            )
    size = sum(len(name) + len(text.encode()) for name, text in zip(names, files.values(), strict=True))
    if size > _LARGEST:
        yield Finding(
            code="slurm-files-size",
            message=f"the files are {size} bytes together; one ConfigMap holds {_LARGEST}",
            hint="put large files into the image or on a volume, and call them from here",
            path=(field,),
        )


def _health_check(settings: SlurmSettings) -> Iterator[Finding]:
    check = settings.health_check
    if check is None:
        return
    path: Path = ("healthCheck",)
    if check.script is not None:
        yield from _script(check.script, (*path, "script"))
        if len(check.script.encode()) > _LARGEST:
            yield Finding(
                code="slurm-files-size",
                message=f"the script is {len(check.script.encode())} bytes; a ConfigMap holds {_LARGEST}",
                hint="put the program into the image and name it under `healthCheck.program`",
                path=(*path, "script"),
            )
    alone = [state for state in check.node_state if state.endswith("_ONLY")]
    if alone and len(check.node_state) > 1:
        yield Finding(
            code="slurm-health-check-state",
            message=f"{alone[0]} stands beside other states; slurmctld does not start with that",
            hint=f"write nodeState: [{alone[0]}], or leave it out",
            path=(*path, "nodeState"),
        )
    timeout = _timeout(settings)
    if check.interval <= timeout:
        yield Finding(
            code="slurm-health-check-interval",
            level="warning",
            message=f"a run may take {timeout} seconds, but the next one comes after {check.interval}",
            hint=f"write an interval above {timeout}, or a shorter HealthCheckTimeout in controller.config",
            path=(*path, "interval"),
        )


def _timeout(settings: SlurmSettings) -> int:
    values = {key.lower(): value for key, value in settings.controller.config.items()}
    text = str(values.get("healthchecktimeout", _TIMEOUT))
    return int(text) if text.isdecimal() and int(text) else _TIMEOUT


def _enroot(settings: SlurmSettings) -> Iterator[Finding]:
    for key, value in settings.pyxis.enroot_config.items():
        path: Path = ("pyxis", "enrootConfig", key)
        if not _ENROOT.fullmatch(key):
            yield Finding(
                code="slurm-enroot-setting",
                message=f"enroot ignores {key} in enroot.conf",
                hint="settings begin with ENROOT_, without digits; further ones are NVIDIA_…, MELLANOX_…,"
                " SSL_CERT_DIR and SSL_CERT_FILE",
                path=path,
                on_key=True,
            )
        if "\n" in value or "\r" in value or not _balanced(value):
            yield Finding(
                code="slurm-enroot-value",
                message=f"the value of {key} is not one line of shell, so that enroot refuses the whole file",
                hint="close each quote, and write the value on one line",
                path=path,
            )
    if settings.pyxis.enroot_config and not settings.pyxis.enabled:
        yield Finding(
            code="slurm-enroot-unused",
            level="warning",
            message="there is a configuration of enroot, but pyxis is off",
            hint="write pyxis.enabled: true, or take enrootConfig out",
            path=("pyxis", "enrootConfig"),
            on_key=True,
        )


def _balanced(text: str) -> bool:
    try:
        shlex.split(text)
    except ValueError:
        return False
    return text.count("(") == text.count(")") and text.count("{") == text.count("}")


# --- products ----------------------------------------------------------------------------------


def plugstack(settings: SlurmSettings) -> str | None:
    """Return the text of plugstack.conf, None where no plugin is wanted."""
    wanted = (*((PYXIS,) if settings.pyxis.enabled else ()), *settings.plugstack)
    unique = dict.fromkeys(wanted)
    return "".join(f"{line}\n" for line in unique) or None


def enroot(settings: SlurmSettings, *, fullname: str, namespace: str) -> Mounted | None:
    """Return enroot.conf for node sets and logins, None where the image's own is kept."""
    if not settings.pyxis.enabled or not settings.pyxis.enroot_config:
        return None
    text = "".join(f"{key} {value}\n" for key, value in settings.pyxis.enroot_config.items())
    by = from_spec(*_OWN, "pyxis", "enrootConfig")
    name = f"{fullname}-enroot-{hashlib.sha256(text.encode()).hexdigest()[:8]}"
    made = (
        *_config_map(name, "enroot.conf", text, namespace, by),
        put(_OPTIONS, "Prune=true", _REPLACED),
    )
    return Mounted(
        manifest=Manifest(object=collect(made)),
        volume={"name": "enroot", "configMap": {"name": name}},
        mount={
            "name": "enroot",
            "mountPath": "/etc/enroot/enroot.conf",
            "subPath": "enroot.conf",
            "readOnly": True,
        },
    )


def health_check(settings: SlurmSettings, *, fullname: str, namespace: str) -> Mounted | None:
    """Return the health check program for node sets, None where it is in the image or there is none."""
    check = settings.health_check
    if check is None or check.script is None:
        return None
    by = from_spec(*_OWN, "healthCheck", "script")
    name = f"{fullname}-health-check"
    made = _config_map(name, _HEALTH_FILE, check.script, namespace, by)
    return Mounted(
        manifest=Manifest(object=collect(made)),
        volume={"name": "health-check", "configMap": {"name": name, "defaultMode": 0o755}},
        mount={"name": "health-check", "mountPath": _HEALTH_FOLDER, "readOnly": True},
    )


def health_check_config(check: HealthCheckProgram) -> Mapping[str, str]:
    """Return the keywords of slurm.conf that make slurmd run the program."""
    return {
        "HealthCheckProgram": check.program or f"{_HEALTH_FOLDER}/{_HEALTH_FILE}",
        "HealthCheckInterval": str(check.interval),
        "HealthCheckNodeState": ",".join(check.node_state),
    }


def _config_map(name: str, file: str, text: str, namespace: str, by: Origin) -> Iterator[Setting]:
    yield put("apiVersion", "v1", by)
    yield put("kind", "ConfigMap", by)
    yield put("metadata.name", name, by)
    yield put("metadata.namespace", namespace, from_spec(*_OWN, "namespace"))
    yield put(("data", file), text, by)
