"""What every test can rely on: Hypothesis profiles, and services that are here or named missing."""

from __future__ import annotations

import os
import shutil
import signal
from collections.abc import Callable
from itertools import count

import pytest
from hypothesis import HealthCheck, settings

from tests.alertmanager import program
from tests.postgres import programs, running

CI = os.environ.get("CI") == "true"

# A shell that is not interactive has what it starts in the background ignore SIGINT, and so would
# every process of the tests, whose subject SIGINT is at times.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)

# No profile has a deadline: time is measured by the benchmarks and asserted nowhere.
settings.register_profile(
    "dev", deadline=None, max_examples=100, suppress_health_check=[HealthCheck.too_slow]
)
settings.register_profile(
    "ci", settings.get_profile("dev"), max_examples=300, derandomize=True, database=None
)
settings.load_profile("ci" if CI else "dev")

PROBES: dict[str, Callable[[], bool]] = {
    "alertmanager": lambda: program() is not None,
    "postgres": lambda: programs() is not None,
}
"""Whether a service is here, for services that are more than a command on PATH."""

_SCHEMAS = count(1)


def pytest_runtest_setup(item: pytest.Item) -> None:
    """Skip a test whose service is missing; in CI a missing service is a failure."""
    for marker in item.iter_markers("requires_service"):
        (name,) = marker.args
        if PROBES.get(name, lambda name=name: shutil.which(name) is not None)():
            continue
        if CI:
            pytest.fail(f"{name} is not here, and CI must have it", pytrace=False)
        pytest.skip(f"{name} is not here")


@pytest.fixture(scope="session")
def postgres_server():
    """A PostgreSQL server for the whole session."""
    with running() as server:
        yield server


@pytest.fixture
def postgres_url(postgres_server):
    """Where a store that does not exist yet can be made on it."""
    return f"{postgres_server.url}&schema=s{next(_SCHEMAS)}"
