"""The sacctmgr commands in, a Job that runs them in the cluster out, with the script that it reads.

The pod is built as the operator builds its own (1.1.2 and 1.2.1): slurm.conf from the ConfigMap
`<fullname>-config`, the key of auth/slurm beside it, user and group 401. A client of auth/slurm
talks to a sackd, so the Job starts one, from an image that has it: that of the logins.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from gitops_gen.components.slurm.sacctmgr import lines, registered
from gitops_gen.components.slurm.settings import SlurmSettings
from gitops_gen.model import Json, Manifest, Object, Setting, from_rule, from_spec
from gitops_gen.traced import collect, put

HOOK = "Sync"
"""The phase that the Job runs in.

PostSync waits until everything is healthy. A partition with a QOS keeps slurmctld, and with it every
worker, from starting until the QOS exists: the hook that makes it would wait for what waits for it.
"""

_USER = 401
_SCRIPT = "bootstrap.sh"
_SOCKET = "/run/slurm/sack.socket"
_OWN = ("components", "slurm")
_BY = from_spec(*_OWN, "accounting", "bootstrapJob")
_QOS = from_spec(*_OWN, "accounting", "qos")
_ACCOUNTS = from_spec(*_OWN, "accounting", "accounts")
_HOOKED = from_rule("slurmctld may need what the Job makes, so that it runs beside it, not after it")
_AS_OPERATOR = from_rule("the pod is built as the operator builds those of Slurm")


def bootstrap_job(
    settings: SlurmSettings,
    *,
    fullname: str,
    namespace: str,
    image: str,
    pull_secrets: Sequence[str] = (),
) -> tuple[Manifest, Manifest]:
    """Return the ConfigMap with the script, and the Job; it runs at each sync and changes nothing twice.

    `fullname` is that of the slurm chart, `image` has bash, sackd and sacctmgr.
    """
    name = f"{fullname}-accounting-bootstrap"
    script = (*_head("v1", "ConfigMap", name, namespace), put(("data", _SCRIPT), script_of(settings), *_WHY))
    job = (*_head("batch/v1", "Job", name, namespace), *_job(settings, name, fullname, image, pull_secrets))
    return Manifest(object=collect(script)), Manifest(object=collect(job))


def script_of(settings: SlurmSettings) -> str:
    """Return the script: sackd is started and slurmctld waited for, then come the commands."""
    cluster = settings.cluster_name
    commands = "\n".join(lines(settings.accounting, cluster))
    return f"""\
#!/bin/bash
set -euo pipefail
sackd -D &
sackd=$!
until test -S {_SOCKET}; do
  kill -0 "$sackd"
  sleep 1
done
# slurmctld registers the cluster itself; adding it here would give it another ID.
until test -n "$({registered(cluster)})"; do
  echo "waiting for slurmctld to register the cluster"
  sleep 5
done
{commands}
"""


_WHY = (_BY, _QOS, _ACCOUNTS)


def _head(version: str, kind: str, name: str, namespace: str) -> Iterator[Setting]:
    yield put("apiVersion", version, _BY)
    yield put("kind", kind, _BY)
    yield put("metadata.name", name, _BY)
    yield put("metadata.namespace", namespace, from_spec(*_OWN, "namespace"))


def _job(
    settings: SlurmSettings, name: str, fullname: str, image: str, pull_secrets: Sequence[str]
) -> Iterator[Setting]:
    annotations = ("metadata", "annotations")
    yield put((*annotations, "argocd.argoproj.io/hook"), HOOK, _HOOKED)
    yield put((*annotations, "argocd.argoproj.io/hook-delete-policy"), "BeforeHookCreation", _HOOKED)
    yield put("spec.backoffLimit", 6, _BY)
    yield put("spec.activeDeadlineSeconds", 3600, from_rule("a database may take long to come up"))
    pod = ("spec", "template", "spec")
    yield put((*pod, "restartPolicy"), "Never", from_rule("the log of a failed attempt stays readable"))
    yield put((*pod, "automountServiceAccountToken"), False, _AS_OPERATOR)
    yield put((*pod, "enableServiceLinks"), False, _AS_OPERATOR)
    ids: Object = {"runAsNonRoot": True, "runAsUser": _USER, "runAsGroup": _USER, "fsGroup": _USER}
    yield put((*pod, "securityContext"), {**ids, "seccompProfile": {"type": "RuntimeDefault"}}, _AS_OPERATOR)
    yield from _placement(settings, pod, pull_secrets)
    yield put((*pod, "containers"), [_container(settings, image)], _BY, from_spec(*_OWN, "images"))
    yield put((*pod, "volumes"), _volumes(settings, name, fullname), _AS_OPERATOR)


def _placement(
    settings: SlurmSettings, pod: tuple[str, ...], pull_secrets: Sequence[str]
) -> Iterator[Setting]:
    accounting = settings.accounting
    selector: Object = {"kubernetes.io/os": "linux", **accounting.node_selector}
    own = from_spec(*_OWN, "accounting", "nodeSelector")
    yield put((*pod, "nodeSelector"), selector, own if accounting.node_selector else _AS_OPERATOR)
    if accounting.tolerations:
        tolerations: list[Json] = [dict(item) for item in accounting.tolerations]
        yield put((*pod, "tolerations"), tolerations, from_spec(*_OWN, "accounting", "tolerations"))
    if pull_secrets:
        named: list[Json] = [{"name": item} for item in pull_secrets]
        yield put((*pod, "imagePullSecrets"), named, from_spec("registry", "pullSecrets"))


def _container(settings: SlurmSettings, image: str) -> Object:
    return {
        "name": "sacctmgr",
        "image": image,
        "imagePullPolicy": settings.images.pull_policy,
        "command": ["bash", f"/bootstrap/{_SCRIPT}"],
        "resources": {
            "requests": {"cpu": "50m", "memory": "64Mi"},
            "limits": {"memory": "512Mi"},
        },
        "securityContext": {
            "allowPrivilegeEscalation": False,
            "capabilities": {"drop": ["ALL"]},
        },
        "volumeMounts": [
            {"name": "slurm-etc", "mountPath": "/etc/slurm", "readOnly": True},
            {"name": "sackd-dir", "mountPath": "/run/slurm"},
            {"name": "bootstrap", "mountPath": "/bootstrap", "readOnly": True},
        ],
    }


def _volumes(settings: SlurmSettings, name: str, fullname: str) -> list[Json]:
    key = settings.keys.slurm.secret_ref
    readable = 0o440
    etc: list[Json] = [
        {"configMap": {"name": f"{fullname}-config"}},
        {"secret": {"name": key.name, "items": [{"key": key.key, "path": "slurm.key"}]}},
    ]
    return [
        {"name": "slurm-etc", "projected": {"defaultMode": readable, "sources": etc}},
        {"name": "sackd-dir", "emptyDir": {"medium": "Memory"}},
        {"name": "bootstrap", "configMap": {"name": name}},
    ]
