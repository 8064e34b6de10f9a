"""Kubernetes quantities."""

from __future__ import annotations

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gitops_gen.catalog.quantities import mebibytes, parse_cpu, parse_memory


@pytest.mark.parametrize(
    ("text", "size"),
    [
        ("0", 0),
        ("1048576", 1048576),
        ("1Ki", 1024),
        ("1k", 1000),
        ("512Gi", 512 * 1024**3),
        ("2Ti", 2 * 1024**4),
        ("64G", 64 * 10**9),
        ("1.5Gi", 3 * 1024**3 // 2),
        (".5Ki", 512),
        ("1E", 10**18),
        ("1Ei", 1024**6),
        ("1e3", 1000),
        ("12E2", 1200),
        ("0.1", 1),
    ],
)
def test_memory_in_bytes(text: str, size: int) -> None:
    assert parse_memory(text) == size


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        ("64GB", '"64GB" is not a quantity of memory: "GB" is no suffix, write Gi (powers of 1024) or G '
        "(powers of 1000)"),
        ("512kib", '"512kib" is not a quantity of memory: "kib" is no suffix, write Ki (powers of 1024) or k '
        "(powers of 1000)"),
        ("64m", '"64m" is not a quantity of memory: "m" is no suffix, write Mi (powers of 1024) or M '
        "(powers of 1000)"),
        ("64 apples", '"64 apples" is not a quantity of memory: the suffix is one of '
        "Ki, Mi, Gi, Ti, Pi, Ei, k, M, G, T, P, E"),
        ("lots", '"lots" is not a quantity: it must begin with a number, as 512Gi does'),
        ("-1Gi", '"-1Gi" is not a quantity: it must begin with a number, as 512Gi does'),
        ("", '"" is not a quantity: it must begin with a number, as 512Gi does'),
    ],
)  # fmt: skip
def test_what_is_no_memory_is_refused_in_words(text: str, fault: str) -> None:
    with pytest.raises(ValueError, match="quantity") as caught:
        parse_memory(text)
    assert str(caught.value) == fault


@pytest.mark.parametrize(
    ("text", "cores"),
    [("2", Fraction(2)), ("0.5", Fraction(1, 2)), ("500m", Fraction(1, 2)), ("1m", Fraction(1, 1000))],
)
def test_cores_are_exact(text: str, cores: Fraction) -> None:
    assert parse_cpu(text) == cores


@pytest.mark.parametrize("text", ["2Gi", "2 cores", "500M"])
def test_what_is_no_number_of_cores_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="quantity of processors"):
        parse_cpu(text)


@given(st.integers(0, 10**6), st.sampled_from(["Ki", "Mi", "Gi", "k", "M", "G"]))
def test_memory_grows_with_its_number(number: int, suffix: str) -> None:
    assert parse_memory(f"{number + 1}{suffix}") - parse_memory(f"{number}{suffix}") == parse_memory(
        f"1{suffix}"
    )


@given(st.integers(0, 10**9))
def test_mebibytes_are_whole_and_never_more(number: int) -> None:
    assert mebibytes(parse_memory(f"{number}Mi")) == number
    assert mebibytes(parse_memory(f"{number}Mi") + 1024**2 - 1) == number
