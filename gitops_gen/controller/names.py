"""Names, labels, revisions and repository URLs in, whether their readers would take them out."""

from __future__ import annotations

import re
from functools import lru_cache

_LABEL = r"[a-z0-9](?:[-a-z0-9]*[a-z0-9])?"
_SUBDOMAIN = re.compile(rf"{_LABEL}(?:\.{_LABEL})*\Z")
_QUALIFIED = re.compile(r"[A-Za-z0-9](?:[-A-Za-z0-9_.]*[A-Za-z0-9])?\Z")
_REF = re.compile(r"[a-zA-Z0-9_-]+\Z")
_EXACT = re.compile(r"v?\d+\.\d+\.\d+(?:-[0-9A-Za-z.-]+)?(?:\+[0-9A-Za-z.-]+)?\Z")
_CONSTRAINT = re.compile(r"[*^~<>=!,|]|(?:^|\.)[xX](?:\.|$)")
_SSH = re.compile(r"(ssh://)?([^/:]*?)@[^@]+\Z")


def is_subdomain(name: str, longest: int) -> bool:
    """Say whether it is a DNS-1123 subdomain of at most `longest` characters."""
    return len(name) <= longest and _SUBDOMAIN.match(name) is not None


def is_label_value(value: str, longest: int) -> bool:
    """Say whether Kubernetes takes it as a label's value; the empty one passes."""
    return value == "" or (len(value) <= longest and _QUALIFIED.match(value) is not None)


def is_qualified_name(key: str, longest: int, longest_prefix: int) -> bool:
    """Say whether Kubernetes takes it as a label or annotation key: `prefix/name`."""
    prefix, slash, name = key.rpartition("/")
    if slash and not is_subdomain(prefix, longest_prefix):
        return False
    return len(name) <= longest and _QUALIFIED.match(name) is not None


def is_ref(name: str) -> bool:
    """Say whether Argo CD takes it as a source's `ref`."""
    return _REF.match(name) is not None


def is_exact_version(version: str) -> bool:
    """Say whether a chart version is one version: three numbers, maybe `v` and a pre-release."""
    return _EXACT.match(version) is not None


def is_constraint(revision: str) -> bool:
    """Say whether a revision is a range of versions such as `1.x`, `*` or `>=2`."""
    return _CONSTRAINT.search(revision) is not None


def short_revision(revision: str) -> str:
    """Return a Git revision without `refs/heads/` or `refs/tags/`; the empty one is HEAD."""
    for prefix in ("refs/heads/", "refs/tags/"):
        revision = revision.removeprefix(prefix)
    return revision or "HEAD"


@lru_cache(maxsize=1024)
def normalise_repository(url: str) -> str:
    """Return the form in which Argo CD compares repositories: lower case, no `.git`, no `ssh://`."""
    url = url.strip().lower()
    if _SSH.match(url) and not url.startswith("ssh://"):
        url = url.replace(":", "/", 1)
    return url.removesuffix(".git").removeprefix("ssh://")
