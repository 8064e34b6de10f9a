"""MIG profiles of one GPU in, the slices that they take and what is wrong with them out.

Totals are necessary, not sufficient: where instances may lie on a GPU is the driver's matter.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import msgspec

from gitops_gen.model import Accelerator, MigProfile

Profiles = Mapping[str, int]
"""Instances on one GPU by profile."""

_EXTENDED = "+me"
_ALL_ENGINES = "+me.all"
_NO_ENGINES = "-me"


class Slices(msgspec.Struct, frozen=True, kw_only=True):
    """The slices that a layout takes of one GPU, and those that the GPU has."""

    compute: int
    memory: int
    of_compute: int
    of_memory: int

    @property
    def fit(self) -> bool:
        """Say whether the GPU has that many."""
        return self.compute <= self.of_compute and self.memory <= self.of_memory

    def __str__(self) -> str:
        return (
            f"{self.compute} of {self.of_compute} compute slices and "
            f"{self.memory} of {self.of_memory} memory slices"
        )


def profile(accelerator: Accelerator, name: str) -> MigProfile | None:
    """Return the profile of that name, None if the model has none such."""
    return next((item for item in accelerator.mig_profiles if item.name == name), None)


def slices(accelerator: Accelerator, profiles: Profiles) -> Slices:
    """Add up the slices of a layout; KeyError names a profile that the model does not have."""
    known = {item.name: item for item in accelerator.mig_profiles}
    return Slices(
        compute=sum(known[name].compute * count for name, count in profiles.items()),
        memory=sum(known[name].memory * count for name, count in profiles.items()),
        of_compute=accelerator.mig_compute,
        of_memory=accelerator.mig_memory,
    )


def layout_fits(accelerator: Accelerator, profiles: Profiles) -> Slices | None:
    """Return the slices of a layout that one GPU can hold, None if it cannot."""
    if any(profile(accelerator, name) is None for name in profiles):
        return None
    return None if any(layout_faults(accelerator, profiles)) else slices(accelerator, profiles)


def unknown_profile(accelerator: Accelerator, name: str) -> str:
    """Say that a model lacks a profile, and which ones it has."""
    names = ", ".join(item.name for item in accelerator.mig_profiles)
    return f"{accelerator.name} has no profile {name}; it has {names}"


def layout_faults(accelerator: Accelerator, profiles: Profiles) -> Iterator[str]:
    """Yield why one GPU cannot hold these instances, all of profiles that the model has."""
    taken = slices(accelerator, profiles)
    if not taken.fit:
        yield f"{written(profiles)} needs {taken}"
        return
    yield from _too_many(accelerator, profiles)
    yield from _engines(profiles)


def written(profiles: Profiles) -> str:
    """Write a layout as `3×1g.10gb + 1×2g.20gb`."""
    return " + ".join(f"{count}×{name}" for name, count in profiles.items())


def mig_resource(name: str) -> str:
    """Return the resource under which the mixed strategy offers instances of a profile."""
    return f"nvidia.com/mig-{name.replace('+', '.')}"


def mig_set(name: str) -> str:
    """Return the value of `nvidia.com/mig.config` that puts one profile on every GPU."""
    return f"all-{name.replace('+', '.')}"


def _too_many(accelerator: Accelerator, profiles: Profiles) -> Iterator[str]:
    for name, count in profiles.items():
        known = profile(accelerator, name)
        if known is not None and count > known.count and _EXTENDED not in name:
            yield f"{count}×{name} is more than the {known.count} that {accelerator.name} can hold"


def _engines(profiles: Profiles) -> Iterator[str]:
    """At most one instance has the media extension; `+me.all` takes every media engine."""
    extended = {name: count for name, count in profiles.items() if _EXTENDED in name}
    if sum(extended.values()) > 1:
        yield f"{written(extended)}: only one instance of a GPU can have the media extension"
    greedy = next((name for name in profiles if name.endswith(_ALL_ENGINES)), None)
    rest = {
        name: count
        for name, count in profiles.items()
        if name not in extended and not name.endswith(_NO_ENGINES)
    }
    if greedy and rest:
        yield f"{greedy} takes every media engine, which leaves none for {written(rest)}"
