"""A Jinja template and values in, prose out: READMEs and messages, never YAML."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from jinja2 import Template


def render_prose(template_text: str, name: str, /, **values: object) -> str:
    """Return the text that the template makes of `values`.

    `name` stands in error messages. A name that `values` lacks raises jinja2.UndefinedError, so
    that a typing slip in a template never ends as a gap in the prose.
    """
    return _template(template_text, name).render(**values)


@cache
def _template(template_text: str, name: str) -> Template:
    """Compile once: a fleet of clusters renders the same few templates many times."""
    from jinja2 import DictLoader, Environment, StrictUndefined

    environment = Environment(
        loader=DictLoader({name: template_text}),
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
        autoescape=False,  # noqa: S701 -- prose in Markdown, not HTML
    )
    return environment.get_template(name)
