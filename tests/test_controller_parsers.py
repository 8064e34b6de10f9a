"""The small readers behind the rules: durations, schedules, globs, names and jq paths."""

from __future__ import annotations

import pytest

from gitops_gen.controller import names
from gitops_gen.controller.cron import schedule_fault
from gitops_gen.controller.durations import is_go_duration, is_go_integer, is_retry_duration
from gitops_gen.controller.globs import glob_matches, path_matches, permits, shell_matches
from gitops_gen.controller.jq import jq_fault
from gitops_gen.controller.sources import resolve

DURATIONS = {
    "0": True,
    "5s": True,
    "1h30m": True,
    "1.5h": True,
    ".5m": True,
    "1.s": True,
    "-2m": True,
    "+3ms": True,
    "10µs": True,
    "2562047h": True,
    "": False,
    "5": False,
    "s": False,
    "1d": False,
    "5 s": False,
    "1h 30m": False,
    "1H": False,
    "1e3s": False,
    "٣s": False,
    "2562048h": False,
    "5s\n": False,
}


@pytest.mark.parametrize("text", DURATIONS)
def test_durations_are_read_as_go_reads_them(text: str) -> None:
    assert is_go_duration(text) is DURATIONS[text]


@pytest.mark.parametrize(
    ("text", "taken"), [("5", True), ("-5", True), ("5s", True), ("5 s", False), ("", False)]
)
def test_retry_durations_may_be_seconds(text: str, taken: bool) -> None:
    assert is_retry_duration(text) is taken


@pytest.mark.parametrize(
    ("text", "taken"),
    [
        ("-60", True),
        ("+1", True),
        ("007", True),
        ("9223372036854775807", True),
        ("9223372036854775808", False),
        ("1_000", False),
        ("1.0", False),
        (" 1", False),
        ("0x1", False),
        ("", False),
        ("٣", False),
    ],
)
def test_integers_are_read_as_go_reads_them(text: str, taken: bool) -> None:
    assert is_go_integer(text) is taken


@pytest.mark.parametrize(
    "schedule",
    [
        "0 9 * * 1-5",
        "*/15 0-23/2 1,15 JAN-mar ?",
        "5/10 * * * SUN",
        "59 23 31 12 6",
        "TZ=Asia/Seoul 0 9 * * *",
        "  0   9 * * *  ",
    ],
)
def test_schedules_that_argocd_reads(schedule: str) -> None:
    assert schedule_fault(schedule) == ""


@pytest.mark.parametrize(
    ("schedule", "fault"),
    {
        "": "it has 0 fields, not minute, hour, day of month, month and day of week",
        "0 9 * *": "it has 4 fields, not minute, hour, day of month, month and day of week",
        "0 0 9 * * *": "it has 6 fields, not minute, hour, day of month, month and day of week",
        "@daily": "descriptors such as @daily are not taken",
        "60 * * * *": '"60" is not a minute: it goes from 0 to 59',
        "0 24 * * *": '"24" is not a hour: it goes from 0 to 23',
        "0 0 0 * *": '"0" is not a day of month: it goes from 1 to 31',
        "0 0 * 13 *": '"13" is not a month: it goes from 1 to 12',
        "0 0 * * monday": '"monday" is not a day of week',
        "0 0 * * fri-mon": '"fri-mon" in day of week ends before it begins',
        "*/0 * * * *": '"*/0" in minute: the step must be a positive number',
        "1//2 * * * *": '"1//2" in minute: the step must be a positive number',
        "*-5 * * * *": '"*-5" in minute is not a range',
        "1-2-3 * * * *": '"1-2-3" is not a minute',
        "1, * * * *": '"" is not a minute',
    }.items(),
)
def test_schedules_that_argocd_refuses(schedule: str, fault: str) -> None:
    assert schedule_fault(schedule) == fault


@pytest.mark.parametrize(
    ("pattern", "text", "separator", "matches"),
    [
        ("https://a.b/*", "https://a.b/c", "/", True),
        ("https://a.b/*", "https://a.b/c/d", "/", False),
        ("https://a.b/*", "https://a.b/c/d", "", True),
        ("https://a.b/**", "https://a.b/c/d", "/", True),
        ("https://?.b", "https://a.b", "/", True),
        ("a/?", "a//", "/", False),
        ("[a-c]x", "bx", "", True),
        ("[!a-c]x", "bx", "", False),
        ("{dev,prod-*}", "prod-1", "", True),
        ("{dev,prod-*}", "test", "", False),
        (r"a\*", "a*", "", True),
        (r"a\*", "ab", "", False),
        ("a.b", "axb", "", False),
        ("[", "[", "", False),
        ("{a", "a", "", False),
        ("", "", "", True),
    ],
)
def test_project_globs(pattern: str, text: str, separator: str, matches: bool) -> None:
    assert glob_matches(pattern, text, separator) is matches


def test_project_entries_may_deny() -> None:
    assert permits("!kube-*", "slurm")
    assert not permits("!kube-*", "kube-system")
    assert permits("*", "a/b", "/")
    assert not permits("*/*", "a", "/")


@pytest.mark.parametrize(
    ("pattern", "text", "matches"),
    [
        ("*", "ClusterRole", True),
        ("Cluster*", "ClusterRole", True),
        ("*", "a/b", False),
        ("{a}", "a", False),
        ("[^a]b", "cb", True),
        ("", "apps", False),
    ],
)
def test_kinds_match_as_shell_patterns(pattern: str, text: str, matches: bool) -> None:
    assert shell_matches(pattern, text) is matches


@pytest.mark.parametrize(
    ("pattern", "path", "matches"),
    [
        ("a/**/x.yaml", "a/x.yaml", True),
        ("a/**/x.yaml", "a/b/c/x.yaml", True),
        ("**/x.yaml", "x.yaml", True),
        ("a/*/x.yaml", "a/b/c/x.yaml", False),
        ("a/**/b/**/x.yaml", "a/b/x.yaml", True),
        ("a/**/b/**/x.yaml", "a/1/b/2/3/x.yaml", True),
        ("a/**/b/**/x.yaml", "a/1/x.yaml", False),
    ],
)
def test_value_file_globs_cross_folders(pattern: str, path: str, matches: bool) -> None:
    assert path_matches(pattern, path) is matches


@pytest.mark.parametrize(
    ("url", "normal"),
    [
        ("https://GitHub.com/Org/Repo.git", "https://github.com/org/repo"),
        ("git@github.com:org/repo.git", "git@github.com/org/repo"),
        ("ssh://git@github.com/org/repo", "git@github.com/org/repo"),
        ("ssh://git@github.com:22/org/repo", "git@github.com:22/org/repo"),
        (" ghcr.io/org/charts ", "ghcr.io/org/charts"),
        ("https://user@github.com/org/repo", "https://user@github.com/org/repo"),
    ],
)
def test_repositories_are_compared_as_argocd_compares_them(url: str, normal: str) -> None:
    assert names.normalise_repository(url) == normal


@pytest.mark.parametrize(
    ("version", "exact"),
    [
        ("1.2.3", True),
        ("v26.7.0", True),
        ("1.0.0-rc.1", True),
        ("1.0.0+up1.2", True),
        ("1.2", False),
        ("1.2.x", False),
        ("~1.2.3", False),
        ("1.2.3 - 2.0.0", False),
        ("1.2.3\n", False),
    ],
)
def test_exact_versions(version: str, exact: bool) -> None:
    assert names.is_exact_version(version) is exact


@pytest.mark.parametrize(
    ("name", "longest", "taken"),
    [
        ("a.b-c.0", 53, True),
        ("0a", 53, True),
        ("a" * 53, 53, True),
        ("a" * 54, 53, False),
        ("a_b", 53, False),
        ("A", 53, False),
        ("-a", 53, False),
        ("a-", 53, False),
        ("a..b", 53, False),
        ("", 53, False),
    ],
)
def test_names(name: str, longest: int, taken: bool) -> None:
    assert names.is_subdomain(name, longest) is taken


@pytest.mark.parametrize(
    ("folder", "path", "seen"),
    [
        ("a/b", "c.yaml", "a/b/c.yaml"),
        ("a/b", "../c.yaml", "a/c.yaml"),
        ("a", "../../c.yaml", None),
        ("a", "/c.yaml", "c.yaml"),
        ("", "./a//b", "a/b"),
        (".", "a", "a"),
        ("a", "..", ""),
    ],
)
def test_paths_are_resolved_inside_the_repository(folder: str, path: str, seen: str | None) -> None:
    assert resolve(folder, path) == seen


@pytest.mark.parametrize(
    "expression",
    [
        ".spec.replicas",
        ".spec.template.spec.containers[]?.resources",
        '.spec.a[] | select(.name == "b) [")',
        '.metadata.annotations["a.b/c"]',
        'select(.metadata.name == "x") | .spec',
        "(.a, .b)",
        "..",
        "if .a then .b else .c end",
        '.webhooks[]?.clientConfig.caBundle, .data."a\\"b"',
    ],
)
def test_jq_paths_that_compile(expression: str) -> None:
    assert jq_fault(expression) == ""


@pytest.mark.parametrize(
    ("expression", "fault"),
    {
        "": "it is empty",
        "/spec/replicas": "it must begin with a path such as .spec",
        "spec.replicas": "a path begins with a dot",
        ".spec[": "[ is not closed",
        ".spec]": "] closes nothing",
        ".a[(]": "] closes nothing",
        '.a["b]': "a quote is not closed",
        ".a['b']": "jq quotes with double quotes only",
        ".a |": "it ends in the middle",
        ".a.": "it ends with a dot",
    }.items(),
)
def test_jq_paths_that_do_not_compile(expression: str, fault: str) -> None:
    assert jq_fault(expression) == fault
