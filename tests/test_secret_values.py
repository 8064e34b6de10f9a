"""Secret data in raw values is refused; references to Secrets and everything else pass."""

from __future__ import annotations

from typing import Any

import pytest

from gitops_gen.catalog.secret_values import secret_values
from gitops_gen.resources import resources

KEYS = resources().component("monitoring").facts.chart_keys("kube-prometheus-stack", "88.5.3")


def found(values: dict[str, Any]) -> list[str]:
    return [item.message for item in secret_values(values, KEYS, ("spec",))]


@pytest.mark.parametrize(
    ("values", "key"),
    [
        ({"grafana": {"adminPassword": "x"}}, "grafana.adminPassword"),
        ({"a": {"apiKey": "x"}}, "a.apiKey"),
        ({"a": {"API_TOKEN": "x"}}, "a.API_TOKEN"),
        ({"env": [{"name": "DB_PASSWORD", "value": "x"}]}, "env[0].value"),
        ({"a": {"url": "https://user:pass@example.com"}}, "a.url"),
        ({"a": {"tls": "-----BEGIN RSA PRIVATE KEY-----\nMII"}}, "a.tls"),
        ({"ldap": {"bindPW": "x"}}, "ldap.bindPW"),
    ],
)
def test_secret_data_is_refused_without_being_printed(values: dict[str, Any], key: str) -> None:
    assert found(values) == [f'values key "{key}" holds secret data, which would stand in Git']


@pytest.mark.parametrize(
    "values",
    [
        {"grafana": {"admin": {"existingSecret": "grafana-admin", "passwordKey": "admin-password"}}},
        {"grafana": {"adminPassword": ""}},
        {"grafana": {"adminPassword": "$__file{/etc/secrets/password}"}},
        {"ldap": {"bindPW": "$LDAP_BIND_PW"}},
        {"serviceAccount": {"automountServiceAccountToken": False}},
        {"a": {"passwordSecretRef": {"name": "x", "key": "password"}}},
        {"env": [{"name": "DB_PASSWORD", "valueFrom": {"secretKeyRef": {"name": "x", "key": "y"}}}]},
        {"imagePullSecrets": [{"name": "registry"}]},
        {"a": {"url": "ssh://git@example.com/x"}},
        {"a": {"tls": "-----BEGIN CERTIFICATE-----\nMII"}},
    ],
)
def test_references_pass(values: dict[str, Any]) -> None:
    assert found(values) == []


def test_hint_names_the_charts_own_reference() -> None:
    (item,) = secret_values({"grafana": {"adminPassword": "x"}}, KEYS, ("spec",))
    assert item.hint == "put it into a Secret of the cluster and name that: grafana.admin.existingSecret"
