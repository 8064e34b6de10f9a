"""The word for what a pure check of the component finds, before it has a place in a file."""

from __future__ import annotations

from typing import Literal

import msgspec

from gitops_gen.diagnostics import Path


class Finding(msgspec.Struct, frozen=True, kw_only=True):
    """One fault of the settings; `path` holds keys and indices below `spec.components.slurm`.

    `on_key` says that the key is wrong rather than its value.
    """

    code: str
    level: Literal["error", "warning", "notice"] = "error"
    message: str
    hint: str
    path: Path
    on_key: bool = False
