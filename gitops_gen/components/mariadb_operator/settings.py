"""The component's own part of the spec, typed, and what every release runs as a server."""

from __future__ import annotations

from collections.abc import Mapping

from gitops_gen.model import Words


class Resources(Words, frozen=True, kw_only=True):
    """Requests and limits of one container, as Kubernetes writes them."""

    requests: dict[str, str | int] = {}
    limits: dict[str, str | int] = {}


class Server(Words, frozen=True, kw_only=True):
    """The MariaDB image of one release of the operator and the fact that says so."""

    image: str
    tag: str
    source: str


class MariadbOperatorSettings(Words, frozen=True, kw_only=True):
    """How the operator runs. `servers` is no part of the spec: by release, from the facts, for what
    writes MariaDB objects."""

    high_availability: bool = False
    watch_namespaces: tuple[str, ...] = ()
    certificates: str = "certManager"
    webhook_host_network: bool = False
    log_level: str = "info"
    resources: Resources = Resources()
    tolerations: tuple[dict[str, str], ...] = ()
    servers: Mapping[str, Server] = {}
