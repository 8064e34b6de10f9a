"""A pattern and a text in, whether Argo CD's three kinds of glob match out."""

from __future__ import annotations

import re
from functools import lru_cache

_TOKEN = re.compile(r"\\(.)|\[([!^]?)((?:\\.|[^\]\\])+)\]|(\*+)|(.)", re.DOTALL)


def glob_matches(pattern: str, text: str, separator: str = "") -> bool:
    """Match as projects do: `*` stops at the separator, `**` does not, `{a,b}` alternates."""
    compiled = _compile(pattern, separator, True)
    return compiled is not None and compiled.fullmatch(text) is not None


def permits(pattern: str, text: str, separator: str = "") -> bool:
    """Match one entry of a project: `!` in front turns it round, a sole `*` takes everything."""
    if pattern.startswith("!"):
        return not glob_matches(pattern[1:], text, separator)
    return pattern == "*" or glob_matches(pattern, text, separator)


def shell_matches(pattern: str, text: str) -> bool:
    """Match as Go's filepath does for groups, kinds and names: `*` stops at `/`, no braces."""
    compiled = _compile(pattern, "/", False)
    return compiled is not None and compiled.fullmatch(text) is not None


def path_matches(pattern: str, path: str) -> bool:
    """Match a value file as doublestar does: a segment `**` is any number of folders, even none."""
    variants = {pattern}
    while any("**/" in item for item in variants):
        variants = {new for item in variants for new in _without_doublestar(item)}
    return any(glob_matches(item.replace("\0", "**/"), path, "/") for item in variants)


def _without_doublestar(pattern: str) -> tuple[str, ...]:
    if "**/" not in pattern:
        return (pattern,)
    return (pattern.replace("**/", "", 1), pattern.replace("**/", "\0", 1))


def has_glob(path: str) -> bool:
    """Say whether a value file's path would be expanded as a glob."""
    return any(sign in path for sign in "*?[")


@lru_cache(maxsize=1024)
def _compile(pattern: str, separator: str, braces: bool) -> re.Pattern[str] | None:
    """Return the pattern as a regular expression, None where Go could not read it."""
    one = f"[^{re.escape(separator)}]" if separator else "."
    out, depth = [], 0
    for found in _TOKEN.finditer(pattern):
        sign = found[0]
        if braces and sign in "{}":
            depth += 1 if sign == "{" else -1
            out.append("(?:" if sign == "{" else ")")
        elif sign == "," and depth:
            out.append("|")
        else:
            out.append(_translate(found, one, braces))
    return None if depth else _regex("".join(out))


def _translate(found: re.Match[str], one: str, braces: bool) -> str:
    escaped, negated, signs, stars, other = found.groups()
    if stars:
        return ".*" if braces and len(stars) > 1 else f"{one}*"
    if signs:
        return f"[{'^' if negated else ''}{signs}]"
    if other == "?":
        return one
    return "[" if other == "[" else re.escape(escaped or other)


def _regex(text: str) -> re.Pattern[str] | None:
    """Compile; a bracket that is left open stays one, so that it fails here."""
    try:
        return re.compile(text, re.DOTALL)
    except re.error:
        return None
