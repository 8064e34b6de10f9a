"""Each rule for AppProjects, and what a project denies to its Applications."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import pytest

from gitops_gen.model import ObjectIdentity
from tests.controller_inputs import DELETED, changed, check, loaded, said

WINDOW = "spec.syncWindows[0]"
ROLE = "spec.roles[0]"


@dataclass(frozen=True, kw_only=True)
class Case:
    """A change of project.yaml that is at fault, what is said, and a change that is not."""

    id: str
    bad: dict[str, object]
    found: list[str]
    good: dict[str, object] = field(default_factory=dict)
    version: str = "3.5"
    good_version: str = "3.5"


CASES = [
    Case(
        id="name",
        bad={"metadata.name": "Lab", f"{ROLE}.policies": []},
        good={"metadata.name": "lab2", f"{ROLE}.policies": []},
        found=['error[project-name] metadata.name: name "Lab" must be a DNS name of at most 253 characters'],
    ),
    Case(
        id="unknown field",
        bad={"spec.sourceRepo": []},
        found=[
            "error[argocd-unknown-field] spec.sourceRepo: spec.sourceRepo is not a field of "
            'Argo CD\'s AppProjectSpec; it would be dropped (did you mean "sourceRepos"?)'
        ],
    ),
    Case(
        id="whitelist by name below 3.3",
        bad={"spec.clusterResourceWhitelist[1]": {"group": "a", "kind": "b"}},
        good={"spec.clusterResourceWhitelist": [{"group": "a", "kind": "b"}]},
        version="3.2",
        good_version="3.2",
        found=[
            "error[argocd-field-too-new] spec.clusterResourceWhitelist.0.name: "
            "spec.clusterResourceWhitelist[0].name needs Argo CD 3.3; this one is 3.2 "
            "(leave it out, or raise the Argo CD version)"
        ],
    ),
    Case(
        id="overrun below 3.5",
        bad={f"{WINDOW}.syncOverrun": True},
        good={f"{WINDOW}.syncOverrun": True},
        version="3.4",
        found=[
            "error[argocd-field-too-new] spec.syncWindows.0.syncOverrun: "
            "spec.syncWindows[0].syncOverrun needs Argo CD 3.5; this one is 3.4 "
            "(leave it out, or raise the Argo CD version)"
        ],
    ),
    Case(
        id="description",
        bad={"spec.description": "x" * 256},
        good={"spec.description": "x" * 255},
        found=[
            "error[project-description] spec.description: the description has 256 characters, "
            "at most 255 are taken"
        ],
    ),
    Case(
        id="window's description",
        bad={f"{WINDOW}.description": "x" * 256},
        good={f"{WINDOW}.description": "x" * 255},
        found=[
            "error[project-description] spec.syncWindows.0.description: "
            "the description has 256 characters, at most 255 are taken"
        ],
    ),
    Case(
        id="deny every repository",
        bad={"spec.sourceRepos[0]": "!*"},
        good={"spec.sourceRepos[0]": "!https://example.com/**"},
        found=['error[project-deny-all] spec.sourceRepos.0: "!*" denies everything'],
    ),
    Case(
        id="deny every namespace",
        bad={"spec.destinations[0].namespace": "!*"},
        good={"spec.destinations[0].namespace": "!kube-*"},
        found=['error[project-deny-all] spec.destinations.0.namespace: "!*" as namespace denies everything'],
    ),
    Case(
        id="repository twice",
        bad={"spec.sourceRepos[1]": "https://helm.ngc.nvidia.com/nvidia"},
        good={"spec.sourceRepos[1]": "https://helm.ngc.nvidia.com/nvidia/"},
        found=[
            "error[project-duplicate] spec.sourceRepos.1: "
            '"https://helm.ngc.nvidia.com/nvidia" stands twice in spec.sourceRepos '
            "(remove one of the two)"
        ],
    ),
    Case(
        id="destination twice",
        bad={
            "spec.destinations": [
                {"server": "a", "name": "b", "namespace": "c"},
                {"name": "a", "namespace": "c"},
            ]
        },
        good={
            "spec.destinations": [
                {"server": "a", "namespace": "c"},
                {"server": "a", "namespace": "d"},
            ]
        },
        found=[
            'error[project-duplicate] spec.destinations.1: "a/c" stands twice in spec.destinations '
            "(remove one of the two)"
        ],
    ),
    Case(
        id="group twice",
        bad={f"{ROLE}.groups": ["a", "b", "a"]},
        good={f"{ROLE}.groups": ["a", "b"]},
        found=[
            'error[project-duplicate] spec.roles.0.groups.2: "a" stands twice in '
            "spec.roles.0.groups (remove one of the two)"
        ],
    ),
    Case(
        id="destination without cluster",
        bad={"spec.destinations[0].name": DELETED},
        good={"spec.destinations[0]": {"server": "*", "namespace": "a"}},
        found=[
            "warning[project-destination-empty] spec.destinations.0: a destination without server "
            'or name permits nothing (add server: "*")'
        ],
    ),
    Case(
        id="destination without namespace",
        bad={"spec.destinations[0].namespace": DELETED},
        good={"spec.destinations[0].namespace": "*"},
        found=[
            "warning[project-destination-empty] spec.destinations.0: a destination without "
            'namespace permits no namespace (add namespace: "*")'
        ],
    ),
    Case(
        id="role's name",
        bad={f"{ROLE}.name": "ci-", f"{ROLE}.policies": []},
        good={f"{ROLE}.name": "ci-2_B", f"{ROLE}.policies": []},
        found=[
            'error[project-role-name] spec.roles.0.name: role "ci-" may only hold letters, digits, - and _'
        ],
    ),
    *(
        Case(
            id=f"group {group!r}",
            bad={f"{ROLE}.groups": [group]},
            good={f"{ROLE}.groups": ['"a, b"', "my org:team"]},
            found=[f'error[project-role-group] spec.roles.0.groups.0: group "{group}" {fault}'],
        )
        for group, fault in {
            "a,b": "holds a comma and must stand in double quotes",
            "": "is empty",
            'a"b': "holds a quote, tab or line break",
            " a": "begins or ends with a space",
        }.items()
    ),
    *(
        Case(
            id=f"policy {policy}",
            bad={f"{ROLE}.policies": [policy]},
            good={f"{ROLE}.policies": ["p,proj:lab:ci,logs,action/apps/Deployment/restart,lab/ns/a.b,deny"]},
            found=[f'error[project-policy] spec.roles.0.policies.0: policy "{policy}": {fault}'],
        )
        for policy, fault in {
            "p, proj:lab:ci, applications, sync, lab/*": "it must be: p, subject, resource, "
            "action, object, effect",
            "p, role:ci, applications, sync, lab/*, allow": 'the subject must be "proj:lab:ci"',
            "p, proj:lab:ci, projects, get, lab/*, allow": "the resource must be applications, "
            'applicationsets, repositories, clusters, logs or exec, not "projects"',
            "p, proj:lab:ci, applications, restart, lab/*, allow": '"restart" is not an action: '
            "get, create, update, delete, sync, override or *, or one with a path",
            "p, proj:lab:ci, applications, get, prod/*, allow": "the object must be "
            '"lab/<application>", not "prod/*"',
            "p, proj:lab:ci, applications, get, lab/*, yes": "the effect must be allow or deny",
        }.items()
    ),
    Case(
        id="service account",
        bad={"spec.destinationServiceAccounts[0].defaultServiceAccount": "gpu*"},
        good={"spec.destinationServiceAccounts[0].defaultServiceAccount": "ns:gpu"},
        found=[
            "error[project-service-account] "
            "spec.destinationServiceAccounts.0.defaultServiceAccount: "
            '"gpu*" is not a service account'
        ],
    ),
    Case(
        id="service account that denies",
        bad={"spec.destinationServiceAccounts[0].namespace": "!gpu"},
        good={"spec.destinationServiceAccounts[0].namespace": "gpu-*"},
        found=[
            "error[project-service-account] spec.destinationServiceAccounts.0.namespace: "
            'namespace "!gpu" may not deny'
        ],
    ),
    Case(
        id="both kinds of signature",
        bad={
            "spec.signatureKeys": [{"keyID": "4AEE18F83AFDEB23"}],
            "spec.sourceIntegrity": {"git": {"policies": []}},
        },
        good={"spec.sourceIntegrity": {"git": {"policies": []}}},
        found=[
            "error[project-signatures] spec.signatureKeys: signatureKeys and sourceIntegrity "
            "cannot be combined (keep sourceIntegrity)"
        ],
    ),
    Case(
        id="signature mode",
        bad={
            "spec.sourceIntegrity.git.policies": [
                {"repos": [{"url": "*"}], "gpg": {"mode": "Strict", "keys": []}}
            ]
        },
        good={
            "spec.sourceIntegrity.git.policies": [
                {"repos": [{"url": "*"}], "gpg": {"mode": "strict", "keys": []}}
            ]
        },
        found=[
            "error[project-signatures] spec.sourceIntegrity.git.policies.0.gpg.mode: "
            '"Strict" is not a mode: none, head or strict (did you mean "strict"?)'
        ],
    ),
    Case(
        id="deprecated signature keys",
        bad={"spec.signatureKeys": [{"keyID": "4AEE18F83AFDEB23"}]},
        good={"spec.signatureKeys": [{"keyID": "4AEE18F83AFDEB23"}]},
        good_version="3.4",
        found=[
            "warning[project-signature-keys] spec.signatureKeys: signatureKeys is deprecated since "
            "Argo CD 3.5 (use sourceIntegrity)"
        ],
    ),
    Case(
        id="window's kind",
        bad={f"{WINDOW}.kind": "Deny"},
        good={f"{WINDOW}.kind": "allow"},
        found=[
            "error[project-window-kind] spec.syncWindows.0.kind: "
            'a window\'s kind is allow or deny, not "Deny"'
        ],
    ),
    Case(
        id="window's schedule",
        bad={f"{WINDOW}.schedule": "0 9 * * 7"},
        good={f"{WINDOW}.schedule": "0 9 * * 0"},
        found=[
            "error[project-window-schedule] spec.syncWindows.0.schedule: "
            'schedule "0 9 * * 7": "7" is not a day of week: it goes from 0 to 6'
        ],
    ),
    Case(
        id="window's duration",
        bad={f"{WINDOW}.duration": "1d"},
        good={f"{WINDOW}.duration": "24h"},
        found=[
            'error[project-window-duration] spec.syncWindows.0.duration: duration "1d" is not a '
            "duration (write it as 30m, 8h or 1h30m; there is no unit of days)"
        ],
    ),
    Case(
        id="window's time zone",
        bad={f"{WINDOW}.timeZone": "Asia/Seul"},
        good={f"{WINDOW}.timeZone": "Etc/GMT-9"},
        found=[
            'warning[project-window-time-zone] spec.syncWindows.0.timeZone: timeZone "Asia/Seul" '
            'is unknown: the window would run in UTC (did you mean "Asia/Seoul"?)'
        ],
    ),
    Case(
        id="window's selector",
        bad={f"{WINDOW}.applications": []},
        good={f"{WINDOW}.applications": DELETED, f"{WINDOW}.clusters": ["in-cluster"]},
        found=[
            "error[project-window-selector] spec.syncWindows.0: a window needs one of "
            'applications, namespaces and clusters (add applications: ["*"])'
        ],
    ),
    Case(
        id="window twice",
        bad={
            "spec.syncWindows": [
                {**loaded("project")[0]["spec"]["syncWindows"][0], "manualSync": on} for on in (True, False)
            ]
        },
        good={
            "spec.syncWindows": [
                {**loaded("project")[0]["spec"]["syncWindows"][0], "duration": hours}
                for hours in ("1h", "2h")
            ]
        },
        found=["error[project-window-duplicate] spec.syncWindows.1: the same window stands twice"],
    ),
    Case(
        id="wave of a project",
        bad={'metadata.annotations["argocd.argoproj.io/sync-wave"]': "first"},
        good={'metadata.annotations["argocd.argoproj.io/sync-wave"]': "-100"},
        found=[
            "error[argocd-sync-wave] metadata.annotations.argocd.argoproj.io/sync-wave: "
            'sync-wave "first" is not an integer and would count as 0'
        ],
    ),
    Case(
        id="application-level option on a resource",
        bad={'metadata.annotations["argocd.argoproj.io/sync-options"]': "CreateNamespace=true"},
        good={'metadata.annotations["argocd.argoproj.io/sync-options"]': "Prune=false"},
        version="3.3",
        good_version="3.3",
        found=[
            "error[argocd-sync-option-level] "
            "metadata.annotations.argocd.argoproj.io/sync-options: "
            '"CreateNamespace=true" is read on an Application only and would be ignored here'
        ],
    ),
    Case(
        id="compare option on a resource",
        bad={'metadata.annotations["argocd.argoproj.io/compare-options"]': "ServerSideDiff=true"},
        good={'metadata.annotations["argocd.argoproj.io/compare-options"]': "IgnoreExtraneous"},
        found=[
            "error[argocd-compare-option-level] "
            "metadata.annotations.argocd.argoproj.io/compare-options: "
            '"ServerSideDiff=true" is read on an Application only and would be ignored here'
        ],
    ),
]


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.id)
def test_rule_says_what_is_wrong(case: Case) -> None:
    assert said(check(changed("project", case.bad), version=case.version)) == case.found


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.id)
def test_neighbour_passes(case: Case) -> None:
    assert said(check(changed("project", case.good), version=case.good_version)) == []


# --- what a project denies ---------------------------------------------------------------------


def denied(
    project: Mapping[str, object], app: Mapping[str, object] | None = None, **options: Any
) -> list[str]:
    return said(check(changed("application", app or {}), changed("project", project), **options))


REPOSITORIES = [
    (["*"], True),
    (["https://helm.ngc.nvidia.com/*", "git@GIT.example.com:team/clusters.git"], False),
    (["https://helm.ngc.nvidia.com/*", "https://GIT.example.com/**"], True),
    (["https://helm.ngc.nvidia.com/*", "https://git.example.com/*"], False),
    (["https://helm.ngc.nvidia.com/nvidia", "https://git.example.com/team/clusters"], True),
    (["**"], True),
    (["https://{helm.ngc.nvidia.com,git.example.com}/**"], True),
    (["*", "!https://git.example.com/**"], False),
    (["*", "!https://elsewhere.example.com/**"], True),
    ([], False),
]


@pytest.mark.parametrize(("patterns", "permitted"), REPOSITORIES)
def test_source_repositories_match_as_argocd_matches_them(patterns: list[str], permitted: bool) -> None:
    found = denied({"spec.sourceRepos": patterns})
    assert ("project-repository-denied" not in " ".join(found)) is permitted


def test_repository_outside_the_project_is_refused() -> None:
    found = denied({"spec.sourceRepos": ["https://git.example.com/team/clusters.git"]})
    assert found == [
        'error[project-repository-denied] spec.sources.0.repoURL: project "lab" does not permit '
        "the repository https://helm.ngc.nvidia.com/nvidia "
        "(add it to the project's sourceRepos, in this form)"
    ]


REMOTE = {"server": "https://10.0.0.1:6443", "namespace": "gpu-operator"}
NAMED = {"name": "prod", "namespace": "gpu-operator"}
DESTINATIONS: list[tuple[dict[str, str], list[dict[str, str]], str]] = [
    (REMOTE, [{"server": "https://10.0.0.1:6443", "namespace": "gpu-*"}], ""),
    ({**REMOTE, "server": "https://10.0.0.1:6443/"}, [{"server": "*", "namespace": "*"}], ""),
    (REMOTE, [{"server": "https://10.0.0.1:6443", "namespace": "slurm"}], "denied"),
    (REMOTE, [{"server": "*", "namespace": "!kube-system"}], ""),
    (REMOTE, [{"server": "*", "namespace": "*"}, {"server": "*", "namespace": "!gpu-*"}], "denied"),
    (
        REMOTE,
        [{"server": "*", "namespace": "*"}, {"server": "!https://10.*", "namespace": "*"}],
        "denied",
    ),
    (REMOTE, [{"name": "prod", "namespace": "gpu-operator"}], "unknown"),
    (NAMED, [{"name": "prod", "namespace": "gpu-operator"}], ""),
    (NAMED, [{"name": "!prod", "namespace": "*"}, {"name": "*", "namespace": "*"}], "denied"),
    (NAMED, [{"server": "https://10.0.0.1:6443", "namespace": "*"}], "unknown"),
    (NAMED, [{"server": "*", "namespace": "other"}], "denied"),
    (
        {"name": "in-cluster", "namespace": "a"},
        [{"server": "https://kubernetes.default.svc", "namespace": "a"}],
        "",
    ),
    (
        {"server": "https://kubernetes.default.svc", "namespace": "a"},
        [{"name": "in-cluster", "namespace": "a"}],
        "",
    ),
    ({"name": "in-cluster"}, [{"name": "in-cluster", "namespace": "a"}], "denied"),
    ({"name": "in-cluster"}, [{"name": "in-cluster", "namespace": "*"}], ""),
]


@pytest.mark.parametrize(("destination", "permitted", "verdict"), DESTINATIONS)
def test_destinations_match_as_argocd_matches_them(
    destination: dict[str, str], permitted: list[dict[str, str]], verdict: str
) -> None:
    app = {"spec.destination": destination, "spec.syncPolicy": {}, "spec.ignoreDifferences": []}
    found = denied({"spec.destinations": permitted}, app)
    codes = [item.split("[")[1].split("]")[0] for item in found]
    assert codes == ([f"project-destination-{verdict}"] if verdict else [])


def test_destination_outside_the_project_is_refused() -> None:
    app = {
        "spec.destination.namespace": "kube-system",
        "spec.syncPolicy.syncOptions[1]": "PruneLast=true",
        "spec.syncPolicy.managedNamespaceMetadata": DELETED,
    }
    assert denied({}, app) == [
        'error[project-destination-denied] spec.destination: project "lab" does not permit the '
        'namespace "kube-system" on in-cluster (add it to the project\'s destinations)'
    ]


def test_destination_that_only_the_cluster_secret_decides_is_a_notice() -> None:
    project = {"spec.destinations": [{"server": "https://10.0.0.1:6443", "namespace": "*"}]}
    app = {"spec.destination.name": "prod"}
    assert denied(project, app) == [
        'notice[project-destination-unknown] spec.destination: whether project "lab" permits '
        '"gpu-operator" on prod depends on the cluster\'s server '
        "(write project and Application alike: both by name or both by server)"
    ]


def objects(*identities: ObjectIdentity) -> dict[str, Any]:
    return {"objects": {"lab-gpu-operator": identities}}


def test_namespaces_of_objects_are_destinations_too() -> None:
    role = ObjectIdentity(group="rbac.authorization.k8s.io", kind="Role", name="a", namespace="kube-system")
    assert denied({}, **objects(role)) == [
        'error[project-destination-denied] spec.destination.namespace: project "lab" does not '
        'permit the namespace "kube-system" on in-cluster (add it to the project\'s destinations)'
    ]


def test_cluster_scoped_objects_need_their_name_in_the_whitelist() -> None:
    kept = ObjectIdentity(group="nvidia.com", kind="ClusterPolicy", name="cluster-policy")
    other = ObjectIdentity(group="nvidia.com", kind="ClusterPolicy", name="other")
    assert denied({}, **objects(kept)) == []
    assert denied({}, **objects(other)) == [
        'error[project-kind-denied] spec.project: project "lab" does not permit '
        "nvidia.com/ClusterPolicy other "
        "(look at clusterResourceWhitelist and clusterResourceBlacklist)"
    ]


SERVICE = ObjectIdentity(group="", kind="Service", name="a", namespace="gpu-operator")
KINDS: list[tuple[dict[str, object], bool]] = [
    ({}, True),
    ({"spec.namespaceResourceWhitelist": []}, False),
    ({"spec.namespaceResourceWhitelist": [{"group": "", "kind": "*"}]}, True),
    ({"spec.namespaceResourceWhitelist": [{"group": "apps", "kind": "*"}]}, False),
    ({"spec.namespaceResourceBlacklist": [{"group": "", "kind": "Serv*"}]}, False),
]


@pytest.mark.parametrize(("project", "permitted"), KINDS)
def test_namespaced_kinds_are_all_permitted_without_a_whitelist(
    project: dict[str, object], permitted: bool
) -> None:
    found = denied(project, **objects(SERVICE))
    assert [item.startswith("error[project-kind-denied]") for item in found] == [True] * (not permitted)


def test_created_namespace_must_be_in_the_whitelist() -> None:
    """C42: the sync fails with "resource :Namespace is not permitted in project"."""
    assert denied({"spec.clusterResourceWhitelist": []}) == [
        'error[project-namespace-denied] spec.syncPolicy.syncOptions: project "lab" does not permit '
        'Namespace "gpu-operator", which CreateNamespace=true makes '
        "(add Namespace to the project's clusterResourceWhitelist)"
    ]
    anywhere = {"spec.clusterResourceWhitelist": [{"group": "", "kind": "Namespace"}]}
    assert denied(anywhere) == []


def test_applications_elsewhere_need_their_namespace_in_the_project() -> None:
    app: dict[str, object] = {"metadata.namespace": "team-a"}
    refused = [
        "error[project-source-namespace-denied] metadata.namespace: project "
        '"lab" takes no Applications from namespace "team-a" '
        "(add it to the project's sourceNamespaces)"
    ]
    assert denied({"spec.sourceNamespaces": ["team-b"]}, app) == refused
    assert denied({"spec.sourceNamespaces": ["/^team-[bc]$/"]}, app) == refused
    assert denied({"spec.sourceNamespaces": ["team-*"]}, app) == []
    assert denied({"spec.sourceNamespaces": ["/^team-[ab]$/"]}, app) == []


def test_nothing_is_said_of_a_project_that_is_not_there() -> None:
    assert said(check(changed("application", {"spec.project": "elsewhere"}))) == []
