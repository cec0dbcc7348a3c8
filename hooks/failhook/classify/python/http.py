"""HTTP and gRPC clients: their classes, and the status that the other side answered with."""

from __future__ import annotations

from typing import Final

from failhook.classify.conditions import between, like, one_of
from failhook.classify.python.raised import raised
from failhook.classify.rule import APPLICATION, Rule, Tier
from failhook.details import Kind

_STATUS: Final = "https://www.rfc-editor.org/rfc/rfc9110#name-status-codes"
_TOO_MANY: Final = "https://www.rfc-editor.org/rfc/rfc6585#section-4"
_REQUESTS: Final = "https://requests.readthedocs.io/en/latest/api/#exceptions"
_HTTPX: Final = "https://www.python-httpx.org/exceptions/"
_URLLIB3: Final = "https://urllib3.readthedocs.io/en/stable/reference/urllib3.exceptions.html"
_AIOHTTP: Final = "https://docs.aiohttp.org/en/stable/client_reference.html#client-exceptions"
_GRPC: Final = "https://grpc.github.io/grpc/core/md_doc_statuscodes.html"
_RPC: Final = ("grpc.RpcError", "grpc.AioRpcError", "grpclib.GRPCError")


def _status(name: str, statuses: object, reason: str, *, because: str, **more: object) -> Rule:
    return Rule(
        id=f"http.status.{name}",
        tier=Tier.REPORT,
        when={"exception.status": statuses},  # type: ignore[dict-item]  # one_of and between
        kind=APPLICATION,
        reason=reason,
        message="{exception.line}",
        because=because,
        source=str(more.pop("source", _STATUS)),
        **more,  # type: ignore[arg-type]  # fields of Rule
    )


def _grpc(name: str, codes: tuple[str, ...], reason: str, *, because: str, det: object) -> Rule:
    kind: Kind = APPLICATION
    return raised(
        f"grpc.{name}",
        _RPC,
        kind,
        reason,
        when={"exception.code": codes},
        deterministic=det,
        because=because,
        source=_GRPC,
    )


CLIENTS: Final = (
    raised(
        "http.timeout",
        (
            *("requests.Timeout", "requests.ReadTimeout", "requests.ConnectTimeout"),
            *("httpx.TimeoutException", "httpx.ReadTimeout", "httpx.ConnectTimeout"),
            *("httpx.PoolTimeout", "httpx.WriteTimeout", "httpcore.TimeoutException"),
            *("httpcore.ReadTimeout", "httpcore.ConnectTimeout", "urllib3.TimeoutError"),
            *("urllib3.ReadTimeoutError", "urllib3.ConnectTimeoutError"),
            *("aiohttp.ServerTimeoutError", "aiohttp.ConnectionTimeoutError"),
            *("aiohttp.SocketTimeoutError", "botocore.ReadTimeoutError"),
            *(
                "botocore.ConnectTimeoutError",
                "redis.TimeoutError",
                "elasticsearch.ConnectionTimeout",
            ),
            *("elastic_transport.ConnectionTimeout", "opensearchpy.ConnectionTimeout"),
            *("openai.APITimeoutError", "anthropic.APITimeoutError", "pymongo.NetworkTimeout"),
            *("kafka.KafkaTimeoutError", "playwright.TimeoutError", "selenium.TimeoutException"),
            *("paramiko.SSHException.timeout", "azure.ServiceRequestTimeoutError"),
            *("azure.ServiceResponseTimeoutError", "asyncpg.QueryCanceledError.timeout"),
        ),
        APPLICATION,
        "ClientTimeout",
        deterministic=False,
        because="A client in the task's code waited with a limit of its own.",
        source=_REQUESTS,
    ),
    raised(
        "http.tls",
        (
            "requests.SSLError",
            "urllib3.SSLError",
            "httpx.ConnectError",
            "aiohttp.ClientConnectorCertificateError",
            "aiohttp.ClientConnectorSSLError",
            "botocore.SSLError",
        ),
        APPLICATION,
        "RemoteRejected",
        when={
            "text": like(
                r"CERTIFICATE_VERIFY_FAILED|certificate verify failed|doesn't match"
                r"|certificate has expired"
            )
        },
        deterministic=True,
        because="The other side's certificate does not hold.",
        source=_REQUESTS,
    ),
    raised(
        "http.bad-request",
        (
            *("requests.InvalidURL", "requests.MissingSchema", "requests.InvalidSchema"),
            *(
                "requests.InvalidHeader",
                "requests.URLRequired",
                "requests.InvalidJSONError.request",
            ),
            *("httpx.InvalidURL", "httpx.UnsupportedProtocol", "httpx.LocalProtocolError"),
            *("urllib3.LocationValueError", "urllib3.LocationParseError", "aiohttp.InvalidURL"),
            *("http.InvalidURL",),
        ),
        APPLICATION,
        "InvalidInput",
        deterministic=True,
        because="The request itself is not valid, so it never left.",
        source=_REQUESTS,
    ),
    raised(
        "http.retries-used-up",
        ("requests.RetryError", "urllib3.ResponseError"),
        APPLICATION,
        "RemoteTransient",
        when={
            "exception.message": like(
                r"too many (?:5\d\d|429|408) error responses|too many error responses"
            )
        },
        deterministic=False,
        because="The service answered with passing errors until the client gave up.",
        source=_URLLIB3,
    ),
    raised(
        "http.connection",
        (
            *("requests.ConnectionError", "requests.ChunkedEncodingError", "requests.ProxyError"),
            *("requests.SSLError", "requests.ContentDecodingError", "urllib3.ProtocolError"),
            *("urllib3.NewConnectionError", "urllib3.MaxRetryError", "urllib3.ProxyError"),
            *("urllib3.SSLError", "urllib3.IncompleteRead", "urllib3.NameResolutionError"),
            *("httpx.NetworkError", "httpx.RemoteProtocolError", "httpx.ProxyError"),
            *("httpx.ConnectError", "httpx.ReadError", "httpx.WriteError", "httpx.CloseError"),
            *("httpcore.NetworkError", "httpcore.ConnectError", "httpcore.ReadError"),
            *("httpcore.RemoteProtocolError", "aiohttp.ClientConnectionError"),
            *("aiohttp.ClientConnectorError", "aiohttp.ServerDisconnectedError"),
            *("aiohttp.ClientOSError", "aiohttp.ClientPayloadError"),
            *("http.RemoteDisconnected", "http.IncompleteRead", "http.BadStatusLine"),
            *("http.HTTPException", "http.CannotSendRequest", "http.ResponseNotReady"),
            *("urllib.URLError", "urllib.ContentTooShortError", "websockets.ConnectionClosed"),
            *("websockets.ConnectionClosedError", "websocket.WebSocketConnectionClosedException"),
            *(
                "paramiko.SSHException",
                "paramiko.NoValidConnectionsError",
                "smtplib.SMTPServerDisconnected",
            ),
            *("smtplib.SMTPConnectError", "ftplib.error_temp", "imaplib.abort", "ldap.SERVER_DOWN"),
            *("openai.APIConnectionError", "anthropic.APIConnectionError", "redis.ConnectionError"),
            *("redis.BusyLoadingError", "redis.ClusterDownError", "redis.TryAgainError"),
            *("elasticsearch.ConnectionError", "elastic_transport.ConnectionError"),
            *(
                "opensearchpy.ConnectionError",
                "kafka.NoBrokersAvailable",
                "kafka.KafkaConnectionError",
            ),
            *(
                "kafka.NodeNotReadyError",
                "pika.AMQPConnectionError",
                "confluent_kafka.KafkaException",
            ),
            *("docker.errors.DockerException.connection", "gql.TransportConnectionFailed"),
        ),
        APPLICATION,
        "RemoteTransient",
        deterministic=False,
        because="The connection to another service was refused, reset or closed.",
        source=_URLLIB3,
    ),
    raised(
        "http.login",
        (
            *("paramiko.AuthenticationException", "paramiko.BadHostKeyException"),
            *("smtplib.SMTPAuthenticationError", "ldap.INVALID_CREDENTIALS"),
            *("redis.AuthenticationError", "redis.AuthorizationError", "redis.NoPermissionError"),
        ),
        APPLICATION,
        "PermissionDenied",
        deterministic=True,
        because="The service refused the credentials.",
        source=_STATUS,
    ),
    raised(
        "http.redirects",
        ("requests.TooManyRedirects", "httpx.TooManyRedirects", "aiohttp.TooManyRedirects"),
        APPLICATION,
        "RemoteRejected",
        because="The service sends the client round in circles.",
        source=_HTTPX,
    ),
    raised(
        "http.answer-not-json",
        ("requests.JSONDecodeError", "aiohttp.ContentTypeError", "simplejson.JSONDecodeError"),
        APPLICATION,
        "RemoteRejected",
        because="The service answered with something that is no JSON: an error page, mostly.",
        source=_AIOHTTP,
    ),
)

RPC: Final = (
    _grpc(
        "transient",
        (
            "UNAVAILABLE",
            "ABORTED",
            "DEADLINE_EXCEEDED",
            "INTERNAL",
            "CANCELLED",
            "UNKNOWN",
            "DATA_LOSS",
        ),
        "RemoteTransient",
        det=False,
        because="The service was away, too slow, or failed in itself.",
    ),
    _grpc(
        "throttled",
        ("RESOURCE_EXHAUSTED",),
        "RemoteThrottled",
        det=False,
        because="The service has no quota or room left for this caller now.",
    ),
    _grpc(
        "denied",
        ("PERMISSION_DENIED", "UNAUTHENTICATED"),
        "PermissionDenied",
        det=True,
        because="The service refused the caller.",
    ),
    _grpc(
        "invalid",
        ("INVALID_ARGUMENT", "OUT_OF_RANGE"),
        "InvalidInput",
        det=True,
        because="The service found an argument wrong.",
    ),
    _grpc(
        "not-found",
        ("NOT_FOUND",),
        "NotFound",
        det=None,
        because="The service knows no such thing.",
    ),
    _grpc(
        "refused",
        ("ALREADY_EXISTS", "FAILED_PRECONDITION", "UNIMPLEMENTED"),
        "RemoteRejected",
        det=True,
        because="The service will not do this in the state that things are in.",
    ),
)

STATUSES: Final = (
    _status(
        "throttled",
        429,
        "RemoteThrottled",
        deterministic=False,
        take={"retry_after": "exception.retry_after"},
        because="The service asks the caller to call less often.",
        source=_TOO_MANY,
    ),
    _status(
        "denied",
        one_of(401, 403, 407, 511),
        "PermissionDenied",
        deterministic=True,
        because="The service refused the caller's credentials or rights.",
    ),
    _status(
        "not-found",
        one_of(404, 410),
        "NotFound",
        because="The service knows no such thing, or not any more, or not yet.",
    ),
    _status(
        "timeout",
        one_of(408, 425),
        "RemoteTransient",
        deterministic=False,
        because="The service gave up waiting for the request.",
    ),
    _status(
        "conflict",
        one_of(409, 412, 423, 424, 428),
        "RemoteRejected",
        because="The request does not fit the state that things are in.",
    ),
    _status(
        "invalid",
        one_of(400, 422),
        "InvalidInput",
        deterministic=True,
        because="The service found the request wrong.",
    ),
    _status(
        "refused",
        between(400, 499),
        "RemoteRejected",
        deterministic=True,
        because="The service understood the request and refused it.",
    ),
    _status(
        "unsupported",
        one_of(501, 505),
        "RemoteRejected",
        deterministic=True,
        because="The service does not do this.",
    ),
    _status(
        "server-error",
        between(500, 599),
        "RemoteTransient",
        deterministic=False,
        take={"retry_after": "exception.retry_after"},
        because="The service failed in itself.",
    ),
)

HTTP: Final = (*RPC, *CLIENTS)
