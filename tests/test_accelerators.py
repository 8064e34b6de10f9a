"""Rows of the catalogue: complete, sourced, and right where a figure decides something."""

from __future__ import annotations

import re

import pytest

from gitops_gen.model import Accelerator
from tests.catalogue import ACCELERATORS, MIG_CAPABLE, accelerator, rows

IDS = [
    "t4",
    "v100-sxm-32gb",
    "a10",
    "a10g",
    "a40",
    "a30",
    "a100-sxm-40gb",
    "a100-pcie-40gb",
    "a100-sxm-80gb",
    "a100-pcie-80gb",
    "h100-sxm-80gb",
    "h100-pcie-80gb",
    "h100-nvl-94gb",
    "h200-sxm-141gb",
    "h200-nvl-141gb",
    "gh200-96gb",
    "gh200-144gb",
    "b200",
    "b300",
    "gb200",
    "gb300",
    "l4",
    "l40",
    "l40s",
    "rtx-pro-6000-bse",
    "mi300x",
    "v5e",
    "v5p",
    "v6e",
]

PROFILES = {
    "a30": "1g.6gb×4 1g.6gb+me×1 2g.12gb×2 2g.12gb+me×1 4g.24gb×1",
    "a100-sxm-40gb": "1g.5gb×7 1g.5gb+me×1 1g.10gb×4 2g.10gb×3 3g.20gb×2 4g.20gb×1 7g.40gb×1",
    "a100-sxm-80gb": "1g.10gb×7 1g.10gb+me×1 1g.20gb×4 2g.20gb×3 3g.40gb×2 4g.40gb×1 7g.80gb×1",
    "h100-nvl-94gb": "1g.12gb×7 1g.12gb+me×1 1g.24gb×4 2g.24gb×3 3g.47gb×2 4g.47gb×1 7g.94gb×1",
    "h200-nvl-141gb": "1g.18gb×7 1g.18gb+me×1 1g.35gb×4 2g.35gb×3 3g.71gb×2 4g.71gb×1 7g.141gb×1",
    "gh200-96gb": "1g.12gb×7 1g.12gb+me×1 1g.24gb×4 2g.24gb×3 3g.48gb×2 4g.48gb×1 7g.96gb×1",
    "gh200-144gb": "1g.18gb×7 1g.18gb+me×1 1g.36gb×4 2g.36gb×3 3g.72gb×2 4g.72gb×1 7g.144gb×1",
    "b200": "1g.23gb×7 1g.23gb+me×1 1g.45gb×4 2g.45gb×3 3g.90gb×2 4g.90gb×1 7g.180gb×1",
    "b300": "1g.34gb×7 1g.34gb+me×1 1g.67gb×4 2g.67gb×3 3g.135gb×2 4g.135gb×1 7g.269gb×1",
    "gb300": "1g.35gb×7 1g.35gb+me×1 1g.70gb×4 2g.70gb×3 3g.139gb×2 4g.139gb×1 7g.278gb×1",
    "rtx-pro-6000-bse": "1g.24gb×4 1g.24gb+me×1 1g.24gb+gfx×4 1g.24gb+me.all×1 1g.24gb-me×4 "
    "2g.48gb×2 2g.48gb+gfx×2 2g.48gb+me.all×1 2g.48gb-me×2 4g.96gb×1 4g.96gb+gfx×1",
}


def test_every_id_of_the_contract_is_there() -> None:
    assert [item.id for item in ACCELERATORS] == IDS


@pytest.mark.parametrize("name", IDS)
def test_row_names_source_and_day(name: str) -> None:
    row = rows("accelerators")[name]
    assert row["source"]
    assert re.fullmatch(r"2026-\d\d-\d\d", str(row["checked"]))


@pytest.mark.parametrize("name", IDS)
def test_row_has_no_key_that_nothing_reads(name: str) -> None:
    known = (
        "name vendor resource memory architecture machine fabricManager kernelModules driverMin driverMax "
        "mpsReplicasMax product productSeen pciIds slurmType slurmTypeLong mig unverified source checked"
    )
    assert set(rows("accelerators")[name]) <= set(known.split())


@pytest.mark.parametrize(("name", "expected"), PROFILES.items(), ids=PROFILES)
def test_profiles_and_counts_of_a_model(name: str, expected: str) -> None:
    profiles = accelerator(name).mig_profiles
    assert " ".join(f"{item.name}×{item.count}" for item in profiles) == expected


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("a100-sxm-40gb", "a100-pcie-40gb"),
        ("a100-sxm-80gb", "a100-pcie-80gb"),
        ("a100-sxm-80gb", "h100-sxm-80gb"),
        ("h100-sxm-80gb", "h100-pcie-80gb"),
        ("h200-sxm-141gb", "h200-nvl-141gb"),
    ],
)
def test_form_factor_does_not_change_the_profiles(one: str, other: str) -> None:
    assert accelerator(one).mig_profiles == accelerator(other).mig_profiles


def test_gb200_takes_the_names_of_older_and_newer_drivers() -> None:
    profiles = {item.name: item for item in accelerator("gb200").mig_profiles}
    for newer, older in (("1g.23gb", "1g.24gb"), ("3g.93gb", "3g.95gb"), ("7g.186gb", "7g.189gb")):
        new, old = profiles[newer], profiles[older]
        assert (new.count, new.compute, new.memory) == (old.count, old.compute, old.memory)


@pytest.mark.parametrize("item", MIG_CAPABLE, ids=lambda item: item.id)
def test_profile_name_says_its_compute_slices(item: Accelerator) -> None:
    for profile in item.mig_profiles:
        assert profile.name.startswith(f"{profile.compute}g."), profile


@pytest.mark.parametrize("item", MIG_CAPABLE, ids=lambda item: item.id)
def test_largest_profile_is_the_whole_gpu(item: Accelerator) -> None:
    largest = max(item.mig_profiles, key=lambda profile: profile.memory)
    assert (largest.compute, largest.memory) == (item.mig_compute, item.mig_memory)


def test_pci_ids_pick_one_accelerator() -> None:
    ids = [pci for item in ACCELERATORS for pci in item.pci_ids]
    assert len(ids) == len(set(ids))
    assert all(re.fullmatch("[0-9a-f]{4}", pci) for pci in ids)


def test_product_labels_pick_one_accelerator() -> None:
    products = [item.product for item in ACCELERATORS if item.product]
    assert len(products) == len(set(products))


def test_processors_of_superchips_are_arm64() -> None:
    arm = [item.id for item in ACCELERATORS if item.machine == "arm64"]
    assert arm == ["gh200-96gb", "gh200-144gb", "gb200", "gb300"]


def test_blackwell_and_grace_need_open_kernel_modules_and_volta_cannot_have_them() -> None:
    opened = {item.id for item in ACCELERATORS if item.kernel_modules == "open"}
    assert opened == {"gh200-96gb", "gh200-144gb", "b200", "b300", "gb200", "gb300", "rtx-pro-6000-bse"}
    volta = accelerator("v100-sxm-32gb")
    assert (volta.kernel_modules, volta.driver_max, volta.mps_replicas_max) == ("proprietary", "580", 16)


def test_fabric_manager_follows_the_form_factor() -> None:
    found = {item.id: item.fabric_manager for item in ACCELERATORS if item.fabric_manager != "none"}
    assert found == {
        "a100-sxm-40gb": "fabric-manager",
        "a100-sxm-80gb": "fabric-manager",
        "h100-sxm-80gb": "fabric-manager",
        "h200-sxm-141gb": "fabric-manager",
        "b200": "fabric-manager-nvlsm",
        "b300": "fabric-manager-nvlsm",
        "gb200": "imex",
        "gb300": "imex",
    }


@pytest.mark.parametrize(
    ("name", "resource"),
    [("l4", "nvidia.com/gpu"), ("mi300x", "amd.com/gpu"), ("v5e", "google.com/tpu")],
)
def test_resource_follows_the_vendor(name: str, resource: str) -> None:
    assert accelerator(name).resource == resource
