"""What registries, runtimes and kubelets say, by what it means; the first meaning that fits counts.

Each line is a phrase in lower case, looked for anywhere in a text that only the platform writes. A
pattern stands where a phrase has a name in its middle.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import cache
from typing import Final, NamedTuple


class Meaning(NamedTuple):
    """One meaning of what was said, and how it is said.

    Attributes:
        name: as rules ask for it.
        phrases: texts that say so, in lower case.
        pattern: a regular expression on the text in lower case, where phrases do not do.
    """

    name: str
    phrases: tuple[str, ...]
    pattern: str | None = None


PULLS: Final = (
    Meaning(
        "throttled",
        (
            *("too many requests", "toomanyrequests", "rate limit", "pull qps exceeded"),
            *("quota exceeded", "account limit"),
        ),
    ),
    Meaning(
        "registry",
        (
            *("internal server error", "bad gateway", "service unavailable", "gateway timeout"),
            *("gateway time-out", "temporarily unavailable", "registry is unavailable"),
            *("http status: 5", "unexpected status: 5", "status code 5", "status code: 5"),
        ),
    ),
    Meaning(
        "node",
        (
            *("no space left on device", "input/output error", "read-only file system"),
            *("disk quota exceeded", "cannot allocate memory", "too many open files"),
            *("failed to register layer", "failed to extract layer", "layer does not exist"),
            *("failed commit on ref", "failed to get reader from content store"),
            *("unexpected commit digest", "error creating overlay mount"),
            *("failed to prepare extraction snapshot", "transport is closing"),
            *("error while dialing", "cannot connect to the docker daemon"),
        ),
        r"content digest \S{1,100} not found",
    ),
    Meaning(
        "network",
        (
            *("i/o timeout", "tls handshake timeout", "connection reset", "connection refused"),
            *("connection timed out", "no such host", "server misbehaving", "no route to host"),
            *("temporary failure in name resolution", "network is unreachable", ": eof"),
            *("context deadline exceeded", "client.timeout exceeded", "request canceled"),
            *("context canceled", "unexpected eof", "broken pipe", "http2: ", "stream error"),
            *("use of closed network connection", "proxyconnect tcp"),
        ),
    ),
    Meaning("expired", ("token has expired", "token is expired", "expired token")),
    Meaning(
        "missing",
        (
            *("manifest unknown", "manifest_unknown", "name unknown", "name_unknown"),
            *("not found", "notfound", "does not exist", "no such image", "no such manifest"),
            *("no match for", "no matching manifest", "no image found in", "invalid reference"),
            *("couldn't parse image reference", "unsupported manifest", "unsupported media type"),
            *("cannot be used on this platform", "repository name not known"),
        ),
    ),
    Meaning(
        "denied",
        (
            *("denied", "unauthorized", "authentication required", "no basic auth", "forbidden"),
            *("authorization failed", "insufficient_scope", "may require authorization"),
        ),
    ),
)
"""Why an image could not be pulled."""

CREATES: Final = (
    Meaning(
        "too-little-memory",
        (
            *("container init was oom-killed", "container init was oomkilled"),
            *("memory limit too low", "memory reservation is too low"),
        ),
    ),
    Meaning(
        "node-program",
        (),
        r"(apparmor_parser|nvidia-container-[\w-]{1,40}|newuidmap|fuse-overlayfs|\brunc|\bcrun|"
        r"containerd-shim[\w-]{0,40}).{0,3}: executable file not found",
    ),
    Meaning(
        "bad-command",
        (
            *("exec format error", "no command specified", "no matching entries in passwd file"),
            *("unable to find user ", "unable to find group ", "must be an absolute path"),
            *("are you trying to mount a directory", "duplicate mount point"),
            *("invalid volume specification", "invalid mount config"),
        ),
        r"executable file (\S{1,300} )?not found|"
        r"\bexec:? .{0,200}(no such file or directory|permission denied|is a directory|"
        r"not a directory)|\bstat \S{1,300}: no such file or directory: unknown|"
        r"chdir to cwd .{0,200}(no such file|permission denied|not a directory)",
    ),
    Meaning(
        "cache-lag",
        (
            *("failed to sync secret cache", "failed to sync configmap cache"),
            *("services have not yet been read", "timed out waiting for caches"),
        ),
    ),
    Meaning(
        "missing-key",
        (
            *("couldn't find key ", "references non-existent secret key"),
            *("references non-existent config key", "runasnonroot", "breaks non-root policy"),
            *("image has non-numeric user", "invalid environment variable"),
        ),
    ),
    Meaning(
        "not-found",
        (),
        r"(secrets?|configmaps?|persistentvolumeclaims?|serviceaccounts?) \S{1,300} not found",
    ),
    Meaning("driver-too-old", ("nvidia-container-cli: requirement error",)),
    Meaning(
        "runtime",
        (
            *("is reserved for", "is already in use by container", "context deadline exceeded"),
            *("failed to reserve container name", "failed to reserve sandbox name"),
            *("context canceled", "deadlineexceeded", "transport is closing", "ttrpc: closed"),
            *("error while dialing", "connection refused", "connection reset"),
            *("failed to start shim", "shim disconnected", "start failed: aborting"),
            *("no space left on device", "cannot allocate memory", "too many open files"),
            *("resource temporarily unavailable", "device or resource busy"),
            *("input/output error", "stale file handle", "stale nfs file handle"),
            *("transport endpoint is not connected", "nvidia-container-cli", "nvml"),
            *("could not select device", "failed to get sandbox", "failed to create sandbox"),
            *("failed to get image from containerd", "content digest", "error executing setns"),
            *("failed to prepare snapshot", "failed to create snapshot", "missing parent"),
            *("cannot find cgroup", "unable to apply cgroup configuration"),
        ),
        r"lstat /proc/\d{1,10}/ns",
    ),
)
"""Why a container could not be configured, created or started."""

MOUNTS: Final = (
    Meaning(
        "cache-lag",
        ("failed to sync secret cache", "failed to sync configmap cache", "not registered"),
    ),
    Meaning(
        "not-found",
        ("references non-existent secret key", "references non-existent config key"),
        r"(secrets?|configmaps?|persistentvolumeclaims?) \S{1,300} not found",
    ),
    Meaning("host-path", ("hostpath type check failed",)),
    Meaning(
        "storage",
        (
            *("rpc error", "timed out", "timeout", "deadline exceeded", "connection refused"),
            *("connection reset", "multi-attach", "already exclusively attached"),
            *("not found in the list of registered csi drivers", "no such host"),
            *("input/output error", "stale file handle", "not yet attached"),
            *("cannot allocate memory", "transport endpoint"),
        ),
    ),
)
"""Why a volume could not be mounted."""

SANDBOXES: Final = (
    CREATES[0],
    Meaning("no-such-network", (), r"cannot find (a )?network-attachment-definition"),
)
"""Why a pod's sandbox could not be made, where it is not the node."""

REFUSALS: Final = (
    Meaning("quota-unspecified", (), r"failed quota: [^:\n]{1,300}: must specify "),
    Meaning("quota", ("exceeded quota", "quota exceeded", "failed quota")),
    Meaning("terminating", ("because it is being terminated",)),
    Meaning(
        "policy",
        ("violates podsecurity", "unable to validate against any"),
        r"admission webhook \S{1,300} denied|serviceaccount \S{1,300} not found|"
        r"is forbidden: (maximum|minimum) \w{1,40} usage per",
    ),
)
"""Why the API server did not create a pod."""


def meaning(texts: tuple[str, ...], table: tuple[Meaning, ...]) -> str | None:
    """Return the first meaning of the table that one of the texts has."""
    lowered = [each.lower() for each in texts]
    for name, phrases, pattern in table:
        for said in lowered:
            for phrase in phrases:
                if phrase in said:
                    return name
            if pattern is not None and _search(pattern)(said):
                return name
    return None


@cache
def _search(pattern: str) -> Callable[[str], object]:
    return re.compile(pattern).search
