"""An ApplicationSet in, what is wrong with it beside its template's Application out."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from gitops_gen.controller.documents import Document, Scope, entries, items, mapping, text
from gitops_gen.controller.findings import error, listed, notice, suggestion, warning
from gitops_gen.diagnostics import Diagnostic, Path

_PERCENT = re.compile(r"(?:100|[0-9]{1,2})%\Z")


def check_template_name(appset: Document, scope: Scope) -> Iterator[Diagnostic]:
    """Refuse a template whose Applications would have no name."""
    metadata = mapping(mapping(_spec(appset).get("template")).get("metadata"))
    if not metadata.get("name"):
        path = ("spec", "template", "metadata")
        yield error("appset-template-name", path, "the template gives its Applications no name")


def check_template_project(appset: Document, scope: Scope) -> Iterator[Diagnostic]:
    """Warn of a templated project: who writes the generator's input then chooses the project."""
    spec = mapping(mapping(_spec(appset).get("template")).get("spec"))
    project = text(spec.get("project"))
    if "{{" in project:
        path = ("spec", "template", "spec", "project")
        said = f'project "{project}" is chosen by the generator: its input decides on permissions'
        yield warning("appset-project-templated", path, said, "name the project")


def check_go_template(appset: Document, scope: Scope) -> Iterator[Diagnostic]:
    """Note the old template language, and Go templates that pass over missing values."""
    spec, known = _spec(appset), scope.facts.enums.go_template_options
    options = list(entries(spec.get("goTemplateOptions")))
    for index, option in options:
        if option not in known:
            path = ("spec", "goTemplateOptions", index)
            said = f'"{option}" is not an option of Go templates'
            yield error("appset-go-template-option", path, said, suggestion(option, known))
    if spec.get("goTemplate") is not True:
        said = "without goTemplate: true the old template language is used"
        yield notice("appset-go-template", ("spec",), said, "set goTemplate: true")
    elif not any(option == "missingkey=error" for _, option in options):
        said = "a missing value becomes the text <no value>"
        hint = 'set goTemplateOptions: ["missingkey=error"]'
        yield notice("appset-go-template", ("spec", "goTemplate"), said, hint)


def check_strategy(appset: Document, scope: Scope) -> Iterator[Diagnostic]:
    """Refuse unknown strategies and deletion orders, and what has no effect without the other."""
    strategy, enums = mapping(_spec(appset).get("strategy")), scope.facts.enums
    path, kind = ("spec", "strategy"), text(strategy.get("type"))
    order = text(strategy.get("deletionOrder"))
    steps = items(mapping(strategy.get("rollingSync")).get("steps"))
    if kind and kind not in enums.strategy_type:
        said = f'strategy "{kind}" is not {listed(enums.strategy_type)}'
        yield error("appset-strategy", (*path, "type"), said, suggestion(kind, enums.strategy_type))
    if order and order.lower() not in {item.lower() for item in enums.deletion_order}:
        said = f'deletionOrder "{order}" is not {listed(enums.deletion_order)}'
        yield error("appset-strategy", (*path, "deletionOrder"), said)
    if kind == "RollingSync" and not steps:
        yield warning("appset-rolling-sync", path, "RollingSync without steps does nothing")
    if steps and kind != "RollingSync":
        said = "rollingSync has no effect without type: RollingSync"
        yield warning("appset-rolling-sync", (*path, "rollingSync"), said)
    if order.lower() == "reverse" and not (kind == "RollingSync" and steps):
        said = "deletionOrder: Reverse has no effect without RollingSync and its steps"
        yield warning("appset-rolling-sync", (*path, "deletionOrder"), said)


def check_rolling_steps(appset: Document, scope: Scope) -> Iterator[Diagnostic]:
    """Refuse operators and sizes of steps that Argo CD skips."""
    rolling = mapping(mapping(_spec(appset).get("strategy")).get("rollingSync"))
    for index, step in enumerate(items(rolling.get("steps"))):
        path: Path = ("spec", "strategy", "rollingSync", "steps", index)
        for place, item in enumerate(items(mapping(step).get("matchExpressions"))):
            operator, known = text(mapping(item).get("operator")), scope.facts.enums.step_operator
            if operator not in known:
                said = f'operator "{operator}" of a step is not {listed(known)}: no match'
                yield error("appset-step-operator", (*path, "matchExpressions", place), said)
        size = mapping(step).get("maxUpdate")
        if isinstance(size, str) and not _PERCENT.match(size) and not size.isdigit():
            said = f'maxUpdate "{size}" is neither a number nor a percentage'
            yield error("appset-max-update", (*path, "maxUpdate"), said, "write 2 or 25%")


def check_rolling_sync_automated(appset: Document, scope: Scope) -> Iterator[Diagnostic]:
    """Note that RollingSync switches the template's automated sync off."""
    spec = _spec(appset)
    template = mapping(mapping(spec.get("template")).get("spec"))
    automated = mapping(template.get("syncPolicy")).get("automated")
    if mapping(spec.get("strategy")).get("type") == "RollingSync" and automated:
        path = ("spec", "template", "spec", "syncPolicy", "automated")
        said = "RollingSync switches automated sync off and leaves unmatched Applications unsynced"
        yield notice("appset-rolling-automated", path, said)


def check_sync_policy(appset: Document, scope: Scope) -> Iterator[Diagnostic]:
    """Refuse unknown values of applicationsSync."""
    value = mapping(_spec(appset).get("syncPolicy")).get("applicationsSync")
    known = scope.facts.enums.applications_sync
    if isinstance(value, str) and value not in known:
        path = ("spec", "syncPolicy", "applicationsSync")
        said = f'applicationsSync "{value}" is not {listed(known)}'
        yield error("appset-applications-sync", path, said, suggestion(value, known))


def check_nested_selectors(appset: Document, scope: Scope) -> Iterator[Diagnostic]:
    """Warn of a field that Argo CD 3.0 and later ignore."""
    if "applyNestedSelectors" in _spec(appset):
        path = ("spec", "applyNestedSelectors")
        said = "applyNestedSelectors is ignored: nested selectors always apply"
        yield warning("appset-nested-selectors", path, said, "remove it")


def _spec(appset: Document) -> Mapping[str, object]:
    return mapping(appset.data.get("spec"))


RULES = (
    check_template_name,
    check_template_project,
    check_go_template,
    check_strategy,
    check_rolling_steps,
    check_rolling_sync_automated,
    check_sync_policy,
    check_nested_selectors,
)
