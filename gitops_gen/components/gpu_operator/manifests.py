"""A cluster in, the objects that the chart does not make out: ConfigMaps, drivers, label rules."""

from __future__ import annotations

from collections.abc import Iterator

from gitops_gen.components.gpu_operator.config_maps import (
    Config,
    device_plugin_config,
    metrics_config,
    mig_config,
)
from gitops_gen.components.gpu_operator.context import Context
from gitops_gen.components.gpu_operator.drivers import nvidia_drivers
from gitops_gen.components.gpu_operator.label_rules import node_feature_rules
from gitops_gen.model import Manifest, Setting, from_rule
from gitops_gen.traced import collect, put

_SYNC_OPTIONS = ("metadata", "annotations", "argocd.argoproj.io/sync-options")
_REPLACED = from_rule("a new content has a new name, so that the old ConfigMap may go at once")


def manifests(context: Context) -> Iterator[Manifest]:
    """Yield the app's own objects; each adds or removes only its own file."""
    for config in (
        device_plugin_config(context),
        mig_config(context),
        metrics_config(context),
    ):
        if config is not None:
            yield Manifest(object=collect(_config_map(config, context.part.namespace)))
    yield from nvidia_drivers(context)
    if context.settings.node_labels == "node-feature-rule":
        yield from node_feature_rules(context)


def _config_map(config: Config, namespace: str) -> Iterator[Setting]:
    yield put("apiVersion", "v1", *config.origins)
    yield put("kind", "ConfigMap", *config.origins)
    yield put("metadata.name", config.name, *config.origins)
    yield put("metadata.namespace", namespace, *config.origins)
    yield put(_SYNC_OPTIONS, "Prune=true", _REPLACED)
    for key, text in config.data.items():
        yield put(("data", key), text, *(config.of_key.get(key) or config.origins))
