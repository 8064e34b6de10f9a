"""Strategies for JSON-like values whose strings are hard for YAML readers."""

from __future__ import annotations

import string
from typing import Any

from hypothesis import HealthCheck, settings
from hypothesis import strategies as st

_WORDS = r"""
y Y n N yes Yes YES no NO nO on On off OFF true True tRuE false null Null NULL ~ = <<
1 -1 +1 0 -0 00 08 010 0o14 0O7 0x1F 0X1f 0b11 1_000 1__0 1_ _1 _ -_ 1,000 1i 0x1p-2
1.0 1.10 .5 5. 0. ._1 1e3 1E3 1e+3 12e03 1e e1 .inf -.inf +.INF .NaN inf NaN Infinity
1:30 04:00:00 190:20:30.15 1: 1::2 2001-12-14 2001-1-1 2001-12-14T21:59:43.10-05:00
03190301 1.2 1.2.3 10.0.0.1 - -- --- ... .. . ? : , [ ] { } # & * ! | > ' " % @ ` \
a: a:b :a a#b -a --a ?a !a &a *a |a >a %a @a `a {a} [a] a,b {{a}} ~a =a <<a
"""

# Each of these is something else than a string for some reader when it stands without quotes.
TREACHEROUS = (
    "",
    *_WORDS.split(),
    *("a: b", "a #b", "- a", "? a", " a", "a ", "\ta", "a\t", "a\tb", "1 000", "a : b", "# a"),
    *("\n", "\n\n", "\na", "a\n", "a\n\n", "a\n b\n", "a\n\tb", "a \nb", "a\n \nb", " a\nb"),
    *("a\n  \n", "a\r\nb", "a\rb", "---\na", "a\n---\nb", "a\n...\nb", "#a\nb", "a\n#b\n", "%a\nb"),
    *("\x00", "\x07", "\x1b", "\x7f", "a\x85b", "a\u2028b", "a\n\u2029b", "\ufeff", "\ufeffa\nb"),
    *("\u00a0", "a\u00a0b", "\u200b", "\u202eab", "\ud7ff", "\ue000", "\ufffd", "\uffff"),
    *("é", "aé — b", "😀", "a 😀\nb", "\U0010ffff", "한국어", "\u0661", "a" * 2000, "a b " * 500),
)

any_text = st.text(st.characters(exclude_categories=["Cs"]), max_size=20)
texts = st.one_of(
    st.sampled_from(TREACHEROUS),
    any_text,
    st.text(string.printable, max_size=20),
    st.text(" \t\nab:#-'\"\\01.", max_size=12),
    st.text("+-.0189_:,eExXoObBaf", min_size=1, max_size=8),
)
keys = texts.filter(lambda text: len(text) <= 1000)
scalars = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-(2**63), 2**63 - 1),
    st.floats(allow_nan=False, allow_infinity=False),
    texts,
)
values: st.SearchStrategy[Any] = st.recursive(
    scalars,
    lambda below: st.lists(below, max_size=4) | st.dictionaries(keys, below, max_size=4),
    max_leaves=12,
)
# Objects of Kubernetes are written in their own order of keys.
documents = st.dictionaries(keys.filter(lambda key: key != "apiVersion"), values, max_size=5)


def examples(count: int) -> settings:
    """Try so many examples; a busy machine that draws them slowly is no fault."""
    return settings(max_examples=count, deadline=None, suppress_health_check=[HealthCheck.too_slow])


def typed(value: object) -> object:
    """Return a form of `value` in which 1, 1.0 and True differ, and the order of keys counts."""
    if isinstance(value, dict):
        return [(key, typed(item)) for key, item in value.items()]
    if isinstance(value, list):
        return [typed(item) for item in value]
    return type(value), value
