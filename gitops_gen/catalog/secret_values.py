"""Raw chart values in, an error out for each that holds secret data: it would stand in Git."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from gitops_gen.diagnostics import Diagnostic, Path
from gitops_gen.mask import mask_address
from gitops_gen.model import ChartKeys, Json
from gitops_gen.traced import format_path

_KEY = re.compile(
    r"(?i)(?:.*[^a-z])?[a-z]*(?:password|passwd|passphrase|htpasswd|bindpw|client_?secret|"
    r"private_?key|api_?key|access_?key|auth_?token|bearer_?token|token)\Z"
)
_PRIVATE_KEY = re.compile(r"-----BEGIN [A-Z ]*PRIVATE KEY-----")
_REFERENCES = ("existingSecret", "existingSecretName", "secretName", "secretRef")


def secret_values(values: Mapping[str, Json], keys: ChartKeys, root: Path) -> Iterator[Diagnostic]:
    """Yield an error for each password, token, private key or address with credentials in `values`.

    What the environment or a file fills in (`$NAME`, `$__file{…}`) is a reference and passes.
    """
    for at, value in _strings((), dict(values)):
        if _is_secret(at, value, values):
            yield Diagnostic(
                code="secret-in-values",
                message=f'values key "{format_path(at)}" holds secret data, which would stand in Git',
                path=(*root, *at),
                hint=_hint(at, keys),
                on_key=isinstance(at[-1], str),
            )


def _is_secret(at: Path, value: str, values: Mapping[str, Json]) -> bool:
    if not value or value.startswith("$"):
        return False
    if _PRIVATE_KEY.search(value) or mask_address(value) != value:
        return True
    return _KEY.match(_named(at, values)) is not None


def _named(at: Path, values: Mapping[str, Json]) -> str:
    """Return what a value is called: its key, or the `name` beside a `value` of a variable."""
    found: Json = dict(values)
    for part in at[:-1]:
        match found, part:
            case dict(), str():
                found = found[part]
            case list(), int():
                found = found[part]
    match found, at[-1]:
        case {"name": str(name)}, "value":
            return name
    return str(at[-1])


def _strings(at: Path, value: Json) -> Iterator[tuple[Path, str]]:
    if isinstance(value, dict):
        for key, item in value.items():
            yield from _strings((*at, key), item)
    elif isinstance(value, list):
        for index, item in enumerate(value):
            yield from _strings((*at, index), item)
    elif isinstance(value, str) and at:
        yield at, value


def _hint(at: Path, keys: ChartKeys) -> str:
    """Name the chart's own reference to a Secret where one stands near, else say where Secrets go."""
    for size in range(len(at) - 1, 0, -1):
        parent = format_path(at[:size])
        near = [name for name in keys.keys if name.startswith(f"{parent}.") and name.endswith(_REFERENCES)]
        if near:
            leaf = str(at[-1]).lower()
            best = min(near, key=lambda name: (not leaf.startswith(name.split(".")[-2].lower()), len(name)))
            return f"put it into a Secret of the cluster and name that: {best}"
    return "put it into a Secret of the cluster, and let the chart refer to that by name"
