"""The health checks of Ray's kinds, as Lua for argocd-cm."""

from __future__ import annotations

from gitops_gen.model import HealthCheck

_OPENING = """\
local health = {status = "Progressing", message = "waiting for KubeRay"}
if obj.status == nil then
  return health
end
"""
_CONDITIONS = """\
if (obj.status.observedGeneration or 0) < (obj.metadata.generation or 0) then
  return health
end
local conditions = {}
for _, condition in ipairs(obj.status.conditions or {}) do
  conditions[condition.type] = condition
end
local function holds(name)
  return conditions[name] ~= nil and conditions[name].status == "True"
end
local function message(name)
  return conditions[name] and (conditions[name].message or conditions[name].reason) or health.message
end
"""
_CLUSTER = """\
if holds("RayClusterSuspended") then
  return {status = "Suspended", message = "the cluster is suspended"}
end
if holds("ReplicaFailure") then
  return {status = "Degraded", message = message("ReplicaFailure")}
end
if holds("HeadPodReady") and holds("RayClusterProvisioned") then
  return {status = "Healthy", message = "head and workers are ready"}
end
local missing = holds("HeadPodReady") and "RayClusterProvisioned" or "HeadPodReady"
health.message = message(missing)
return health
"""
_SERVICE = """\
if holds("Suspended") then
  return {status = "Suspended", message = "the service is suspended"}
end
if holds("Ready") then
  return {status = "Healthy", message = message("Ready")}
end
local failed = {InitializingTimeout = true, ValidationFailed = true}
if conditions["Ready"] ~= nil and failed[conditions["Ready"].reason] then
  return {status = "Degraded", message = message("Ready")}
end
health.message = message("Ready")
return health
"""
_JOB = """\
local verdicts = {
  Complete = "Healthy", Failed = "Degraded", ValidationFailed = "Degraded", Suspended = "Suspended"
}
local state = obj.status.jobDeploymentStatus
if state ~= nil and state ~= "" then
  health.status = verdicts[state] or "Progressing"
  health.message = obj.status.message or state
end
return health
"""


def health_checks() -> tuple[HealthCheck, ...]:
    """Return one check for each kind that users of Ray sync; Argo CD knows none of them."""
    bodies = {"RayCluster": _CONDITIONS + _CLUSTER, "RayService": _CONDITIONS + _SERVICE, "RayJob": _JOB}
    return tuple(HealthCheck(group="ray.io", kind=kind, lua=_OPENING + body) for kind, body in bodies.items())
