"""Short makers of findings; paths are relative to the mapping that was checked."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import msgspec

from gitops_gen.components.slurm.finding import Finding
from gitops_gen.diagnostics import Path


def fault(code: str, message: str, hint: str, *path: str | int, on_key: bool = False) -> Finding:
    """Return an error at a path."""
    return Finding(code=code, message=message, hint=hint, path=path, on_key=on_key)


def warning(code: str, message: str, hint: str, *path: str | int, on_key: bool = False) -> Finding:
    """Return a warning at a path."""
    return Finding(code=code, level="warning", message=message, hint=hint, path=path, on_key=on_key)


def below(findings: Iterable[Finding], *prefix: str | int) -> Iterator[Finding]:
    """Yield the findings with their paths below `prefix`."""
    for item in findings:
        path: Path = (*prefix, *item.path)
        yield msgspec.structs.replace(item, path=path)


def listed(words: Iterable[str], last: str = "or") -> str:
    """Return words as prose: `a, b or c`."""
    *head, tail = words
    return f"{', '.join(head)} {last} {tail}" if head else tail


def quoted(text: str) -> str:
    """Return what the user wrote in quotes, on one line and not too long."""
    shown = text.encode("unicode_escape").decode("ascii") if not text.isprintable() else text
    return f'"{shown if len(shown) <= 60 else shown[:57] + "..."}"'
