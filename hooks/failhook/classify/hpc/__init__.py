"""Batch systems of compute clusters: LSF, PBS and TORQUE, Grid Engine."""

from __future__ import annotations
