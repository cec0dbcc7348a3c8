"""Secrets of every kind, put together at run time: none of them ever opened anything."""

from __future__ import annotations

import random
import string
from typing import Final, NamedTuple


class Planted(NamedTuple):
    """A text with a secret in it, the secret itself, and what the text must look like without."""

    text: str
    secret: str
    hidden: str


def _in(template: str, secret: str, hidden: str = "") -> Planted:
    return Planted(
        template.replace("SECRET", secret), secret, hidden or template.replace("SECRET", "***")
    )


class _Dice:
    """Throws what secrets are made of, the same each time."""

    def __init__(self, seed: int) -> None:
        self._random = random.Random(seed)

    def of(self, letters: str, count: int) -> str:
        """Return letters, of which some are digits and some are not."""
        while True:
            text = "".join(self._random.choices(letters, k=count))
            head = text[:8]
            if not (head.isalpha() or head.isdigit()) and not text[0].isdigit():
                return text


_ALL: Final = string.ascii_letters + string.digits
_CAPITALS: Final = string.ascii_uppercase + string.digits
_HEX: Final = "0123456789abcdef"


def _body(dice: _Dice) -> str:
    lines = [dice.of(_ALL, 64) for _ in range(24)]
    return "\n".join(("MIIE" + lines[0][4:], *lines[1:], dice.of(_ALL, 10) + "=="))


def pem(body: str, label: str = "PRIVATE KEY", newline: str = "\n") -> str:
    """Return a private key in PEM."""
    return f"-----BEGIN {label}-----\n{body}\n-----END {label}-----".replace("\n", newline)


def planted(seed: int) -> dict[str, Planted]:
    """Return a secret of every kind, with what it stands in, by the name of its kind."""
    dice = _Dice(seed)

    def word() -> str:
        return dice.of(_ALL, 10)

    def long() -> str:
        return dice.of(_ALL, 40)

    def base64() -> str:
        return dice.of(_ALL, 19) + "="

    def digest() -> str:
        return dice.of(_HEX, 32)

    body, rsa, stamped = _body(dice), _body(dice), _body(dice)
    token = ".".join(("eyJ" + dice.of(_ALL, 27), "eyJ" + dice.of(_ALL, 54), dice.of(_ALL, 43)))
    return {
        "DSN": _in(
            "cannot reach postgres://app:SECRET@db:5432/sales",
            word(),
            "cannot reach postgres://***@db:5432/sales",
        ),
        "DSN, slash": _in(
            "cannot reach amqp://app:SECRET@mq/",
            f"{word()}/{word()}",
            "cannot reach amqp://***@mq/",
        ),
        "DSN, at sign": _in(
            "cannot reach redis://:SECRET@cache:6379/0",
            f"{word()}@{word()}",
            "cannot reach redis://***@cache:6379/0",
        ),
        "URL token": _in("clone of https://SECRET@git.example/a/b failed", long()),
        "query token": _in("GET https://api.example/v1?token=SECRET&page=2 -> 500", word()),
        "SAS": _in("https://x.blob.example/c/b?sv=2024&sig=SECRET&se=2025", base64() + "%2B"),
        "query key": _in("GET /maps?key=SECRET failed", long()),
        "presigned": _in(
            "PUT https://b.s3.example/k?X-Amz-Signature=SECRET: 403",
            digest(),
            "PUT https://b.s3.example/k?X-Amz-Signature=*** 403",
        ),
        "Bearer": _in("Authorization: Bearer SECRET", long()),
        "Basic": _in("headers={'Authorization': 'Basic SECRET'}", base64()),
        "Digest": _in(
            'Authorization: Digest username="u", response="SECRET"',
            digest(),
            "Authorization: Digest ***",
        ),
        "header pair": _in("[('Accept', '*/*'), ('Authorization', 'Bearer SECRET')]", long()),
        "header bytes": _in("[(b'authorization', b'token SECRET')]", long()),
        "bare Bearer": _in("sent Bearer SECRET to the gateway", long()),
        "curl": _in("Command '['curl', '-u', 'me:SECRET', 'http://x']' returned 22", word()),
        "API key header": _in("X-Api-Key: SECRET", word()),
        "cookie": _in("Cookie: lang=en; session=SECRET", long(), "Cookie: ***"),
        "password": _in("login failed with password=SECRET at 10:00", word()),
        "password, quoted": _in(
            "connect(host='db', password='SECRET', port=5432)", f"{word()} {word()}"
        ),
        "password, YAML": _in("user: app\npassword: SECRET\nhost: db", word()),
        "passwd": _in("passwd: SECRET", word()),
        "environment": _in("PGPASSWORD=SECRET psql -h db", word()),
        "environ": _in("environ({'HOME': '/root', 'DB_PASSWORD': 'SECRET', 'A': 'b'})", word()),
        "JSON": _in('{"user": "app", "password": "SECRET", "retries": 3}', word()),
        "JSON in JSON": _in(r'{"body": "{\"api_key\": \"SECRET\"}"}', word()),
        "option": _in("Command '['load', '--db-password', 'SECRET', '-v']' died", word()),
        "option, shell": _in("load --token SECRET --verbose", word()),
        "ODBC": _in("Driver={x};Server=db;UID=app;PWD=SECRET;Encrypt=yes", word()),
        "Azure storage": _in("AccountName=n;AccountKey=SECRET;EndpointSuffix=core", long() + "=="),
        "client secret": _in("client_secret=SECRET&grant_type=x", word()),
        "AWS secret key": _in("aws_secret_access_key = SECRET", long()),
        "AWS key id": _in("key SECRET is not active", "AKIA" + dice.of(_CAPITALS, 16)),
        "Google key": _in("API key SECRET not valid", "AIza" + dice.of(_ALL, 35)),
        "GitHub": _in("bad credentials: SECRET", "ghp_" + dice.of(_ALL, 36)),
        "GitLab": _in("bad credentials: SECRET", "glpat-" + dice.of(_ALL, 20)),
        "Slack": _in("invalid_auth for SECRET", "xoxb-" + "1234567890-" * 2 + long()),
        "Slack webhook": _in(
            "POST https://hooks.slack.com/services/SECRET 404", f"T0{word()}/B0{word()}/{long()}"
        ),
        "Stripe": _in("no such charge with SECRET", "sk_" + "live_" + long()),
        "OpenAI": _in("Incorrect API key provided: SECRET.", "sk-" + "proj-" + long()),
        "JWT": _in("claims of SECRET are expired", token),
        "private key": Planted(
            f"cannot parse {pem(body)} at all",
            body,
            "cannot parse -----BEGIN PRIVATE KEY-----***----- at all",
        ),
        "RSA key in JSON": Planted(
            '{"private_key": "' + pem(rsa, "RSA PRIVATE KEY", "\\n") + '", "x": 1}',
            rsa.replace("\n", "\\n"),
            '{"private_key": "***", "x": 1}',
        ),
        "key in a log": Planted(
            pem(stamped, newline="\n2026-03-29T10:00:00Z [load] "),
            stamped.split("\n")[11],
            "-----BEGIN PRIVATE KEY-----***-----",
        ),
        "XML": _in("<user>app</user><password>SECRET</password>", word()),
        "source line": _in('    conn = connect("db", password="SECRET")', word()),
        "Anthropic": _in("cannot ask with SECRET", "sk-" + "ant-api03-" + dice.of(_ALL, 95)),
        "npm": _in("npm ERR! SECRET is revoked", "npm" + "_" + dice.of(_ALL, 36)),
        "PyPI": _in("403 with SECRET", "pypi-" + "AgEI" + dice.of(_ALL, 80)),
        "Databricks": _in("403 with SECRET", "dapi" + digest()),
        "Docker Hub": _in("denied for SECRET", "dckr" + "_pat_" + dice.of(_ALL, 27)),
        "Shopify": _in("401 for SECRET", "shpat" + "_" + digest()),
        "Slack app": _in("invalid_auth for SECRET", "xapp-" + "1-" + dice.of(_CAPITALS, 40)),
        "sshpass": _in("Command 'sshpass -p SECRET ssh db' died", word()),
        "MySQL": _in("Command '['mysqldump', '-u', 'root', '-pSECRET', 'sales']' died", word()),
        "auth pair": _in("get(url, auth=('me', 'SECRET'))", word(), "get(url, auth=(***))"),
        "Vault": _in("permission denied for SECRET", "hvs." + dice.of(_ALL, 90)),
        "SendGrid": _in("401 for SECRET", "SG." + dice.of(_ALL, 22) + "." + dice.of(_ALL, 43)),
        "Azure client secret": _in(
            "AADSTS7000215: SECRET", dice.of(_ALL, 3) + "8" + "Q~" + dice.of(_ALL, 34)
        ),
        "Terraform": _in("401 for SECRET", dice.of(_ALL, 14) + ".atlasv1." + dice.of(_ALL, 64)),
        "Oracle": _in("jdbc:oracle:thin:app/SECRET@db:1521/x", word()),
        "JWT in a URL": _in("GET /x%3FSECRET", "eyJ" + dice.of(_ALL, 27) + "." + dice.of(_ALL, 43)),
        "after an escape": _in(r"b'user\nSECRET\n'", "gho" + "_" + dice.of(_ALL, 36)),
        "in colour": _in("\x1b[1;31mSECRET\x1b[0m is revoked", "ghs" + "_" + dice.of(_ALL, 36)),
        "sentence": _in("the password is SECRET, it seems", word()),
        "sentence, quoted": _in("Login failed for user 'bob' with password 'SECRET'", word()),
        "argument pair": _in("('cannot log in, password=', 'SECRET')", word()),
        "colours": _in("\x1b[36mpassword\x1b[0m=\x1b[38;5;12mSECRET\x1b[0m", word()),
        "colour of many": _in("\x1b[38;5;208mSECRET\x1b[0m", "ghu" + "_" + dice.of(_ALL, 36)),
        "name and value": _in("[{'name': 'DB_PASSWORD', 'value': 'SECRET'}]", word()),
        "name and value, YAML": _in("- name: API_KEY\n  value: SECRET\n- name: A", word()),
        "name and value, XML": _in('<add key="password" value="SECRET"/>', word()),
        "name and value, Hadoop": _in(
            "<name>fs.s3a.secret.key</name>\n  <value>SECRET</value>", word()
        ),
        "URL in JSON": _in(
            r'{"url": "amqp:\/\/app:SECRET@db\/x"}', word(), r'{"url": "amqp:\/\/***@db\/x"}'
        ),
        "URL, encoded": _in(
            "to=https%3A%2F%2Fapp%3ASECRET%40db", word(), "to=https%3A%2F%2F***%40db"
        ),
        "at sign in JSON": _in(r"ftp://app:SECRET\u0040db", word(), r"ftp://***\u0040db"),
        "percent": _in("GET /?q=password%3DSECRET", word()),
        "HTML": _in("&quot;password&quot;: &quot;SECRET&quot;", word()),
        "HTML, number": _in("<p>password&#61;SECRET</p>", word()),
        "JSON equals": _in(r"password\u003dSECRET", word()),
        "pydantic": _in("Settings(password=SecretStr('SECRET'))", word()),
        "Rust": _in('Config { password: Some("SECRET") }', word()),
        "triple quotes": _in('password = """SECRET"""', word()),
        "angle brackets": _in("password=<SECRET>", word()),
        "shell quotes": _in("PASSWORD=$'SECRET'", word()),
        "YAML block": _in("password: >-\n  SECRET\nuser: app", word()),
        "YAML list": _in("passphrase:\n  - SECRET\nuser: app", word()),
        "bare Basic": _in("sent Basic SECRET to it", "dXNlcjp" + dice.of(_ALL, 12) + "="),
        "without a scheme": _in("dial app:SECRET@db.example:5432 failed", word()),
        "netrc": _in("machine h login app password SECRET", word()),
        "pgpass": _in("db:5432:sales:app:SECRET", word()),
        "redis-cli": _in("['redis-cli', '-p', '6379', '-a', 'SECRET', 'ping']", word()),
        "sqlcmd": _in("sqlcmd -S h -U sa -P SECRET", word()),
        "7z": _in("7z x -pSECRET a.7z", word()),
        "SQL*Plus": _in("sqlplus scott/SECRET@db", word()),
        "OpenSSL": _in("openssl rsa -passin pass:SECRET -in k", word()),
        "Telegram": _in(
            "https://api.telegram.org/bot123456789SECRET/send",
            ":AA" + dice.of(_ALL, 33),
            "https://api.telegram.org/bot***/send",
        ),
        "Azure account": _in("fs.azure.account.key.n.dfs.core.example=SECRET", long()),
        "Slack webhook in JSON": _in(
            r'"https:\/\/hooks.slack.com\/services\/SECRET"', rf"T0{word()}\/B0{word()}\/{long()}"
        ),
        "assignment in a value": _in("token=password='SECRET x'", word(), "token=***'***'"),
    }


PLANTED: Final = planted(1)


class Broken:
    """A source of secrets that cannot bear one word."""

    def __init__(self, error: type[Exception] = RuntimeError) -> None:
        self._error = error

    def spans(self, text: str) -> tuple[tuple[int, int], ...]:
        """Raise where the word stands."""
        if "fragile" in text:
            raise self._error("fragile")
        return ()
