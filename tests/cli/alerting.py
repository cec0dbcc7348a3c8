"""Settings with receivers on loopback, for the commands that check, simulate and explain alerts."""

from __future__ import annotations

SECRET = "whsec_" + "aHVzaC1odXNoLWh1c2gtaHVzaC1odXNo"  # what must never be shown

SETTINGS = """\
[plugins.alerts.receivers.chat]
type = "webhook"
url = "{url}/chat"
secrets = ["env:HOOK_SECRET"]

[plugins.alerts.receivers.platform]
type = "webhook"
url = "{url}/platform"

[plugins.alerts.owners.data]
match = ["team = data"]
receiver = "chat"
mention = "@data"

[plugins.alerts.route]
receiver = "chat"

[[plugins.alerts.route.routes]]
match = ["kind = infra"]
receiver = "platform"
group_by = ["node"]
continue = true

[[plugins.alerts.route.routes]]
match = ["env = dev"]
notify_on = "nth=3"

[[plugins.alerts.route.routes]]
match = ["team =~ .+"]
to_owner = true
"""


def paths(receiver) -> list[str]:
    """Return where each request went, in order."""
    return [path for path, _, _ in receiver.requests]
