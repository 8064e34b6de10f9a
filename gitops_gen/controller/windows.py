"""An AppProject in, what is wrong with its sync windows out."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from gitops_gen.controller.cron import schedule_fault
from gitops_gen.controller.documents import Document, Scope, entries, items, mapping, text
from gitops_gen.controller.durations import is_go_duration
from gitops_gen.controller.findings import error, listed, suggestion, warning
from gitops_gen.diagnostics import Diagnostic, Path

_SELECTORS = ("applications", "namespaces", "clusters")
_IDENTITY = ("kind", "schedule", "duration", *_SELECTORS, "timeZone", "andOperator")


def check_window_kind(project: Document, scope: Scope) -> Iterator[Diagnostic]:
    """Refuse a window that neither allows nor denies."""
    for path, window in _windows(project):
        kind, known = text(window.get("kind")), scope.facts.enums.window_kind
        if kind not in known:
            said = f'a window\'s kind is {listed(known)}, not "{kind}"'
            yield error("project-window-kind", (*path, "kind"), said)


def check_window_schedule(project: Document, scope: Scope) -> Iterator[Diagnostic]:
    """Refuse a schedule that is no cron expression of five fields."""
    for path, window in _windows(project):
        schedule = text(window.get("schedule"))
        fault = schedule_fault(schedule)
        if fault:
            said = f'schedule "{schedule}": {fault}'
            yield error("project-window-schedule", (*path, "schedule"), said)


def check_window_duration(project: Document, scope: Scope) -> Iterator[Diagnostic]:
    """Refuse a duration that Go cannot read; seconds without a unit are not taken here."""
    for path, window in _windows(project):
        duration = text(window.get("duration"))
        if not is_go_duration(duration):
            said = f'duration "{duration}" is not a duration'
            hint = "write it as 30m, 8h or 1h30m; there is no unit of days"
            yield error("project-window-duration", (*path, "duration"), said, hint)


def check_window_zone(project: Document, scope: Scope) -> Iterator[Diagnostic]:
    """Warn of a time zone that is not in the IANA database: Argo CD then takes UTC."""
    for path, window in _windows(project):
        zone, known = text(window.get("timeZone")), scope.facts.time_zones.names
        if zone and zone not in known:
            said = f'timeZone "{zone}" is unknown: the window would run in UTC'
            hint = suggestion(zone, known)
            yield warning("project-window-time-zone", (*path, "timeZone"), said, hint)


def check_window_selector(project: Document, scope: Scope) -> Iterator[Diagnostic]:
    """Refuse a window that selects nothing."""
    for path, window in _windows(project):
        if not any(list(entries(window.get(key))) for key in _SELECTORS):
            said = "a window needs one of applications, namespaces and clusters"
            yield error("project-window-selector", path, said, 'add applications: ["*"]')


def check_window_repeated(project: Document, scope: Scope) -> Iterator[Diagnostic]:
    """Refuse two windows that differ in nothing but manualSync, syncOverrun and description."""
    seen: set[str] = set()
    for path, window in _windows(project):
        identity = repr([window.get(key) or None for key in _IDENTITY])
        if identity in seen:
            yield error("project-window-duplicate", path, "the same window stands twice")
        seen.add(identity)


def _windows(project: Document) -> Iterator[tuple[Path, Mapping[str, object]]]:
    spec = mapping(project.data.get("spec"))
    for index, window in enumerate(items(spec.get("syncWindows"))):
        yield ("spec", "syncWindows", index), mapping(window)


RULES = (
    check_window_kind,
    check_window_schedule,
    check_window_duration,
    check_window_zone,
    check_window_selector,
    check_window_repeated,
)
