"""A jq path expression in, what is plainly wrong with it out; the full grammar is jq's own."""

from __future__ import annotations

import re

_BARE_PATH = re.compile(r"[A-Za-z_][\w-]*\.")
_CLOSING = {")": "(", "]": "[", "}": "{"}
_DANGLING = ("|", ",", "==", "!=", "<", ">", "+", "*", "//", " and", " or")


def jq_fault(expression: str) -> str:
    """Return why jq could not compile the path expression, empty if nothing is seen."""
    text = expression.strip()
    if not text:
        return "it is empty"
    if not (text[0] in '.(["$' or text[0].isalpha()):
        return "it must begin with a path such as .spec"
    if _BARE_PATH.match(text):
        return "a path begins with a dot"
    return _bracket_fault(text) or _end_fault(text)


def _bracket_fault(text: str) -> str:
    opened: list[str] = []
    quoted, skip = False, False
    for sign in text:
        if skip:
            skip = False
        elif sign == "\\" and quoted:
            skip = True
        elif sign == '"':
            quoted = not quoted
        elif quoted:
            continue
        elif sign == "'":
            return "jq quotes with double quotes only"
        elif sign in "([{":
            opened.append(sign)
        elif sign in _CLOSING and (not opened or opened.pop() != _CLOSING[sign]):
            return f"{sign} closes nothing"
    if quoted:
        return "a quote is not closed"
    return f"{opened[-1]} is not closed" if opened else ""


def _end_fault(text: str) -> str:
    if text.endswith(_DANGLING):
        return "it ends in the middle"
    if text.endswith(".") and text not in (".", ".."):
        return "it ends with a dot"
    return ""
