"""Prose templates: exact text, and no silent gaps."""

from __future__ import annotations

import pytest
from jinja2 import TemplateSyntaxError, UndefinedError

from gitops_gen.prose import render_prose

TEMPLATE = """\
# {{ name }}
{% for app in apps %}
  {% if app.note %}
- {{ app.name }}: {{ app.note }}
  {% endif %}
{% endfor %}
"""


def test_block_tags_leave_no_empty_lines() -> None:
    apps = [{"name": "a", "note": "x < y"}, {"name": "b", "note": ""}, {"name": "c", "note": "z"}]
    assert render_prose(TEMPLATE, "README.md", name="lab", apps=apps) == ("# lab\n- a: x < y\n- c: z\n")


def test_missing_value_is_refused_by_name() -> None:
    with pytest.raises(UndefinedError, match="'apps' is undefined"):
        render_prose(TEMPLATE, "README.md", name="lab")


def test_template_fault_names_the_template() -> None:
    with pytest.raises(TemplateSyntaxError) as caught:
        render_prose("{% for %}", "README.md")
    assert caught.value.name == "README.md"
