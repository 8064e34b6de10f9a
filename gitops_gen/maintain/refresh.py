"""Chart repositories in, a report of versions that the catalogue does not know out.

Run weekly by the facts workflow; exit status 1 if there is something to look at.
"""

from __future__ import annotations

import sys
import urllib.error
import urllib.request
from collections.abc import Iterable, Iterator
from typing import Any

import yaml

from gitops_gen.catalog.versions import Version
from gitops_gen.maintain.charts import HelmLoader
from gitops_gen.resources import resources

_SECONDS = 60


def main() -> int:
    """Print a Markdown report."""
    lines = [line for item in resources().components for line in report(item.name, item.facts.data)]
    print("\n".join(lines) or "Nothing new.")
    return 1 if lines else 0


def report(component: str, facts: Any) -> Iterator[str]:
    """Yield a line for each chart of a component that has newer versions, or cannot be read."""
    for chart in facts.get("charts", []):
        try:
            published = versions(chart["repository"], chart["name"])
        except (urllib.error.URLError, OSError, KeyError, yaml.YAMLError) as error:
            yield f"- {component}: the repository of {chart['name']} cannot be read ({error})"
            continue
        new = newer(published, facts["versions"])
        if new:
            yield f"- {component}: {chart['name']} has {', '.join(new)}; catalogued up to {facts['version']}"


def newer(published: Iterable[str], known: Iterable[str]) -> list[str]:
    """Return the published versions that are newer than every known one, oldest first."""
    last = max(Version.parse(item) for item in known)
    found = [item for item in published if _release(item) and Version.parse(item) > last]
    return sorted(found, key=lambda item: Version.parse(item).numbers)


def versions(repository: str, chart: str) -> list[str]:
    """Return the versions of a chart that an HTTP chart repository lists."""
    with urllib.request.urlopen(f"{repository}/index.yaml", timeout=_SECONDS) as answer:  # noqa: S310
        index = yaml.load(answer.read(), HelmLoader)  # noqa: S506 -- a safe loader of ours
    return [str(entry["version"]) for entry in index["entries"][chart]]


def _release(version: str) -> bool:
    """Say whether a version is a release rather than a candidate."""
    try:
        return "-" not in version and bool(Version.parse(version).numbers)
    except ValueError:
        return False


if __name__ == "__main__":
    sys.exit(main())
