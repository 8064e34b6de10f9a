"""Kubernetes quantities as text in, exact numbers out: bytes of memory and cores of processors."""

from __future__ import annotations

import re
from fractions import Fraction

_NUMBER = re.compile(r"([0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE]([-+]?[0-9]{1,2}))?(.*)\Z", re.DOTALL)
_BINARY: dict[str, int] = {f"{letter}i": 1024**power for power, letter in enumerate("KMGTPE", 1)}
_DECIMAL: dict[str, int] = {letter: 1000**power for power, letter in enumerate("kMGTPE", 1)}
_SUFFIXES: dict[str, int] = {"": 1, **_BINARY, **_DECIMAL}
_MEBIBYTE = 1024**2


def parse_memory(text: str) -> int:
    """Return the bytes of `512Gi`, `2Ti`, `64G` or `1048576`, rounded up; ValueError otherwise."""
    number, suffix = _split(text)
    if suffix not in _SUFFIXES:
        raise ValueError(f'"{text}" is not a quantity of memory: {_advice(suffix)}')
    found = number * _SUFFIXES[suffix]
    return -(-found.numerator // found.denominator)


def parse_cpu(text: str) -> Fraction:
    """Return the cores of `2`, `0.5` or `500m`; ValueError otherwise."""
    number, suffix = _split(text)
    if suffix not in ("", "m"):
        raise ValueError(
            f'"{text}" is not a quantity of processors: write cores such as 2 or 0.5, or thousandths as 500m'
        )
    return number / 1000 if suffix == "m" else number


def mebibytes(size: int) -> int:
    """Return whole MiB of a number of bytes, rounded down."""
    return size // _MEBIBYTE


def _split(text: str) -> tuple[Fraction, str]:
    found = _NUMBER.match(text)
    if found is None:
        raise ValueError(f'"{text}" is not a quantity: it must begin with a number, as 512Gi does')
    number, exponent, suffix = found.groups()
    return Fraction(number) * Fraction(10) ** int(exponent or 0), suffix


def _advice(suffix: str) -> str:
    letter = suffix.strip().removesuffix("B").removesuffix("b").removesuffix("i")
    meant = "k" if letter.lower() == "k" else letter.upper()
    if meant not in _DECIMAL:
        return "the suffix is one of Ki, Mi, Gi, Ti, Pi, Ei, k, M, G, T, P, E"
    return f'"{suffix}" is no suffix, write {meant.upper()}i (powers of 1024) or {meant} (powers of 1000)'
