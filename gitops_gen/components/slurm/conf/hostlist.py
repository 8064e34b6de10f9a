"""Host lists as Slurm writes them in, host names out, and back.

Source: src/common/hostlist.c of Slurm 26.05.3.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterable, Iterator

from gitops_gen.components.slurm.conf.grammar import Refusal

_MOST = 65536
"""Names that one host list may have (MAX_RANGE)."""
_RANGE = re.compile(r"([0-9]+)(?:-([0-9]+))?", re.ASCII)
_PLAIN = re.compile(r"[A-Za-z0-9]([-A-Za-z0-9_.]*[A-Za-z0-9_])?", re.ASCII)
_NUMBERED = re.compile(r"(.*?)([0-9]+)", re.ASCII)
_HINT = "write names and ranges such as gpu-[0-7],cpu-[00-15]"


def expand(text: str) -> tuple[str, ...] | Refusal:
    """Return the names of a host list in its order: `gpu-[0-2,4]` is gpu-0, gpu-1, gpu-2 and gpu-4."""
    words = _split(text)
    if isinstance(words, Refusal):
        return words
    names: list[str] = []
    for word in words:
        found = _expand_word(word, _MOST - len(names))
        if isinstance(found, Refusal):
            return found
        names += found
    return tuple(names)


def _split(text: str) -> list[str] | Refusal:
    words, depth = [""], 0
    for sign in text:
        depth += {"[": 1, "]": -1}.get(sign, 0)
        if depth not in (0, 1):
            return Refusal(reason="its brackets do not match", hint=_HINT)
        if sign == "," and not depth:
            words.append("")
        else:
            words[-1] += sign
    if depth:
        return Refusal(reason="its brackets do not match", hint=_HINT)
    return words


def _expand_word(word: str, room: int) -> list[str] | Refusal:
    parts = re.split(r"\[([^\]]*)\]", word)
    choices: list[list[str]] = []
    total = 1
    for index, part in enumerate(parts):
        found = _ranges(part, room) if index % 2 else [part]
        if isinstance(found, Refusal):
            return found
        total *= len(found)
        if total > room:
            return Refusal(reason=f"it has more than {_MOST} names", hint="write fewer names")
        choices.append(found)
    names = ["".join(pieces) for pieces in itertools.product(*choices)]
    if not _PLAIN.fullmatch(names[0]):
        return Refusal(reason=f'"{names[0]}" is no host name', hint=_HINT)
    return names


def _ranges(text: str, room: int) -> list[str] | Refusal:
    found: list[str] = []
    for item in text.split(","):
        match = _RANGE.fullmatch(item)
        if match is None:
            return Refusal(reason=f'"{item}" is no range of numbers', hint=_HINT)
        low, high = int(match[1]), int(match[2] or match[1])
        if low > high:
            return Refusal(reason=f'the range "{item}" runs backwards', hint=f'write "{high}-{low}"')
        if len(found) + high - low + 1 > room:
            return Refusal(reason=f"it has more than {_MOST} names", hint="write fewer names")
        found += [f"{number:0{len(match[1])}}" for number in range(low, high + 1)]
    return found


def format_hosts(names: Iterable[str]) -> str:
    """Return names as a host list, sorted, without repeats; names without a number stand by themselves."""
    plain = sorted(set(names))
    groups: dict[str, list[str]] = {}
    for name in plain:
        match = _NUMBERED.fullmatch(name)
        groups.setdefault(match[1] if match else name, []).append(match[2] if match else "")
    return ",".join(word for prefix, digits in groups.items() for word in _words(prefix, digits))


def _words(prefix: str, digits: list[str]) -> Iterator[str]:
    if "" in digits:
        yield prefix
    runs: list[list[str]] = []
    for text in sorted((item for item in digits if item), key=lambda item: (int(item), len(item))):
        last = runs[-1] if runs else None
        if last and int(text) == int(last[-1]) + 1 and text == f"{int(text):0{len(last[0])}}":
            last.append(text)
        else:
            runs.append([text])
    ranges = [run[0] if len(run) == 1 else f"{run[0]}-{run[-1]}" for run in runs]
    if len(ranges) == 1 and len(runs[0]) == 1:
        yield f"{prefix}{ranges[0]}"
    elif ranges:
        yield f"{prefix}[{','.join(ranges)}]"


def node_names(node_set: str, count: int, padding: int = 0) -> str:
    """Return the host list of a node set's first `count` nodes, ordinals padded with zeros to `padding`."""
    return format_hosts(f"{node_set}-{ordinal:0{padding or 1}}" for ordinal in range(count))
