"""Times, numbers, sizes, switches, lists, host lists and GRES as Slurm 26.05.3 reads them."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gitops_gen.components.slurm.conf.grammar import (
    UNLIMITED,
    Refusal,
    format_time,
    minutes_of,
    parse_bool,
    parse_count,
    parse_float,
    parse_purge,
    parse_size,
    parse_time,
    parse_unsigned,
    split_list,
)
from gitops_gen.components.slurm.conf.gres import GresCount, parse_gres, parse_gres_list
from gitops_gen.components.slurm.conf.hostlist import expand, format_hosts, node_names

TEXTS = st.one_of(
    st.text(max_size=12),
    st.text("0123456789-:.,[]+kKMGTiBb xeE_a", max_size=14),
    st.text("0123456789-:", max_size=10),
)


def refused(found: object) -> tuple[str, str]:
    assert isinstance(found, Refusal)
    return found.reason, found.hint


# --- times -------------------------------------------------------------------------------------

# Values of time_str2secs() of Slurm 26.05.3, built from its source.
TIMES = {
    "0": 0,
    "90": 5400,
    "1:30": 90,
    "01:00:00": 3600,
    "0:0:1": 1,
    "1-": 86400,
    "1-0": 86400,
    "7-00:00:00": 604800,
    "1-12": 129600,
    "1-01:30": 91800,
    "0-0:0:90": 90,
    "99:99:99": 362439,
    "-1": UNLIMITED,
    "infinite": UNLIMITED,
    "Unlimited": UNLIMITED,
}


@pytest.mark.parametrize(("text", "seconds"), TIMES.items())
def test_times_are_those_of_slurm(text: str, seconds: float) -> None:
    assert parse_time(text) == seconds


@pytest.mark.parametrize(
    ("value", "reason", "hint"),
    [
        ("7d", "Slurm knows no units of time", 'write "7-00:00:00"'),
        ("12 hours", "Slurm knows no units of time", 'write "12:00:00"'),
        ("30min", "Slurm knows no units of time", 'write "00:30:00"'),
        ("1:", 'nothing follows the last ":"', None),
        ("1:2:3:4", "it has too many parts", None),
        ("1-2-3", "it has too many parts", None),
        ("-5", "a time cannot be negative", "write UNLIMITED (or -1) for no limit"),
        ("", "it is empty", None),
        ("soon", "it is none of Slurm's forms of a time", None),
        ("１", "it is none of Slurm's forms of a time", None),
        ("25000-0", "2160000000 seconds are more than Slurm can count (2147483647)", None),
        (True, "a switch is not a time", None),
    ],
)
def test_times_that_slurm_refuses(value: str | int, reason: str, hint: str | None) -> None:
    said = refused(parse_time(value))
    usual = "write minutes, MM:SS, HH:MM:SS, D-HH, D-HH:MM, D-HH:MM:SS or UNLIMITED"
    longest = "write UNLIMITED, or a time below 68 years"
    assert said == (reason, hint or (longest if "more than" in reason else usual))


def test_a_number_is_minutes() -> None:
    assert parse_time(90) == 5400
    assert parse_time(-1) == UNLIMITED


def test_seconds_round_up_to_minutes() -> None:
    assert [minutes_of(seconds) for seconds in (0, 1, 60, 61)] == [0, 1, 1, 2]
    assert minutes_of(UNLIMITED) == UNLIMITED


@given(st.integers(0, 2**31 - 1))
def test_a_time_survives_its_text(seconds: int) -> None:
    assert parse_time(format_time(seconds)) == seconds


def test_no_limit_survives_its_text() -> None:
    assert parse_time(format_time(UNLIMITED)) == UNLIMITED


# --- numbers -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "bits", "number"),
    [
        ("0", 16, 0),
        ("65535", 16, 65535),
        ("0x10", 16, 16),
        ("010", 32, 8),
        ("4k", 32, 4096),
        ("+7", 32, 7),
        ("4294967295", 32, 4294967295),
        ("UNLIMITED", 16, UNLIMITED),
        ("infinite", 64, UNLIMITED),
        ("18446744073709551615", 64, 2**64 - 1),
    ],
)
def test_numbers_are_those_of_slurm(text: str, bits: int, number: float) -> None:
    assert parse_unsigned(text, bits) == number


@pytest.mark.parametrize(
    ("text", "bits", "reason", "hint"),
    [
        ("1e+06", 32, "Slurm reads no exponents", 'write "1000000"'),
        ("65536", 16, "it is greater than 65535", "write a number up to 65535, or UNLIMITED"),
        ("4k", 16, 'the suffix "k" is not known here', 'write "1" for that many MiB'),
        ("4G", 64, 'the suffix "G" is not known here', 'write "4096" for that many MiB'),
        ("-1", 32, "it is less than zero", "write a whole number up to 4294967295, or UNLIMITED"),
        ("1.5", 32, "it is not whole", "write a whole number up to 4294967295, or UNLIMITED"),
        ("089", 32, "a leading 0 makes it octal, which has no 8 and 9", "leave the 0 out"),
        ("", 32, "it is empty", "write a whole number up to 4294967295, or UNLIMITED"),
        ("many", 32, "it is not a number", "write a whole number up to 4294967295, or UNLIMITED"),
    ],
)
def test_numbers_that_slurm_refuses(text: str, bits: int, reason: str, hint: str) -> None:
    assert refused(parse_unsigned(text, bits)) == (reason, hint)


@given(st.integers(0, 2**64 - 1), st.sampled_from([16, 32, 64]))
def test_a_number_fits_or_is_refused(number: int, bits: int) -> None:
    found = parse_unsigned(str(number), bits)
    assert found == number if number < 2**bits else isinstance(found, Refusal)


@pytest.mark.parametrize(
    ("text", "mebibytes"),
    [
        ("4000", 4000),
        (4000, 4000),
        ("1G", 1024),
        ("2TB", 2 * 1024**2),
        ("1024K", 1),
        ("1025k", 2),
        ("5mb", 5),
    ],
)
def test_sizes_are_mebibytes(text: str | int, mebibytes: int) -> None:
    assert parse_size(text) == mebibytes


def test_sizes_have_no_binary_suffix() -> None:
    assert refused(parse_size("4GiB")) == ("Slurm's suffixes have no i", 'write "4GB"')
    assert refused(parse_size("4 G"))[0] == "it is not a size"
    assert refused(parse_size(True))[0] == "it is not a size"
    assert refused(parse_size("9" * 30))[0] == "it is greater than any memory"


@pytest.mark.parametrize(
    ("text", "count"), [("8", 8), ("1k", 1024), ("2KiB", 2048), ("2KB", 2000), ("1P", 1024**5)]
)
def test_counts_of_gres(text: str, count: int) -> None:
    assert parse_count(text) == count


def test_switches() -> None:
    assert [parse_bool(text) for text in ("YES", "up", "True", "1")] == [True] * 4
    assert [parse_bool(text) for text in ("no", "DOWN", "false", "0")] == [False] * 4
    assert refused(parse_bool("on")) == ("it is neither YES nor NO", "write YES")
    assert refused(parse_bool("maybe")) == ("it is neither YES nor NO", "write YES or NO")


def test_fractions() -> None:
    assert parse_float("97.5") == 97.5
    assert parse_float("1e2") == 100
    assert parse_float("INFINITE") == math.inf
    assert refused(parse_float("98%")) == ("Slurm takes the percentage without its sign", 'write "98"')


def test_purges() -> None:
    assert [parse_purge(text) for text in ("12", "12month", "90d", "48hours")] == [
        "12months",
        "12months",
        "90days",
        "48hours",
    ]
    assert refused(parse_purge("1year"))[0] == "Slurm purges by hours, days or months"
    assert refused(parse_purge("12 months"))[0] == "Slurm purges by hours, days or months"


def test_lists() -> None:
    assert split_list("a,b=1") == ("a", "b=1")
    assert refused(split_list("a, b")) == ("a list has no spaces", 'write "a,b"')
    assert refused(split_list("a,,b")) == ("a list has no empty items", 'write "a,b"')


@given(TEXTS)
def test_no_text_breaks_a_parser(text: str) -> None:
    for found in (
        parse_time(text),
        parse_unsigned(text, 16),
        parse_unsigned(text, 64),
        parse_size(text),
        parse_count(text),
        parse_bool(text),
        parse_float(text),
        parse_purge(text),
        split_list(text),
        parse_gres_list(text),
        expand(text),
    ):
        assert found is not None
        if isinstance(found, Refusal):
            assert found.reason
            assert found.hint


# --- host lists --------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("gpu-[0-2,4]", ("gpu-0", "gpu-1", "gpu-2", "gpu-4")),
        ("gpu-[008-010]", ("gpu-008", "gpu-009", "gpu-010")),
        ("a[1-2]b[3-4]", ("a1b3", "a1b4", "a2b3", "a2b4")),
        ("login,cpu-7", ("login", "cpu-7")),
        ("gpu-[9-10]", ("gpu-9", "gpu-10")),
    ],
)
def test_host_lists_expand(text: str, names: tuple[str, ...]) -> None:
    assert expand(text) == names


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("gpu-[0-3", "its brackets do not match"),
        ("gpu-0-3]", "its brackets do not match"),
        ("gpu-[3-0]", 'the range "3-0" runs backwards'),
        ("gpu-[a-c]", '"a-c" is no range of numbers'),
        ("gpu-[0-70000]", "it has more than 65536 names"),
        ("gpu-[0-999][0-999]", "it has more than 65536 names"),
        ("gpu 0", '"gpu 0" is no host name'),
        ("a,,b", '"" is no host name'),
    ],
)
def test_host_lists_that_are_none(text: str, reason: str) -> None:
    assert refused(expand(text))[0] == reason


def test_names_become_a_host_list() -> None:
    assert format_hosts(["b", "gpu-1", "gpu-0", "gpu-3", "gpu-1"]) == "b,gpu-[0-1,3]"
    assert format_hosts(["gpu-08", "gpu-09", "gpu-10", "gpu-7"]) == "gpu-[7,08-10]"
    assert format_hosts([]) == ""


def test_nodes_of_a_node_set() -> None:
    assert node_names("gpu", 8) == "gpu-[0-7]"
    assert node_names("gpu", 1) == "gpu-0"
    assert node_names("gpu", 12, padding=3) == "gpu-[000-011]"
    assert node_names("gpu", 0) == ""


PREFIX = st.from_regex(r"\A[a-z]([a-z-]{0,6}[a-z])?\Z")
HOSTS = st.sets(
    st.one_of(PREFIX, st.builds("{}-{}".format, PREFIX, st.from_regex(r"\A0{0,2}[0-9]{1,4}\Z"))),
    max_size=30,
)


@given(HOSTS)
def test_names_survive_their_host_list(names: set[str]) -> None:
    text = format_hosts(names)
    found = expand(text) if text else ()
    assert not isinstance(found, Refusal)
    assert sorted(found) == sorted(names)


@given(PREFIX, st.integers(1, 300), st.integers(0, 5))
def test_each_node_has_its_name(prefix: str, count: int, padding: int) -> None:
    found = expand(node_names(prefix, count, padding))
    assert found == tuple(f"{prefix}-{number:0{padding or 1}}" for number in range(count))


# --- GRES --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("gpu:h100:8", GresCount(name="gpu", type="h100", count=8)),
        ("tpu:4", GresCount(name="tpu", count=4)),
        ("gpu", GresCount(name="gpu", count=1)),
        ("gpu:h100", GresCount(name="gpu", type="h100", count=1)),
        (
            "bandwidth:lustre:no_consume:4k",
            GresCount(name="bandwidth", type="lustre", count=4096, no_consume=True),
        ),
        ("license:no_consume:1", GresCount(name="license", count=1, no_consume=True)),
    ],
)
def test_gres_are_read(text: str, found: GresCount) -> None:
    assert parse_gres(text) == found


@pytest.mark.parametrize("text", ["", "8", "gpu:", "gpu:h100:8:9", "gpu:a:b:1", "gpu:h 100:1", "gpu:8x"])
def test_gres_that_are_none(text: str) -> None:
    assert isinstance(parse_gres(text), Refusal)


GRES = st.builds(
    GresCount,
    name=st.from_regex(r"\A[a-z][a-z0-9_]{0,5}\Z"),
    type=st.one_of(
        st.just(""), st.from_regex(r"\A[a-z][a-z0-9_.-]{0,9}\Z").filter(lambda t: t != "no_consume")
    ),
    count=st.integers(0, 2**40),
    no_consume=st.booleans(),
)


@given(st.lists(GRES, min_size=1, max_size=4))
def test_gres_survive_their_text(items: list[GresCount]) -> None:
    assert parse_gres_list(",".join(map(str, items))) == tuple(items)
