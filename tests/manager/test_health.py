from __future__ import annotations

import logging
import threading
from datetime import timedelta

import pytest

from failhook.errors import Undelivered
from failhook.manager import Limits
from failhook.plugin import hookimpl


class Patient:
    """Does what it is told next."""

    def __init__(self):
        self.next = None

    @hookimpl
    def on_task_failed(self):
        if self.next is not None:
            raise self.next


@pytest.fixture
def patient():
    """Return the plugin that fails on demand."""
    return Patient()


@pytest.fixture
def manager(make_manager, patient, clock):
    """Return a manager of that plugin, on the clock set by hand."""
    return make_manager(patient, clock=clock)


@pytest.fixture
def call(manager, patient, event):
    """Call the plugin `times` with an error to raise."""

    def call(error=None, times=1):
        patient.next = error
        for _ in range(times):
            manager.call("Patient", event)
        return manager.health()[0]

    return call


def test_counters_tell_how_a_plugin_fares(call, clock):
    """Delivered, undelivered and failed calls are counted, with the last success and error."""
    call(times=3)
    call(Undelivered("429"), times=2)
    clock.seconds += 10
    health = call(ValueError("boom"), times=4)

    assert (3, 2, 4, 0) == (health.delivered, health.undelivered, health.failed, health.slow)
    assert 4 == health.consecutive_failures
    assert clock.now() - timedelta(seconds=10) == health.last_success_at
    assert "ValueError: boom" == health.last_error
    assert ("Patient", "events") == (health.plugin, health.part)


def test_plugin_that_keeps_failing_is_quarantined_with_one_warning(call, manager, clock, caplog):
    """Five failures in a row begin a quarantine: one warning names plugin, hook and what to do."""
    call(ValueError("boom"), times=4)
    assert manager.ready("Patient") is None

    assert call(ValueError("boom")).quarantined

    now = clock.now()
    assert now + timedelta(seconds=30) == manager.ready("Patient")
    assert now + timedelta(seconds=40) == manager.ready("Patient", now + timedelta(seconds=10))
    first, second = [record.getMessage() for record in caplog.records]
    assert first.startswith("plugin 'Patient': on_task_failed failed: ValueError: boom\nTraceback")
    assert second.startswith(
        "plugin 'Patient' is in quarantine: on_task_failed failed 5 times in a row; its events "
        "wait, the next try is in 30 s. Last: ValueError: boom."
    )
    assert "set the logger 'failhook' to DEBUG" in second


def test_probes_come_at_growing_intervals(call, manager, clock):
    """Each probe that fails doubles the wait, up to the longest."""
    call(ValueError("boom"), times=5)
    waits = []
    for _ in range(7):
        ready = manager.ready("Patient")
        waits.append((ready - clock.now()).total_seconds())
        clock.seconds += waits[-1]
        assert manager.ready("Patient") is None
        call(ValueError("boom"))

    assert [30, 60, 120, 240, 480, 900, 900] == waits


def test_success_ends_the_quarantine_with_notice(call, manager, clock, caplog):
    """A probe that succeeds ends the quarantine, tells so, and starts every count anew."""
    call(ValueError("boom"), times=6)
    caplog.clear()

    health = call()

    assert not health.quarantined
    assert 0 == health.consecutive_failures
    assert manager.ready("Patient") is None
    assert ["plugin 'Patient' has left quarantine: it works again after 6 failures in a row"] == [
        record.getMessage() for record in caplog.records
    ]
    call(ValueError("boom"), times=5)
    assert clock.now() + timedelta(seconds=30) == manager.ready("Patient")


def test_undelivered_is_no_crash(call, manager, clock):
    """A plugin that says Undelivered for ever is not quarantined: its other side is at fault."""
    call(Undelivered("429", retry_after=30), times=50)

    assert manager.ready("Patient") is None


def test_undelivered_probe_keeps_the_interval(call, manager, clock):
    """In quarantine an Undelivered neither ends it nor makes the wait longer."""
    call(ValueError("boom"), times=5)
    clock.seconds += 30

    assert call(Undelivered("429")).quarantined

    assert clock.now() + timedelta(seconds=30) == manager.ready("Patient")


def test_every_failure_is_logged_once_per_kind(call, caplog):
    """The first failure of a kind is a warning with its traceback; the others are for DEBUG."""
    caplog.set_level(logging.DEBUG, "failhook")
    call(ValueError("one"))
    call(ValueError("two"))
    call()
    call(ValueError("three"))
    call(KeyError("four"))

    assert ["WARNING", "DEBUG", "DEBUG", "WARNING"] == [
        record.levelname for record in caplog.records
    ]
    assert all("Traceback" in record.getMessage() for record in caplog.records)


def test_storm_of_kinds_is_bounded(call, caplog):
    """A plugin that fails in ever new ways does not fill the log."""
    for number in range(100):
        call(type(f"Error{number}", (Exception,), {})())
        call()

    assert 20 > len(caplog.records)


def test_traceback_in_the_log_is_redacted(make_manager, event, caplog):
    """What a plugin raises from the task's own error is logged without its secrets."""
    plugin = Patient()
    plugin.next = RuntimeError("cannot send")
    plugin.next.__cause__ = ValueError("password=hunter2")

    make_manager(plugin, redact=lambda text: text.replace("hunter2", "***")).call("Patient", event)

    assert "password=***" in caplog.text
    assert "hunter2" not in caplog.text


def test_steps_of_the_wall_clock_do_not_lengthen_a_quarantine(make_manager, event):
    """Quarantine is measured on the monotonic clock: setting the time back changes nothing."""

    class Stepping:
        step = timedelta()

        def now(self):
            from datetime import UTC, datetime

            return datetime(2026, 1, 1, tzinfo=UTC) + self.step

        def monotonic(self):
            return 1000.0

    clock, plugin = Stepping(), Patient()
    plugin.next = ValueError("boom")
    manager = make_manager(plugin, clock=clock)
    for _ in range(5):
        manager.call("Patient", event)

    clock.step = timedelta(hours=-3)

    assert clock.now() + timedelta(seconds=30) == manager.ready("Patient")


def test_hang_counts_once_whenever_it_is_noticed(make_manager, event, clock):
    """A call past its limit is one failure, seen while it runs or at its end; its event arrived."""

    class Slow:
        @hookimpl
        def on_task_failed(self):
            clock.seconds += 31
            seen.extend(manager.overdue() * watched)

    seen, watched = [], 2
    manager = make_manager(Slow, clock=clock)

    assert manager.call("Slow", event).delivered
    (health,) = manager.health()
    assert ["Slow", "Slow"] == seen
    assert (1, 1, 1, 1) == (
        health.delivered,
        health.failed,
        health.slow,
        health.consecutive_failures,
    )
    watched = 0
    for _ in range(4):
        assert manager.call("Slow", event).delivered
    (health,) = manager.health()
    assert (5, 5, 5) == (health.delivered, health.failed, health.slow)
    assert health.quarantined


def test_counts_of_many_threads_are_exact(make_manager, event):
    """Counters lose nothing when several threads call at once."""
    plugin = Patient()
    plugin.next = ValueError("boom")
    manager = make_manager(plugin, limits=Limits(failures=10_000))

    def work():
        for _ in range(200):
            manager.call("Patient", event)

    threads = [threading.Thread(target=work) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert 1600 == manager.health()[0].failed
