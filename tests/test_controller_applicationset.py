"""Each rule for ApplicationSets, and their templates checked like Applications."""

from __future__ import annotations

from dataclasses import dataclass, field

import pytest

from tests.controller_inputs import DELETED, changed, check, loaded, said

TEMPLATE = "spec.template"
MATRIX = "spec.generators[0].matrix"
LIST = {"list": {"elements": [{"cluster": "lab"}]}}
STEP = "spec.strategy.rollingSync.steps[0]"


@dataclass(frozen=True, kw_only=True)
class Case:
    """A change of applicationset.yaml that is at fault, what is said, and one that is not."""

    id: str
    bad: dict[str, object]
    found: list[str]
    good: dict[str, object] = field(default_factory=dict)


def merged(*elements: dict[str, str], keys: list[str]) -> dict[str, object]:
    merge = {"mergeKeys": keys, "generators": [LIST, {"list": {"elements": list(elements)}}]}
    return {"spec.generators": [{"merge": merge}]}


CASES = [
    Case(
        id="template without name",
        bad={f"{TEMPLATE}.metadata.name": DELETED},
        found=[
            "error[appset-template-name] spec.template.metadata: the template gives its Applications no name"
        ],
    ),
    Case(
        id="templated project",
        bad={f"{TEMPLATE}.spec.project": "{{.project}}"},
        found=[
            'warning[appset-project-templated] spec.template.spec.project: project "{{.project}}" '
            "is chosen by the generator: its input decides on permissions (name the project)"
        ],
    ),
    Case(
        id="old template language",
        bad={"spec.goTemplate": False},
        found=[
            "notice[appset-go-template] spec: without goTemplate: true the old template language "
            "is used (set goTemplate: true)"
        ],
    ),
    Case(
        id="missing values pass",
        bad={"spec.goTemplateOptions": DELETED},
        found=[
            "notice[appset-go-template] spec.goTemplate: a missing value becomes the text "
            '<no value> (set goTemplateOptions: ["missingkey=error"])'
        ],
    ),
    Case(
        id="template option",
        bad={"spec.goTemplateOptions": ["missingkey=error", "missingKey=error"]},
        found=[
            "error[appset-go-template-option] spec.goTemplateOptions.1: "
            '"missingKey=error" is not an option of Go templates (did you mean "missingkey=error"?)'
        ],
    ),
    Case(
        id="strategy",
        bad={"spec.strategy": {"type": "rollingSync"}},
        good={"spec.strategy": {"type": "AllAtOnce"}},
        found=[
            'error[appset-strategy] spec.strategy.type: strategy "rollingSync" is not AllAtOnce or '
            'RollingSync (did you mean "RollingSync"?)'
        ],
    ),
    Case(
        id="deletion order",
        bad={"spec.strategy.deletionOrder": "Backwards"},
        good={"spec.strategy.deletionOrder": "reverse"},
        found=[
            'error[appset-strategy] spec.strategy.deletionOrder: deletionOrder "Backwards" is not '
            "AllAtOnce or Reverse"
        ],
    ),
    Case(
        id="no steps",
        bad={"spec.strategy": {"type": "RollingSync"}},
        found=["warning[appset-rolling-sync] spec.strategy: RollingSync without steps does nothing"],
    ),
    Case(
        id="steps of no strategy",
        bad={"spec.strategy.type": DELETED, "spec.strategy.deletionOrder": DELETED},
        good={"spec.strategy.deletionOrder": DELETED},
        found=[
            "warning[appset-rolling-sync] spec.strategy.rollingSync: "
            "rollingSync has no effect without type: RollingSync"
        ],
    ),
    Case(
        id="reverse alone",
        bad={"spec.strategy": {"deletionOrder": "Reverse"}},
        good={"spec.strategy": {"deletionOrder": "AllAtOnce"}},
        found=[
            "warning[appset-rolling-sync] spec.strategy.deletionOrder: "
            "deletionOrder: Reverse has no effect without RollingSync and its steps"
        ],
    ),
    Case(
        id="step's operator",
        bad={f"{STEP}.matchExpressions[0].operator": "Exists"},
        good={f"{STEP}.matchExpressions[0].operator": "NotIn"},
        found=[
            "error[appset-step-operator] "
            "spec.strategy.rollingSync.steps.0.matchExpressions.0: "
            'operator "Exists" of a step is not In or NotIn: no match'
        ],
    ),
    Case(
        id="step's size",
        bad={f"{STEP}.maxUpdate": "half"},
        good={f"{STEP}.maxUpdate": 3},
        found=[
            "error[appset-max-update] spec.strategy.rollingSync.steps.0.maxUpdate: "
            'maxUpdate "half" is neither a number nor a percentage (write 2 or 25%)'
        ],
    ),
    Case(
        id="automated sync under RollingSync",
        bad={f"{TEMPLATE}.spec.syncPolicy.automated": {"prune": True}},
        good={f"{TEMPLATE}.spec.syncPolicy.automated": {"prune": True}, "spec.strategy": {}},
        found=[
            "notice[appset-rolling-automated] spec.template.spec.syncPolicy.automated: RollingSync "
            "switches automated sync off and leaves unmatched Applications unsynced"
        ],
    ),
    Case(
        id="sync policy",
        bad={"spec.syncPolicy.applicationsSync": "create"},
        good={"spec.syncPolicy.applicationsSync": "sync"},
        found=[
            "error[appset-applications-sync] spec.syncPolicy.applicationsSync: applicationsSync "
            '"create" is not create-only, create-update, create-delete or sync '
            '(did you mean "create-only"?)'
        ],
    ),
    Case(
        id="nested selectors",
        bad={"spec.applyNestedSelectors": True},
        found=[
            "warning[appset-nested-selectors] spec.applyNestedSelectors: "
            "applyNestedSelectors is ignored: nested selectors always apply (remove it)"
        ],
    ),
    Case(
        id="no generator",
        bad={"spec.generators": []},
        good={"spec.generators": [{"clusters": {}}]},
        found=["error[appset-generator-empty] spec.generators: there is no generator"],
    ),
    Case(
        id="generator of no kind",
        bad={"spec.generators": [{"selector": {"matchLabels": {"a": "b"}}}]},
        good={"spec.generators": [{"clusters": {}, "selector": {"matchLabels": {"a": "b"}}}]},
        found=["error[appset-generator-empty] spec.generators.0: a generator names no kind"],
    ),
    Case(
        id="combined generator of two kinds",
        bad={f"{MATRIX}.generators[0].clusters": {}},
        found=[
            "error[appset-generator-kinds] spec.generators.0.matrix.generators.0: a combined "
            "generator is of one kind, not list and clusters (split it)"
        ],
    ),
    Case(
        id="matrix of three",
        bad={f"{MATRIX}.generators": [LIST, {"clusters": {}}, {"clusters": {}}]},
        good={f"{MATRIX}.generators": [LIST, {"clusters": {}}]},
        found=[
            "error[appset-matrix-size] spec.generators.0.matrix.generators: "
            "matrix combines exactly 2 generators, not 3"
        ],
    ),
    Case(
        id="merge of one",
        bad={"spec.generators": [{"merge": {"mergeKeys": ["cluster"], "generators": [LIST]}}]},
        good=merged({"cluster": "a"}, keys=["cluster"]),
        found=[
            "error[appset-merge-size] spec.generators.0.merge.generators: "
            "merge combines at least 2 generators, not 1"
        ],
    ),
    Case(
        id="merge without keys",
        bad=merged({"cluster": "a"}, keys=[]),
        good=merged({"cluster": "a"}, keys=["cluster"]),
        found=["error[appset-merge-keys] spec.generators.0.merge: merge needs at least one of mergeKeys"],
    ),
    Case(
        id="merge keys twice",
        bad=merged({"cluster": "a", "env": "x"}, {"cluster": "a", "env": "y"}, keys=["cluster"]),
        good=merged({"cluster": "a", "env": "x"}, {"cluster": "a", "env": "y"}, keys=["cluster", "env"]),
        found=[
            "error[appset-merge-unique] spec.generators.0.merge.generators.1.list.elements: "
            "two elements have the same cluster: 'a'"
        ],
    ),
    Case(
        id="combinations nested twice",
        bad={
            f"{MATRIX}.generators[0]": {
                "matrix": {"generators": [LIST, {"matrix": {"generators": [LIST, LIST]}}]}
            }
        },
        good={f"{MATRIX}.generators[0]": {"matrix": {"generators": [LIST, LIST]}}},
        found=[
            "error[appset-nesting] "
            "spec.generators.0.matrix.generators.0.matrix.generators.1.matrix: "
            "combinations nest once only (combine fewer generators)"
        ],
    ),
    Case(
        id="git without items",
        bad={f"{MATRIX}.generators[1].git.files": DELETED},
        found=[
            "error[appset-git-items] spec.generators.0.matrix.generators.1.git: "
            "a git generator needs files or directories"
        ],
    ),
    Case(
        id="git with both",
        bad={f"{MATRIX}.generators[1].git.directories": [{"path": "apps/*"}]},
        good={
            f"{MATRIX}.generators[1].git.directories": [{"path": "apps/*"}],
            f"{MATRIX}.generators[1].git.files": DELETED,
        },
        found=[
            "warning[appset-git-both] spec.generators.0.matrix.generators.1.git.files: "
            "files is ignored beside directories (use two generators)"
        ],
    ),
    Case(
        id="name twice",
        bad={"spec.generators": [LIST, LIST], f"{TEMPLATE}.metadata.name": "{{ .cluster }}-gpu"},
        good={"spec.generators": [LIST, LIST]},
        found=[
            "error[appset-duplicate-name] spec.template.metadata.name: "
            '2 elements make an Application of the same name "lab-gpu"'
        ],
    ),
    Case(
        id="template's chart",
        bad={f"{TEMPLATE}.spec.source.targetRevision": "1.x"},
        good={f"{TEMPLATE}.spec.source.targetRevision": "1.{{.minor}}.x"},
        found=[
            "error[argocd-chart-version-floating] spec.template.spec.source.targetRevision: "
            'targetRevision "1.x" of chart "{{.chart}}" must be an exact version '
            "(name one such as 1.2.3)"
        ],
    ),
    Case(
        id="template's sync option",
        bad={f"{TEMPLATE}.spec.syncPolicy.syncOptions": ["PruneLast=yes"]},
        good={f"{TEMPLATE}.spec.syncPolicy.syncOptions": ["PruneLast={{.last}}"]},
        found=[
            "error[argocd-sync-option-value] spec.template.spec.syncPolicy.syncOptions.0: "
            '"PruneLast=yes" is not a value that Argo CD reads and would be ignored '
            "(write PruneLast=true or PruneLast=false)"
        ],
    ),
    Case(
        id="field of a generator",
        bad={f"{MATRIX}.generators[1].git.rev": "main"},
        found=[
            "error[argocd-unknown-field] spec.generators.0.matrix.generators.1.git.rev: "
            "spec.generators[0].matrix.generators[1].git.rev is not a field of Argo CD's "
            "GitGenerator; it would be dropped",
        ],
    ),
]


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.id)
def test_rule_says_what_is_wrong(case: Case) -> None:
    assert said(check(changed("applicationset", case.bad))) == case.found


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.id)
def test_neighbour_passes(case: Case) -> None:
    assert said(check(changed("applicationset", case.good))) == []


def test_deletion_order_and_archive_flags_need_their_version() -> None:
    found = check(loaded("applicationset")[0], version="3.1")
    assert said(found) == [
        "error[argocd-field-too-new] spec.strategy.deletionOrder: spec.strategy.deletionOrder needs "
        "Argo CD 3.2; this one is 3.1 (leave it out, or raise the Argo CD version)"
    ]
    assert said(check(loaded("applicationset")[0], version="3.2")) == []


def test_generated_application_may_not_have_the_name_of_a_written_one() -> None:
    appset = changed(
        "applicationset",
        {"spec.generators": [LIST], "spec.template.metadata.name": "{{.cluster}}-gpu-operator"},
    )
    assert said(check(loaded("application")[0], appset)) == [
        'error[argocd-duplicate-name] metadata.name: 0.yaml already makes the Application "lab-gpu-operator"'
    ]
