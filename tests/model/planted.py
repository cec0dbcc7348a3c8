"""Secrets of every kind, put together at run time: none of them ever opened anything."""

from __future__ import annotations

from typing import NamedTuple


class Planted(NamedTuple):
    """A text with a secret in it, the secret itself, and what the text must look like without."""

    text: str
    secret: str
    hidden: str


def _in(template: str, secret: str, hidden: str = "") -> Planted:
    return Planted(
        template.replace("SECRET", secret), secret, hidden or template.replace("SECRET", "***")
    )


_WORD = "Xq7" + "zR2vK9"
_LONG = "q7Zr2Vk9" * 5
_HEX = "4f9a" * 8
_JWT = ".".join(("eyJ" + "hbGciOi9x" * 3, "eyJ" + "zdWIiOi7w" * 6, "s1gN4tur3" * 5))
_BASE64 = "Zk9x" * 4 + "Q7r="
_BODY = "\n".join("MIIEv7q9" * 8 for _ in range(24)) + "\nq7Zr2Vk9=="


def pem(label: str = "PRIVATE KEY", newline: str = "\n") -> str:
    """Return a private key in PEM."""
    return f"-----BEGIN {label}-----\n{_BODY}\n-----END {label}-----".replace("\n", newline)


PLANTED = {
    "DSN": _in(
        "cannot reach postgres://app:SECRET@db:5432/sales",
        _WORD,
        "cannot reach postgres://***@db:5432/sales",
    ),
    "DSN, slash": _in(
        "cannot reach amqp://app:SECRET@mq/", _WORD + "/" + _WORD, "cannot reach amqp://***@mq/"
    ),
    "DSN, at sign": _in(
        "cannot reach redis://:SECRET@cache:6379/0",
        _WORD + "@" + _WORD,
        "cannot reach redis://***@cache:6379/0",
    ),
    "URL token": _in("clone of https://SECRET@git.example/a/b failed", _LONG),
    "query token": _in("GET https://api.example/v1?token=SECRET&page=2 -> 500", _WORD),
    "SAS": _in("https://x.blob.example/c/b?sv=2024&sig=SECRET&se=2025", _BASE64 + "%2B"),
    "query key": _in("GET /maps?key=SECRET failed", _LONG),
    "presigned": _in(
        "PUT https://b.s3.example/k?X-Amz-Signature=SECRET: 403",
        _HEX,
        "PUT https://b.s3.example/k?X-Amz-Signature=*** 403",
    ),
    "Bearer": _in("Authorization: Bearer SECRET", _LONG),
    "Basic": _in("headers={'Authorization': 'Basic SECRET'}", _BASE64),
    "Digest": _in(
        'Authorization: Digest username="u", response="SECRET"', _HEX, "Authorization: Digest ***"
    ),
    "header pair": _in("[('Accept', '*/*'), ('Authorization', 'Bearer SECRET')]", _LONG),
    "header bytes": _in("[(b'authorization', b'token SECRET')]", _LONG),
    "bare Bearer": _in("sent Bearer SECRET to the gateway", _LONG),
    "curl": _in("Command '['curl', '-u', 'me:SECRET', 'http://x']' returned 22", _WORD),
    "API key header": _in("X-Api-Key: SECRET", _WORD),
    "cookie": _in("Cookie: lang=en; session=SECRET", _LONG, "Cookie: ***"),
    "password": _in("login failed with password=SECRET at 10:00", _WORD),
    "password, quoted": _in("connect(host='db', password='SECRET', port=5432)", f"{_WORD} {_WORD}"),
    "password, YAML": _in("user: app\npassword: SECRET\nhost: db", _WORD),
    "passwd": _in("passwd: SECRET", _WORD),
    "environment": _in("PGPASSWORD=SECRET psql -h db", _WORD),
    "environ": _in("environ({'HOME': '/root', 'DB_PASSWORD': 'SECRET', 'A': 'b'})", _WORD),
    "JSON": _in('{"user": "app", "password": "SECRET", "retries": 3}', _WORD),
    "JSON in JSON": _in(r'{"body": "{\"api_key\": \"SECRET\"}"}', _WORD),
    "option": _in("Command '['load', '--db-password', 'SECRET', '-v']' died", _WORD),
    "option, shell": _in("load --token SECRET --verbose", _WORD),
    "ODBC": _in("Driver={x};Server=db;UID=app;PWD=SECRET;Encrypt=yes", _WORD),
    "Azure storage": _in("AccountName=n;AccountKey=SECRET;EndpointSuffix=core", _LONG + "=="),
    "client secret": _in("client_secret=SECRET&grant_type=x", _WORD),
    "AWS secret key": _in("aws_secret_access_key = SECRET", _LONG),
    "AWS key id": _in("key SECRET is not active", "AKIA" + "Q7ZR2VK9" * 2),
    "Google key": _in("API key SECRET not valid", "AIza" + "q7Zr2Vk9" * 4 + "abc"),
    "GitHub": _in("bad credentials: SECRET", "ghp_" + "q7Zr2Vk9" * 5),
    "GitLab": _in("bad credentials: SECRET", "glpat-" + "q7Zr2Vk9" * 3),
    "Slack": _in("invalid_auth for SECRET", "xoxb-" + "1234567890-" * 2 + _LONG),
    "Slack webhook": _in(
        "POST https://hooks.slack.com/services/SECRET 404", f"T0{_WORD}/B0{_WORD}/{_LONG}"
    ),
    "Stripe": _in("no such charge with SECRET", "sk_" + "live_" + _LONG),
    "OpenAI": _in("Incorrect API key provided: SECRET.", "sk-" + "proj-" + _LONG),
    "JWT": _in("claims of SECRET are expired", _JWT),
    "private key": Planted(
        f"cannot parse {pem()} at all",
        _BODY,
        "cannot parse -----BEGIN PRIVATE KEY-----***----- at all",
    ),
    "RSA key in JSON": Planted(
        '{"private_key": "' + pem("RSA PRIVATE KEY", "\\n") + '", "x": 1}',
        _BODY.replace("\n", "\\n"),
        '{"private_key": "***", "x": 1}',
    ),
    "XML": _in("<user>app</user><password>SECRET</password>", _WORD),
    "source line": _in('    conn = connect("db", password="SECRET")', _WORD),
}


class Broken:
    """A source of secrets that cannot bear one word."""

    def spans(self, text: str) -> tuple[tuple[int, int], ...]:
        """Raise where the word stands."""
        if "fragile" in text:
            raise RuntimeError(text)
        return ()
