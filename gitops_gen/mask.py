"""Text that people will read in, the same text without passwords and tokens out."""

from __future__ import annotations

import re

_WORD = r"(?:password|passwd|passphrase|bindpw|token|secret|credentials?|api[_-]?key|private[_-]?key)"
_SECRET = rf"(?i)(?:.*[^a-z])?[a-z]*{_WORD}s?\Z"
_ENTRY = r"""(?x)
    (?P<key> ["']? [A-Za-z0-9_.-]+ ["']? ) (?P<colon> \s* : \s+ )
    (?P<value> "(?:[^"\\]|\\.)*" | '(?:[^']|'')*' | [^\s"'{\[&*|>\#] .* )
    """
_IN_FLOW = r"[,}\]]"
_NAMED = r"\bname\s*:\s*[\"']?(?P<name>[A-Za-z0-9_.-]+)[\"']?\s*,\s*value\s*:\s*(?P<value>[^,}\s]+)"
_CREDENTIALS = r"(?<=://)[^/@\s:]*:[^/@\s]+(?=@)|(?<=http://|ttps://)[^/@\s]+(?=@)"


def is_secret(key: str) -> bool:
    """Tell whether `key` may hold a secret: `bindPW` and `clientSecret` may, not `secretRef`."""
    return re.match(_SECRET, key) is not None


def mask_address(text: str) -> str:
    """Hide the password or token in an address; the user of `ssh://git@host` stays."""
    return re.sub(_CREDENTIALS, "***", text)


def mask_line(line: str) -> str:
    """Replace each character of what may be a secret by `*`; the line keeps its length."""
    chars = list(line)
    for start, end in (*_secret_entries(line), *_secret_variables(line), *_addresses(line)):
        chars[start:end] = "*" * (end - start)
    return "".join(chars)


def _secret_entries(line: str) -> list[tuple[int, int]]:
    """Return where the values of secret keys stand in a line of YAML."""
    spans: list[tuple[int, int]] = []
    at = 0
    entry_pattern = re.compile(_ENTRY)
    while (entry := entry_pattern.search(line, at)) is not None:
        start, end = entry.span("value")
        if line[start] not in "\"'":
            end = _end_of_plain(line, start)
        secret = is_secret(entry["key"].strip("\"'"))
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
    return [item.span() for item in re.finditer(_CREDENTIALS, line)]
