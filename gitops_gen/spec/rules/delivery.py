"""The Git repository and the Argo CD of a cluster in, findings on how the two meet out."""

from __future__ import annotations

import re
from collections.abc import Iterator
from ipaddress import ip_network

from gitops_gen.catalog.versions import Version
from gitops_gen.controller.cron import schedule_fault
from gitops_gen.diagnostics import Diagnostic, Path
from gitops_gen.mask import mask_address
from gitops_gen.model import Catalog, ClusterSpec
from gitops_gen.spec.rules.place import warning

_NOT_A_PORT = re.compile(r"https?://[^/@\s\[]*:(?![0-9]+(?:/|\Z))")
_PLAIN_PATH = re.compile(r"[A-Za-z0-9._/-]+\Z")
_COMMIT = re.compile(r"[0-9a-f]{40}(?:[0-9a-f]{24})?\Z")
_NOT_A_REF = re.compile(r"\.\.|//|/\.|/\Z|\.\Z|\.lock(/|\Z)|[\s~^:?*\[\\]|@\{")


def credentials(spec: ClusterSpec, catalog: Catalog) -> Iterator[Diagnostic]:
    """Refuse a password or token in the repository's address; the message does not repeat it."""
    address = spec.gitops.repo_url
    if mask_address(address) != address or _NOT_A_PORT.match(address):
        yield Diagnostic(
            code="credentials-in-url",
            message="repoURL holds a password or token, which would stand in Git for everybody to read",
            path=("spec", "gitops", "repoURL"),
            hint="write the address alone and give the credentials to Argo CD (argocd repo add, or a "
            "repository Secret); revoke what was committed",
        )


def plain_http(spec: ClusterSpec, catalog: Catalog) -> Iterator[Diagnostic]:
    """Warn of a connection on which others can change what the cluster runs."""
    if spec.gitops.repo_url.startswith("http://"):
        yield warning(
            "repository-over-http",
            f'"{spec.gitops.repo_url}" is read without encryption: '
            "whoever sits in between can change what the cluster runs",
            ("spec", "gitops", "repoURL"),
            "use https:// or SSH",
        )


def tree_paths(spec: ClusterSpec, catalog: Catalog) -> Iterator[Diagnostic]:
    """Refuse a place for the tree that is Git's own, or whose name no command line takes as it is."""
    place: Path = ("spec", "gitops", "path") if spec.gitops.path is not None else ("spec", "gitops")
    if ".git" in spec.path.lower().split("/"):
        yield Diagnostic(
            code="tree-path-unusable",
            message=f'the tree cannot stand in "{spec.path}": Git keeps its own files there',
            path=place,
            hint="name another folder of the repository with gitops.path",
        )
    elif not _PLAIN_PATH.match(spec.path):
        yield Diagnostic(
            code="tree-path-unusable",
            message=f'the tree would stand in "{spec.path}", beside the spec; its folder must be named with '
            'letters, digits, "-", "_" and "." only',
            path=place,
            hint="rename the folder of the spec, or name another one with gitops.path",
        )


def revisions(spec: ClusterSpec, catalog: Catalog) -> Iterator[Diagnostic]:
    """Refuse a revision that is no branch: the tree is read from `refs/heads/<revision>`."""
    revision = spec.gitops.revision
    if revision == "HEAD":
        why, hint = '"HEAD" is whatever branch the repository has out', "name the branch, such as main"
    elif revision.startswith("refs/"):
        name = revision.removeprefix("refs/heads/")
        why, hint = f'"{revision}" is a full reference', f"write the branch alone: {name}"
    elif _COMMIT.match(revision):
        why, hint = f'"{revision}" is a commit, which never changes', "name the branch to follow"
    elif _NOT_A_REF.search(revision):
        why, hint = f'"{revision}" cannot be the name of a branch', "name the branch, such as main"
    else:
        return
    yield Diagnostic(
        code="revision-not-a-branch",
        message=f"{why}; Argo CD is told to follow a branch",
        path=("spec", "gitops", "revision"),
        hint=hint,
    )


def supported_argocd(spec: ClusterSpec, catalog: Catalog) -> Iterator[Diagnostic]:
    """Refuse an Argo CD whose fields we do not know."""
    facts = catalog.data.get("argocd", {})
    known: list[str] = facts["supported"]["versions"]  # type: ignore[index,call-overload,assignment]
    names = f"{', '.join(known[:-1])} and {known[-1]}"
    chosen = Version.parse(spec.argocd.version)
    if chosen.minor not in [Version.parse(item).minor for item in known]:
        yield Diagnostic(
            code="unsupported-argocd-version",
            message=f'Argo CD "{spec.argocd.version}" is not supported; {names} are',
            path=("spec", "argocd", "version"),
            hint=f"upgrade Argo CD to {known[-1]}"
            if chosen.minor < Version.parse(known[0]).minor
            else f"write {known[-1]}: a newer Argo CD reads what it reads",
        )


def window_schedules(spec: ClusterSpec, catalog: Catalog) -> Iterator[Diagnostic]:
    """Refuse a schedule that Argo CD cannot read."""
    for index, window in enumerate(spec.argocd.sync_windows):
        fault = schedule_fault(window.schedule)
        if fault:
            yield Diagnostic(
                code="bad-schedule",
                message=f'schedule "{window.schedule}": {fault}',
                path=("spec", "argocd", "syncWindows", index, "schedule"),
                hint="write minute, hour, day of month, month and day of week, such as 0 9 * * 1-5",
            )


def window_time_zones(spec: ClusterSpec, catalog: Catalog) -> Iterator[Diagnostic]:
    """Refuse a time zone that nobody knows: Argo CD would take UTC without a word."""
    from difflib import get_close_matches

    facts = catalog.data.get("argocd", {})
    known: list[str] = facts["timeZones"]["names"]  # type: ignore[index,call-overload,assignment]
    for index, window in enumerate(spec.argocd.sync_windows):
        if window.time_zone not in known:
            near = get_close_matches(window.time_zone, known, n=1)
            yield Diagnostic(
                code="unknown-time-zone",
                message=f'"{window.time_zone}" is not a time zone of the IANA database; '
                "Argo CD would open the window by UTC",
                path=("spec", "argocd", "syncWindows", index, "timeZone"),
                hint=f'did you mean "{near[0]}"?' if near else "write it as Asia/Seoul or UTC",
            )


def proxy_exceptions(spec: ClusterSpec, catalog: Catalog) -> Iterator[Diagnostic]:
    """Warn of a proxy that pods would use to reach the API server and each other."""
    if spec.proxy.http is None and spec.proxy.https is None:
        return
    missing = []
    if not any(_is_network(item) for item in spec.proxy.no_proxy):
        missing.append("the networks of services, pods and nodes, such as 10.0.0.0/8")
    if not any(item.lstrip("*.") in ("svc", "cluster.local") for item in spec.proxy.no_proxy):
        missing.append(".svc and .cluster.local")
    if missing:
        yield warning(
            "proxy-without-exceptions",
            "noProxy leaves the cluster itself out: pods would reach the API server and each other "
            "through the proxy",
            ("spec", "proxy", "noProxy") if spec.proxy.no_proxy else ("spec", "proxy"),
            f"add {' and '.join(missing)}",
        )


def _is_network(text: str) -> bool:
    try:
        ip_network(text, strict=False)
    except ValueError:
        return False
    return True


RULES = (
    credentials,
    plain_http,
    tree_paths,
    revisions,
    supported_argocd,
    window_schedules,
    window_time_zones,
    proxy_exceptions,
)
