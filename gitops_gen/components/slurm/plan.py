"""One Slurm cluster in, its Applications out: CRDs, operator, database, Slurm."""

from __future__ import annotations

from collections.abc import Iterator

from gitops_gen.components.mariadb_operator.database import Database, DatabaseRequest, plan_database
from gitops_gen.components.parts import pull_secrets
from gitops_gen.components.slurm.config import OWN
from gitops_gen.components.slurm.context import FULLNAME, Context, own
from gitops_gen.components.slurm.health import GROUP
from gitops_gen.components.slurm.objects import objects
from gitops_gen.components.slurm.operator import operator_applications
from gitops_gen.components.slurm.sacctmgr import lines
from gitops_gen.components.slurm.settings import KeyRef
from gitops_gen.components.slurm.storage import claims
from gitops_gen.components.slurm.values import chart_values
from gitops_gen.model import (
    Application,
    CommandBlock,
    DirectorySource,
    HelmSource,
    IgnoreDifference,
    Json,
    NamespaceRequest,
    Pruning,
    SecretRequest,
    Source,
    from_fact,
    from_spec,
)
from gitops_gen.traced import collect

CHART, DATABASE = "slurm", "slurm-database"
_DATABASE_WAVE, _WAVE = -10, 0
_KEY_BYTES = 1024
# The kinds come with other Applications, or with the operator that somebody else runs. That every apply is a
# server-side one matters here: a client-side one leaves an annotation that the operator copies into its pods.
_SYNC = ("SkipDryRunOnMissingResource=true",)


def applications(context: Context) -> Iterator[Application]:
    """Yield everything that the component installs, in the order of its waves."""
    yield from operator_applications(context)
    database = _database(context)
    if database is not None:
        yield _database_application(context, database)
    yield _slurm(context, database)


def _database(context: Context) -> Database | None:
    accounting = context.settings.accounting
    wanted = accounting.database.mariadb_operator if accounting.database is not None else None
    if not accounting.enabled or accounting.external is not None or wanted is None:
        return None
    at = (*OWN, "accounting", "database", "mariadbOperator")
    request = DatabaseRequest(
        name=DATABASE,
        namespace=context.namespace,
        database=wanted.name,
        username=wanted.username,
        size=wanted.size,
        buffer_pool=wanted.buffer_pool,
        at=at,
        namespace_at=(*OWN, "namespace"),
        storage_class=wanted.storage_class,
        tolerations=accounting.tolerations,
    )
    return plan_database(context.spec, request)


def _database_application(context: Context, database: Database) -> Application:
    wanted = context.settings.accounting.database
    assert wanted is not None
    assert wanted.mariadb_operator is not None
    place = ".".join(("spec", *OWN, "accounting.database.mariadbOperator"))
    chosen = wanted.mariadb_operator
    return Application(
        name=DATABASE,
        component=context.facts.name,
        stack=context.facts.stack,
        namespace=context.namespace,
        wave=_DATABASE_WAVE,
        sources=(DirectorySource(manifests=database.manifests),),
        namespaces=(_namespace(context),),
        sync_options=("SkipDryRunOnMissingResource=true",),
        secrets=tuple(pull_secrets(context.spec, context.namespace, "the accounting database")),
        state={
            f"{place}.name": chosen.name,
            f"{place}.username": chosen.username,
            f"{place}.storageClass": chosen.storage_class or context.spec.storage.default_class,
        },
        notes=(
            f"The MariaDB operator makes the Secrets {_named(database.secrets)} once, with "
            "generated passwords; back them up with the database.",
        ),
        origins=(from_spec(*OWN, "accounting", "database", "mariadbOperator"),),
    )


def _named(names: tuple[str, ...]) -> str:
    return " and ".join(f"`{name}`" for name in names)


def _slurm(context: Context, database: Database | None) -> Application:
    chart = context.data["charts"][0]
    helm = HelmSource(
        repo_url=chart["repository"],
        chart=chart["name"],
        version=context.part.version,
        release_name=FULLNAME,
        values=collect(chart_values(context, database)),
    )
    beside = objects(context)
    sources: tuple[Source, ...] = (helm, DirectorySource(manifests=beside)) if beside else (helm,)
    return Application(
        name=CHART,
        component=context.facts.name,
        stack=context.facts.stack,
        namespace=context.namespace,
        wave=_WAVE,
        sources=sources,
        namespaces=(_namespace(context),),
        secrets=tuple(_needs(context)),
        ignore_differences=tuple(_scaled(context)),
        sync_options=_SYNC,
        pruning=Pruning.CONFIRM,
        state=_state(context),
        notes=tuple(_notes(context)),
        commands=tuple(_commands(context)),
        origins=(own(),),
    )


def _namespace(context: Context) -> NamespaceRequest:
    security = context.data["podSecurity"]
    return NamespaceRequest(
        name=context.namespace,
        labels={"pod-security.kubernetes.io/enforce": security["slurm"]},
        origins=(own(), from_fact(f"slurm/component.yaml: {security['source']}")),
    )


def _scaled(context: Context) -> Iterator[IgnoreDifference]:
    """KEDA's autoscaler writes the replicas of the node sets that it scales, of no others."""
    for worker in context.autoscaled:
        yield IgnoreDifference(
            group=GROUP,
            kind="NodeSet",
            name=f"{FULLNAME}-worker-{worker.name}",
            json_pointers=("/spec/replicas",),
        )


def _state(context: Context) -> dict[str, Json]:
    """Return what Slurm never takes back: names on disk and in the database, keys, the queue's volume."""
    settings, place = context.settings, ".".join(("spec", *OWN))
    volume = settings.controller.persistence
    locked: dict[str, Json] = {
        f"{place}.namespace": context.namespace,
        f"{place}.clusterName": settings.cluster_name,
        f"{place}.keys.slurm.secretRef.name": settings.keys.slurm.secret_ref.name,
        f"{place}.keys.jwt.secretRef.name": settings.keys.jwt.secret_ref.name,
        f"{place}.operator.managedBy": settings.operator.managed_by,
    }
    if settings.controller.external is None:
        where = f"{place}.controller.persistence"
        locked[f"{where}.enabled"] = volume.enabled
        locked[f"{where}.existingClaim"] = volume.existing_claim
        if volume.enabled and volume.existing_claim is None:
            locked[f"{where}.size"] = volume.size
            locked[f"{where}.storageClass"] = volume.storage_class or context.spec.storage.default_class
    return locked


# --- what must exist ---------------------------------------------------------------------------


def _needs(context: Context) -> Iterator[SecretRequest]:
    settings = context.settings
    yield _key(context, settings.keys.slurm.secret_ref, "the key by which Slurm's daemons trust each other")
    yield _key(context, settings.keys.jwt.secret_ref, "the key that signs Slurm's tokens (JWT)")
    if settings.keys.jwks is not None:
        ref = settings.keys.jwks.config_map_ref
        yield _request(context, ref, "public keys of the identity provider (JWKS)", kind="ConfigMap")
    if settings.sssd is not None:
        yield _request(context, settings.sssd.secret_ref, "sssd.conf: where users come from")
    database = settings.accounting.database
    existing = (database.external or database.cloud_sql) if database is not None else None
    if settings.accounting.enabled and settings.accounting.external is None and existing is not None:
        yield _request(context, existing.password_ref, f"password of {existing.username} at {existing.host}")
    yield from _controller_claim(context)
    yield from claims(settings.volumes, context.namespace)
    yield from pull_secrets(context.spec, context.namespace, "Slurm")


def _key(context: Context, ref: KeyRef, purpose: str) -> SecretRequest:
    """A daemon outside has the key already: a random one would shut it out."""
    settings = context.settings
    outside = {"slurmctld": settings.controller.external, "slurmdbd": settings.accounting.external}
    owner = next((name for name, host in outside.items() if host is not None), None)
    return SecretRequest(
        namespace=context.namespace,
        name=ref.name,
        keys=(ref.key,),
        purpose=purpose if owner is None else f"{purpose}: a copy of that of the {owner} outside",
        random_bytes=_KEY_BYTES if owner is None else 0,
    )


def _request(context: Context, ref: KeyRef, purpose: str, *, kind: str = "Secret") -> SecretRequest:
    return SecretRequest(
        namespace=context.namespace,
        name=ref.name,
        keys=(ref.key,),
        purpose=purpose,
        kind="ConfigMap" if kind == "ConfigMap" else "Secret",
    )


def _controller_claim(context: Context) -> Iterator[SecretRequest]:
    controller = context.settings.controller
    volume = controller.persistence
    if controller.external is None and volume.enabled and volume.existing_claim is not None:
        yield SecretRequest(
            namespace=context.namespace,
            name=volume.existing_claim,
            purpose="the queue and the state of all jobs (slurmctld)",
            kind="PersistentVolumeClaim",
            size=volume.size or "4Gi",
            access_mode=volume.access_modes[0],
        )


# --- what the administrator reads --------------------------------------------------------------


def _notes(context: Context) -> Iterator[str]:
    settings = context.settings
    if settings.accounting.enabled and settings.accounting.external is None:
        yield (
            "slurmctld restarts until slurmdbd has answered for the first time: a few restarts at the first "
            "sync are no fault."
        )
    if settings.accounting.enforce and not settings.accounting.bootstrap_job:
        if _sacctmgr(context):
            yield (
                "Slurm refuses jobs until the accounts and QOS below exist in its database: run the commands "
                "once slurmctld is up."
            )
        else:
            yield (
                "Slurm refuses jobs of users that its database does not know; accounts that are written "
                "under `accounting.accounts` would stand here as commands."
            )
    for worker in context.autoscaled:
        yield (
            f"KEDA changes the replicas of node set {worker.name} by its pending jobs; Argo CD leaves them "
            "alone."
        )


def _sacctmgr(context: Context) -> tuple[str, ...]:
    """Return the commands that fill the database; nobody runs them where slurmctld is outside."""
    if context.settings.controller.external is not None:
        return ()
    return lines(context.settings.accounting, context.settings.cluster_name)


def _commands(context: Context) -> Iterator[CommandBlock]:
    wanted = _sacctmgr(context)
    if wanted and not context.settings.accounting.bootstrap_job:
        pod = (
            f"kubectl -n {context.namespace} exec -i {FULLNAME}-controller-0 -c slurmctld -- bash -s <<'EOF'"
        )
        yield CommandBlock(
            purpose="accounts and QOS; running them again changes nothing", lines=(pod, *wanted, "EOF")
        )
