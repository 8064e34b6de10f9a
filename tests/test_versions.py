"""Versions of charts, Kubernetes and drivers."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gitops_gen.catalog.versions import Met, Version


@pytest.mark.parametrize(
    ("text", "numbers"),
    [
        ("v26.7.0", (26, 7, 0)),
        ("1.35", (1, 35)),
        ("1.35.2", (1, 35, 2)),
        ("1.35.2-gke.1842000", (1, 35, 2)),
        ("v1.34.1+k3s1", (1, 34, 1)),
        ("26.03", (26, 3)),
        ("580.173.02", (580, 173, 2)),
        ("580", (580,)),
        ("26.7.0-rc.2", (26, 7, 0)),
        ("4.6.0-4.8.3-distroless", (4, 6, 0)),
    ],
)
def test_numbers_of_a_version(text: str, numbers: tuple[int, ...]) -> None:
    assert Version.parse(text).numbers == numbers


@pytest.mark.parametrize("text", ["", "latest", "v", "1.", "1..2", "1.35b", "1,35", "1.35 ", "-1.2"])
def test_what_is_no_version_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="not a version"):
        Version.parse(text)


@pytest.mark.parametrize(
    ("older", "newer"),
    [("1.9", "1.10"), ("v25.10.1", "v26.3.3"), ("580.65.06", "580.173.02"), ("26.03", "26.03.1")],
)
def test_versions_compare_number_by_number(older: str, newer: str) -> None:
    assert Version.parse(older) < Version.parse(newer)
    assert Version.parse(newer) > Version.parse(older)


def test_the_v_and_the_build_do_not_tell_versions_apart() -> None:
    assert Version.parse("v26.7.0") == Version.parse("26.7.0")
    assert Version.parse("1.35.2-gke.1") == Version.parse("1.35.2+k3s1")


@pytest.mark.parametrize(
    ("version", "floor", "met"),
    [
        ("1.35", "1.35", Met.YES),
        ("1.35", "1.35.0", Met.YES),
        ("1.34", "1.34.2", Met.MAYBE),
        ("1.34.1", "1.34.2", Met.NO),
        ("1.34.2-gke.1", "1.34.2", Met.YES),
        ("1.35", "1.34.2", Met.YES),
        ("1.33", "1.34.2", Met.NO),
        ("1.35.2", "1.35", Met.YES),
        ("580", "570.133.20", Met.YES),
        ("570", "570.133.20", Met.MAYBE),
        ("580.65.06", "580", Met.YES),
        ("550.54.15", "570", Met.NO),
    ],
)
def test_a_minor_alone_meets_its_own_floor_and_may_meet_a_patch(version: str, floor: str, met: Met) -> None:
    assert Version.parse(version).meets(Version.parse(floor)) is met


NUMBERS = st.lists(st.integers(0, 999), min_size=1, max_size=4)


@given(NUMBERS, NUMBERS)
def test_whole_versions_meet_exactly_the_floors_that_are_not_newer(one: list[int], other: list[int]) -> None:
    size = max(len(one), len(other))
    first = Version.parse(".".join(map(str, one + [0] * (size - len(one)))))
    second = Version.parse(".".join(map(str, other + [0] * (size - len(other)))))
    assert (first.meets(second) is Met.YES) == (first >= second)


def test_line_and_branch_of_a_version() -> None:
    assert Version.parse("1.35.2-gke.1842000").minor == (1, 35)
    assert Version.parse("580.173.02").branch == 580
