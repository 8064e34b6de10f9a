"""Times the commands as whole processes and prints a table: cold start, one cluster, a fleet.

Run by `make bench`; `--write` keeps the table in benchmarks/RESULTS.md. Nothing here is a test.
"""

from __future__ import annotations

import argparse
import os
import platform
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

HERE = Path(__file__).parent
FLEETS = (10, 100, 1000)


@dataclass(frozen=True)
class Figure:
    """One measurement: medians over the runs; memory is the largest single process."""

    name: str
    wall: float
    cpu: float
    peak_mib: float
    note: str = ""
    target: str = ""


def measure(command: Sequence[str], cwd: Path, runs: int) -> tuple[float, float, float]:
    """Return median wall seconds, median CPU seconds and peak MiB of a command with its children."""
    clean = {key: value for key, value in os.environ.items() if not key.startswith("PYTHON")}
    walls, cpus, peaks = [], [], []
    for _ in range(runs):
        start = time.perf_counter()
        child = subprocess.Popen(
            command, cwd=cwd, env=clean, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
        )
        _, status, used = os.wait4(child.pid, 0)
        child.returncode = os.waitstatus_to_exitcode(status)
        if child.returncode != 0:
            raise SystemExit(f"{' '.join(command)} ended with status {child.returncode}")
        walls.append(time.perf_counter() - start)
        cpus.append(used.ru_utime + used.ru_stime)
        peaks.append(used.ru_maxrss / 1024)
    return statistics.median(walls), statistics.median(cpus), max(peaks)


def single(base: Path, tool: str) -> list[Figure]:
    """Time the commands on one cluster, each from a cold shell."""
    spec = base / "one" / "cluster.yaml"
    spec.parent.mkdir(parents=True)
    shutil.copy(HERE / "full.yaml", spec)
    figures = []
    for name, args, target in (
        ("python -c pass", [sys.executable, "-c", "pass"], ""),
        ("--help", [tool, "--help"], "120 ms"),
        ("validate", [tool, "validate", str(spec)], ""),
        ("render, cold", ["sh", "-c", f"rm -rf {spec.parent}/rendered && {tool} render {spec}"], "300 ms"),
        ("render, unchanged", [tool, "render", str(spec)], ""),
        ("plan", [tool, "plan", str(spec)], ""),
    ):
        wall, cpu, peak = measure(args, base, runs=7)
        figures.append(Figure(name, wall, cpu, peak, target=target))
    files = [path for path in (spec.parent / "rendered").rglob("*") if path.is_file()]
    size = sum(path.stat().st_size for path in files)
    figures.append(Figure("tree of one cluster", 0, 0, 0, note=f"{len(files)} files, {size / 1024:.0f} KiB"))
    return figures


def fleet(base: Path, tool: str, count: int) -> list[Figure]:
    """Time a fleet of generated clusters: first render and a second run with nothing changed."""
    text = (HERE / "full.yaml").read_text(encoding="utf-8")
    root = base / f"fleet-{count}"
    for index in range(count):
        spec = root / f"c{index:04d}" / "cluster.yaml"
        spec.parent.mkdir(parents=True)
        spec.write_text(text.replace("name: full", f"name: c{index:04d}"), encoding="utf-8")
    (root / ".git").mkdir()
    figures = []
    for name, target in (
        ("first", "20 s" if count == 1000 else ""),
        ("again", "3 s" if count == 1000 else ""),
    ):
        wall, cpu, peak = measure([tool, "render", "--jobs", "2", str(root)], root, runs=1)
        note = f"{cpu / count * 1000:.1f} ms CPU each"
        figures.append(Figure(f"{count} clusters, {name}, --jobs 2", wall, cpu, peak, note, target))
    shutil.rmtree(root)
    return figures


def table(figures: Sequence[Figure]) -> str:
    """Return the figures as a Markdown table."""
    lines = ["| what | wall | CPU | peak memory | note | target |", "|---|---|---|---|---|---|"]
    for item in figures:
        if item.wall:
            cells = [f"{item.wall * 1000:.0f} ms", f"{item.cpu * 1000:.0f} ms", f"{item.peak_mib:.0f} MiB"]
        else:
            cells = ["", "", ""]
        lines.append(f"| {item.name} | {' | '.join(cells)} | {item.note} | {item.target} |")
    return "\n".join(lines)


def machine() -> str:
    """Return what the figures were taken on."""
    python = platform.python_version()
    return f"{platform.machine()}, {os.cpu_count()} cores, Python {python}, output on {scratch()[1]}"


def scratch() -> tuple[Path | None, str]:
    """Return a folder in memory where there is one, so that the disk's speed stays out."""
    memory = Path("/dev/shm")
    return (memory, "tmpfs") if os.access(memory, os.W_OK) else (None, "disk")


def main() -> None:
    """Measure, print, and keep the table where asked."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--write", action="store_true", help="keep the table in RESULTS.md")
    parser.add_argument("--fleet", type=int, default=max(FLEETS), help="largest fleet")
    options = parser.parse_args()
    tool = str(Path(sys.executable).with_name("gitops-gen"))
    with tempfile.TemporaryDirectory(dir=scratch()[0]) as folder:
        figures = single(Path(folder), tool)
        for count in (item for item in FLEETS if item <= options.fleet):
            figures += fleet(Path(folder), tool, count)
    text = f"{machine()}\n\n{table(figures)}\n"
    print(text)
    if options.write:
        intro = (
            "# Benchmarks\n\nMade by `make bench`; medians, whole processes. Machines differ: read ratios."
        )
        (HERE / "RESULTS.md").write_text(f"{intro}\n\n{text}", encoding="utf-8")


if __name__ == "__main__":
    main()
