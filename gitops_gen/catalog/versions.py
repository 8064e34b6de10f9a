"""Version texts in, comparable versions out: charts, Kubernetes, Argo CD, drivers and branches."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from enum import Enum

_FORM = re.compile(r"v?(\d+(?:\.\d+)*)(?:[-+][0-9A-Za-z][0-9A-Za-z.+_-]*)?\Z")


class Met(Enum):
    """Whether a version meets a floor; a version without the patch that matters only may."""

    YES = "yes"
    MAYBE = "maybe"
    NO = "no"


@dataclass(frozen=True, slots=True)
class Version:
    """Numbers in order, compared number by number; `text` is what was written.

    What follows the numbers (`-gke.1842000`, `-rc.1`, `+k3s1`) does not count.
    """

    numbers: tuple[int, ...]
    text: str = field(compare=False)

    @classmethod
    def parse(cls, text: str) -> Version:
        """Read `v26.7.0`, `1.35`, `1.35.2-gke.1842000` or `580`; ValueError for anything else."""
        found = _FORM.match(text)
        if found is None:
            raise ValueError(f"not a version: {text!r}")
        return cls(tuple(int(part) for part in found.group(1).split(".")), text)

    @property
    def minor(self) -> tuple[int, ...]:
        """The first two numbers: the release line."""
        return self.numbers[:2]

    @property
    def branch(self) -> int:
        """The first number: a driver's branch."""
        return self.numbers[0]

    def meets(self, floor: Version) -> Met:
        """Say whether this version is at least `floor`, as far as its own numbers tell."""
        given = self.numbers[: len(floor.numbers)]
        if given != floor.numbers[: len(given)]:
            return Met.YES if given > floor.numbers[: len(given)] else Met.NO
        rest = floor.numbers[len(given) :]
        return Met.MAYBE if any(rest) else Met.YES

    def __lt__(self, other: Version) -> bool:
        return self.numbers < other.numbers

    def __le__(self, other: Version) -> bool:
        return self.numbers <= other.numbers

    def __gt__(self, other: Version) -> bool:
        return self.numbers > other.numbers

    def __ge__(self, other: Version) -> bool:
        return self.numbers >= other.numbers
