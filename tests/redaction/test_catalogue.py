"""Kingfisher's catalogue, kept up by others, as a judge of our own shapes and as a source."""

from __future__ import annotations

import pytest

from failhook.errors import ConfigError
from failhook.redact import HIDDEN, WITHHELD, Redactor
from failhook.redact.sources import Kingfisher, open_redactor, why_missing
from tests.model.planted import PLANTED, planted
from tests.model.samples import Samples, parsed

TRIES, SAMPLES, PIECE = 12, 3, 12

OTHERWISE = {
    "azure-servicebus-connection-string": "shows what is no secret: host and name of the key",
    "canadian-digital-service-notify-api-key": "shows the word before the key",
    "deepseek-api-key": "a sample has its prefix in capitals, which no key has",
    "facebook-access-token": "a per cent sign instead of the bar comes out of its regex alone",
    "gcp-application-default-credentials": "its sample is no JSON, and shows names",
    "gcp-service-account": "shows what is no secret: names",
    "jwt": "a sample is not the base64 of an object",
    "kimi-api-key": "a sample has its prefix in capitals, which no key has",
    "mongodb-connection-string": "shows what is no secret: hosts",
    "private-key": "its sample has no lines",
    "slack-webhook-url": "shows what is no secret: the host",
    "zai-api-key": "the checksum of a file with its ending looks the same",
}
"""Rules whose samples we do not hide as a whole, and why."""


@pytest.fixture(scope="module")
def rules():
    """Return the whole catalogue."""
    from kingfisher_sdk import Rules

    return Rules()


def shown(secret: str, hidden: str) -> bool:
    """Return whether a piece of the secret is still there."""
    return any(secret[at : at + PIECE] in hidden for at in range(len(secret) - PIECE + 1))


def test_what_the_catalogue_knows_by_its_looks_we_know_too(rules):
    """Samples of its rules that it finds without any context: our built-in shapes hide them.

    A new release that knows more makes this fail, and says which prefixes are missing.
    """
    from kingfisher_sdk import Scanner

    scanner = Scanner(rules, base64=False)
    redactor, samples = Redactor(), Samples(1)
    known: set[str] = set()
    missed: dict[str, str] = {}
    for rule in rules.metadata():
        name = rule["id"].removeprefix("betterleaks.")
        if not rule["visible"] or name in OTHERWISE:
            continue
        tree = parsed(rules.detail(rule["id"])["pattern"])
        texts = [f"see {samples.of(tree)} now" for _ in range(TRIES)]
        found = [[each.secret for each in scanner.scan(text) if each.visible] for text in texts]
        for secret in [max(secrets, key=len) for secrets in found if secrets][:SAMPLES]:
            alone = f"see {secret} now"
            if any(each.visible for each in scanner.scan(alone)):
                known.add(name)
                if shown(secret, redactor.redact(alone)):
                    missed[name] = alone

    assert {} == missed
    assert len(known) > 180


@pytest.fixture(scope="module")
def source():
    """Return the source as a redactor gets it."""
    return Kingfisher()


def test_a_source_hides_what_only_it_knows(source):
    """A key that is known by its vendor's name alone, and one within base64."""
    text = "adafruit = 'mbej9mvyi5wjdt1i6nsg33ka867rfdww', é team = 'load'"

    assert text == Redactor().redact(text)
    assert "adafruit = '***', é team = 'load'" == Redactor(extra=(source,)).redact(text)


def test_a_source_sees_long_text_in_windows(source):
    """What stands where two windows meet is found, and letters of many bytes move nothing."""
    token = "ghp" + "_" + "aB3dE6gH9jK2mN5pQ8sT1vW4yZ7cF0hJ3lO6"
    redactor = Redactor((), extra=(source,))

    for at in range(14_000, 17_000, 331):
        assert f"{'é' * at} *** {'é' * 20_000}" == redactor.redact(
            f"{'é' * at} {token} {'é' * 20_000}"
        )


def test_where_a_source_takes_too_long_the_text_is_withheld(source):
    """A scan that is out of time costs the text, not the event."""

    class Slow:
        def scan(self, data, *, timeout):
            raise TimeoutError(timeout)

    slow = Kingfisher()
    slow._scanner = Slow()

    assert WITHHELD == Redactor(extra=(slow,)).redact("any")
    assert "any" == Redactor(extra=(source,)).redact("any")


def test_both_together_hide_all_that_is_planted(source):
    """A source takes nothing away from the built-in shapes."""
    redactor = Redactor(extra=(source,))

    for plant in (*PLANTED.values(), *planted(3).values()):
        assert plant.secret not in redactor.redact(plant.text)
        assert HIDDEN in redactor.redact(plant.text)


def test_a_source_that_is_unknown_or_missing_is_named(monkeypatch):
    """The message says which there are, and what to install."""
    assert "" == why_missing("kingfisher")
    assert "is 'kingfischer'; did you mean 'kingfisher'? sources of secrets are: kingfisher" == (
        why_missing("kingfischer")
    )
    monkeypatch.setattr("failhook.redact.sources.find_spec", lambda name: None)
    with pytest.raises(ConfigError, match=r"not installed: pip install 'failhook\[kingfisher\]'"):
        open_redactor((), ("kingfisher",))
