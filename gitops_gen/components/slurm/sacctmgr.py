"""QOS, accounts and users of the spec in, sacctmgr commands that make them out, and a Job that runs them.

Syntax and behaviour were read in sacctmgr's manual and source of Slurm 26.05.3. `add` of something
that exists fails, so each `add` asks first. An account that is moved to the parent it already has is
skipped together with everything else that the command sets, so that moving is a command of its own.
"""

from __future__ import annotations

import shlex
from collections.abc import Iterable, Iterator, Mapping

import msgspec

from gitops_gen.components.slurm.finding import Finding
from gitops_gen.components.slurm.settings import Account, Accounting, Config, Qos, SlurmSettings
from gitops_gen.diagnostics import Path

ROOT = "root"
NORMAL = "normal"
"""The QOS that slurmdbd makes by itself, and the only one of the root account."""

FLAGS = (
    "DenyOnLimit",
    "EnforceUsageThreshold",
    "NoDecay",
    "NoReserve",
    "OverPartQOS",
    "PartitionMaxNodes",
    "PartitionMinNodes",
    "PartitionTimeLimit",
    "Relative",
    "RequiresReservation",
    "UsageFactorSafe",
)
"""Flags of a QOS that may be set (src/common/slurmdb_defs.c of Slurm 26.05.3)."""

_USER = frozenset("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-@$")
_ADD, _MODIFY = "sacctmgr --immediate add", "sacctmgr --immediate modify"
_SHOW = "sacctmgr --noheader --parsable2 show"
_LARGEST = 1024**2 - 4096
"""Bytes of commands that fit into a ConfigMap beside the head of the script."""


# --- commands ----------------------------------------------------------------------------------


def lines(accounting: Accounting, cluster_name: str) -> tuple[str, ...]:
    """Return one shell command a line; running them again changes nothing.

    QOS come first, then accounts with parents before children, then users in the order of the spec:
    the first account that names a user becomes the default. What the spec leaves out stays as it is,
    except the parent, which is root then. slurmctld must have registered the cluster before.
    """
    return (
        *(line for qos in accounting.qos for line in _qos(qos)),
        *(_modify("qos", f"name={qos.name}", _preempt(qos)) for qos in accounting.qos if qos.preempt),
        *(line for item in parents_first(accounting.accounts) for line in _account(item, cluster_name)),
        *(
            _user(user, account.name, cluster_name)
            for account in accounting.accounts
            for user in account.users
        ),
    )


def registered(cluster_name: str) -> str:
    """Return the command that prints the cluster's name once slurmctld has registered it."""
    return f"{_SHOW} clusters where {shlex.quote(f'name={cluster_name}')} format=cluster"


def parents_first(accounts: Iterable[Account]) -> tuple[Account, ...]:
    """Return the accounts in the order of the spec, but none before its parent; cycles end somewhere."""
    known = {account.name: account for account in accounts}
    done: dict[str, Account] = {}
    for account in known.values():
        branch = [account]
        while (above := known.get(branch[-1].parent or "")) is not None and above not in branch:
            branch.append(above)
        for item in reversed(branch):
            done.setdefault(item.name, item)
    return tuple(done.values())


def _qos(qos: Qos) -> Iterator[str]:
    name = f"name={qos.name}"
    yield _unless(f"qos where {name} format=name", f"qos {name}")
    wanted = tuple(_limits(qos))
    if wanted:
        yield _modify("qos", name, wanted)


def _limits(qos: Qos) -> Iterator[str]:
    values: Mapping[str, object] = {
        "description": qos.description,
        "priority": qos.priority,
        "maxwall": qos.max_wall,
        "maxjobsperuser": qos.max_jobs_per_user,
        "maxsubmitjobsperuser": qos.max_submit_per_user,
    }
    yield from _assignments(values)
    tres = {"maxtresperuser": qos.max_tres_per_user, "grptres": qos.grp_tres}
    yield from _assignments({key: _tres(value) for key, value in tres.items() if value})
    if qos.flags:
        yield f"flags={','.join(qos.flags)}"


def _preempt(qos: Qos) -> tuple[str, ...]:
    return (f"preempt={','.join(qos.preempt)}",)


def _account(account: Account, cluster: str) -> Iterator[str]:
    parent = account.parent or ROOT
    place = f"cluster={cluster} account={account.name}"
    yield _unless(
        f"associations where {place} format=account",
        f"account name={account.name} cluster={cluster} parent={parent}",
    )
    where = f"name={account.name} cluster={cluster}"
    found = f"$({_SHOW} associations where {place} parent={parent} format=account)"
    yield f'test -n "{found}" || {_modify("account", where, (f"parent={parent}",))}'
    values: Mapping[str, object] = {
        "description": account.description,
        "organization": account.organization,
        "fairshare": account.fairshare,
        "qos": ",".join(account.qos) or None,
        "defaultqos": account.default_qos,
    }
    wanted = tuple(_assignments(values))
    if wanted:
        yield _modify("account", where, wanted)


def _user(user: str, account: str, cluster: str) -> str:
    return _unless(
        f"associations where cluster={cluster} account={account} {shlex.quote(f'user={user}')} format=user",
        f"user {shlex.quote(f'name={user}')} cluster={cluster} account={account}",
    )


def _unless(there: str, added: str) -> str:
    return f'test -n "$({_SHOW} {there})" || {_ADD} {added}'


def _modify(kind: str, where: str, wanted: Iterable[str]) -> str:
    return f"{_MODIFY} {kind} where {where} set {' '.join(shlex.quote(item) for item in wanted)}"


def _assignments(values: Mapping[str, object]) -> Iterator[str]:
    yield from (f"{key}={value}" for key, value in values.items() if value is not None)


def _tres(values: Mapping[str, int]) -> str:
    return ",".join(f"{name}={count}" for name, count in values.items())


# --- checks ------------------------------------------------------------------------------------


class Undeclared(msgspec.Struct, frozen=True, kw_only=True):
    """A QOS or account that is used at `path` and that the spec does not make."""

    kind: str
    name: str
    path: Path


def undeclared(settings: SlurmSettings) -> tuple[Undeclared, ...]:
    """Return what partitions, QOS and accounts use although the spec does not declare it."""
    accounting = settings.accounting
    known = {
        "qos": {NORMAL, *(item.name for item in accounting.qos)},
        "account": {ROOT, *(item.name for item in accounting.accounts)},
    }
    used = (*_partition_uses(settings), *_qos_uses(accounting), *_account_uses(accounting))
    return tuple(item for item in used if item.name not in known[item.kind])


def findings(settings: SlurmSettings) -> Iterator[Finding]:
    """Yield what slurmdbd would refuse, and what would be missing when slurmctld asks for it."""
    accounting = settings.accounting
    yield from _missing(settings)
    yield from _qos_findings(accounting.qos)
    yield from _account_findings(accounting.accounts)
    size = sum(len(line) + 1 for line in lines(accounting, settings.cluster_name))
    if accounting.bootstrap_job and size > _LARGEST:
        yield Finding(
            code="slurm-bootstrap-size",
            message=f"the commands of the bootstrap Job are {size} bytes long; a ConfigMap holds {_LARGEST}",
            hint="leave users to the tool that manages your directory, and keep QOS and accounts here",
            path=("accounting", "bootstrapJob"),
        )


def _partition_uses(settings: SlurmSettings) -> Iterator[Undeclared]:
    for index, partition in enumerate(settings.partitions):
        path: Path = ("partitions", index)
        if partition.qos is not None:
            yield Undeclared(kind="qos", name=partition.qos, path=(*path, "qos"))
        for place, name in enumerate(partition.allow_qos):
            yield Undeclared(kind="qos", name=name, path=(*path, "allowQos", place))
        for place, name in enumerate(partition.allow_accounts):
            yield Undeclared(kind="account", name=name, path=(*path, "allowAccounts", place))
        yield from _config_uses(partition.config, (*path, "config"))


def _config_uses(config: Config, path: Path) -> Iterator[Undeclared]:
    kinds = {"qos": "qos", "allowqos": "qos", "denyqos": "qos"}
    kinds |= {"allowaccounts": "account", "denyaccounts": "account"}
    for key, value in config.items():
        kind = kinds.get(key.lower())
        items = value if isinstance(value, list) else str(value).split(",")
        for name in items if kind else ():
            if str(name).upper() != "ALL":
                yield Undeclared(kind=str(kind), name=str(name), path=(*path, key))


def _qos_uses(accounting: Accounting) -> Iterator[Undeclared]:
    for index, qos in enumerate(accounting.qos):
        for place, name in enumerate(qos.preempt):
            yield Undeclared(kind="qos", name=name, path=("accounting", "qos", index, "preempt", place))


def _account_uses(accounting: Accounting) -> Iterator[Undeclared]:
    for index, account in enumerate(accounting.accounts):
        path: Path = ("accounting", "accounts", index)
        for place, name in enumerate(account.qos):
            yield Undeclared(kind="qos", name=name, path=(*path, "qos", place))
        if account.default_qos is not None:
            yield Undeclared(kind="qos", name=account.default_qos, path=(*path, "defaultQos"))
        if account.parent is not None:
            yield Undeclared(kind="account", name=account.parent, path=(*path, "parent"))


def _missing(settings: SlurmSettings) -> Iterator[Finding]:
    for item in undeclared(settings):
        in_partition = item.path[0] == "partitions"
        if item.kind == "qos":
            after = "slurmctld stops at its start without it" if in_partition else "slurmdbd refuses it"
            yield Finding(
                code="slurm-qos-undeclared",
                message=f'"{item.name}" is no QOS of accounting.qos; {after}',
                hint=f"add {{name: {item.name}}} to accounting.qos; one that exists is left as it is",
                path=item.path,
            )
        else:
            after = "no job can name it" if in_partition else "slurmdbd refuses its children"
            yield Finding(
                code="slurm-account-undeclared",
                level="warning" if in_partition else "error",
                message=f'"{item.name}" is no account of accounting.accounts; {after}',
                hint=f"add {{name: {item.name}}} to accounting.accounts; one that exists is left in place",
                path=item.path,
            )


def _qos_findings(all_qos: tuple[Qos, ...]) -> Iterator[Finding]:
    preempts = {qos.name: qos.preempt for qos in all_qos}
    for index, qos in enumerate(all_qos):
        path: Path = ("accounting", "qos", index)
        for place, flag in enumerate(qos.flags):
            if flag not in FLAGS:
                yield _unknown_flag(flag, (*path, "flags", place))
        loop = _way_back(qos.name, preempts)
        if loop and qos.name == _first(all_qos, loop):
            yield Finding(
                code="slurm-qos-preempt-cycle",
                message=f"these QOS preempt each other: {' → '.join(loop)}; slurmdbd refuses that",
                hint="let preemption go one way only; QOS of one rank do not preempt each other",
                path=(*path, "preempt"),
            )


def _unknown_flag(flag: str, path: Path) -> Finding:
    known = {item.lower(): item for item in FLAGS}
    meant = known.get(flag.lower())
    hint = f'write "{meant}"' if meant else f"flags are {', '.join(FLAGS)}"
    return Finding(code="slurm-qos-flag", message=f'"{flag}" is no flag of a QOS', hint=hint, path=path)


def _account_findings(accounts: tuple[Account, ...]) -> Iterator[Finding]:
    parents = {item.name: (item.parent,) for item in accounts if item.parent}
    for index, account in enumerate(accounts):
        path: Path = ("accounting", "accounts", index)
        if account.name == ROOT:
            yield Finding(
                code="slurm-account-root",
                message="the account root exists in every cluster and cannot be made",
                hint="leave it out; accounts without `parent` stand below it",
                path=(*path, "name"),
            )
        loop = _way_back(account.name, parents)
        if loop and account.name == _first(accounts, loop):
            yield Finding(
                code="slurm-account-cycle",
                message=f"these accounts are each other's parents: {' → '.join(loop)}",
                hint="let one of them stand below root: leave out its `parent`",
                path=(*path, "parent"),
            )
        yield from _default_qos(account, accounts, path)
        yield from _users(account, path)


def _default_qos(account: Account, accounts: tuple[Account, ...], path: Path) -> Iterator[Finding]:
    allowed = _effective_qos(account, accounts)
    if account.default_qos is not None and account.default_qos not in allowed:
        whose = "its own `qos`" if account.qos else "the QOS that it inherits"
        yield Finding(
            code="slurm-default-qos",
            message=f'the default QOS "{account.default_qos}" is none of {whose}: {", ".join(allowed)}',
            hint=f"write qos: [{', '.join((*allowed, account.default_qos))}] at the account",
            path=(*path, "defaultQos"),
        )


def _effective_qos(account: Account, accounts: tuple[Account, ...]) -> tuple[str, ...]:
    known = {item.name: item for item in accounts}
    seen: set[str] = set()
    at: Account | None = account
    while at is not None and at.name not in seen:
        if at.qos:
            return at.qos
        seen.add(at.name)
        at = known.get(at.parent or ROOT)
    return (NORMAL,)


def _users(account: Account, path: Path) -> Iterator[Finding]:
    for place, user in enumerate(account.users):
        if user[0] in "-@$." or not _USER.issuperset(user):
            yield Finding(
                code="slurm-user-name",
                message=f'"{user}" cannot be the name of a user: sacctmgr reads "," and "[" as lists',
                hint='a name has letters, digits, "_", "-", "." and "@"; write one user an item',
                path=(*path, "users", place),
            )


def _way_back(start: str, edges: Mapping[str, tuple[str, ...]]) -> tuple[str, ...]:
    """Return the shortest way from a name back to itself, empty if there is none."""
    ways: list[tuple[str, ...]] = [(start,)]
    seen: set[str] = set()
    for way in ways:
        for name in edges.get(way[-1], ()):
            if name == start:
                return (*way, name)
            if name not in seen:
                seen.add(name)
                ways.append((*way, name))
    return ()


def _first(items: Iterable[Qos | Account], loop: tuple[str, ...]) -> str:
    """Return the member of a loop that the spec names first, where the loop is said once."""
    return next(item.name for item in items if item.name in loop)
