"""The test kit for authors of plugins: a contract to pass, a server, events.

A test module of a plugin::

    from failhook.testing import PluginContract


    class TestPager(PluginContract):
        secrets = ("s3cr3t-token",)

        def make(self, url, clock):
            return Pager({"url": url, "token": "s3cr3t-token"})

It needs nothing but failhook and a runner of tests, such as pytest.
"""

from __future__ import annotations

from failhook.manager.provisions import VolatileState as MemoryState
from failhook.testing.clock import ManualClock
from failhook.testing.contract import PluginContract
from failhook.testing.events import sample_event, sample_events
from failhook.testing.harness import Harness
from failhook.testing.server import Answer, LoopbackServer, Request

__all__ = [
    "Answer",
    "Harness",
    "LoopbackServer",
    "ManualClock",
    "MemoryState",
    "PluginContract",
    "Request",
    "sample_event",
    "sample_events",
]
