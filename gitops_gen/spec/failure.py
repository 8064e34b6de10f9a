"""One error of the validator in, what messages need to know of it out."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

from gitops_gen.diagnostics import Path
from gitops_gen.mask import is_secret, mask_address
from gitops_gen.spec.tree import Schema
from gitops_gen.spec.wording import inside, last_key, name, plain, shown

if TYPE_CHECKING:
    from jsonschema_rs import ValidationError

Raw = Callable[[Path], str | None]
"""Gives the text of the scalar at a path as the user wrote it, None if it is not known."""


@dataclass(frozen=True)
class Failure:
    """One error of the validator, the document and schema it began in, and the user's own text."""

    error: ValidationError
    data: Any
    whole: Schema
    raw: Raw

    @cached_property
    def path(self) -> Path:
        """Where the value stands in the document."""
        return tuple(self.error.instance_path)

    @cached_property
    def name(self) -> str:
        """What messages call the value."""
        return name(shown(self.data, self.path))

    @cached_property
    def inside(self) -> str:
        """Where messages say that a key of the value stands."""
        return inside(shown(self.data, self.path))

    @cached_property
    def keyword(self) -> str:
        """The keyword that failed."""
        return str(self.error.kind.name)

    @cached_property
    def rule(self) -> Any:
        """What the schema has under the keyword."""
        return self.error.kind.value

    @property
    def value(self) -> Any:
        """The value that failed."""
        return self.error.instance

    @cached_property
    def written(self) -> str:
        """The scalar as messages quote it: as the user wrote it, without what may be a secret."""
        if is_secret(last_key(self.path)):
            return "***"
        text = None if isinstance(self.value, str) else self.raw(self.path)
        return mask_address(text or plain(self.value))

    @cached_property
    def schema(self) -> Schema:
        """The schema that holds the keyword."""
        return self.schema_above(len(self.error.schema_path) - 1)

    def schema_above(self, size: int) -> Schema:
        """Return the schema that the first `size` parts of the schema path lead to."""
        here: Any = self.whole
        for part in self.error.schema_path[:size]:
            here = here[part]
        return here if isinstance(here, Mapping) else self.whole
