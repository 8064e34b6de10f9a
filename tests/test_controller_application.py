"""Each rule for Applications: an input that triggers it alone, and a neighbour that does not."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import pytest

from tests.controller_inputs import DELETED, changed, check, loaded, said

CHART = "spec.sources[0]"
REF = "spec.sources[1]"
FOLDER = "spec.sources[2]"
ANNOTATION = 'metadata.annotations["argocd.argoproj.io/{}"]'
OPTIONS = "spec.syncPolicy.syncOptions[0]"


@dataclass(frozen=True, kw_only=True)
class Case:
    """A change of application.yaml that is at fault, what is said, and a change that is not."""

    id: str
    bad: dict[str, object]
    found: list[str]
    good: dict[str, object] = field(default_factory=dict)
    options: dict[str, Any] = field(default_factory=dict)


def annotation(name: str) -> str:
    return ANNOTATION.format(name)


CASES = [
    Case(
        id="api version",
        bad={"apiVersion": "argoproj.io/v1"},
        found=[
            'error[argocd-api-version] apiVersion: apiVersion "argoproj.io/v1" must be "argoproj.io/v1alpha1"'
        ],
    ),
    Case(
        id="misspelt field",
        bad={f"{CHART}.helm.valuesFiles": []},
        good={f"{CHART}.helm.apiVersions": []},
        found=[
            "error[argocd-unknown-field] spec.sources.0.helm.valuesFiles: "
            "spec.sources[0].helm.valuesFiles is not a field of Argo CD's Helm; it would be dropped "
            '(did you mean "valueFiles"?)'
        ],
    ),
    Case(
        id="field type",
        bad={"spec.revisionHistoryLimit": "3"},
        good={"spec.revisionHistoryLimit": 3},
        found=[
            "error[argocd-field-type] spec.revisionHistoryLimit: "
            "spec.revisionHistoryLimit must be an integer, not '3'"
        ],
    ),
    Case(
        id="number for a string",
        bad={f"{REF}.targetRevision": 1.10},
        good={f"{REF}.targetRevision": "1.10", f"{FOLDER}.targetRevision": "1.10"},
        found=[
            "error[argocd-field-type] spec.sources.1.targetRevision: "
            'spec.sources[1].targetRevision must be a string, not 1.1 (quote it: "1.1")'
        ],
    ),
    Case(
        id="boolean is no integer",
        bad={"spec.syncPolicy.retry.limit": True},
        good={"spec.syncPolicy.retry.limit": -1},
        found=[
            "error[argocd-field-type] spec.syncPolicy.retry.limit: "
            "spec.syncPolicy.retry.limit must be an integer, not True"
        ],
    ),
    Case(
        id="required field",
        bad={"spec.project": DELETED},
        good={"spec.project": ""},
        found=["error[argocd-missing-field] spec: spec.project is required"],
    ),
    Case(
        id="field newer than Argo CD",
        bad={f"{REF}.tagPrefix": "lab/"},
        options={"version": "3.4"},
        found=[
            "error[argocd-field-too-new] spec.sources.1.tagPrefix: spec.sources[1].tagPrefix needs "
            "Argo CD 3.5; this one is 3.4 (leave it out, or raise the Argo CD version)"
        ],
    ),
    Case(
        id="option newer than Argo CD",
        bad={OPTIONS: "Prune=confirm"},
        options={"version": "3.3.14"},
        found=[
            "error[argocd-field-too-new] spec.syncPolicy.syncOptions.0: the option Prune=confirm of "
            "an Application needs Argo CD 3.4; this one is 3.3.14 "
            "(set it as an annotation on each resource)"
        ],
    ),
    Case(
        id="dry run of missing kinds below 3.1 (C44)",
        bad={OPTIONS: "SkipDryRunOnMissingResource=true", annotation("compare-options"): ""},
        options={"version": "2.14"},
        found=[
            "warning[argocd-field-too-new] spec.syncPolicy.syncOptions.0: the option "
            "SkipDryRunOnMissingResource=true of an Application needs Argo CD 3.1; this one is 2.14 "
            "(set it as an annotation on each resource)"
        ],
    ),
    Case(
        id="value globs newer than Argo CD",
        bad={f"{CHART}.helm.valueFiles[0]": "$values/lab/*.yaml"},
        options={"version": "3.3"},
        found=[
            "error[argocd-field-too-new] spec.sources.0.helm.valueFiles.0: a glob in valueFiles "
            "needs Argo CD 3.4; this one is 3.3 (leave it out, or raise the Argo CD version)"
        ],
    ),
    Case(
        id="hook newer than Argo CD",
        bad={annotation("hook"): "PreDelete"},
        options={"version": "3.2"},
        found=[
            "error[argocd-field-too-new] metadata.annotations.argocd.argoproj.io/hook: the hook "
            "PreDelete needs Argo CD 3.3; this one is 3.2 "
            "(leave it out, or raise the Argo CD version)"
        ],
    ),
    Case(
        id="name",
        bad={"metadata.name": "Lab_GPU"},
        good={"metadata.name": "lab.gpu"},
        found=[
            'error[argocd-name] metadata.name: name "Lab_GPU" must be a DNS name: '
            "a-z, 0-9, - and ., at most 253 characters"
        ],
    ),
    Case(
        id="no name",
        bad={"metadata.name": DELETED},
        good={"metadata.name": DELETED, "metadata.generateName": "lab-"},
        found=["error[argocd-name] metadata: metadata.name is missing"],
    ),
    Case(
        id="label key",
        bad={'metadata.labels["team "]': "gpu"},
        good={'metadata.labels["example.com/team"]': "gpu"},
        found=['error[argocd-label] metadata.labels.team : "team " is no label key'],
    ),
    Case(
        id="label value",
        bad={"metadata.labels.team": "gpu & slurm"},
        good={"metadata.labels.team": ""},
        found=[
            "error[argocd-label] metadata.labels.team: "
            'label team: "gpu & slurm" is no label value, at most 63 characters'
        ],
    ),
    Case(
        id="label of a number",
        bad={"metadata.labels.team": 7},
        good={"metadata.labels.team": "7"},
        found=[
            'error[argocd-label] metadata.labels.team: label team must be a string, not 7 (quote it: "7")'
        ],
    ),
    Case(
        id="annotation of a boolean",
        bad={'metadata.annotations["example.com/on"]': True},
        good={'metadata.annotations["example.com/on"]': "true"},
        found=[
            "error[argocd-annotation] metadata.annotations.example.com/on: "
            'annotation example.com/on must be a string, not True (quote it: "True")'
        ],
    ),
    Case(
        id="annotation key",
        bad={'metadata.annotations["a/b/c"]': ""},
        good={'metadata.annotations["a.b/c"]': ""},
        found=['error[argocd-annotation] metadata.annotations.a/b/c: "a/b/c" is no annotation key'],
    ),
    Case(
        id="numeric wave",
        bad={annotation("sync-wave"): 3},
        good={annotation("sync-wave"): "+3"},
        found=[
            "error[argocd-sync-wave] metadata.annotations.argocd.argoproj.io/sync-wave: "
            'sync-wave must be a string, not 3 (quote it: "3")'
        ],
    ),
    Case(
        id="wave of words",
        bad={annotation("sync-wave"): "1.5"},
        good={annotation("sync-wave"): "0015"},
        found=[
            "error[argocd-sync-wave] metadata.annotations.argocd.argoproj.io/sync-wave: "
            'sync-wave "1.5" is not an integer and would count as 0'
        ],
    ),
    Case(
        id="hook",
        bad={annotation("hook"): "presync"},
        good={annotation("hook"): "PreSync, PostSync"},
        found=[
            "error[argocd-hook] metadata.annotations.argocd.argoproj.io/hook: "
            '"presync" is not a hook of Argo CD (did you mean "PreSync"?)'
        ],
    ),
    Case(
        id="hook deletion policy",
        bad={annotation("hook-delete-policy"): "HookDone"},
        good={annotation("hook-delete-policy"): "HookSucceeded,HookFailed"},
        found=[
            "error[argocd-hook-delete-policy] "
            "metadata.annotations.argocd.argoproj.io/hook-delete-policy: "
            '"HookDone" is not a hook-delete-policy '
            "(write HookSucceeded, HookFailed or BeforeHookCreation)"
        ],
    ),
    Case(
        id="compare option",
        bad={annotation("compare-options"): "ServerSideDif=true"},
        good={annotation("compare-options"): "IncludeMutationWebhook=true, IgnoreExtraneous"},
        found=[
            "error[argocd-compare-option-unknown] "
            "metadata.annotations.argocd.argoproj.io/compare-options: "
            '"ServerSideDif=true" is not a compare option of Argo CD and would be ignored '
            '(did you mean "ServerSideDiff"?)'
        ],
    ),
    Case(
        id="compare option's value",
        bad={annotation("compare-options"): "ServerSideDiff=True"},
        found=[
            "error[argocd-compare-option-value] "
            "metadata.annotations.argocd.argoproj.io/compare-options: "
            '"ServerSideDiff=True" is not a value that Argo CD reads and would be ignored '
            "(write ServerSideDiff=true or ServerSideDiff=false)"
        ],
    ),
    Case(
        id="compare options at odds",
        bad={annotation("compare-options"): "IncludeMutationWebhook=true,IncludeMutationWebhook=false"},
        good={annotation("compare-options"): "ServerSideDiff=true,ServerSideDiff=true"},
        found=[
            "warning[argocd-compare-option-conflict] "
            "metadata.annotations.argocd.argoproj.io/compare-options: "
            "IncludeMutationWebhook is set to true and to false (keep one of the two)"
        ],
    ),
    Case(
        id="server-side diff off (C54)",
        bad={annotation("compare-options"): "ServerSideDiff=false"},
        found=[
            "warning[argocd-server-side-diff-off] "
            "metadata.annotations.argocd.argoproj.io/compare-options: ServerSideDiff is off: "
            "fields that a CRD defaults show as drift for ever (write ServerSideDiff=true)"
        ],
    ),
    Case(
        id="sync options as annotation (C55)",
        bad={annotation("sync-options"): "CreateNamespace=true"},
        good={annotation("sync-options"): "Prune=confirm, Delete=false"},
        found=[
            "error[argocd-sync-options-annotation] "
            "metadata.annotations.argocd.argoproj.io/sync-options: "
            '"CreateNamespace=true" as an annotation of the Application does not reach its '
            "resources (move it to spec.syncPolicy.syncOptions)"
        ],
    ),
    Case(
        id="finalizer",
        bad={"metadata.finalizers[0]": "resources-finalizer.argocd.argoproj.io/forground"},
        good={"metadata.finalizers[0]": "resources-finalizer.argocd.argoproj.io/background"},
        found=[
            "error[argocd-finalizer] metadata.finalizers.0: "
            '"resources-finalizer.argocd.argoproj.io/forground" is not a finalizer of Argo CD: '
            "nothing would ever remove it "
            '(did you mean "resources-finalizer.argocd.argoproj.io/foreground"?)'
        ],
    ),
    Case(
        id="finalizer of the controller",
        bad={"metadata.finalizers[0]": "pre-delete-finalizer.argocd.argoproj.io"},
        good={"metadata.finalizers[0]": "example.com/other"},
        found=[
            "warning[argocd-finalizer-managed] metadata.finalizers.0: the finalizer "
            "pre-delete-finalizer.argocd.argoproj.io is set by Argo CD itself (remove it)"
        ],
    ),
    Case(
        id="status",
        bad={"status": {}},
        found=["warning[argocd-managed-field] status: status belongs to the controller (remove it)"],
    ),
    Case(
        id="tracking id",
        bad={annotation("tracking-id"): "a:b"},
        found=[
            "warning[argocd-managed-field] metadata.annotations.argocd.argoproj.io/tracking-id: "
            "tracking-id belongs to the controller (remove it)"
        ],
    ),
    Case(
        id="no source",
        bad={"spec.sources": DELETED},
        found=["error[argocd-source-missing] spec: it has neither source nor sources"],
    ),
    Case(
        id="source beside sources",
        bad={"spec.source": {"repoURL": "https://charts.example.com", "path": "a"}},
        found=[
            "warning[argocd-source-ignored] spec.source: spec.source is ignored, "
            "since spec.sources is set (remove spec.source)"
        ],
    ),
    Case(
        id="empty repository",
        bad={
            f"{REF}.repoURL": "",
            f"{CHART}.helm.valueFiles": [],
            f"{CHART}.helm.fileParameters": [],
        },
        good={f"{CHART}.helm.valueFiles": [], f"{CHART}.helm.fileParameters": []},
        found=["error[argocd-source-incomplete] spec.sources.1: a source's repoURL is empty"],
    ),
    Case(
        id="nothing to read",
        bad={f"{FOLDER}.path": DELETED},
        good={f"{FOLDER}.path": "."},
        found=["error[argocd-source-incomplete] spec.sources.2: a source needs path, chart or ref"],
    ),
    Case(
        id="chart without version",
        bad={f"{CHART}.targetRevision": DELETED},
        found=[
            "error[argocd-chart-version-missing] spec.sources.0: "
            'chart "gpu-operator" has no targetRevision (name its exact version)'
        ],
    ),
    *(
        Case(
            id=f"chart at {version} (C46)",
            bad={f"{CHART}.targetRevision": version},
            good={f"{CHART}.targetRevision": "1.2.3-rc.1+build.5"},
            found=[
                "error[argocd-chart-version-floating] spec.sources.0.targetRevision: "
                f'targetRevision "{version}" of chart "gpu-operator" must be an exact version '
                "(name one such as 1.2.3)"
            ],
        )
        for version in (">=0", "*", "1.x", "HEAD", "latest", "^1.2.3", "1.2")
    ),
    Case(
        id="somebody else's branch (C46)",
        bad={
            f"{FOLDER}.repoURL": "https://github.com/kubeflow/manifests",
            f"{FOLDER}.targetRevision": "master",
        },
        good={
            f"{FOLDER}.repoURL": "https://github.com/kubeflow/manifests",
            f"{FOLDER}.targetRevision": "v1.10.2",
        },
        options={"repositories": ["https://git.example.com/team/clusters"]},
        found=[
            "error[argocd-git-revision-floating] spec.sources.2.targetRevision: "
            'https://github.com/kubeflow/manifests is read at "master", which moves without a '
            "review here (name a tag or a commit)"
        ],
    ),
    Case(
        id="somebody else's newest commit",
        bad={
            f"{FOLDER}.repoURL": "https://github.com/kubeflow/manifests",
            f"{FOLDER}.targetRevision": DELETED,
        },
        good={
            f"{FOLDER}.repoURL": "https://github.com/kubeflow/manifests",
            f"{FOLDER}.targetRevision": "refs/tags/latest",
        },
        options={
            "repositories": [
                "git@git.example.com:team/clusters.git",
                "https://git.example.com/team/clusters",
            ]
        },
        found=[
            "error[argocd-git-revision-floating] spec.sources.2: "
            'https://github.com/kubeflow/manifests is read at "HEAD", which moves without a '
            "review here (name a tag or a commit)"
        ],
    ),
    Case(
        id="oci:// beside chart (C39)",
        bad={f"{CHART}.repoURL": "oci://ghcr.io/slinkyproject/charts", f"{CHART}.chart": "slurm"},
        good={f"{CHART}.repoURL": "ghcr.io/slinkyproject/charts", f"{CHART}.chart": "slurm"},
        found=[
            "error[argocd-oci-with-chart] spec.sources.0.repoURL: repoURL "
            '"oci://ghcr.io/slinkyproject/charts" with oci:// cannot be combined with chart "slurm" '
            "(write repoURL ghcr.io/slinkyproject/charts beside the chart, or "
            "oci://ghcr.io/slinkyproject/charts/slurm with path .)"
        ],
    ),
    Case(
        id="OCI source below 3.1",
        bad={
            "spec.source": {"repoURL": "oci://ghcr.io/a/b", "path": ".", "targetRevision": "1.2.3"},
            "spec.sources": DELETED,
        },
        options={"version": "3.0"},
        found=[
            "error[argocd-field-too-new] spec.source.repoURL: an oci:// source needs "
            "Argo CD 3.1; this one is 3.0 (leave it out, or raise the Argo CD version)"
        ],
    ),
    Case(
        id="path beside chart",
        bad={f"{CHART}.path": "charts"},
        found=[
            "warning[argocd-chart-with-path] spec.sources.0.path: "
            'path "charts" is ignored beside a chart (remove it)'
        ],
    ),
    Case(
        id="two types",
        bad={f"{FOLDER}.kustomize": {}},
        good={f"{FOLDER}.kustomize": {}, f"{FOLDER}.directory": DELETED},
        found=[
            "error[argocd-source-types] spec.sources.2.directory: a source is of one type, "
            "this one sets kustomize and directory (split the source)"
        ],
    ),
    Case(
        id="absolute path",
        bad={f"{FOLDER}.path": "/lab/manifests"},
        good={f"{FOLDER}.path": "./lab/manifests"},
        found=[
            "error[argocd-path-absolute] spec.sources.2.path: "
            'path "/lab/manifests" must be relative to the repository (write lab/manifests)'
        ],
    ),
    Case(
        id="path outside",
        bad={f"{FOLDER}.path": "lab/../../other"},
        good={f"{FOLDER}.path": "lab/../other"},
        found=[
            'error[argocd-path-outside] spec.sources.2.path: path "lab/../../other" leaves the repository'
        ],
    ),
    Case(
        id="retired repository (C55)",
        bad={f"{CHART}.repoURL": "https://nvidia.github.io/gpu-operator/"},
        good={f"{CHART}.repoURL": "https://nvidia.github.io/k8s-device-plugin"},
        found=[
            "error[argocd-retired-repository] spec.sources.0.repoURL: "
            "https://nvidia.github.io/gpu-operator/ is no longer filled "
            "(use https://helm.ngc.nvidia.com/nvidia)"
        ],
    ),
    Case(
        id="release name",
        bad={f"{CHART}.helm.releaseName": "GPU_operator"},
        good={f"{CHART}.helm.releaseName": "gpu.operator-" + "9" * 40},
        found=[
            "error[argocd-release-name] spec.sources.0.helm.releaseName: releaseName "
            '"GPU_operator" is no Helm release name: lower-case DNS, at most 53 characters '
            "(set a shorter helm.releaseName)"
        ],
    ),
    Case(
        id="release name from the Application",
        bad={f"{CHART}.helm.releaseName": DELETED, "metadata.name": "a" * 54},
        good={f"{CHART}.helm.releaseName": DELETED, "metadata.name": "a" * 53},
        found=[
            "error[argocd-release-name] spec.sources.0: the release takes the Application's name "
            f'"{"a" * 54}", which is no Helm release name: lower-case DNS, at most 53 characters '
            "(set a shorter helm.releaseName)"
        ],
    ),
    Case(
        id="helm version",
        bad={f"{CHART}.helm.version": "v2"},
        good={f"{CHART}.helm.version": "v4"},
        found=[
            'error[argocd-helm-version] spec.sources.0.helm.version: helm.version "v2" is not '
            "supported (leave it out)"
        ],
    ),
    Case(
        id="helm version newer than Argo CD",
        bad={f"{CHART}.helm.version": "v4"},
        options={"version": "3.4.7"},
        found=[
            "error[argocd-field-too-new] spec.sources.0.helm.version: helm.version v4 needs "
            "Argo CD 3.5; this one is 3.4.7 (leave it out, or raise the Argo CD version)"
        ],
    ),
    Case(
        id="values beside valuesObject",
        bad={f"{CHART}.helm.values": "a: 1", f"{CHART}.helm.valuesObject": {"a": 1}},
        good={f"{CHART}.helm.valuesObject": {"a": 1}},
        found=[
            "warning[argocd-values-ignored] spec.sources.0.helm.values: "
            "helm.values is ignored, since helm.valuesObject is set (merge the two)"
        ],
    ),
    Case(
        id="CRDs left to the hook (C52)",
        bad={f"{CHART}.helm.skipCrds": True},
        good={f"{CHART}.helm.skipCrds": False},
        found=[
            "warning[argocd-skip-crds] spec.sources.0.helm.skipCrds: skipCrds leaves the CRDs to "
            "the hook that operator.upgradeCRD switches (let Argo CD apply the CRDs)"
        ],
    ),
    *(
        Case(
            id=f"CRDs by nobody (C12), {key}",
            bad={f"{CHART}.helm.skipCrds": True, f"{CHART}.helm.{key}": value},
            good={f"{CHART}.helm.{key}": value},
            found=[
                "error[argocd-crds-not-installed] spec.sources.0.helm.skipCrds: with "
                "operator.upgradeCRD: false nothing would install or upgrade the CRDs "
                "(remove skipCrds)"
            ],
        )
        for key, value in {
            "valuesObject": {"operator": {"upgradeCRD": False}},
            "values": "operator: {upgradeCRD: false}",
            "parameters": [{"name": "operator.upgradeCRD", "value": "false"}],
        }.items()
    ),
    Case(
        id="ref name",
        bad={
            f"{REF}.ref": "my.values",
            f"{CHART}.helm.valueFiles": [],
            f"{CHART}.helm.fileParameters": [],
        },
        good={
            f"{REF}.ref": "my-values_2",
            f"{CHART}.helm.valueFiles": [],
            f"{CHART}.helm.fileParameters": [],
        },
        found=[
            "error[argocd-ref-name] spec.sources.1.ref: "
            'ref "my.values" may only hold letters, digits, _ and -'
        ],
    ),
    Case(
        id="ref twice",
        bad={"spec.sources[2]": {"repoURL": "https://git.example.com/b", "ref": "values"}},
        good={"spec.sources[2]": {"repoURL": "https://git.example.com/b", "ref": "other"}},
        found=['error[argocd-ref-duplicate] spec.sources.2.ref: two sources have the ref "values"'],
    ),
    Case(
        id="ref on a chart",
        bad={f"{CHART}.ref": "chart"},
        found=[
            "error[argocd-ref-chart] spec.sources.0.ref: the source with ref "
            '"chart" may not have a chart (value files come from Git sources only)'
        ],
    ),
    Case(
        id="ref with path",
        bad={f"{REF}.path": "lab"},
        found=[
            'warning[argocd-ref-with-path] spec.sources.1.path: the source with ref "values" has a '
            "path, so its files are applied too (split it: one source with ref, one with path)"
        ],
    ),
    Case(
        id="unknown ref",
        bad={f"{CHART}.helm.valueFiles[0]": "$value/lab/gpu-operator.yaml"},
        found=[
            "error[argocd-ref-unknown] spec.sources.0.helm.valueFiles.0: "
            '"$value/lab/gpu-operator.yaml" names the unknown ref "value" (known refs: values)'
        ],
    ),
    Case(
        id="ref in a single source",
        bad={
            "spec.source": {
                "repoURL": "https://git.example.com/b",
                "path": "chart",
                "helm": {"releaseName": "b", "valueFiles": ["$values/b.yaml"]},
            },
            "spec.sources": DELETED,
        },
        good={
            "spec.source": {
                "repoURL": "https://git.example.com/b",
                "path": "chart",
                "helm": {"releaseName": "b", "valueFiles": ["$ARGOCD_APP_NAME/b.yaml"]},
            },
            "spec.sources": DELETED,
        },
        found=[
            "error[argocd-ref-unknown] spec.source.helm.valueFiles.0: "
            '"$values/b.yaml": refs work in spec.sources only, here $values is replaced by nothing '
            "(use spec.sources with a ref source)"
        ],
    ),
    Case(
        id="ref inside a path (C38)",
        bad={f"{CHART}.helm.valueFiles[0]": "envs/$values/x.yaml"},
        found=[
            "error[argocd-ref-placement] spec.sources.0.helm.valueFiles.0: "
            '"envs/$values/x.yaml": $values must be the first part of the path '
            "(write $values/<path from the root>)"
        ],
    ),
    Case(
        id="ref without a file",
        bad={f"{CHART}.helm.valueFiles[0]": "$values/"},
        found=[
            "error[argocd-ref-placement] spec.sources.0.helm.valueFiles.0: "
            '"$values/" names a repository, not a file in it (write $values/<file>)'
        ],
    ),
    Case(
        id="ref in kustomize",
        bad={f"{FOLDER}.kustomize": {"components": ["$values/a"]}, f"{FOLDER}.directory": DELETED},
        good={f"{FOLDER}.kustomize": {"components": ["../a"]}, f"{FOLDER}.directory": DELETED},
        found=[
            "error[argocd-ref-placement] spec.sources.2.kustomize.components.0: "
            '"$values/a": refs do not work in kustomize'
        ],
    ),
    Case(
        id="two refs, two revisions",
        bad={
            "spec.sources[2]": {
                "repoURL": "git@GIT.example.com:team/clusters",
                "ref": "more",
                "targetRevision": "v2",
            },
            f"{REF}.repoURL": "ssh://git@git.example.com/team/clusters.git",
            f"{CHART}.helm.valueFiles": ["$values/a.yaml", "$more/b.yaml"],
        },
        good={
            "spec.sources[2]": {
                "repoURL": "git@GIT.example.com:team/clusters",
                "ref": "more",
                "targetRevision": "v2",
            },
            f"{REF}.repoURL": "ssh://git@git.example.com/team/clusters.git",
            f"{CHART}.helm.valueFiles": ["$values/a.yaml"],
        },
        found=[
            "error[argocd-ref-revisions] spec.sources.2.targetRevision: "
            "git@GIT.example.com:team/clusters is read at two revisions: $more at "
            '"v2", $values at "refs/heads/main" (use one revision of a repository in an Application)'
        ],
    ),
    Case(
        id="a source and its ref at two revisions",
        bad={
            f"{FOLDER}.directory": DELETED,
            f"{FOLDER}.helm": {"releaseName": "a", "valueFiles": ["$values/a.yaml"]},
            f"{FOLDER}.targetRevision": "v1",
        },
        good={
            f"{FOLDER}.directory": DELETED,
            f"{FOLDER}.helm": {"releaseName": "a", "valueFiles": ["$values/a.yaml"]},
            f"{FOLDER}.targetRevision": "main",
        },
        found=[
            "error[argocd-ref-revisions] spec.sources.1.targetRevision: "
            "https://git.example.com/team/clusters.git is read at two revisions: $values at "
            '"refs/heads/main", the source itself at "v1" '
            "(use one revision of a repository in an Application)"
        ],
    ),
    Case(
        id="value file outside",
        bad={f"{CHART}.helm.valueFiles[0]": "$values/../secret.yaml"},
        good={f"{CHART}.helm.valueFiles[0]": "$values/lab/../secret.yaml"},
        found=[
            "error[argocd-value-file-outside] spec.sources.0.helm.valueFiles.0: "
            '"$values/../secret.yaml" leaves the repository'
        ],
    ),
    Case(
        id="value file's scheme",
        bad={f"{CHART}.helm.valueFiles[0]": "s3://bucket/a.yaml"},
        good={f"{CHART}.helm.valueFiles[0]": "https://example.com/a.yaml"},
        found=[
            "error[argocd-value-file-scheme] spec.sources.0.helm.valueFiles.0: "
            '"s3://bucket/a.yaml": value files are not read over s3'
        ],
    ),
    Case(
        id="substituted parameter",
        bad={f"{CHART}.helm.parameters[0].value": "pa$word"},
        good={f"{CHART}.helm.parameters[0].value": "pa$$word-${ARGOCD_APP_NAME}"},
        found=[
            "warning[argocd-substitution] spec.sources.0.helm.parameters.0.value: "
            '"pa$word": Argo CD replaces $word by nothing (write $$ for a dollar sign)'
        ],
    ),
    Case(
        id="server and name",
        bad={"spec.destination.server": "https://kubernetes.default.svc"},
        good={"spec.destination": {"server": "https://kubernetes.default.svc/", "namespace": "a"}},
        found=[
            "error[argocd-destination-ambiguous] spec.destination: the destination has both server "
            "and name, which Argo CD refuses (keep one of the two)"
        ],
    ),
    Case(
        id="no cluster",
        bad={"spec.destination.name": DELETED},
        found=[
            "error[argocd-destination-missing] spec.destination: the destination names no cluster "
            "(set server or name, such as name: in-cluster)"
        ],
    ),
    Case(
        id="mis-cased sync option",
        bad={OPTIONS: "serverSideApply=true"},
        good={OPTIONS: "ServerSideApply=false"},
        found=[
            "error[argocd-sync-option-unknown] spec.syncPolicy.syncOptions.0: "
            '"serverSideApply=true" is not a sync option of Argo CD and would be ignored '
            '(did you mean "ServerSideApply"?)'
        ],
    ),
    Case(
        id="sync option that is none (C55)",
        bad={OPTIONS: "SkipDryRun=true"},
        good={OPTIONS: "SkipDryRunOnMissingResource=true"},
        found=[
            "error[argocd-sync-option-unknown] spec.syncPolicy.syncOptions.0: "
            '"SkipDryRun=true" is not a sync option of Argo CD and would be ignored '
            '(did you mean "SkipDryRunOnMissingResource"?)'
        ],
    ),
    *(
        Case(
            id=f"sync option {option}",
            bad={OPTIONS: option},
            good={OPTIONS: "PrunePropagationPolicy=orphan"},
            found=[
                "error[argocd-sync-option-value] spec.syncPolicy.syncOptions.0: "
                f'"{option}" is not a value that Argo CD reads and would be ignored (write {write})'
            ],
        )
        for option, write in {
            "PrunePropagationPolicy=Foreground": "PrunePropagationPolicy=foreground, "
            "PrunePropagationPolicy=background or PrunePropagationPolicy=orphan",
            "Validate=no": "Validate=true or Validate=false",
            "Prune": "Prune=true, Prune=false or Prune=confirm",
            "ApplyOutOfSyncOnly= true": "ApplyOutOfSyncOnly=true or ApplyOutOfSyncOnly=false",
        }.items()
    ),
    Case(
        id="sync option of resources",
        bad={OPTIONS: "Force=true"},
        good={OPTIONS: "Replace=true"},
        found=[
            "error[argocd-sync-option-level] spec.syncPolicy.syncOptions.0: "
            '"Force=true" is read on a resource\'s annotation only and would be ignored here'
        ],
    ),
    Case(
        id="sync options at odds",
        bad={OPTIONS: "CreateNamespace=false"},
        good={OPTIONS: "CreateNamespace=true"},
        found=[
            "warning[argocd-sync-option-conflict] spec.syncPolicy.syncOptions: "
            "CreateNamespace is set to false and to true (keep one of the two)"
        ],
    ),
    Case(
        id="replace beside server-side apply",
        bad={"spec.syncPolicy.syncOptions[2]": "Replace=true", "spec.ignoreDifferences": DELETED},
        good={"spec.syncPolicy.syncOptions[2]": "Replace=false", "spec.ignoreDifferences": DELETED},
        found=[
            "warning[argocd-sync-option-conflict] spec.syncPolicy.syncOptions: "
            "Replace=true beats ServerSideApply=true (keep one of the two)"
        ],
    ),
    Case(
        id="retry duration",
        bad={"spec.syncPolicy.retry.backoff.duration": "5 seconds"},
        good={"spec.syncPolicy.retry.backoff.duration": "5"},
        found=[
            "error[argocd-retry-duration] spec.syncPolicy.retry.backoff.duration: "
            'retry duration "5 seconds" is not a duration (write it as 30s, 5m or 1h30m)'
        ],
    ),
    Case(
        id="longest retry duration",
        bad={"spec.syncPolicy.retry.backoff.maxDuration": "1d"},
        good={"spec.syncPolicy.retry.backoff.maxDuration": "1h30m"},
        found=[
            "error[argocd-retry-duration] spec.syncPolicy.retry.backoff.maxDuration: "
            'retry maxDuration "1d" is not a duration (write it as 30s, 5m or 1h30m)'
        ],
    ),
    Case(
        id="allow empty",
        bad={"spec.syncPolicy.automated.allowEmpty": True},
        good={"spec.syncPolicy.automated": {"allowEmpty": True}},
        found=[
            "warning[argocd-allow-empty] spec.syncPolicy.automated.allowEmpty: with prune and "
            "allowEmpty an empty source deletes every resource (remove allowEmpty)"
        ],
    ),
    Case(
        id="metadata of no namespace",
        bad={"spec.syncPolicy.syncOptions[1]": "CreateNamespace=false"},
        good={
            "spec.syncPolicy.syncOptions[1]": "CreateNamespace=false",
            "spec.syncPolicy.managedNamespaceMetadata": DELETED,
        },
        found=[
            "warning[argocd-namespace-metadata] spec.syncPolicy.managedNamespaceMetadata: "
            "managedNamespaceMetadata has no effect without CreateNamespace=true"
        ],
    ),
    Case(
        id="pointer",
        bad={"spec.ignoreDifferences[0].jsonPointers[0]": "spec.replicas"},
        good={"spec.ignoreDifferences[0].jsonPointers[0]": "/metadata/labels/a~1b"},
        found=[
            "error[argocd-ignore-pointer] spec.ignoreDifferences.0.jsonPointers.0: "
            'jsonPointer "spec.replicas" must begin with / (write /spec/replicas)'
        ],
    ),
    Case(
        id="pointer's escape",
        bad={"spec.ignoreDifferences[0].jsonPointers[0]": "/metadata/labels/a~b"},
        found=[
            "error[argocd-ignore-pointer] spec.ignoreDifferences.0.jsonPointers.0: "
            'jsonPointer "/metadata/labels/a~b": ~ must be written ~0, and / in a key ~1'
        ],
    ),
    Case(
        id="jq expression",
        bad={"spec.ignoreDifferences[0].jqPathExpressions[0]": '.spec.a[] | select(.name == "b"'},
        good={"spec.ignoreDifferences[0].jqPathExpressions[0]": ".spec.a[]?.b"},
        found=[
            "error[argocd-ignore-jq] spec.ignoreDifferences.0.jqPathExpressions.0: "
            'jqPathExpression ".spec.a[] | select(.name == "b"": ( is not closed'
        ],
    ),
    Case(
        id="nothing ignored",
        bad={"spec.ignoreDifferences[0]": {"kind": "Service"}},
        good={"spec.ignoreDifferences[0]": {"kind": "Service", "managedFieldsManagers": ["kcm"]}},
        found=[
            "warning[argocd-ignore-empty] spec.ignoreDifferences.0: an ignoreDifferences entry "
            "without jsonPointers, jqPathExpressions, managedFieldsManagers ignores nothing"
        ],
    ),
    Case(
        id="ignored in the display only",
        bad={"spec.syncPolicy.syncOptions[2]": "PruneLast=true"},
        good={
            "spec.syncPolicy.syncOptions[2]": "PruneLast=true",
            "spec.ignoreDifferences": DELETED,
        },
        found=[
            "notice[argocd-ignore-display] spec.ignoreDifferences: ignoreDifferences changes the "
            "display only: each sync still writes those fields "
            "(add the sync option RespectIgnoreDifferences=true)"
        ],
    ),
]

FILES = ["lab/gpu-operator.yaml", "lab/licence.conf", "lab/manifests/a.yaml"]
OWN = ["git@git.example.com:team/clusters.git", "https://git.example.com/team/clusters"]
TREE_CASES = [
    Case(
        id="value file that is not there",
        bad={f"{CHART}.helm.valueFiles[0]": "$values/lab/gpu.yaml"},
        good={
            f"{CHART}.helm.valueFiles[0]": "$values/lab/gpu.yaml",
            f"{CHART}.helm.ignoreMissingValueFiles": True,
        },
        found=[
            "error[argocd-value-file-missing] spec.sources.0.helm.valueFiles.0: "
            '"$values/lab/gpu.yaml": https://git.example.com/team/clusters.git has no file lab/gpu.yaml'
        ],
    ),
    Case(
        id="glob without a file",
        bad={f"{CHART}.helm.valueFiles[0]": "$values/**/gpu-*.yml"},
        good={f"{CHART}.helm.valueFiles[0]": "$values/**/gpu-*.yaml"},
        found=[
            "error[argocd-value-file-missing] spec.sources.0.helm.valueFiles.0: "
            '"$values/**/gpu-*.yml": https://git.example.com/team/clusters.git has no file '
            "**/gpu-*.yml"
        ],
    ),
    Case(
        id="path that is not there",
        bad={f"{FOLDER}.path": "lab/manifest"},
        good={f"{FOLDER}.path": "lab"},
        found=[
            'error[argocd-path-missing] spec.sources.2.path: path "lab/manifest" is not a folder '
            "of https://git.example.com/team/clusters.git"
        ],
    ),
]


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.id)
def test_rule_says_what_is_wrong(case: Case) -> None:
    assert said(check(changed("application", case.bad), **case.options)) == case.found


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.id)
def test_neighbour_passes(case: Case) -> None:
    options = {key: value for key, value in case.options.items() if key != "version"}
    changes = case.good
    if "version" in case.options:  # what is too new for one version is fine in the next
        changes = case.bad
    assert said(check(changed("application", changes), **options)) == []


@pytest.mark.parametrize("case", TREE_CASES, ids=lambda case: case.id)
def test_files_of_the_own_repository_must_exist(case: Case) -> None:
    tree: dict[str, Any] = {"files": FILES, "repositories": OWN}
    assert said(check(changed("application", case.bad), **tree)) == case.found
    assert said(check(changed("application", case.good), **tree)) == []
    assert said(check(changed("application", case.bad), repositories=OWN)) == []


def test_hidden_override_is_refused() -> None:
    data = loaded("application")[0]
    files = [*FILES, "lab/manifests/.argocd-source-lab-gpu-operator.yaml"]
    assert said(check(data, files=files, repositories=OWN)) == [
        "error[argocd-hidden-override] spec.sources.2.path: "
        "lab/manifests/.argocd-source-lab-gpu-operator.yaml would silently override the source "
        "(remove it)"
    ]
    other = [*FILES, "lab/manifests/.argocd-source-other.yaml"]
    assert said(check(data, files=other, repositories=OWN)) == []


def test_operation_belongs_to_the_controller() -> None:
    found = check(changed("application", {"operation": {"sync": {}}}))
    assert said(found) == [
        "warning[argocd-managed-field] operation: operation belongs to the controller (remove it)"
    ]


def test_ignored_fields_that_each_sync_may_write_are_no_news() -> None:
    data = changed("application", {"spec.syncPolicy.syncOptions[2]": "PruneLast=true"})
    assert [item.code for item in check(data)] == ["argocd-ignore-display"]
    assert said(check(data, display_only=[data["metadata"]["name"]])) == []
    assert len(check(data, display_only=["another"])) == 1


HYDRATOR = {
    "spec.sources": DELETED,
    "spec.sourceHydrator": {
        "drySource": {
            "repoURL": "https://git.example.com/a",
            "path": "a",
            "targetRevision": "main",
        },
        "syncSource": {"targetBranch": "env/lab", "path": "a"},
    },
}


def test_hydrator_beats_sources_and_knows_no_chart() -> None:
    assert said(check(changed("application", HYDRATOR))) == []
    both = {**HYDRATOR, "spec.source": {"repoURL": "https://git.example.com/a", "path": "b"}}
    assert said(check(changed("application", both))) == [
        "warning[argocd-source-ignored] spec.source: spec.source is ignored, "
        "since spec.sourceHydrator is set (remove spec.source)"
    ]
    chart = {**HYDRATOR, "spec.sourceHydrator.drySource.chart": "x"}
    assert said(check(changed("application", chart)))[0] == (
        "error[argocd-unknown-field] spec.sourceHydrator.drySource.chart: "
        "spec.sourceHydrator.drySource.chart is not a field of Argo CD's DrySource; "
        "it would be dropped"
    )
