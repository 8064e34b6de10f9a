"""`gitops-gen why`: an app and a key in, the spec lines, facts and rules that made it out."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from gitops_gen.cli.common import PrintFormat, ResultFormat, one_spec
from gitops_gen.cli.output import say

if TYPE_CHECKING:
    from gitops_gen.diagnostics import Path as KeyPath
    from gitops_gen.model import Application, Json, Origin, OwnChart, Traced
    from gitops_gen.stages import Compiled


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command()(why)


def why(
    cluster: Annotated[Path, typer.Argument(help="The spec file, its folder, or the name of the cluster.")],
    target: Annotated[
        str,
        typer.Argument(
            metavar="APP[:PATH]",
            help="An app, and a path below its values (`driver.enabled`), below `application` "
            "(`application.spec.sources`) or below one of its own files (`<kind>-<name>.yaml#data`).",
        ),
    ],
    form: PrintFormat = ResultFormat.TEXT,
) -> None:
    """Say what made a key of the output.

    Prints the lines of the spec, the facts and the rules that a key follows from. Without a path
    it explains the values of the app, or its Application where the tree sets no values.

    Example: gitops-gen why clusters/prod gpu-operator:toolkit.env
    """
    outcome = one_spec(cluster)
    assert outcome.prepared is not None
    compiled = outcome.prepared.compiled
    name, _, path = target.partition(":")
    rows = list(explain_key(compiled, find_app(compiled, name), path))
    if form is ResultFormat.JSON:
        say(json.dumps(rows, indent=2, ensure_ascii=False))
        return
    for row in rows:
        say(f"{row['path']} = {json.dumps(row['value'], ensure_ascii=False)}")
        for reason in row["because"]:  # type: ignore[attr-defined]
            say(f"    {reason}")


def find_app(compiled: Compiled, name: str) -> Application:
    """Return the app by its short or full name; a usage error names the apps there are."""
    apps = compiled.plan.applications
    prefix = f"{compiled.plan.spec.name}-"
    for app in apps:
        if name in (app.name, f"{prefix}{app.name}"):
            return app
    for app in apps:
        if name == app.component:
            return app
    raise typer.BadParameter(f"no app {name!r}; there are: {', '.join(app.name for app in apps)}")


def explain_key(compiled: Compiled, app: Application, path: str) -> Iterator[dict[str, object]]:
    """Yield each leaf below a path with its reasons, `{path, value, because}`."""
    from gitops_gen.traced import format_path, origins_of, parse_path

    document, rest, prefix = _document(compiled, app, path)
    try:
        at = parse_path(rest) if rest else ()
    except ValueError as error:
        raise typer.BadParameter(str(error)) from error
    found = list(_leaves(document, at))
    if not found:
        yield _chart_default(app, path)
        return
    for leaf, value in found:
        reasons = [_reason(item, compiled) for item in origins_of(document, leaf)]
        yield {"path": prefix + format_path(leaf), "value": _shown(leaf, value), "because": reasons}


def _chart_default(app: Application, path: str) -> dict[str, object]:
    """Return the chart's own value of a key that the tree does not set; a usage error if it has none."""
    from gitops_gen.model import HelmSource, OwnChart
    from gitops_gen.resources import resources

    for own in (item for item in app.sources if isinstance(item, OwnChart)):
        for value in _own_default(own, path):
            return _default(path, value, own.name, own.version)
    charts = [item for item in app.sources if isinstance(item, HelmSource)]
    for item in resources().components if charts else ():
        if item.name == app.component:
            keys = item.facts.chart_keys(charts[0].chart, charts[0].version)
            if "default" in keys.keys.get(path, {}):
                return _default(path, keys.keys[path]["default"], keys.chart, keys.version)
    raise typer.BadParameter(f"{app.name} does not set {path!r}")


def _own_default(chart: OwnChart, path: str) -> Iterator[Json]:
    """Yield what `values.yaml` of a chart of ours has at a path, if it has anything."""
    from gitops_gen.resources import chart_files
    from gitops_gen.spec.load import parse
    from gitops_gen.traced import parse_path

    value: Json = parse(chart_files(chart.name)["values.yaml"].encode(), "values.yaml").data
    for part in parse_path(path):
        if not isinstance(value, dict) or part not in value:
            return
        value = value[str(part)]
    yield value


def _default(path: str, value: Json, chart: str, version: str) -> dict[str, object]:
    reason = f"chart: default of {chart} {version}; this tree does not set it"
    return {"path": path, "value": value, "because": [reason]}


def _shown(leaf: KeyPath, value: Json) -> Json:
    """Return a value without what may be a secret."""
    from gitops_gen.mask import is_secret, mask_address

    name = value.get("name") if isinstance(value, dict) else None
    if isinstance(value, dict) and isinstance(name, str) and is_secret(name):
        return {key: "***" if key == "value" else item for key, item in value.items()}
    if not isinstance(value, str):
        return value
    keys = (part for part in leaf if isinstance(part, str))
    return "***" if any(is_secret(key) for key in list(keys)[-1:]) else mask_address(value)


def _document(compiled: Compiled, app: Application, path: str) -> tuple[Traced, str, str]:
    from gitops_gen import argocd
    from gitops_gen.render import helm_values, manifest_file

    if path == "application" or path.startswith("application."):
        made = argocd.application(app, compiled.plan.spec)
        return made, path.removeprefix("application").removeprefix("."), "application."
    file, hash_sign, rest = path.removeprefix("manifests/").partition("#")
    taken: dict[str, Traced] = {}
    for manifest in app.manifests:
        taken[manifest_file(manifest, taken)] = manifest.object
    if file in taken:
        return taken[file], rest, f"{file}{hash_sign or '#'}"
    values = helm_values(app)
    if values is None or not (values.data or path):
        return argocd.application(app, compiled.plan.spec), path, "application."
    return values, path, ""


def _leaves(document: Traced, at: KeyPath) -> Iterator[tuple[KeyPath, Json]]:
    value: Json = document.data
    for part in at:
        match value, part:
            case dict(), str() if part in value:
                value = value[part]
            case list(), int() if part < len(value):
                value = value[part]
            case _:
                return
    yield from _below(at, value)


def _below(at: KeyPath, value: Json) -> Iterator[tuple[KeyPath, Json]]:
    if isinstance(value, dict) and value:
        for key, item in value.items():
            yield from _below((*at, key), item)
    elif isinstance(value, list) and value:
        for index, item in enumerate(value):
            yield (*at, index), item
    else:
        yield at, value


def _reason(origin: Origin, compiled: Compiled) -> str:
    if origin.kind != "spec":
        return f"{origin.kind}: {origin.ref}"
    source_map = compiled.source_map
    shown = source_map.show(origin.path)
    if not source_map.has(origin.path):
        return f"default: {shown}"
    position = source_map.value(origin.path)
    return f"spec: {position.file}:{position.line} {shown}" if position else f"spec: {shown}"
