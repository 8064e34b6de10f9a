"""A pattern and a text in, whether Argo CD's three kinds of glob match out."""

from __future__ import annotations

import re
from functools import lru_cache

_CLASS = re.compile(r"\[([!^]?)((?:\\.|[^\]\\])+)\]")


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
    one = f"[^{re.escape(separator)}]" if separator else "."
    out, at, depth = "", 0, 0
    while at < len(pattern):
        sign = pattern[at]
        found = _CLASS.match(pattern, at) if sign == "[" else None
        if sign == "\\" and at + 1 < len(pattern):
            at += 1
            out += re.escape(pattern[at])
        elif found:
            out += f"[{'^' if found[1] else ''}{found[2]}]"
            at = found.end() - 1
        elif braces and pattern.startswith("**", at):
            out += ".*"
            at += len(pattern[at:]) - len(pattern[at:].lstrip("*")) - 1
        elif sign in "*?":
            out += one + ("*" if sign == "*" else "")
        elif braces and sign == "{":
            out, depth = out + "(?:", depth + 1
        elif depth and sign == "}":
            out, depth = out + ")", depth - 1
        elif depth and sign == ",":
            out += "|"
        elif sign == "[":
            return None
        else:
            out += re.escape(sign)
        at += 1
    return None if depth else _regex(out)


def _regex(text: str) -> re.Pattern[str] | None:
    try:
        return re.compile(text, re.DOTALL)
    except re.error:
        return None
