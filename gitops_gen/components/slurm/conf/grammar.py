"""Texts of values in, what Slurm understands out: times, numbers, sizes, switches and lists.

Each parser returns the value, or a `Refusal` that says what was understood and what would be right.
Source: src/common/parse_time.c, parse_value.c and proc_args.c of Slurm 26.05.3.
"""

from __future__ import annotations

import math
import re
from typing import Final

import msgspec

UNLIMITED: Final = math.inf
"""No limit; greater than every number, so that limits compare as they should."""

_TRUE = ("yes", "up", "true", "1")
_FALSE = ("no", "down", "false", "0")
_ENDLESS = ("infinite", "unlimited")
_NUMBER = re.compile(r"[ \t]*\+?(0[xX][0-9a-fA-F]+|[0-9]+)([kK]?)")
_FLOAT = re.compile(r"[ \t]*[-+]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][-+]?[0-9]+)?")
_SIZE = re.compile(r"\+?([0-9]+)(?:([kKmMgGtT])[bB]?)?")
_COUNT = re.compile(r"([0-9]+)(?:([kKmMgGtTpP])(b|ib)?)?", re.IGNORECASE)
_PURGE = re.compile(r"([0-9]+)(.*)", re.DOTALL)
_TIME = re.compile(
    r"(?P<days>\d+)-(?:(?P<h>\d+)(?::(?P<m>\d+)(?::(?P<s>\d+))?)?)?"
    r"|(?P<hours>\d+):(?P<hm>\d+):(?P<hs>\d+)"
    r"|(?P<minutes>\d+)(?::(?P<ms>\d+))?",
    re.ASCII,
)
_LONGEST = 2**31 - 1
"""Slurm counts seconds of a time limit in a C int."""
_LIMITS = {16: 2**16 - 1, 32: 2**32 - 1, 64: 2**64 - 1}
_UNITS = {"k": 1, "m": 2, "g": 3, "t": 4, "p": 5}
_TIME_FORMS = "minutes, MM:SS, HH:MM:SS, D-HH, D-HH:MM, D-HH:MM:SS or UNLIMITED"


class Refusal(msgspec.Struct, frozen=True, kw_only=True):
    """Why a value is not what Slurm expects: `reason` continues "… is not valid: ", `hint` the way out."""

    reason: str
    hint: str


def parse_time(value: str | int) -> float | Refusal:
    """Return the seconds of a time limit, `UNLIMITED` for none; an int is a number of minutes.

    Slurm's limits have whole minutes: `minutes_of` rounds up as slurmctld does.
    """
    if isinstance(value, bool):
        return Refusal(reason="a switch is not a time", hint=f"write {_TIME_FORMS}")
    if isinstance(value, int):
        return parse_time(str(value))
    if value.lower() in ("-1", *_ENDLESS):
        return UNLIMITED
    found = _TIME.fullmatch(value)
    if found is None:
        return _bad_time(value)
    part = {name: int(text or 0) for name, text in found.groupdict().items()}
    seconds = (
        part["days"] * 86400
        + (part["h"] + part["hours"]) * 3600
        + (part["m"] + part["hm"] + part["minutes"]) * 60
        + part["s"]
        + part["hs"]
        + part["ms"]
    )
    if seconds > _LONGEST:
        return Refusal(
            reason=f"{seconds} seconds are more than Slurm can count ({_LONGEST})",
            hint="write UNLIMITED, or a time below 68 years",
        )
    return seconds


def _bad_time(value: str) -> Refusal:
    quantity = re.fullmatch(r"(\d{1,9}) ?(s|sec|m|min|h|hour|hours|d|day|days)", value.lower(), re.ASCII)
    if quantity is not None:
        seconds = int(quantity[1]) * {"s": 1, "m": 60, "h": 3600, "d": 86400}[quantity[2][0]]
        return Refusal(reason="Slurm knows no units of time", hint=f'write "{format_time(seconds)}"')
    if not value.strip():
        return Refusal(reason="it is empty", hint=f"write {_TIME_FORMS}")
    if value.count(":") > 2 or value.count("-") > 1:
        return Refusal(reason="it has too many parts", hint=f"write {_TIME_FORMS}")
    if value.endswith(":"):
        return Refusal(reason='nothing follows the last ":"', hint=f"write {_TIME_FORMS}")
    if value.startswith("-"):
        return Refusal(reason="a time cannot be negative", hint="write UNLIMITED (or -1) for no limit")
    return Refusal(reason="it is none of Slurm's forms of a time", hint=f"write {_TIME_FORMS}")


def minutes_of(seconds: float) -> float:
    """Return whole minutes, rounded up as slurmctld does; `UNLIMITED` stays."""
    return seconds if math.isinf(seconds) else math.ceil(seconds / 60)


def format_time(seconds: float) -> str:
    """Return seconds as D-HH:MM:SS, HH:MM:SS or UNLIMITED."""
    if math.isinf(seconds):
        return "UNLIMITED"
    days, rest = divmod(int(seconds), 86400)
    clock = f"{rest // 3600:02}:{rest // 60 % 60:02}:{rest % 60:02}"
    return f"{days}-{clock}" if days else clock


def parse_unsigned(text: str, bits: int) -> float | Refusal:
    """Return a number that fits into 16, 32 or 64 bits, `UNLIMITED` for INFINITE and UNLIMITED.

    As in C a leading 0x is hexadecimal and a leading 0 octal; K multiplies by 1024 but for 16 bits.
    """
    if text.lower() in _ENDLESS:
        return UNLIMITED
    most = _LIMITS[bits]
    found = _NUMBER.fullmatch(text)
    if found is None or (found[2] and bits == 16):
        return _bad_number(text, most)
    digits = found[1]
    octal = len(digits) > 1 and digits[0] == "0" and digits[1] not in "xX"
    if octal and re.search("[89]", digits):
        return Refusal(reason="a leading 0 makes it octal, which has no 8 and 9", hint="leave the 0 out")
    number = int(digits, 8 if octal else 0) * (1024 if found[2] else 1)
    if number > most:
        return Refusal(reason=f"it is greater than {most}", hint=f"write a number up to {most}, or UNLIMITED")
    return number


def _bad_number(text: str, most: int) -> Refusal:
    usual = f"write a whole number up to {most}, or UNLIMITED"
    if not text.strip():
        return Refusal(reason="it is empty", hint=usual)
    if text.lstrip().startswith("-"):
        return Refusal(reason="it is less than zero", hint=usual)
    size = _SIZE.fullmatch(re.sub(r"[iI](?=[bB]?$)", "", text))
    if size is not None and size[2]:
        mebibytes = parse_size(f"{size[1]}{size[2]}")
        exact = f'write "{mebibytes:.0f}" for that many MiB' if isinstance(mebibytes, int) else usual
        return Refusal(reason=f'the suffix "{text[len(size[1]) :]}" is not known here', hint=exact)
    if re.fullmatch(r"[0-9]+(\.[0-9]+)?[eE][+]?[0-9]{1,2}", text):
        return Refusal(reason="Slurm reads no exponents", hint=f'write "{int(float(text))}"')
    if _FLOAT.fullmatch(text):
        return Refusal(reason="it is not whole", hint=usual)
    return Refusal(reason="it is not a number", hint=usual)


def parse_size(text: str | int) -> int | Refusal:
    """Return MiB of a size: a number of MiB, or one with the suffix K, M, G or T, each also with B.

    This is the grammar of memory in commands and in TRES; keywords of slurm.conf take plain MiB.
    """
    found = _SIZE.fullmatch(str(text)) if not isinstance(text, bool) else None
    if found is None:
        stripped = re.sub(r"[iI](?=[bB]?$)", "", str(text))
        fits = _SIZE.fullmatch(stripped) is not None and stripped != str(text)
        return Refusal(
            reason="Slurm's suffixes have no i" if fits else "it is not a size",
            hint=f'write "{stripped}"' if fits else "write MiB as a number, or a number with K, M, G or T",
        )
    number, unit = int(found[1]), (found[2] or "m").lower()
    if number > 2**53:
        return Refusal(reason="it is greater than any memory", hint="write MiB as a number")
    return -(-number // 1024) if unit == "k" else number * 1024 ** (_UNITS[unit] - 2)


def parse_count(text: str | int) -> int | Refusal:
    """Return the number of a GRES count: K, M, G, T and P (KiB alike) are powers of 1024, KB of 1000."""
    found = _COUNT.fullmatch(str(text)) if not isinstance(text, bool) else None
    if found is None:
        return Refusal(
            reason="it is not a count", hint="write a whole number, with K, M, G, T or P if it is large"
        )
    base = 1000 if (found[3] or "").lower() == "b" else 1024
    number: int = int(found[1]) * base ** _UNITS.get((found[2] or "").lower(), 0)
    if number > 2**63 - 1:
        return Refusal(reason="it is greater than Slurm can count", hint="write a smaller number")
    return number


def parse_bool(text: str) -> bool | Refusal:
    """Return a switch: yes, up, true, 1 or no, down, false, 0 in any case."""
    if text.lower() in _TRUE:
        return True
    if text.lower() in _FALSE:
        return False
    near = {"on": "YES", "y": "YES", "off": "NO", "n": "NO"}.get(text.lower())
    return Refusal(reason="it is neither YES nor NO", hint=f"write {near}" if near else "write YES or NO")


def parse_float(text: str) -> float | Refusal:
    """Return a number that may have a fraction; `UNLIMITED` for INFINITE and UNLIMITED."""
    if text.lower() in _ENDLESS:
        return UNLIMITED
    if _FLOAT.fullmatch(text):
        return float(text)
    if text.endswith("%") and _FLOAT.fullmatch(text[:-1]):
        return Refusal(reason="Slurm takes the percentage without its sign", hint=f'write "{text[:-1]}"')
    return Refusal(reason="it is not a number", hint="write a number such as 97.5")


def parse_purge(text: str) -> str | Refusal:
    """Return how long slurmdbd keeps records, as `<n>hours`, `<n>days` or `<n>months` (no unit: months)."""
    found = _PURGE.fullmatch(text)
    unit = found[2].lower() if found else ""
    full = next((word for word in ("months", "hours", "days") if word.startswith(unit)), None)
    if found is None or full is None:
        return Refusal(
            reason="Slurm purges by hours, days or months",
            hint="write a number and a unit without space, such as 12months, 90days or 48hours",
        )
    return f"{found[1]}{full}"


def split_list(text: str) -> tuple[str, ...] | Refusal:
    """Return the items of a comma list; Slurm's lists have no spaces and no empty items."""
    if re.search(r"\s", text):
        fixed = ",".join(part for part in re.split(r"[\s,]+", text) if part)
        return Refusal(reason="a list has no spaces", hint=f'write "{fixed}"')
    items = tuple(text.split(","))
    if "" in items:
        return Refusal(
            reason="a list has no empty items", hint=f'write "{",".join(item for item in items if item)}"'
        )
    return items
