"""What is a secret goes, what only looks like one stays, and no text takes long."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from failhook.errors import ConfigError
from failhook.redact import DEFAULT, HIDDEN, WITHHELD, Pattern, Redactor
from failhook.redact.cuts import LONGEST_END, LONGEST_TOKEN
from failhook.text import CUT_MARK, cut
from tests.benchmarks.redaction import HOSTILE, hostile
from tests.model.planted import PLANTED, Broken, pem
from tests.model.strategies import foreign_texts

REDACTOR = Redactor()

planted = st.sampled_from(list(PLANTED.values()))


@pytest.mark.parametrize("kind", PLANTED)
def test_a_secret_is_hidden_and_what_is_around_it_stays(kind):
    """The secret is replaced by a marker, and the words around it can still be read."""
    assert PLANTED[kind].hidden == REDACTOR.redact(PLANTED[kind].text)


@pytest.mark.parametrize(
    "text",
    [
        'password authentication failed for user "app"',
        "Access denied for user 'root'@'localhost' (using password: YES)",
        "password: must be at least 8 characters",
        "invalid token: unexpected end of input",
        "SyntaxError: Unexpected token: '}'",
        "KeyError: 'password'",
        "the token and the secret are in the vault",
        'secret "db-password" not found',
        "secretName: db, secretKeyRef: x, password_file=/run/secrets/db",
        "max_tokens=4096, token_count=8, primary_key=5, cache_key=a, key=lambda x: x",
        "password=None token=null secret=''",
        "    token = get_token(user)",
        "    conn = connect(password=self.password, token=config.token)",
        "    def login(self, password: str, token: bytes) -> None:",
        "authorization: required; Bearer authentication failed; basic functionality",
        "ssh://git@github.example/a and abfss://container@account.example/a",
        "http://host:8080/path and docker://image@sha256:0123",
        "docker run -u 1000:1000 image",
        "PWD=/root OLDPWD=/tmp/x",
        "https://example.org/?page=2&sort=asc",
        "expected the columns ['username', 'password', 'host']",
        "task-1234567890 of disk-usage-report-for-the-cluster",
        "-----BEGIN CERTIFICATE-----",
        "expected '-----BEGIN PRIVATE KEY-----' at the start of the file",
        "pass: 12, fail: 3",
        "pass: 12.345s\nPASS: test_load2\nauth: oauth2",
        "def check(token: int64, credentials: float32) -> None:",
        "Unexpected token: column12",
        "after token: 3.55ms, credentials: base64",
        "the password is incorrect, the token is expired, the secret was rotated",
        "no password given for user 'bob'; password 'is' missing",
        "cannot reach http://host:8080",
        "the worker was at tcp://127.0.0.1:34155.",
        "mail to me@host.example:25 of repo:tag@sha256:0123",
        "[{'name': 'DB_HOST', 'value': 'db'}, {'name': 'PASSWORD_FILE', 'value': '/run/x'}]",
        "- name: DB_PASSWORD\n  valueFrom:\n    secretKeyRef: {name: db, key: password}",
        "password: >-\n  must be at least 8 characters",
        "password:\n  - must be given",
        "Basic authentication is required, Basic functionality",
        "redis-cli -h cache -p 6379 ping",
        "\x1b[31mpassword\x1b[0m is \x1b[1mwrong\x1b[0m",
        "sk-learn and npm_config_registry",
    ],
)
def test_prose_and_source_stay_as_they_are(text):
    """A word like password or token without its value is no secret."""
    assert text == REDACTOR.redact(text)


@given(st.lists(st.one_of(foreign_texts, planted.map(lambda plant: plant.text)), max_size=6))
def test_redacting_twice_changes_nothing(pieces):
    """What was redacted is not redacted again."""
    once = REDACTOR.redact("\n".join(pieces))

    assert once == REDACTOR.redact(once)


@given(before=foreign_texts, plant=planted, after=foreign_texts)
def test_a_secret_goes_whatever_stands_around_it(before, plant, after):
    """Other lines before and after it do not save a secret."""
    assert plant.secret not in REDACTOR.redact(f"{before}\n{plant.text}\n{after}")


@given(plant=planted, data=st.data())
def test_no_piece_of_a_secret_survives_a_cut_inside_it(plant, data):
    """Where a coarse cut falls into a secret, what is left on both sides of it goes too."""
    start = plant.text.index(plant.secret)
    first = data.draw(st.integers(start, start + len(plant.secret)), label="head")
    filler = "lorem ipsum dolor " * 300
    text = f"{plant.text[:first]}[... {len(filler)} characters cut ...]{plant.text[first:]}"

    hidden = REDACTOR.redact(f"{filler}{text} {filler}")

    size = 6 if len(plant.secret) > 12 else 3
    pieces = {plant.secret[at : at + size] for at in range(len(plant.secret) - size + 1)}
    assert set() == {piece for piece in pieces if piece in hidden}
    assert CUT_MARK.search(hidden)


@pytest.mark.parametrize(
    "kind",
    [
        *("DSN", "DSN, slash", "GitHub", "GitLab", "AWS key id", "Google key", "npm", "Databricks"),
        *("Stripe", "OpenAI", "Anthropic", "JWT", "private key", "RSA key in JSON", "key in a log"),
        *("password", "Bearer", "query token", "environment", "SAS", "curl", "PyPI", "Slack"),
    ],
)
def test_a_secret_goes_whose_end_was_cut_before_the_text_came(kind):
    """Who hands over a text may have kept its beginning: the text ends within the secret."""
    plant = PLANTED[kind]
    start = plant.text.index(plant.secret)
    for length in range(8, len(plant.secret), 1 + len(plant.secret) // 40):
        for end in ("", "\n"):
            hidden = REDACTOR.redact(plant.text[: start + length] + end)

            pieces = {plant.secret[at : at + 8] for at in range(5, length - 7)}
            assert set() == {piece for piece in pieces if piece in hidden}


@pytest.mark.parametrize("newline", ["\n", "\r\n", "\\n", "\n2026-03-29T10:00:00Z [load] "])
@pytest.mark.parametrize("label", ["PRIVATE KEY", "OPENSSH PRIVATE KEY"])
def test_a_private_key_goes_whose_beginning_was_cut_before_the_text_came(newline, label):
    """The tail of a log begins within a key: lines of base64 before the end of one are hidden."""
    body = PLANTED["private key"].secret
    key = pem(body, label, newline)
    lines = [line for line in body.split("\n") if len(line) > 8]
    pieces = {line[at : at + 8] for line in lines for at in range(len(line) - 7)}
    for start in range(40, len(key) - 40, 37):
        hidden = REDACTOR.redact(key[start:] + "\nafter it\n")

        assert set() == {piece for piece in pieces if piece in hidden}
        assert hidden.endswith(f"-----END {label}-----\nafter it\n")


def test_words_before_the_end_of_a_key_stay():
    """Only what looks like lines of a key is one."""
    text = "it says\nnothing of a key\n-----END PRIVATE KEY-----"

    assert text == REDACTOR.redact(text)


def test_the_rest_of_a_private_key_goes_though_its_beginning_was_cut():
    """A cut may leave lines of a key without the line that says what they are."""
    key = pem(PLANTED["private key"].secret)
    text = cut("x " * 5_000 + key + " y", 1_500)

    hidden = REDACTOR.redact(text)

    assert "MIIE" not in hidden
    assert hidden.startswith("x x")
    assert hidden.endswith("----- y")


def test_a_long_token_is_withheld_to_its_end():
    """The token that a cut falls into is withheld on both sides of it, and no word more."""
    text = "see a" + "b" * 100 + "[... 7 characters cut ...]" + "c" * 100 + " there"

    assert "see ***[... 7 characters cut ...]*** there" == REDACTOR.redact(text)
    assert "a [... 7 characters cut ...] b" == REDACTOR.redact("a [... 7 characters cut ...] b")


def test_of_text_without_spaces_the_ends_stay():
    """Of a token longer than any secret, as much as can be a piece of one is withheld."""
    text = cut("a" * 5_000 + "b" * 5_000, 9_000)

    hidden = REDACTOR.redact(text)

    kept = "a" * (4_500 - LONGEST_END), "b" * (4_500 - LONGEST_TOKEN)
    assert "***[... 1000 characters cut ...]***".join(kept) == hidden
    assert "***[... 1000 characters cut ...]***" in REDACTOR.redact(hidden)
    assert kept[0] in REDACTOR.redact(hidden)


@pytest.mark.parametrize(
    "beginning",
    [
        "postgres://app:",
        "postgres://app:a/",
        "https://",
        "thin:app/",
        "https://api.example/?token=",
        "Authorization: Bearer 0",
        "Cookie: session=",
        "password=",
        "password='",
        "password: ",
        "token: 0",
        "('password', '",
        "<password>",
        "--token ",
        "curl -u me:",
        "eyJ0",
        "AIza",
        "ghp_",
        "sk-",
        "https://hooks.slack.com/services/",
    ],
)
@pytest.mark.parametrize("length", [100, LONGEST_END + 40, LONGEST_TOKEN + 100])
def test_a_secret_is_known_by_its_beginning_where_its_end_was_cut(beginning, length):
    """A long secret before a cut goes as a whole, although its end is not there to tell."""
    longest = {
        "postgres://app:": 2_000,
        "https://": 2_000,
        "postgres://app:a/": 100,
        "thin:app/": 100,
    }
    length = min(length, longest.get(beginning, length))
    hidden = REDACTOR.redact(f"see {beginning}{'Zk9x' * (length // 4)}[... 7 characters cut ...] x")

    assert "Zk9x" not in hidden
    assert hidden.startswith("see ")
    assert "***[... 7 characters cut ...]" in hidden


@pytest.mark.parametrize(
    ("text", "hidden"),
    [
        ("token: abc123", "token: ***"),
        ("password\uff1dhunter2", "password\uff1d***"),
        ("password\xa0=\xa0hunter2", "password\xa0=\xa0***"),
        ("Token: 'abc123', user: bob", "Token: '***', user: bob"),
        ("INFO token:abc123} sent", "INFO token:***} sent"),
        ("jwt: p@ss1word!", "jwt: ***"),
        ("credentials: key1.abc", "credentials: ***"),
        ("password: hunter2", "password: ***"),
        ("user: app\n  pass: hunter2\nhost: db", "user: app\n  pass: ***\nhost: db"),
        ("- auth: s3cr3tt  # temporary", "- auth: ***  # temporary"),
    ],
)
def test_a_colon_names_a_secret_as_an_equals_sign_does(text, hidden):
    """YAML and log lines name a secret with a colon; what is around the secret stays."""
    assert hidden == REDACTOR.redact(text)


def test_values_are_hidden_by_their_names():
    """A value whose name says that it is a secret goes as a whole, any other is looked into."""
    assert HIDDEN == REDACTOR.redact_value("DB_PASSWORD", "all of it")
    assert HIDDEN == REDACTOR.redact_value("container.env.api_key", "x")
    assert "all of it" == REDACTOR.redact_value("team", "all of it")
    assert "password=***" == REDACTOR.redact_value("command", "password=x9")


def test_the_users_own_patterns_are_tried_too():
    """An expression of the user's hides its groups, or all that it matches where it has none."""
    redactor = Redactor(
        extra=(
            r"ACME-\d+",
            r"badge (\w+) of (\w+)",
            Pattern("door code", re.compile(r"door (\d+)")),
        )
    )

    assert "*** by badge *** of ***" == redactor.redact("ACME-77 by badge b1 of ann")
    assert "door *** and password=***" == redactor.redact("door 1234 and password=x9")
    assert not redactor.plain(["ACME-77"])
    assert redactor.plain(["nothing here", "nothing here"])


def test_a_wrong_expression_is_named():
    """An expression that does not compile is refused, with itself in the message."""
    with pytest.raises(ConfigError, match=r"redaction pattern 'a\(' is not a regular expression"):
        Redactor(extra=("a(",))


@pytest.mark.parametrize("error", [RuntimeError, RecursionError, MemoryError, UnicodeError])
def test_where_redaction_fails_the_text_is_withheld(error):
    """A source that raises, whatever it is, costs the text, and lets nothing through."""
    redactor = Redactor(extra=(Broken(error),))

    assert WITHHELD == redactor.redact("fragile: password=x9")
    assert WITHHELD == redactor.redact("fragile")
    assert not redactor.plain(["fragile"])
    assert "sound" == redactor.redact("sound")


def test_letters_that_grow_in_lower_case_do_not_move_the_marker():
    """One letter that becomes two in lower case must not shift what is hidden after it."""
    assert "İİİ PASSWORD=***, İ" == REDACTOR.redact("İİİ PASSWORD=s3cret, İ")


def test_memory_of_plain_texts_is_bounded():
    """The redactor remembers a bounded number of short plain texts, and long ones not at all."""
    redactor = Redactor()

    for number in range(5_000):
        assert redactor.plain([f"text number {number}"])
    assert redactor.plain(["text number 4999"])
    assert redactor.plain(["long " * 1_000])

    assert 0 < len(redactor._plain) <= 1_024
    assert len(redactor._signless) <= 1_024
    assert max(map(len, redactor._plain)) < 100


@pytest.mark.parametrize("seed", HOSTILE)
def test_hostile_text_takes_time_in_proportion(seed):
    """Long text made to confuse the patterns is redacted, and grows no more than the markers.

    Nothing is timed: with one pattern that takes quadratic time this test would not end.
    """
    text = hostile(seed, 300_000)

    assert len(REDACTOR.redact(text)) <= 2 * len(text)


def test_every_shape_says_its_signs():
    """A shape is looked for where its signs stand: in lower case, on one line."""
    assert [] == [shape.name for shape in DEFAULT if not shape.signs]
    assert [] == [
        shape.name
        for shape in DEFAULT
        if any(sign != sign.lower() or "\n" in sign or not sign for sign in shape.signs)
    ]
