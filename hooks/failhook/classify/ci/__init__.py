"""Runners of continuous integration: GitHub Actions and GitLab CI; `other` reads the rest."""

from __future__ import annotations
