"""Slice arithmetic: what one GPU can hold, and how we say what it cannot."""

from __future__ import annotations

from itertools import product as combinations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gitops_gen.catalog.mig import (
    layout_faults,
    layout_fits,
    mig_resource,
    mig_set,
    profile,
    slices,
    unknown_profile,
)
from gitops_gen.model import Accelerator
from tests.catalogue import MIG_CAPABLE, accelerator

capable = pytest.mark.parametrize("gpu", MIG_CAPABLE, ids=lambda item: item.id)

BALANCED = {
    "a30": {"1g.6gb": 2, "2g.12gb": 1},
    "a100-sxm-40gb": {"1g.5gb": 2, "2g.10gb": 1, "3g.20gb": 1},
    "a100-pcie-80gb": {"1g.10gb": 2, "2g.20gb": 1, "3g.40gb": 1},
    "h100-sxm-80gb": {"1g.10gb": 2, "2g.20gb": 1, "3g.40gb": 1},
    "h100-nvl-94gb": {"1g.12gb": 2, "2g.24gb": 1, "3g.47gb": 1},
    "h200-sxm-141gb": {"1g.18gb": 2, "2g.35gb": 1, "3g.71gb": 1},
    "gh200-96gb": {"1g.12gb": 2, "2g.24gb": 1, "3g.48gb": 1},
    "gh200-144gb": {"1g.18gb": 2, "2g.36gb": 1, "3g.72gb": 1},
    "b200": {"1g.23gb": 2, "2g.45gb": 1, "3g.90gb": 1},
    "b300": {"1g.34gb": 2, "2g.67gb": 1, "3g.135gb": 1},
    "gb200": {"1g.23gb": 2, "2g.47gb": 1, "3g.93gb": 1},
    "gb300": {"1g.35gb": 2, "2g.70gb": 1, "3g.139gb": 1},
    "rtx-pro-6000-bse": {"1g.24gb": 2, "2g.48gb": 1},
}


@pytest.mark.parametrize(("name", "layout"), BALANCED.items(), ids=BALANCED)
def test_stock_balanced_layout_fits(name: str, layout: dict[str, int]) -> None:
    assert list(layout_faults(accelerator(name), layout)) == []


@capable
def test_one_profile_on_the_whole_gpu_fits_and_one_more_does_not(gpu: Accelerator) -> None:
    for item in gpu.mig_profiles:
        assert layout_fits(gpu, {item.name: item.count}) is not None, item
        assert layout_fits(gpu, {item.name: item.count + 1}) is None, item


@pytest.mark.parametrize(
    ("name", "layout"),
    [
        ("a100-sxm-40gb", {"1g.5gb": 4, "2g.10gb": 1}),
        ("a100-sxm-40gb", {"3g.20gb": 1, "1g.5gb": 2}),
        ("a100-sxm-40gb", {"1g.5gb": 6}),
        ("a100-sxm-80gb", {"1g.10gb": 4, "2g.20gb": 1}),
        ("a100-sxm-80gb", {"3g.40gb": 1, "2g.20gb": 1}),
        ("b200", {"1g.23gb": 1, "2g.45gb": 1, "4g.90gb": 1}),
        ("a100-sxm-80gb", {"1g.10gb": 5, "2g.20gb": 1}),
        ("a100-sxm-80gb", {"3g.40gb": 1, "4g.40gb": 1}),
        ("h100-sxm-80gb", {"2g.20gb": 2, "3g.40gb": 1}),
        ("h100-sxm-80gb", {"1g.10gb+me": 1, "1g.10gb": 6}),
        ("h200-sxm-141gb", {"1g.18gb": 5, "2g.35gb": 1}),
        ("a30", {"1g.6gb": 1, "1g.6gb+me": 1, "2g.12gb": 1}),
        ("rtx-pro-6000-bse", {"1g.24gb+me.all": 1, "1g.24gb-me": 3}),
        ("rtx-pro-6000-bse", {"1g.24gb+gfx": 2, "2g.48gb": 1}),
    ],
)
def test_layout_that_runs_elsewhere_fits(name: str, layout: dict[str, int]) -> None:
    assert list(layout_faults(accelerator(name), layout)) == []


@pytest.mark.parametrize(
    ("name", "layout", "fault"),
    [
        (
            "a100-sxm-80gb",
            {"1g.10gb": 3, "2g.20gb": 1, "3g.40gb": 1},
            "3×1g.10gb + 1×2g.20gb + 1×3g.40gb needs 8 of 7 compute slices and 9 of 8 memory slices",
        ),
        (
            "a100-sxm-40gb",
            {"4g.20gb": 1, "2g.10gb": 2},
            "1×4g.20gb + 2×2g.10gb needs 8 of 7 compute slices and 8 of 8 memory slices",
        ),
        (
            "b200",
            {"1g.45gb": 4, "1g.23gb": 1},
            "4×1g.45gb + 1×1g.23gb needs 5 of 7 compute slices and 9 of 8 memory slices",
        ),
        (
            "a30",
            {"1g.6gb": 1, "1g.6gb+me": 1, "2g.12gb+me": 1},
            "1×1g.6gb+me + 1×2g.12gb+me: only one instance of a GPU can have the media extension",
        ),
        (
            "rtx-pro-6000-bse",
            {"2g.48gb+me.all": 1, "1g.24gb+gfx": 1},
            "2g.48gb+me.all takes every media engine, which leaves none for 1×1g.24gb+gfx",
        ),
    ],
)
def test_layout_that_does_not_fit_is_refused_with_its_reason(
    name: str, layout: dict[str, int], fault: str
) -> None:
    assert list(layout_faults(accelerator(name), layout)) == [fault]
    assert layout_fits(accelerator(name), layout) is None


def test_unknown_profile_is_answered_with_those_of_the_model() -> None:
    b200 = accelerator("b200")
    assert profile(b200, "2g.40gb") is None
    assert unknown_profile(b200, "2g.40gb") == (
        "B200 has no profile 2g.40gb; it has "
        "1g.23gb, 1g.23gb+me, 1g.45gb, 2g.45gb, 3g.90gb, 4g.90gb, 7g.180gb"
    )
    assert layout_fits(b200, {"2g.40gb": 3}) is None


def test_sums_come_with_the_verdict() -> None:
    found = layout_fits(accelerator("a100-sxm-80gb"), {"1g.10gb": 2, "2g.20gb": 1, "3g.40gb": 1})
    assert str(found) == "7 of 7 compute slices and 8 of 8 memory slices"


@pytest.mark.parametrize(
    ("name", "resource", "label"),
    [
        ("1g.10gb", "nvidia.com/mig-1g.10gb", "all-1g.10gb"),
        ("1g.10gb+me", "nvidia.com/mig-1g.10gb.me", "all-1g.10gb.me"),
        ("1g.24gb+me.all", "nvidia.com/mig-1g.24gb.me.all", "all-1g.24gb.me.all"),
        ("1g.24gb-me", "nvidia.com/mig-1g.24gb-me", "all-1g.24gb-me"),
    ],
)
def test_names_of_a_profile_in_kubernetes(name: str, resource: str, label: str) -> None:
    assert (mig_resource(name), mig_set(name)) == (resource, label)


@st.composite
def layouts(draw: st.DrawFn) -> tuple[Accelerator, dict[str, int]]:
    gpu = draw(st.sampled_from(MIG_CAPABLE))
    names = st.sampled_from([item.name for item in gpu.mig_profiles])
    return gpu, draw(st.dictionaries(names, st.integers(1, 8), min_size=1, max_size=4))


@given(layouts())
def test_layout_fits_exactly_when_nothing_is_wrong_with_it(given: tuple[Accelerator, dict[str, int]]) -> None:
    gpu, layout = given
    assert (layout_fits(gpu, layout) is None) == bool(list(layout_faults(gpu, layout)))


@given(layouts())
def test_order_of_profiles_does_not_matter(given: tuple[Accelerator, dict[str, int]]) -> None:
    gpu, layout = given
    turned = dict(reversed(layout.items()))
    assert slices(gpu, layout) == slices(gpu, turned)
    assert layout_fits(gpu, layout) == layout_fits(gpu, turned)


@given(layouts())
def test_part_of_what_fits_fits(given: tuple[Accelerator, dict[str, int]]) -> None:
    gpu, layout = given
    if layout_fits(gpu, layout) is not None:
        for name in layout:
            rest = {**layout, name: layout[name] - 1}
            assert layout_fits(gpu, {key: count for key, count in rest.items() if count}) is not None


PLACES = {
    "1g.10gb": (1, range(7)),
    "1g.20gb": (2, (0, 2, 4, 6)),
    "2g.20gb": (2, (0, 2, 4)),
    "3g.40gb": (4, (0, 4)),
    "4g.40gb": (4, (0,)),
    "7g.80gb": (8, (0,)),
}
"""Memory slices of an instance and where it may begin on an A100, as the driver lists them."""


def test_whatever_fits_by_its_sums_has_a_place_on_the_gpu() -> None:
    gpu = accelerator("a100-sxm-80gb")
    counts = [range((profile(gpu, name) or gpu.mig_profiles[0]).count + 1) for name in PLACES]
    for numbers in combinations(*counts):
        layout = {name: count for name, count in zip(PLACES, numbers, strict=True) if count}
        if layout and layout_fits(gpu, layout):
            instances = [name for name in reversed(PLACES) for _ in range(layout.get(name, 0))]
            assert _placed(instances, frozenset()), layout


def _placed(instances: list[str], taken: frozenset[int]) -> bool:
    if not instances:
        return True
    size, starts = PLACES[instances[0]]
    spans = [frozenset(range(start, start + size)) for start in starts]
    return any(not span & taken and _placed(instances[1:], taken | span) for span in spans)
