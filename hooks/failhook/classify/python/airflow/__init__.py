"""Airflow 2 and 3: its exceptions, what its executors and supervisors say, its log lines."""

from __future__ import annotations

from typing import Final

from failhook.classify.python.airflow.exceptions import EXCEPTIONS
from failhook.classify.python.airflow.pods import PODS
from failhook.classify.python.airflow.states import STATES
from failhook.classify.rule import Rule

AIRFLOW: Final[tuple[Rule, ...]] = (*STATES, *PODS, *EXCEPTIONS)
