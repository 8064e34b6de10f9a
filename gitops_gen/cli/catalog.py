"""`gitops-gen catalog`: prints what is known of components, versions and accelerators."""

from __future__ import annotations

import json
from typing import Any

import typer

from gitops_gen.cli.common import PrintFormat, ResultFormat
from gitops_gen.cli.output import say
from gitops_gen.cli.plan import table


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command()(catalog)


def catalog(form: PrintFormat = ResultFormat.TEXT) -> None:
    """Print known versions and accelerators.

    The components with their versions, and the accelerators with their MIG profiles.

    Example: gitops-gen catalog --format json
    """
    data = catalog_data()
    say(json.dumps(data, indent=2, ensure_ascii=False) if form is ResultFormat.JSON else _text(data))


def catalog_data() -> dict[str, Any]:
    """Return the catalogue as data: every component with its versions, every accelerator."""
    from gitops_gen.resources import resources

    known = resources()
    return {
        "digest": known.digest,
        "components": [
            {
                "name": item.name,
                "stack": item.facts.stack,
                "namespace": item.facts.namespace,
                "defaultVersion": item.facts.version,
                "charts": item.facts.data.get("charts", []),
                "versions": item.facts.data["versions"],
            }
            for item in known.components
        ],
        "accelerators": [
            {
                "id": item.id,
                "resource": item.resource,
                "name": item.name,
                "memoryGB": item.memory,
                "architecture": item.architecture,
                "migProfiles": {profile.name: profile.count for profile in item.mig_profiles},
                "driverMin": item.driver_min,
                "driverMax": item.driver_max,
            }
            for item in known.catalog.accelerators.values()
        ],
    }


def _text(data: dict[str, Any]) -> str:
    components = [("COMPONENT", "STACK", "VERSIONS (* default)")]
    for item in data["components"]:
        versions = [f"{name}*" if name == item["defaultVersion"] else name for name in item["versions"]]
        components.append((item["name"], item["stack"], ", ".join(versions)))
    accelerators = [("ACCELERATOR", "GB", "ARCHITECTURE", "RESOURCE", "MIG PROFILES")]
    for item in data["accelerators"]:
        profiles = ", ".join(f"{name} x{count}" for name, count in item["migProfiles"].items())
        accelerators.append(
            (item["id"], str(item["memoryGB"] or ""), item["architecture"] or "", item["resource"], profiles)
        )
    return f"{table(components)}\n\n{table(accelerators)}"
