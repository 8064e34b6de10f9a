"""Codes, places and words in, diagnostics out: the short forms that every rule uses."""

from __future__ import annotations

from collections.abc import Iterable

from gitops_gen.diagnostics import Diagnostic, Path, Severity


def error(code: str, path: Path, message: str, hint: str = "") -> Diagnostic:
    """Return a finding that Argo CD or Kubernetes refuses, or that never does what it says."""
    return Diagnostic(code=code, path=path, message=message, hint=hint)


def warning(code: str, path: Path, message: str, hint: str = "") -> Diagnostic:
    """Return a finding that works, but not as a reader would expect."""
    return Diagnostic(code=code, path=path, message=message, hint=hint, severity=Severity.WARNING)


def notice(code: str, path: Path, message: str, hint: str = "") -> Diagnostic:
    """Return a finding that is worth knowing and needs no change."""
    return Diagnostic(code=code, path=path, message=message, hint=hint, severity=Severity.NOTICE)


def suggestion(word: str, known: Iterable[str]) -> str:
    """Return the hint that names the known word nearest to `word`, empty if none is near."""
    from difflib import get_close_matches

    by_lower = {item.lower(): item for item in sorted(known, reverse=True)}
    near = get_close_matches(word.lower(), by_lower, n=1, cutoff=0.6) or [
        item for item in by_lower if len(word) > 3 and item.startswith(word.lower())
    ]
    return f'did you mean "{by_lower[near[0]]}"?' if near else ""


def listed(words: Iterable[str]) -> str:
    """Return words as prose lists them: `a, b or c`."""
    parts = list(words)
    return " or ".join([*([", ".join(parts[:-1])] if parts[:-1] else []), *parts[-1:]])
