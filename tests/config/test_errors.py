"""A wrong setting is one error with file, line, key and what is allowed."""

from __future__ import annotations

from pathlib import Path

import pytest

from failhook.config import load_config
from failhook.config.document import line_of
from failhook.errors import ConfigError

RULE = "[[rules]]\nid = 'a'\nmatch = ['log = x']\nreason = 'A'\nkind = 'infra'\n"
WRONG = {
    "unknown-top": ("\nstroe = 'x'", ":2: stroe is not a setting; did you mean store? allowed:"),
    "unknown-table": ("[policies]\n", ":1: policies is not a setting; did you mean policy?"),
    "nothing-alike": ("zzz = 1", ":1: zzz is not a setting; allowed: store, namespace, policy,"),
    "store-type": ("store = 3", ":1: store is 3; it must be a string that is not empty"),
    "blank": ("namespace = ' '", ":1: namespace is ' '; it must be a string"),
    "not-a-table": ("policy = 3", ":1: policy is 3; it must be a table: [policy]"),
    "unknown-policy": (
        "[policy]\n# more\nretrys = 3",
        ":3: policy.retrys is not a setting; did you mean policy.retries? allowed: retries,",
    ),
    "negative": (
        "[policy]\nretries = 1\nmax_infra_refunds = -1",
        ":3: policy.max_infra_refunds is -1; it must be a whole number, 0 or more",
    ),
    "boolean": ("policy.retries = true", ":1: policy.retries is true; it must be a whole number"),
    "choice": (
        "[policy]\nwhen_refunds_end = 'stop'",
        ":2: policy.when_refunds_end is 'stop'; it is 'charge' or 'fail'",
    ),
    "confidence": (
        "[policy]\nrefund_confidence = 'sure'",
        ":2: policy.refund_confidence is 'sure'; it is one of guess, likely, confirmed",
    ),
    "backoff": (
        "[policy]\n[policy.infra_backoff]\ninitial = 1\nfactor = 0.5",
        ":4: policy.infra_backoff.factor is 0.5; it must be a number, 1 or more",
    ),
    "backoff-key": (
        "[policy.backoff]\nintial = 1",
        ":2: policy.backoff.intial is not a setting; did you mean policy.backoff.initial?",
    ),
    "backoff-type": ("[policy]\nbackoff = 3", ":2: policy.backoff is 3; it must be a table"),
    "backoff-jitter": (
        "[policy]\nbackoff = { jitter = 'no' }",
        ":2: policy.backoff.jitter is 'no'; it is true or false",
    ),
    "backoff-endless": (
        "[policy]\nbackoff.maximum = inf",
        ":2: policy.backoff.maximum is inf; it must be a number, 0 or more",
    ),
    "codes": (
        "[policy]\nnon_retryable_codes = [\n  'A',\n  3,\n]",
        ":2: policy.non_retryable_codes is a list; it must be a list of strings",
    ),
    "override-form": (
        "[policy.overrides]\nretries = 3",
        ":1: policy.overrides is a table; write [[policy.overrides]] above each entry",
    ),
    "override-without-match": (
        "[[policy.overrides]]\nmatch = ['a = b']\n\n[[policy.overrides]]\nretries = 3",
        ":4: policy.overrides[1] has no matchers; write match =",
    ),
    "override-value": (
        "[[policy.overrides]]\nmatch = ['a = b']\nretries = 3.5",
        ":3: policy.overrides[0].retries is 3.5; it must be a whole number, 0 or more",
    ),
    "override-key": (
        "[[policy.overrides]]\nmatches = ['a = b']\nmatch = ['a = b']",
        ":2: policy.overrides[0].matches is not a setting; did you mean policy.overrides[0].match?",
    ),
    "rules-word": (
        "[[policy.overrides]]\nmatch = ['task.name = load']\nretries = 3",
        ":2: policy.overrides[0].match[0] asks for the label task.name, which is how a rule s",
    ),
    "place": (
        RULE + "message = 'busy {exception.mesage}'\n",
        ":6: rules[0].message has a place for exception.mesage, which no failure has; did",
    ),
    "matcher": (
        "[[policy.overrides]]\nmatch = ['a = b', 'a ~ b']",
        ":2: policy.overrides[0].match[1] is wrong: 'a ~ b' is not a matcher",
    ),
    "matcher-pattern": (
        "[[policy.overrides]]\nmatch = ['a =~ (']",
        ":2: policy.overrides[0].match[0] is wrong: matcher",
    ),
    "rule-kind": (
        f"{RULE}[[rules]]\nmatch = ['log = x']\nreason = 'B'\nkind = 'cosmic'",
        ":9: rules[1].kind is 'cosmic'; it is one of infra, application,",
    ),
    "rule-missing": (
        "[[rules]]\nmatch = ['log = x']\nkind = 'infra'",
        ":1: rules[0].reason is missing",
    ),
    "rule-matcher": (
        "[[rules]]\nkind = 'infra'\nreason = 'A'\nmatch = ['x']",
        ":4: rules[0].match is wrong: 'x' is not a matcher",
    ),
    "rule-twice": (
        RULE + RULE,
        ":1: rules are wrong: rules: the id 'a' is given twice",
    ),
    "plugin-form": ("[plugins]\nslack = '#ops'", ":2: plugins.slack is '#ops'; it must be a table"),
    "plugin-enabled": (
        "[plugins.slack]\nenabled = 'no'",
        ":2: plugins.slack.enabled is 'no'; it must be true or false",
    ),
    "block": ("[plugins]\nblock = 'slack'", ":2: plugins.block is 'slack'; it must be a list"),
    "delivery-key": (
        "[delivery]\ntimelimit = 3",
        ":2: delivery.timelimit is not a setting; did you mean delivery.time_limit?",
    ),
    "delivery-limit": (
        "[delivery]\ntime_limit = 0",
        ":2: delivery.time_limit is 0; it must be a number of seconds above 0",
    ),
    "delivery-count": (
        "[delivery]\nmax_failures = 0",
        ":2: delivery.max_failures is 0; it must be a whole number, 1 or more",
    ),
    "delivery-bytes": (
        "[delivery]\nmax_bytes = 1000",
        ":2: delivery.max_bytes is 1000; it must be a whole number, 65536 or more",
    ),
    "delivery-backoff": (
        "[delivery]\nbackoff = { initial = -1 }",
        ":2: delivery.backoff.initial is -1; it must be a number, 0 or more",
    ),
    "pattern": (
        "[redact]\npatterns = ['fine', '(']",
        ":2: redact.patterns[1] is not a regular expression: ",
    ),
    "syntax": ("[policy]\nretries 3", ":2:9: not valid TOML: Expected '=' after a key"),
    "syntax-end": ("[policy", ": not valid TOML: "),
    "key-twice": ("a = 1\na = 2\n", ":2:6: not valid TOML: Cannot overwrite a value"),
    "too-deep": (f"a = {'[' * 5000}", ": not valid TOML: nested too deeply"),
}


@pytest.mark.parametrize(("text", "expected"), WRONG.values(), ids=list(WRONG))
def test_a_wrong_setting_is_named_with_its_file_and_line(text, expected, tmp_path):
    """Whoever reads the error can go to the line and knows what to write there."""
    path = tmp_path / "failhook.toml"
    path.write_text(text)

    with pytest.raises(ConfigError) as caught:
        load_config(path, environ={})

    assert f"{path}{expected}" == str(caught.value)[: len(f"{path}{expected}")]
    assert 1 == len(str(caught.value).splitlines())


def test_a_file_that_cannot_be_read_is_named(tmp_path):
    """A missing file, a folder and a binary file each say what they are."""
    binary = tmp_path / "binary.toml"
    binary.write_bytes(b"namespace = 'a'\n# \xff\n")
    for path, expected in (
        (tmp_path / "none.toml", ": there is no such file to read settings from"),
        (tmp_path, ": settings cannot be read: Is a directory"),
        (binary, ":2: settings must be text in UTF-8"),
    ):
        with pytest.raises(ConfigError) as caught:
            load_config(path, environ={})
        assert f"{path}{expected}" == str(caught.value)


def test_a_variable_that_names_no_file_is_said_to():
    """Whoever does not know that the variable is set learns it from the error."""
    with pytest.raises(ConfigError) as caught:
        load_config(environ={"FAILHOOK_CONFIG": "/gone.toml"})

    assert str(caught.value) == "FAILHOOK_CONFIG names /gone.toml, and there is no such file"


def test_a_dangling_link_is_an_error_and_not_the_defaults(tmp_path, monkeypatch):
    """Settings that were meant to be there are never silently left out."""
    monkeypatch.chdir(tmp_path)
    Path("failhook.toml").symlink_to("gone.toml")

    with pytest.raises(ConfigError, match=r"failhook\.toml: there is no such file"):
        load_config(environ={})


def test_the_line_of_a_key_is_found_through_every_way_to_write_toml():
    """Multi-line values, comments, quoted and dotted keys do not move the line."""
    text = (
        "# policy.retries = 1\n"
        'text = """\n[policy]\nretries = 2\n"""\n'
        "\n"
        "[policy]\n"
        'non_retryable_codes = [ # "retries = 3"\n  "A",\n]\n'
        '"retries" = 4\n'
        "backoff.initial = 3\n"
        "[plugins]\n"
        "[plugins.'a b']\n"
        "x.y = [[1,\n2]]\n"
    )

    for keys, line in (
        (("text",), 2),
        (("policy",), 7),
        (("policy", "non_retryable_codes"), 8),
        (("policy", "non_retryable_codes", 0), 8),
        (("policy", "retries"), 11),
        (("policy", "backoff", "initial"), 12),
        (("plugins", "a b"), 14),
        (("plugins", "a b", "x", "y", 0, 1), 15),
        (("plugins", "a b", "missing"), 14),
        (("missing",), 1),
    ):
        assert line == line_of(text, keys), keys
