"""The health checks of the Network Operator's kinds, as Lua for argocd-cm."""

from __future__ import annotations

from gitops_gen.model import HealthCheck

_KINDS = (
    "NicClusterPolicy",
    "NicNodePolicy",
    "MacvlanNetwork",
    "IPoIBNetwork",
    "HostDeviceNetwork",
)
_LUA = """\
local health = {status = "Progressing", message = "waiting for the Network Operator"}
if obj.status == nil or obj.status.state == nil then
  return health
end
local verdicts = {ready = "Healthy", notReady = "Progressing", ignore = "Degraded", error = "Degraded"}
health.status = verdicts[obj.status.state] or "Progressing"
health.message = obj.status.state
if obj.status.reason ~= nil and obj.status.reason ~= "" then
  health.message = obj.status.state .. ": " .. obj.status.reason
end
if health.status ~= "Healthy" and obj.status.appliedStates ~= nil then
  for _, part in ipairs(obj.status.appliedStates) do
    if part.state ~= "ready" and part.state ~= "ignore" then
      health.message = health.message .. "; " .. part.name .. " is " .. part.state
    end
  end
end
return health
"""


def health_checks() -> tuple[HealthCheck, ...]:
    """Return one check for each kind whose status the operator writes."""
    return tuple(HealthCheck(group="mellanox.com", kind=kind, lua=_LUA) for kind in _KINDS)
