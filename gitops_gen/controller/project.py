"""An AppProject in, what Argo CD refuses or ignores in it out."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator

from gitops_gen.controller.documents import Document, Scope, entries, items, mapping, text
from gitops_gen.controller.findings import error, listed, suggestion, warning
from gitops_gen.controller.names import is_subdomain
from gitops_gen.diagnostics import Diagnostic, Path

_ROLE = re.compile(r"[a-zA-Z0-9](?:[-_a-zA-Z0-9]*[a-zA-Z0-9])?\Z")
_ACCOUNT_SIGNS = set("!*[]{}\\/")
_ACTION = re.compile(r"(?:action|update|delete)/")


def check_project_name(project: Document, scope: Scope) -> Iterator[Diagnostic]:
    """Refuse names that are no DNS-1123 subdomain."""
    longest = scope.facts.limits.name
    if not is_subdomain(project.name, longest):
        said = f'name "{project.name}" must be a DNS name of at most {longest} characters'
        yield error("project-name", ("metadata", "name"), said)


def check_description(project: Document, scope: Scope) -> Iterator[Diagnostic]:
    """Refuse descriptions that the CRD or Argo CD finds too long."""
    longest = scope.facts.limits.description
    places: list[tuple[Path, str]] = [(("spec", "description"), text(_spec(project).get("description")))]
    for index, window in enumerate(items(_spec(project).get("syncWindows"))):
        place = ("spec", "syncWindows", index, "description")
        places.append((place, text(mapping(window).get("description"))))
    for path, value in places:
        if len(value) > longest:
            said = f"the description has {len(value)} characters, at most {longest} are taken"
            yield error("project-description", path, said)


def check_deny_all(project: Document, scope: Scope) -> Iterator[Diagnostic]:
    """Refuse `!*`, which Argo CD refuses in repositories and destinations."""
    for index, entry in entries(_spec(project).get("sourceRepos")):
        if entry == "!*":
            yield error("project-deny-all", ("spec", "sourceRepos", index), '"!*" denies everything')
    for index, item in enumerate(items(_spec(project).get("destinations"))):
        for key in ("server", "name", "namespace"):
            if mapping(item).get(key) == "!*":
                path = ("spec", "destinations", index, key)
                yield error("project-deny-all", path, f'"!*" as {key} denies everything')


def check_duplicates(project: Document, scope: Scope) -> Iterator[Diagnostic]:
    """Refuse entries that stand twice in a list where Argo CD wants each once."""
    spec = _spec(project)
    for key in ("sourceRepos", "sourceNamespaces"):
        yield from _repeated(("spec", key), [entry for _, entry in entries(spec.get(key))])
    yield from _repeated(
        ("spec", "destinations"),
        [_destination_key(item) for item in items(spec.get("destinations"))],
    )
    roles = items(spec.get("roles"))
    yield from _repeated(("spec", "roles"), [text(mapping(role).get("name")) for role in roles])
    for index, role in enumerate(roles):
        for key in ("policies", "groups"):
            words = [entry for _, entry in entries(mapping(role).get(key))]
            yield from _repeated(("spec", "roles", index, key), words)
    accounts = items(spec.get("destinationServiceAccounts"))
    keys = [f"{mapping(item).get('server')}/{mapping(item).get('namespace', '')}" for item in accounts]
    yield from _repeated(("spec", "destinationServiceAccounts"), keys)


def _destination_key(item: object) -> str:
    data = mapping(item)
    cluster = data.get("server") or data.get("name") or ""
    return f"{cluster}/{data.get('namespace', '')}"


def _repeated(path: Path, words: list[str]) -> Iterator[Diagnostic]:
    for word in [word for word, count in Counter(words).items() if count > 1]:
        index = len(words) - 1 - words[::-1].index(word)
        said = f'"{word}" stands twice in {".".join(str(part) for part in path)}'
        yield error("project-duplicate", (*path, index), said, "remove one of the two")


def check_destinations(project: Document, scope: Scope) -> Iterator[Diagnostic]:
    """Warn of destinations that can match no Application."""
    for index, item in enumerate(items(_spec(project).get("destinations"))):
        data, path = mapping(item), ("spec", "destinations", index)
        if not data.get("server") and not data.get("name"):
            said = "a destination without server or name permits nothing"
            yield warning("project-destination-empty", path, said, 'add server: "*"')
        elif not data.get("namespace"):
            said = "a destination without namespace permits no namespace"
            yield warning("project-destination-empty", path, said, 'add namespace: "*"')


def check_roles(project: Document, scope: Scope) -> Iterator[Diagnostic]:
    """Refuse role names, groups and policies that Argo CD refuses."""
    for index, role in enumerate(items(_spec(project).get("roles"))):
        data, path = mapping(role), ("spec", "roles", index)
        name = text(data.get("name"))
        if name and not _ROLE.match(name):
            said = f'role "{name}" may only hold letters, digits, - and _'
            yield error("project-role-name", (*path, "name"), said)
        for place, group in entries(data.get("groups")):
            fault = _group_fault(group)
            if fault:
                yield error("project-role-group", (*path, "groups", place), f'group "{group}" {fault}')
        for place, policy in entries(data.get("policies")):
            fault = _policy_fault(project.name, name, policy, scope)
            if fault:
                said = f'policy "{policy}": {fault}'
                yield error("project-policy", (*path, "policies", place), said)


def _group_fault(group: str) -> str:
    bare = group.strip()
    if len(bare) > 1 and bare[0] == bare[-1] == '"':
        bare = bare[1:-1]
    elif "," in bare:
        return "holds a comma and must stand in double quotes"
    if not bare:
        return "is empty"
    if any(sign in bare for sign in '"\n\r\t'):
        return "holds a quote, tab or line break"
    return "begins or ends with a space" if group != group.strip() else ""


def _policy_fault(project: str, role: str, policy: str, scope: Scope) -> str:
    parts = [part.strip(" ") for part in policy.split(",")]
    enums, subject = scope.facts.enums, f"proj:{project}:{role}"
    if len(parts) != 6 or parts[0] != "p":
        return "it must be: p, subject, resource, action, object, effect"
    if parts[1] != subject:
        return f'the subject must be "{subject}"'
    if parts[2] not in enums.policy_resources:
        return f'the resource must be {listed(enums.policy_resources)}, not "{parts[2]}"'
    if parts[3] not in enums.policy_actions and not _ACTION.search(parts[3]):
        return f'"{parts[3]}" is not an action: {listed(enums.policy_actions)}, or one with a path'
    if not re.match(rf"{re.escape(project)}(/[*\w\-.]+)?/[*\w\-.]+\Z", parts[4], re.ASCII):
        return f'the object must be "{project}/<application>", not "{parts[4]}"'
    return "" if parts[5] in enums.policy_effects else "the effect must be allow or deny"


def check_service_accounts(project: Document, scope: Scope) -> Iterator[Diagnostic]:
    """Refuse destination service accounts that Argo CD refuses."""
    for index, item in enumerate(items(_spec(project).get("destinationServiceAccounts"))):
        data, path = mapping(item), ("spec", "destinationServiceAccounts", index)
        for key in ("server", "namespace"):
            if "!" in text(data.get(key)):
                said = f'{key} "{data[key]}" may not deny'
                yield error("project-service-account", (*path, key), said)
        account = text(data.get("defaultServiceAccount"))
        if not account.strip() or _ACCOUNT_SIGNS & set(account):
            said = f'"{account}" is not a service account'
            yield error("project-service-account", (*path, "defaultServiceAccount"), said)


def check_signatures(project: Document, scope: Scope) -> Iterator[Diagnostic]:
    """Refuse the old and the new way to require signatures side by side."""
    spec = _spec(project)
    since = scope.facts.types["AppProjectSpec"]["sourceIntegrity"].since
    if spec.get("signatureKeys") and spec.get("sourceIntegrity"):
        said = "signatureKeys and sourceIntegrity cannot be combined"
        yield error("project-signatures", ("spec", "signatureKeys"), said, "keep sourceIntegrity")
    elif spec.get("signatureKeys") and scope.supports(since):
        said = f"signatureKeys is deprecated since Argo CD {since}"
        path = ("spec", "signatureKeys")
        yield warning("project-signature-keys", path, said, "use sourceIntegrity")
    git = mapping(mapping(spec.get("sourceIntegrity")).get("git"))
    for index, item in enumerate(items(git.get("policies"))):
        mode, known = (
            text(mapping(mapping(item).get("gpg")).get("mode")),
            scope.facts.enums.gpg_mode,
        )
        if mode and mode not in known:
            place = ("spec", "sourceIntegrity", "git", "policies", index, "gpg", "mode")
            said = f'"{mode}" is not a mode: {listed(known)}'
            yield error("project-signatures", place, said, suggestion(mode, known))


def _spec(project: Document) -> dict[str, object]:
    return dict(mapping(project.data.get("spec")))


RULES = (
    check_project_name,
    check_description,
    check_deny_all,
    check_duplicates,
    check_destinations,
    check_roles,
    check_service_accounts,
    check_signatures,
)
