"""What redaction takes of text that was made to confuse it, beside plain text as long."""

from __future__ import annotations

import random
import time

from failhook.redact import Redactor
from tests.benchmarks.measure import Ratio

LENGTH = 1_000_000
ROUNDS = 7
CLOSE = 4
"""How many of the slowest are measured more than once."""

HOSTILE = (
    *("password=", "password=x9 ", "password='", r"password=\"", "password\\", "password   "),
    *("password=a.", "token", "secret", "apikey", "key=key=key=", "token:a", "token: a1"),
    *("\ntoken: a1", "\n                pass: a1 ", "token=a)]}", "('token','", '"token": "the", '),
    *("--token ", "--", "--a", "-----", f"--{'a' * 38} ", "<password>", " -u a:", "auth=('"),
    *("://", "://a:", "://a@", "://a:b:c", "://a:b[... 1 characters cut ...]", "http://h:80/"),
    *("?a", "?token=", "&", f"?{'a' * 40}", "authorization: ", "authorization','", "bearer a"),
    *("cookie: a", "-----BEGIN PRIVATE KEY-----", "-----END PRIVATE KEY-----", "-----BEGIN "),
    f"-----BEGIN PRIVATE KEY-----\n{'A' * 64}\n",
    *("[... 1 characters cut ...]", "[... 1 characters cut ...]x PRIVATE KEY ", "[... "),
    *("eyJ", "eyJaaaaaaaaaa.", "AKIA", "sk-", "SG.aaaaaaaaaaaaaaaaaaaa.", "a3-", "pat", "ghp_a"),
    *("x", "p", "\n", " ", "İ", "\x00", "%", "%20", "\x1b[31m", "\\n", "AAAA", "0123456789abcdef"),
    *(
        "--[",
        "[",
        "a[b%c\\",
        f"--{'a' * 38} [%\\",
        "\x1b[0m",
        "[0m",
        "%[\\",
        "-u=",
        "hf_",
        "ey-",
        "mysqlé",
    ),
    *(
        "asqlcmd[0m",
        "7z\xa0",
        ":\\/\\/a",
        f"\n:\\/\\/{'a_' * 58}(",
        "%3a%2f%2fa%",
        "a:bcd@h:22 ",
        "login x ",
    ),
    *(f"{name}={',a' * 58}" for name in (" auth", "storagekey", "masterkey")),
    *(f" {name}={'a.' * 60}" for name in ("sk-ant-", "sk-proj-", "sm_sat_", "mlsn.")),
    *(
        f"\njwt:{'a' * 120}",
        "password is a",
        "name=token,value",
        f"encryption_key{'a_' * 58}(dop_v1_://",
    ),
    *(
        "token:adiscord.com://sntrys_ghp_",
        f"aencryptionkey={chr(40)}'a'=('a'",
        "-----END PRIVATE KEY-----\nA",
    ),
    *("{" * 50, "\\" * 50, "é", "😀", "mysql -p", "secret_key_", "access_key_secret_token_"),
)
"""The beginnings of every shape again and again, near misses, and letters that grow."""

_WORDS = (
    *("worker", "task", "started", "finished", "seconds", "node", "pool", "shard", "partition"),
    *(
        "rows",
        "loaded",
        "from",
        "table",
        "retry",
        "attempt",
        "connection",
        "host",
        "port",
        "status",
    ),
    *(
        "response",
        "request",
        "batch",
        "file",
        "path",
        "not",
        "found",
        "while",
        "reading",
        "writing",
    ),
    *("offset", "committed"),
)


def plain() -> str:
    """Return an ordinary log, with the lines of tracebacks in it."""
    dice = random.Random(3)

    def line(number: int) -> str:
        word, other = dice.choice(_WORDS), dice.choice(_WORDS)
        if number % 2:
            said = " ".join(dice.choices(_WORDS, k=10))
            return f"2026-03-29 10:{number % 60:02}:00,{number % 1000:03} INFO {said} {number}"
        if number % 4:
            return f'  File "/srv/app/{word}/{other}.py", line {number}, in {word}_{other}'
        return f"    {word} = self.{other}({word}, {number})"

    return "\n".join(map(line, range(LENGTH // 40)))[:LENGTH]


def hostile(seed: str, length: int = LENGTH) -> str:
    """Return nothing but the seed, again and again."""
    return (seed * (length // len(seed) + 1))[:length]


def worst() -> Ratio:
    """Measure each hostile text, and return the one that takes longest beside plain text."""
    ordinary, once = plain(), {seed: _seconds(hostile(seed)) for seed in HOSTILE}
    longest = sorted(HOSTILE, key=once.__getitem__)[-CLOSE:]
    taken = dict.fromkeys((*longest, ""), float("inf"))
    for _ in range(ROUNDS):  # interleaved, so that a busy machine is busy for all of them
        for seed in taken:
            taken[seed] = min(taken[seed], _seconds(hostile(seed) if seed else ordinary))
    seed = max(longest, key=taken.__getitem__)
    beside = f"plain; worst of {len(HOSTILE)}: {seed[:8]!r}"
    return Ratio("redaction of 1 MB, hostile", beside, taken[seed], taken[""], 2.0)


def _seconds(text: str) -> float:
    """Return the CPU time that it takes with nothing remembered."""
    redactor = Redactor()
    begun = time.process_time()
    redactor.redact(text)
    return time.process_time() - begun
