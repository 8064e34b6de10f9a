"""The health checks of the Slinky kinds, as Lua for argocd-cm.

What the operator's status says, read in its source at 1.1.2 and 1.2.1: a NodeSet has counters that
belong to `observedGeneration`; a LoginSet counts the pods of its Deployment, ready or not; a Token
has the time of issue. Controller, Accounting and RestApi have conditions that nothing ever sets, and
a status that is equal to the empty one is not written, so that waiting for it would never end.
"""

from __future__ import annotations

from gitops_gen.model import HealthCheck

GROUP = "slinky.slurm.net"
BLIND = ("Accounting", "Controller", "RestApi")
"""Kinds whose status says nothing: they count as healthy at once, with a message that says so."""

_NODE_SET = """\
local health = {status = "Progressing", message = "waiting for the Slurm operator"}
local status = obj.status
if status == nil or status.observedGeneration == nil then
  return health
end
if obj.metadata.generation ~= nil and status.observedGeneration < obj.metadata.generation then
  health.message = "waiting for the Slurm operator to see the last change"
  return health
end
local desired = status.desired or 0
local pods = status.replicas or 0
local ready = status.readyReplicas or 0
local updated = status.updatedReplicas or 0
local strategy = "RollingUpdate"
if obj.spec ~= nil and obj.spec.updateStrategy ~= nil and obj.spec.updateStrategy.type ~= nil then
  strategy = obj.spec.updateStrategy.type
end
health.status = "Healthy"
if ready < desired then
  health.status = "Progressing"
else
  ready = desired
end
local message = ready .. " of " .. desired .. " pods are ready"
if pods > desired then
  message = message .. "; " .. (pods - desired) .. " more go once their jobs have ended"
end
if updated < desired and pods > updated then
  message = message .. "; " .. (desired - updated) .. " are of an earlier version"
  if strategy == "OnDelete" then
    message = message .. " until somebody deletes them"
  elseif strategy == "ScheduledUpdate" then
    message = message .. " until the scheduled update"
  else
    health.status = "Progressing"
  end
end
local slurm = {slurmDown = "down", slurmDrain = "draining or drained"}
for _, field in ipairs({"slurmDown", "slurmDrain"}) do
  if (status[field] or 0) > 0 then
    message = message .. "; " .. status[field] .. " of its Slurm nodes " .. slurm[field]
  end
end
health.message = message
return health
"""
_LOGIN_SET = """\
local health = {status = "Progressing", message = "waiting for the Slurm operator"}
local status = obj.status
if status == nil or status.selector == nil or status.selector == "" then
  return health
end
local desired = 1
if obj.spec ~= nil and obj.spec.replicas ~= nil then
  desired = obj.spec.replicas
end
local pods = status.replicas or 0
health.message = pods .. " of " .. desired .. " pods exist"
if pods == desired then
  health.status = "Healthy"
  health.message = health.message .. "; whether they are ready is not in the status"
elseif pods > desired then
  health.message = health.message .. "; pods are being replaced"
end
return health
"""
_TOKEN = """\
local health = {status = "Progressing", message = "waiting for the Slurm operator"}
if obj.status ~= nil and obj.status.issuedAt ~= nil then
  health.status = "Healthy"
  health.message = "issued at " .. obj.status.issuedAt
end
return health
"""
_BLIND = """\
local health = {status = "Healthy"}
health.message = "the operator reports no state; whether @ runs is seen at its pods"
if obj.spec ~= nil and obj.spec.external == true then
  health.message = "@ runs outside the cluster"
end
return health
"""
_DAEMONS = {"Accounting": "slurmdbd", "Controller": "slurmctld", "RestApi": "slurmrestd"}


def health_checks() -> tuple[HealthCheck, ...]:
    """Return one check for each kind; a change that a NodeSet leaves to others is not waited for."""
    judged = {"LoginSet": _LOGIN_SET, "NodeSet": _NODE_SET, "Token": _TOKEN}
    blind = {kind: _BLIND.replace("@", _DAEMONS[kind]) for kind in BLIND}
    lua = judged | blind
    return tuple(HealthCheck(group=GROUP, kind=kind, lua=lua[kind]) for kind in sorted(lua))
