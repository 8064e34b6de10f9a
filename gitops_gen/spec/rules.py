"""A typed spec in, findings out: the rules that no single component owns."""

from __future__ import annotations

import re
from collections.abc import Iterator
from urllib.parse import urlsplit

from gitops_gen.catalog.versions import Version
from gitops_gen.diagnostics import Diagnostic, Severity
from gitops_gen.model import Catalog, ClusterSpec
from gitops_gen.spec.pool_rules import POOL_RULES, Rule

_SCP_LIKE = re.compile(r"(?P<user>[^@/:\s]+)@(?P<host>[^:/\s]+):(?P<path>[^\s]+)\Z")
_LONGEST_NAME = 40
_NAME_ROOM = 63


def base_rules(spec: ClusterSpec, catalog: Catalog) -> Iterator[Diagnostic]:
    """Yield what is wrong with everything but the components, in no particular order."""
    for rule in RULES:
        yield from rule(spec, catalog)


def kubernetes_version(spec: ClusterSpec, catalog: Catalog) -> Iterator[Diagnostic]:
    """Kubernetes versions are a minor or a full version."""
    try:
        parsed = Version.parse(spec.kubernetes.version)
    except ValueError:
        parsed = None
    if parsed is None or len(parsed.numbers) not in (2, 3):
        yield Diagnostic(
            code="bad-kubernetes-version",
            message=f'"{spec.kubernetes.version}" is not a Kubernetes version',
            path=("spec", "kubernetes", "version"),
            hint='write a minor such as "1.35", or what `kubectl version` prints for the server',
        )


def argocd_version(spec: ClusterSpec, catalog: Catalog) -> Iterator[Diagnostic]:
    """Argo CD must be one of the lines that we write for."""
    match catalog.data["argocd"]:
        case {"supported": {"versions": [*versions]}}:
            lines = [str(item) for item in versions]
    if ".".join(spec.argocd.version.removeprefix("v").split(".")[:2]) not in lines:
        yield Diagnostic(
            code="unsupported-argocd-version",
            message=f'Argo CD "{spec.argocd.version}" is not supported',
            path=("spec", "argocd", "version"),
            hint=f"supported: {', '.join(lines)}",
        )


def destination(spec: ClusterSpec, catalog: Catalog) -> Iterator[Diagnostic]:
    """Argo CD refuses a destination with both name and server."""
    chosen = spec.argocd.destination
    if chosen.name is not None and chosen.server is not None:
        yield Diagnostic(
            code="destination-name-and-server",
            message="the destination has both name and server: Argo CD refuses that",
            path=("spec", "argocd", "destination"),
            hint="keep `name`, which is the same on every Argo CD",
        )


def cluster_name_has_room(spec: ClusterSpec, catalog: Catalog) -> Iterator[Diagnostic]:
    """Names of Applications start with the cluster's; labels end at 63 characters."""
    if len(spec.name) > _LONGEST_NAME:
        yield Diagnostic(
            code="cluster-name-too-long",
            message=f'"{spec.name}" has {len(spec.name)} characters: `<cluster>-<app>` must stay '
            f"within {_NAME_ROOM}",
            path=("metadata", "name"),
            hint=f"use at most {_LONGEST_NAME} characters",
        )


def repository(spec: ClusterSpec, catalog: Catalog) -> Iterator[Diagnostic]:
    """The repository is an https, ssh or scp-like URL that holds no password."""
    url, path = spec.gitops.repo_url, ("spec", "gitops", "repoURL")
    if _SCP_LIKE.match(url):
        return
    parts = urlsplit(url)
    if parts.scheme not in ("https", "http", "ssh") or not parts.hostname or len(parts.path) < 2:
        yield Diagnostic(
            code="bad-repository-url",
            message="this is no Git repository that Argo CD can read",
            path=path,
            hint="write https://HOST/PATH.git, ssh://git@HOST/PATH.git or git@HOST:PATH.git",
        )
    elif parts.password is not None or (parts.username is not None and parts.scheme != "ssh"):
        yield Diagnostic(
            code="credentials-in-url",
            message="the repository URL holds a user name or password, which would stand in Git",
            path=path,
            hint="write the URL without it; give Argo CD the credentials in a repository Secret",
        )
    elif parts.scheme == "http":
        yield Diagnostic(
            code="plain-http",
            severity=Severity.WARNING,
            message="the repository is read over plain http: anybody on the way can change the cluster",
            path=path,
            hint="use https or ssh",
        )


def tree_path(spec: ClusterSpec, catalog: Catalog) -> Iterator[Diagnostic]:
    """The tree's place is a relative path inside the repository."""
    path = spec.gitops.path
    if path is None:
        return
    parts = path.split("/")
    if path.startswith("/") or "" in parts or "." in parts or ".." in parts:
        yield Diagnostic(
            code="bad-tree-path",
            message=f'"{path}" is no path inside the repository',
            path=("spec", "gitops", "path"),
            hint="write it relative to the repository, such as clusters/prod/rendered",
        )


def revision(spec: ClusterSpec, catalog: Catalog) -> Iterator[Diagnostic]:
    """The tree is read from a branch."""
    name = spec.gitops.revision
    if name == "HEAD" or re.fullmatch(r"[0-9a-f]{40}", name):
        what = "whatever branch is the default one" if name == "HEAD" else "one commit for ever"
        yield Diagnostic(
            code="revision-not-a-branch",
            message=f'revision "{name}" means {what}; the tree is read from a branch',
            path=("spec", "gitops", "revision"),
            hint="name the branch, such as main",
        )


def secret_store(spec: ClusterSpec, catalog: Catalog) -> Iterator[Diagnostic]:
    """External Secrets need a store."""
    secrets = spec.secrets
    if secrets.store == "external-secrets" and secrets.store_ref is None:
        yield Diagnostic(
            code="secret-store-missing",
            message="secrets come from External Secrets, but no store is named",
            path=("spec", "secrets", "store"),
            hint="add storeRef: {kind: ClusterSecretStore, name: …}",
        )
    elif secrets.store != "external-secrets" and secrets.store_ref is not None:
        yield Diagnostic(
            code="secret-store-unused",
            severity=Severity.WARNING,
            message=f"storeRef has no effect while store is {secrets.store}",
            path=("spec", "secrets", "storeRef"),
            hint="write `store: external-secrets`, or remove storeRef",
        )


def mirrors(spec: ClusterSpec, catalog: Catalog) -> Iterator[Diagnostic]:
    """Mirrors are image registries as images name them, without a scheme."""
    for source, mirror in spec.registry.mirrors.items():
        if "://" in source + mirror or mirror.endswith("/"):
            yield Diagnostic(
                code="bad-mirror",
                message=f'mirror "{mirror}" of "{source}" is no image prefix',
                path=("spec", "registry", "mirrors", source),
                hint="write it as images do: nvcr.io: registry.example.com/nvcr",
            )


def air_gap(spec: ClusterSpec, catalog: Catalog) -> Iterator[Diagnostic]:
    """Without the Internet, images need a mirror."""
    if spec.air_gap and not spec.registry.mirrors:
        yield Diagnostic(
            code="air-gap-without-mirrors",
            message="airGap is on, but no image registry has a mirror",
            path=("spec", "airGap"),
            hint="add registry.mirrors, such as {nvcr.io: registry.example.com/nvcr}",
        )


def proxy_urls(spec: ClusterSpec, catalog: Catalog) -> Iterator[Diagnostic]:
    """Proxies are URLs without a password."""
    for key, url in (("http", spec.proxy.http), ("https", spec.proxy.https)):
        if url is None:
            continue
        parts = urlsplit(url)
        if parts.password is not None:
            yield Diagnostic(
                code="credentials-in-url",
                message="the proxy URL holds a password, which would stand in Git",
                path=("spec", "proxy", key),
                hint="use a proxy that needs none from the nodes",
            )
        elif parts.scheme not in ("http", "https") or not parts.hostname:
            yield Diagnostic(
                code="bad-proxy-url",
                message="this is no proxy URL",
                path=("spec", "proxy", key),
                hint="write http://HOST:PORT",
            )


RULES: tuple[Rule, ...] = (
    kubernetes_version,
    argocd_version,
    destination,
    cluster_name_has_room,
    repository,
    tree_path,
    revision,
    secret_store,
    mirrors,
    air_gap,
    proxy_urls,
    *POOL_RULES,
)
