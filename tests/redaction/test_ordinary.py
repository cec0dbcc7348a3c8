"""Ordinary text stays as it is: what is touched without need is counted, and listed."""

from __future__ import annotations

import json
import sysconfig
import traceback
from pathlib import Path

import pytest

from failhook.redact import Redactor

CASES = Path(__file__).parents[1] / "cases"
LIBRARY = Path(sysconfig.get_paths()["stdlib"])
MODULES = (
    *("argparse", "ast", "asyncio/base_events", "configparser", "csv", "ctypes/util", "datetime"),
    *("doctest", "email/message", "enum", "ftplib", "http/client", "imaplib", "inspect", "json"),
    *("logging/__init__", "logging/handlers", "mailbox", "multiprocessing/managers", "optparse"),
    *("pathlib", "pdb", "pickle", "poplib", "shlex", "smtplib", "socket", "sqlite3/dump", "ssl"),
    *("subprocess", "tarfile", "threading", "tokenize", "traceback", "typing", "unittest/mock"),
    *("urllib/parse", "urllib/request", "uuid", "wsgiref/handlers", "xmlrpc/client", "zipfile"),
)
"""Some that are full of passwords, tokens and keys, and many that are not."""

MESSAGES = """\
psycopg.errors.UniqueViolation: duplicate key value violates unique constraint "users_pkey"
DETAIL:  Key (id, token_kind)=(7, 3) already exists.
ORA-01017: invalid username/password; logon denied
sqlite3.OperationalError: no such column: token_id
FATAL:  password authentication failed for user "etl"
mysql.connector.errors.ProgrammingError: 1045 (28000): Access denied (using password: YES)
SELECT key, count(*) FROM events WHERE day = '2026-03-29' GROUP BY key
CREATE TABLE t (id bigint primary key, token text not null, secret_ref text)
MERGE INTO sales USING staging ON sales.key = staging.key WHEN MATCHED THEN UPDATE
Error from server (NotFound): secrets "db-credentials" not found
Error: secret "regcred" in namespace "batch" is missing key "password"
MountVolume.SetUp failed for volume "token" : failed to sync secret cache: timed out
  secretName: db-credentials
  secretKeyRef: {name: db, key: password}
  imagePullSecrets: [{name: regcred}]
  serviceAccountToken: {path: token, expirationSeconds: 3600, audience: vault}
  automountServiceAccountToken: false
  tokenExpirationSeconds: 3600
  kubernetes.io/service-account.name: default
Back-off pulling image "registry.example/team/load@sha256:9f86d081884c7d659a2feaa0c55ad015a3bf4f"
Pod load-7d9f8b6c5d-x2x9z on ip-10-0-12-7.eu-west-1.compute.internal was evicted
read-csv-4f9a1c2b3d4e5f60718293a4b5c6d7e8 lost its worker tcp://10.0.0.7:33921
Worker exited: scheduler__2026-03-29T10:00:00+00:00, map index 7, job id 81723
s3://bucket/prefix/part-00000-7f3e9c1a-1b2c-4d5e-8f90-a1b2c3d4e5f6-c000.snappy.parquet
commit 4f9a1c2b3d4e5f60718293a4b5c6d7e8f9012345 of refs/heads/main
ERROR 2026-03-29 10:00:00,123 botocore.exceptions.NoCredentialsError: Unable to locate credentials
An error occurred (ExpiredToken) when calling the PutObject operation: The token has expired
google.auth.exceptions.RefreshError: ('invalid_grant: Bad Request', {'error': 'invalid_grant'})
azure.core.exceptions.ClientAuthenticationError: DefaultAzureCredential failed to retrieve a token
hvac.exceptions.Forbidden: permission denied, on get https://vault.example:8200/v1/kv/data/db
requests.exceptions.HTTPError: 401 Client Error: Unauthorized for url: https://api.example/v1/jobs
openai.RateLimitError: Error code: 429 - 'Rate limit reached: 10000 tokens per min, max_tokens=512'
KeyError: 'API_KEY'
pydantic_core.ValidationError: 1 validation error for Settings: api_key Field required
json.decoder.JSONDecodeError: Expecting property name enclosed in double quotes: line 1 column 2
jwt.exceptions.InvalidSignatureError: Signature verification failed
cryptography: Could not deserialize key data. The data may be in an incorrect format
ssh: connect to host git.example port 22: Connection refused; user git, key /root/.ssh/id_rsa
fatal: could not read Username for 'https://git.example': terminal prompts disabled
pip install --index-url https://pypi.example/simple sk-learn-extra npm_config_registry pytest-key
tests/auth/test_token.py::test_refresh_token PASSED
slurmstepd: error: Detected 1 oom_kill event in StepId=4242.batch. Some steps may be OOM Killed
spark-submit --conf spark.authenticate=true --conf spark.ssl.enabled=false --key-path /etc/k job.py
PASS: 12 FAIL: 0 pass rate: 100%
sort_keys=True, key=itemgetter(1), primary_key=('id',), foreign_keys=[a.b]
encode(text, max_length=512), pad_token='[PAD]', eos_token='</s>', num_tokens=77
"""


@pytest.fixture(scope="module")
def redactor():
    """Return the built-in redactor."""
    return Redactor()


def texts(value):
    """Yield every text of a document."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict | list):
        for item in value.values() if isinstance(value, dict) else value:
            yield from texts(item)


def test_no_message_of_a_real_failure_is_touched(redactor):
    """Of the texts of 338 real failures none changes; none of them holds a secret."""
    found = [
        text
        for file in sorted(CASES.glob("*.jsonl"))
        for line in file.read_text().splitlines()
        for text in texts(json.loads(line))
    ]

    assert len(found) > 2_000
    assert [] == [text for text in found if redactor.redact(text) is not text]


def test_messages_about_secrets_stay_as_they_are(redactor):
    """Databases, clusters, clouds and tools speak of keys and tokens without giving any away."""
    touched = {
        line: hidden for line in MESSAGES.splitlines() if (hidden := redactor.redact(line)) != line
    }

    assert {
        "encode(text, max_length=512), pad_token='[PAD]', eos_token='</s>', num_tokens=77": (
            "encode(text, max_length=512), pad_token='***', eos_token='***', num_tokens=77"
        )
    } == touched


def source(module):
    """Return the lines of a module, or of a package's first file; none where it is gone."""
    for path in (LIBRARY / f"{module}.py", LIBRARY / module / "__init__.py"):
        if path.is_file():
            return path.read_text(errors="replace").splitlines()
    return []


def test_of_source_lines_less_than_one_in_a_hundred_is_touched(redactor):
    """Tracebacks quote source: even of modules about passwords nearly every line stays."""
    lines = [line for module in MODULES for line in source(module) if line.strip()]
    touched = [line for line in lines if redactor.redact(line) != line]

    assert len(lines) > 30_000
    assert len(touched) < len(lines) / 300, touched


def test_a_traceback_stays_as_it_is(redactor):
    """Frames of the standard library and of the tests, with all that stands in them."""
    found = []
    for text in ("{", "[1, 2", '{"a": }', "nul"):
        try:
            json.loads(text)
        except ValueError:
            found.append(traceback.format_exc())

    assert found == [redactor.redact(text) for text in found]
