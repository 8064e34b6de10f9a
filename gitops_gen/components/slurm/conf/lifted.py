"""A partition in, the same with keywords of its `config` in the fields that they have of their own out."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import msgspec

from gitops_gen.components.slurm.conf.text import Value, text_of
from gitops_gen.components.slurm.finding import Finding
from gitops_gen.components.slurm.settings import Partition


def lifted(item: Partition) -> tuple[Partition, Mapping[str, str]]:
    """Return the partition with keywords of `config` in their fields, and `{field: keyword}` of these."""
    plain = Partition(name="", node_sets=())
    taken: dict[str, str] = {}
    values: dict[str, Any] = {}
    for name, value in item.config.items():
        attribute = _ATTRIBUTES.get(name.lower())
        if attribute is None or getattr(item, attribute) != getattr(plain, attribute):
            continue
        taken[camel(attribute)] = name
        fitting = _fitting(attribute, value)
        if fitting is not None:
            values[attribute] = fitting
    return msgspec.structs.replace(item, **values), taken


_ATTRIBUTES: Mapping[str, str] = {
    name.lower(): attribute
    for name, attribute in {
        "MaxTime": "max_time",
        "DefaultTime": "default_time",
        "MinNodes": "min_nodes",
        "MaxNodes": "max_nodes",
        "PriorityTier": "priority_tier",
        "PriorityJobFactor": "priority_job_factor",
        "PreemptMode": "preempt_mode",
        "GraceTime": "grace_time",
        "QOS": "qos",
        "AllowQos": "allow_qos",
        "AllowAccounts": "allow_accounts",
        "AllowGroups": "allow_groups",
        "Exclusive": "exclusive",
        "OverSubscribe": "over_subscribe",
        "Hidden": "hidden",
        "State": "state",
    }.items()
}
_NUMBERS = ("min_nodes", "max_nodes", "priority_tier", "priority_job_factor", "grace_time")
_LISTED = ("allow_qos", "allow_accounts", "allow_groups")


def _fitting(attribute: str, value: Value) -> Any:
    """Return the value as the field has it, None where it says nothing to the rules."""
    text = text_of(value)
    if attribute in _NUMBERS:
        return int(text) if text.isdecimal() else None
    if attribute in _LISTED:
        return tuple(part for part in text.split(",") if part)
    if attribute == "hidden":
        return None
    if attribute in ("max_time", "default_time"):
        return value if isinstance(value, (int, str)) and not isinstance(value, bool) else None
    return text.upper() if attribute in ("preempt_mode", "exclusive", "state") else text


def at_keyword(found: Finding, moved: Mapping[str, str]) -> Finding:
    """Say the finding where the user wrote the value."""
    keyword_name = moved.get(str(found.path[0])) if found.path else None
    if keyword_name is None:
        return found
    return msgspec.structs.replace(found, path=("config", keyword_name))


def camel(attribute: str) -> str:
    """Return a field as the spec writes it."""
    head, *tail = attribute.split("_")
    return head + "".join(word.capitalize() for word in tail)
