from __future__ import annotations

import threading

from failhook.manager import Limits
from failhook.plugin import hookimpl


class Plugin:
    closed = ()

    @hookimpl
    def on_task_failed(self):
        pass


def test_each_plugin_is_closed_with_the_time_that_is_left(make_manager):
    """close(timeout) is called where there is one, with seconds; one without arguments works."""
    closed = []

    class Timed(Plugin):
        def close(self, timeout):
            closed.append(("timed", 0 < timeout <= 7))

    class Plain(Plugin):
        def close(self):
            closed.append(("plain", True))

    class Without(Plugin):
        pass

    assert make_manager(Timed, Plain, Without).close(7)
    assert {("timed", True), ("plain", True)} == set(closed)


def test_close_that_raises_or_hangs_keeps_nobody_from_closing(make_manager, caplog):
    """Each close is alone and all are bounded together; what went wrong is logged and told."""
    closed, release = [], threading.Event()

    class Exits(Plugin):
        def close(self):
            raise SystemExit(1)

    class Hangs(Plugin):
        def close(self):
            release.wait(60)

    class Good(Plugin):
        def close(self):
            closed.append(1)

    manager = make_manager(Exits, Hangs, Good)
    try:
        assert not manager.close(0.2)
    finally:
        release.set()

    assert [1] == closed
    assert "plugin 'Exits': close failed: SystemExit: 1" in caplog.text
    assert "plugin 'Hangs': close failed: it ran for longer than" in caplog.text


def test_plugin_that_is_still_at_work_is_not_closed_under_its_feet(make_manager, event, caplog):
    """close() leaves a plugin alone whose call has not come back, and says so."""
    closed, entered, release = [], threading.Event(), threading.Event()

    class Busy:
        @hookimpl
        def on_task_failed(self):
            entered.set()
            release.wait(60)

        def close(self):
            closed.append(1)

    manager = make_manager(Busy, limits=Limits(call=60))
    lane = threading.Thread(target=manager.call, args=("Busy", event))
    lane.start()
    try:
        assert entered.wait(60)
        assert not manager.close(0.1)
    finally:
        release.set()
        lane.join(60)

    assert [] == closed
    assert "plugin 'Busy': close failed: it is still in an earlier call" in caplog.text
