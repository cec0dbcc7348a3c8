"""From evidence to a verdict: rules in tables, one folder per source of evidence, no I/O.

Start with `rule` (what one entry of a table says) and `conditions` (what it can match); then read
any ``rules`` module. `sources` lists the folders, `engine` applies them.
"""

from __future__ import annotations

from failhook.classify.engine import Classifier
from failhook.classify.explanation import Explanation
from failhook.classify.recognise import recognise
from failhook.classify.rule import Rule, Tier
from failhook.classify.user_rules import read_user_rules

__all__ = ["Classifier", "Explanation", "Rule", "Tier", "read_user_rules", "recognise"]
