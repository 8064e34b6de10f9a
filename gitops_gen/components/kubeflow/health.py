"""The health of Profiles, as Lua for argocd-cm.

Read in the source of the Profile controller at 1.10.0 and 2.0.0. It adds its finalizer last, when the
namespace, the accounts, the owner's rights and the quota are there. A condition `Failed` is appended
with an update of the object that leaves the status subresource out, so the API server drops it: what
the controller refuses never gets a finalizer, and says nothing. The condition is read all the same,
for a controller that can write it.
"""

from __future__ import annotations

from gitops_gen.model import HealthCheck

_PROFILE = """\
local health = {status = "Progressing"}
health.message = "waiting for the Profile controller; it refuses a namespace " .. obj.metadata.name
  .. " that was there before, which only its log tells"
for _, finalizer in ipairs(obj.metadata.finalizers or {}) do
  if finalizer == "profile-finalizer" then
    health.status = "Healthy"
    health.message = "the controller has made the namespace and the owner's rights"
  end
end
if obj.status ~= nil then
  local last = nil
  for _, condition in ipairs(obj.status.conditions or {}) do
    last = condition
  end
  if last ~= nil and last.type == "Failed" then
    health.status = "Degraded"
    health.message = last.message or "the Profile controller has failed"
  end
end
return health
"""


def health_checks() -> tuple[HealthCheck, ...]:
    """Return the check of Profiles; a wave of them ends when what lies in their namespaces can follow."""
    return (HealthCheck(group="kubeflow.org", kind="Profile", lua=_PROFILE),)
