"""Cloud SDKs and model APIs: botocore, google.api_core, Azure, OpenAI, and their error codes."""

from __future__ import annotations

from typing import Final

from failhook.classify.conditions import like
from failhook.classify.python.raised import raised
from failhook.classify.rule import APPLICATION

_BOTO: Final = "https://boto3.amazonaws.com/v1/documentation/api/latest/guide/error-handling.html"
_BOTO_RETRIES: Final = "https://github.com/boto/botocore/blob/develop/botocore/retries/standard.py"
_AWS: Final = "https://docs.aws.amazon.com/AWSEC2/latest/APIReference/errors-overview.html"
_GOOGLE: Final = "https://googleapis.dev/python/google-api-core/latest/exceptions.html"
_GOOGLE_RETRY: Final = (
    "https://github.com/googleapis/python-api-core/blob/main/google/api_core/retry/retry_base.py"
)
_AZURE: Final = "https://learn.microsoft.com/python/api/azure-core/azure.core.exceptions"
_OPENAI: Final = "https://platform.openai.com/docs/guides/error-codes"
_CLIENT: Final = "botocore.ClientError"
_WAIT: Final = {"retry_after": "exception.retry_after"}

AWS: Final = (
    raised(
        "aws.throttled",
        _CLIENT,
        APPLICATION,
        "RemoteThrottled",
        when={
            "exception.code": like(
                r"^(?:Throttl\w{1,20}|RequestThrottled\w{0,9}|TooManyRequests\w{0,9}|SlowDown|429"
                r"|ProvisionedThroughputExceeded\w{0,9}|TransactionInProgress\w{0,9}"
                r"|RequestLimitExceeded"
                r"|BandwidthLimitExceeded|LimitExceeded\w{0,9}|PriorRequestNotComplete"
                r"|EC2Throttled\w{0,9}"
                r"|ThroughputExceeded\w{0,9}|RequestRateTooLarge)$"
            )
        },
        deterministic=False,
        take=_WAIT,
        because="The service refused for the rate of calls, so waiting helps.",
        source=_BOTO_RETRIES,
    ),
    raised(
        "aws.denied",
        _CLIENT,
        APPLICATION,
        "PermissionDenied",
        when={
            "exception.code": like(
                r"^(?:AccessDenied\w{0,9}|\w{0,10}AccessDenied\w{0,9}"
                r"|Unauthorized\w{0,12}|AuthFailure"
                r"|InvalidClientTokenId|SignatureDoesNotMatch|UnrecognizedClient\w{0,9}"
                r"|InvalidAccessKeyId"
                r"|ExpiredToken\w{0,9}|OptInRequired|NotAuthorized\w{0,9}"
                r"|MissingAuthenticationToken\w{0,9}"
                r"|InvalidToken|AllAccessDisabled|Forbidden\w{0,9}|InvalidSignature\w{0,9}"
                r"|IncompleteSignature|RequestExpired|401|403)$"
            )
        },
        deterministic=True,
        because="The account's credentials or rights do not allow the call.",
        source=_AWS,
    ),
    raised(
        "aws.not-found",
        _CLIENT,
        APPLICATION,
        "NotFound",
        when={
            "exception.code": like(
                r"NotFound\w{0,10}$|^NoSuch|DoesNotExist\w{0,10}$|^404$|^EntityNotExists"
            )
        },
        because="The service knows no such thing, or not yet.",
        source=_AWS,
    ),
    raised(
        "aws.invalid",
        _CLIENT,
        APPLICATION,
        "InvalidInput",
        when={
            "exception.code": like(
                r"^(?:Validation\w{0,12}|Invalid\w{1,60}|Malformed\w{1,40}"
                r"|Missing\w{1,40}|BadRequest\w{0,9}"
                r"|UnknownParameter|UnsupportedOperation|UnsupportedMediaType\w{0,9}"
                r"|Serialization\w{0,9}"
                r"|ParamValidation\w{0,9}|InvalidRequest\w{0,9}|400|422"
                r"|RequestEntityTooLarge\w{0,9})$"
            )
        },
        deterministic=True,
        because="The service found a parameter wrong.",
        source=_AWS,
    ),
    raised(
        "aws.server",
        _CLIENT,
        APPLICATION,
        "RemoteTransient",
        when={
            "exception.code": like(
                r"^(?:Internal\w{0,20}|ServiceUnavailable\w{0,9}|ServiceException"
                r"|Unavailable|RequestTimeout\w{0,9}"
                r"|Insufficient\w{0,20}Capacity\w{0,9}|ServerException|ServerError|5\d\d"
                r"|ModelNotReady\w{0,9}"
                r"|ServiceFailure|DependencyTimeout\w{0,9}|ModelTimeout\w{0,9}"
                r"|ClockSkew\w{0,9}|RequestTimeTooSkewed)$"
            )
        },
        deterministic=False,
        because="The service failed in itself or lacks room now.",
        source=_BOTO_RETRIES,
    ),
    raised(
        "aws.rejected",
        _CLIENT,
        APPLICATION,
        "RemoteRejected",
        because="The service understood the call and refused it.",
        source=_BOTO,
    ),
    raised(
        "aws.parameters",
        (
            *("botocore.ParamValidationError", "botocore.ValidationError"),
            *("botocore.MissingParametersError", "botocore.UnknownParameterError"),
            *("botocore.InvalidConfigError", "botocore.ConfigParseError", "botocore.NoRegionError"),
            *("botocore.UnknownRegionError", "botocore.InvalidRegionError"),
            *(
                "botocore.ProfileNotFound",
                "botocore.ConfigNotFound",
                "botocore.InvalidDNSNameError",
            ),
            *("botocore.UnknownEndpointError", "botocore.EndpointProviderError"),
        ),
        APPLICATION,
        "InvalidInput",
        deterministic=True,
        because="The client refused the call or its configuration before any network traffic.",
        source=_BOTO,
    ),
    raised(
        "aws.credentials",
        (
            *("botocore.NoCredentialsError", "botocore.PartialCredentialsError"),
            *("botocore.NoAuthTokenError", "botocore.TokenRetrievalError", "botocore.SSOError"),
            *("botocore.LoginError", "botocore.UnauthorizedSSOTokenError"),
            *("botocore.UnknownCredentialError", "botocore.RefreshWithMFAUnsupportedError"),
        ),
        APPLICATION,
        "PermissionDenied",
        deterministic=True,
        because="There are no usable credentials where the task ran.",
        source=_BOTO,
    ),
    raised(
        "aws.credentials.service",
        ("botocore.CredentialRetrievalError", "botocore.MetadataRetrievalError"),
        APPLICATION,
        "RemoteTransient",
        because="The service that gives out credentials did not answer well.",
        source=_BOTO,
    ),
    raised(
        "aws.code",
        (
            "botocore.DataNotFoundError",
            "botocore.UnknownServiceError",
            "botocore.MissingDependencyException",
            "botocore.UnknownClientMethodError",
        ),
        APPLICATION,
        "CodeLoadError",
        deterministic=True,
        because="The installed SDK does not know this service or method.",
        source=_BOTO,
    ),
    raised(
        "aws.waiter",
        "botocore.WaiterError",
        APPLICATION,
        "RemoteRejected",
        because="What the task waited for failed, or did not come in time.",
        source=_BOTO,
    ),
    raised(
        "aws.connection",
        (
            *(
                "botocore.HTTPClientError",
                "botocore.ConnectionError",
                "botocore.ConnectionClosedError",
            ),
            *("botocore.EndpointConnectionError", "botocore.ProxyConnectionError"),
            *("botocore.IncompleteReadError", "botocore.ResponseStreamingError"),
            *(
                "botocore.ChecksumError",
                "botocore.CapacityNotAvailableError",
                "s3transfer.S3UploadFailedError",
            ),
        ),
        APPLICATION,
        "RemoteTransient",
        deterministic=False,
        because="The connection to the service broke.",
        source=_BOTO_RETRIES,
    ),
)

GOOGLE: Final = (
    raised(
        "google.throttled",
        ("google.TooManyRequests", "google.ResourceExhausted"),
        APPLICATION,
        "RemoteThrottled",
        deterministic=False,
        take=_WAIT,
        because="The service refused for the rate of calls or a quota.",
        source=_GOOGLE,
    ),
    raised(
        "google.rate-limit",
        ("google.Forbidden", "google.HttpError"),
        APPLICATION,
        "RemoteThrottled",
        when={
            "exception.message": like(
                r"rateLimitExceeded|userRateLimitExceeded|quotaExceeded|Quota exceeded"
            )
        },
        deterministic=False,
        because="The service says with 403 that the rate of calls is too high.",
        source="https://cloud.google.com/bigquery/docs/error-messages",
    ),
    raised(
        "google.denied",
        (
            *("google.Unauthorized", "google.Unauthenticated", "google.Forbidden"),
            *("google.PermissionDenied", "google.DefaultCredentialsError", "google.RefreshError"),
            *("google.GoogleAuthError", "google.MalformedError", "google.InvalidValue"),
        ),
        APPLICATION,
        "PermissionDenied",
        deterministic=True,
        because="The account lacks the right or valid credentials.",
        source=_GOOGLE,
    ),
    raised(
        "google.not-found",
        "google.NotFound",
        APPLICATION,
        "NotFound",
        because="The service knows no such thing, or not in this place.",
        source=_GOOGLE,
    ),
    raised(
        "google.invalid",
        (
            "google.BadRequest",
            "google.InvalidArgument",
            "google.OutOfRange",
            "google.LengthRequired",
        ),
        APPLICATION,
        "InvalidInput",
        deterministic=True,
        because="The service found the request wrong.",
        source=_GOOGLE,
    ),
    raised(
        "google.aborted",
        ("google.Aborted", "google.Cancelled", "google.TransportError", "google.RetryError"),
        APPLICATION,
        "RemoteTransient",
        deterministic=False,
        because="The service gave the call up; a later one may go through.",
        source=_GOOGLE_RETRY,
    ),
    raised(
        "google.rejected",
        (
            *("google.FailedPrecondition", "google.PreconditionFailed", "google.Conflict"),
            *("google.AlreadyExists", "google.MethodNotAllowed", "google.MethodNotImplemented"),
        ),
        APPLICATION,
        "RemoteRejected",
        because="The service will not do this in the state that things are in.",
        source=_GOOGLE,
    ),
    raised(
        "google.server",
        (
            *("google.ServerError", "google.InternalServerError", "google.ServiceUnavailable"),
            *("google.BadGateway", "google.GatewayTimeout", "google.DeadlineExceeded"),
            *("google.Unknown", "google.DataLoss"),
        ),
        APPLICATION,
        "RemoteTransient",
        deterministic=False,
        because="The service failed in itself, was away, or ran out of its own time.",
        source=_GOOGLE_RETRY,
    ),
)

AZURE: Final = (
    raised(
        "azure.denied",
        (
            "azure.ClientAuthenticationError",
            "azure.CredentialUnavailableError",
            "msal.MsalServiceError",
        ),
        APPLICATION,
        "PermissionDenied",
        deterministic=True,
        because="The service refused the credentials.",
        source=_AZURE,
    ),
    raised(
        "azure.not-found",
        "azure.ResourceNotFoundError",
        APPLICATION,
        "NotFound",
        because="The service knows no such thing.",
        source=_AZURE,
    ),
    raised(
        "azure.rejected",
        (
            "azure.ResourceExistsError",
            "azure.ResourceModifiedError",
            "azure.ResourceNotModifiedError",
        ),
        APPLICATION,
        "RemoteRejected",
        because="The request does not fit the state that things are in.",
        source=_AZURE,
    ),
    raised(
        "azure.connection",
        ("azure.ServiceRequestError", "azure.ServiceResponseError", "azure.IncompleteReadError"),
        APPLICATION,
        "RemoteTransient",
        deterministic=False,
        because="The connection to the service broke.",
        source=_AZURE,
    ),
)

MODELS: Final = (
    raised(
        "model-api.quota",
        (
            "openai.RateLimitError",
            "anthropic.RateLimitError",
            "openai.APIStatusError",
            "anthropic.APIStatusError",
        ),
        APPLICATION,
        "RemoteRejected",
        when={
            "exception.message": like(
                r"insufficient_quota|billing_hard_limit|credit balance is too low"
                r"|exceeded your current quota"
            )
        },
        deterministic=True,
        because="The class asks to wait, but the code says that the account has nothing left.",
        source=_OPENAI,
        next_step="Check plan and billing of the account.",
    ),
    raised(
        "model-api.throttled",
        (
            "openai.RateLimitError",
            "anthropic.RateLimitError",
            "anthropic.OverloadedError",
            "cohere.TooManyRequestsError",
        ),
        APPLICATION,
        "RemoteThrottled",
        deterministic=False,
        take=_WAIT,
        because="The service refused for the rate of calls.",
        source=_OPENAI,
    ),
    raised(
        "model-api.denied",
        (
            "openai.AuthenticationError",
            "openai.PermissionDeniedError",
            "anthropic.AuthenticationError",
            "anthropic.PermissionDeniedError",
        ),
        APPLICATION,
        "PermissionDenied",
        deterministic=True,
        because="The service refused the key or its rights.",
        source=_OPENAI,
    ),
    raised(
        "model-api.invalid",
        (
            "openai.BadRequestError",
            "openai.UnprocessableEntityError",
            "anthropic.BadRequestError",
            "anthropic.UnprocessableEntityError",
        ),
        APPLICATION,
        "InvalidInput",
        deterministic=True,
        because="The service found the request wrong.",
        source=_OPENAI,
    ),
    raised(
        "model-api.not-found",
        ("openai.NotFoundError", "anthropic.NotFoundError"),
        APPLICATION,
        "NotFound",
        because="The service knows no such model or object.",
        source=_OPENAI,
    ),
    raised(
        "model-api.server",
        ("openai.InternalServerError", "anthropic.InternalServerError"),
        APPLICATION,
        "RemoteTransient",
        deterministic=False,
        because="The service failed in itself.",
        source=_OPENAI,
    ),
)

CLOUD: Final = (*AWS, *GOOGLE, *AZURE, *MODELS)
