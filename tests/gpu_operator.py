"""Small specs with GPU pools, and what becomes of them."""

from __future__ import annotations

from textwrap import dedent, indent
from typing import Any

from gitops_gen.model import Application, HelmSource
from tests.specs import compile_text, spec_text


def pool(
    name: str = "h100",
    *,
    model: str = "h100-sxm-80gb",
    os: str = "ubuntu-24.04",
    count: int = 8,
    nodes: int = 2,
    gpu: str = "",
    more: str = "",
) -> str:
    text = dedent(
        f"""\
        - name: {name}
          nodes: {nodes}
          os: {os}
          nodeSelector: {{node.example.com/pool: {name}}}
          gpu: {{model: {model}, count: {count}{gpu and ", " + gpu}}}
        """
    )
    return text + _lines(indent(dedent(more), "  "))


def part(body: str = "", *, others: str = "") -> str:
    return f"gpuOperator:\n  enabled: true\n{_lines(indent(dedent(body), '  '))}{dedent(others)}"


def app(pools: str = "", *, components: str = "", body: str = "") -> Application:
    text = spec_text(body, pools=pools or pool(), components=components or part())
    plan = compile_text(text).plan
    return next(item for item in plan.applications if item.name == "gpu-operator")


def values(pools: str = "", *, components: str = "", body: str = "") -> dict[str, Any]:
    return chart(app(pools, components=components, body=body)).values.data


def chart(planned: Application) -> HelmSource:
    return next(item for item in planned.sources if isinstance(item, HelmSource))


def cluster(distribution: str, version: str = "1.35") -> str:
    return f'kubernetes: {{version: "{version}", distribution: {distribution}}}\n'


def _lines(text: str) -> str:
    return text if not text or text.endswith("\n") else f"{text}\n"
