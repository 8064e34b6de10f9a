"""Text that people will read in, the same text without passwords and tokens out."""

from __future__ import annotations

import re
from typing import TypeGuard

from gitops_gen.diagnostics import Path

_WORD = r"(?:password|passwd|passphrase|bindpw|token|secret|credentials?|api[_-]?key|private[_-]?key)"
_SECRET = rf"(?i)(?!.*(?:existing|pull)[_-]?secrets?\Z)(?:.*[^a-z])?[a-z]*{_WORD}s?\Z"
_ENTRY = r"""(?x)
    (?P<key> ["']? [A-Za-z0-9_.-]+ ["']? ) (?P<colon> \s* : \s+ )
    (?P<value> "(?:[^"\\]|\\.)*" | '(?:[^']|'')*' | [^\s"'&*|>\#] .* )
"""
_HOLDER = r"(?i).*(?:secret|credential)s?\Z"
_IN_FLOW = r"[,}\]]"
_NAMED = r"\bname\s*:\s*[\"']?(?P<name>[A-Za-z0-9_.-]+)[\"']?\s*,\s*value\s*:\s*(?P<value>[^,}\s]+)"
_CREDENTIALS = (
    r"://(?P<secret>[^/@\s:]*:[^/@\s]+)@",
    r"https?://(?P<secret>[^/@\s]+)@",
    r"(?<![\w.+-])[\w.+-]+:(?P<secret>[^/@\s\"']+)@(?!sha\d)[\w\[]",
    rf"(?i)[?&;][\w.-]*(?:{_WORD}|key|signature)=(?P<secret>[^&;\s\"']+)",
)


def is_secret(key: str) -> bool:
    """Tell whether `key` may hold a secret: `bindPW` and `clientSecret` may, not `existingSecret`."""
    return re.match(_SECRET, key) is not None


def mask_address(text: str) -> str:
    """Hide passwords and tokens in the addresses of a text; the user of `ssh://git@host` stays."""
    shown = text
    for start, end in sorted(_addresses(text), reverse=True):
        shown = f"{shown[:start]}***{shown[end:]}"
    return shown


def mask_below(line: str, path: Path) -> str:
    """Mask a line that stands below a secret key of `path` rather than beside it, else only its secrets."""
    secret = [part for at, part in enumerate(path, start=1) if _is_secret_part(part, last=at == len(path))]
    beside = all(re.search(rf"(?<![\w.-]){re.escape(key)}[\"']?\s*:", line) for key in secret)
    return mask_line(line) if beside else re.sub(r"\S", "*", line)


def mask_line(line: str) -> str:
    """Replace each character of what may be a secret by `*`; the line keeps its length."""
    chars = list(line)
    for start, end in (*_secret_entries(line), *_secret_variables(line), *_addresses(line)):
        chars[start:end] = "*" * (end - start)
    return "".join(chars)


def _is_secret_part(part: str | int, *, last: bool) -> TypeGuard[str]:
    """Tell whether a key keeps a secret, rather than what is said about secrets."""
    if not isinstance(part, str) or not is_secret(part):
        return False
    return re.match(_HOLDER, part) is None or (last and not part.endswith("s"))


def _secret_entries(line: str) -> list[tuple[int, int]]:
    """Return where the values of secret keys stand in a line of YAML."""
    spans: list[tuple[int, int]] = []
    at = 0
    entry_pattern = re.compile(_ENTRY)
    while (entry := entry_pattern.search(line, at)) is not None:
        start, end = entry.span("value")
        key, nested = entry["key"].strip("\"'"), line[start] in "{["
        if line[start] not in "\"'":
            end = len(line) if nested else _end_of_plain(line, start)
        secret = is_secret(key) and not (nested and re.match(_HOLDER, key))
        if secret and not line.startswith("$", start):
            spans.append((start, end))
        at = end if secret or line[start] in "\"'" else start
    return spans


def _end_of_plain(line: str, start: int) -> int:
    """Return where an unquoted value ends: at a comment, or in a flow mapping at its end."""
    comment = line.find(" #", start)
    end = len(line) if comment < 0 else comment
    stop = re.compile(_IN_FLOW).search(line, start, end) if re.search(r"[{\[]", line[:start]) else None
    return len(line[: stop.start() if stop else end].rstrip())


def _secret_variables(line: str) -> list[tuple[int, int]]:
    return [item.span("value") for item in re.finditer(_NAMED, line) if is_secret(item["name"])]


def _addresses(line: str) -> list[tuple[int, int]]:
    """Return where credentials stand in addresses; no two places overlap."""
    found = [item.span("secret") for pattern in _CREDENTIALS for item in re.finditer(pattern, line)]
    return [one for one in set(found) if not any(_holds(other, one) for other in found)]


def _holds(one: tuple[int, int], other: tuple[int, int]) -> bool:
    return one != other and one[0] <= other[0] and other[1] <= one[1]
