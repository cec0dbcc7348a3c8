"""What container runtimes and agents say of a container that did not start.

Docker, podman, the ECS agent, Fargate and Nomad quote the same registries and the same runc, so one
table reads all of them. The fact ``container.error`` is set only from fields that the runtime owns.
"""

from __future__ import annotations

from typing import Any, Final

from failhook.classify.rule import APPLICATION, GUESS, INFRA, LIKELY, UNKNOWN, Rule, Take
from failhook.classify.table import Table
from failhook.details import Hint, Kind, Started

_REGISTRY: Final = "https://distribution.github.io/distribution/spec/api/"
_RUNC: Final = "https://docs.docker.com/engine/containers/run/#exit-status"
_DAEMON: Final = "https://docs.docker.com/engine/daemon/troubleshoot/"
_NVIDIA: Final = (
    "https://docs.nvidia.com/datacenter/cloud-native/container-toolkit/latest/troubleshooting.html"
)


_TABLE: Final = Table(
    prefix="container.start",
    source=_RUNC,
    said="container.error",
    ignore_case=True,
    confidence=LIKELY,
    started=Started.NO,
)


def _error(name: str, pattern: str, kind: Kind, reason: str, because: str, **more: Any) -> Rule:
    """Make a rule on the error; a platform's own token for it goes before the default reason."""
    return _TABLE.row(name, pattern, kind, Take("container.token", reason), because, **more)


_IMAGE: Final = "Check the image's name, tag, platform and registry."
_RIGHTS: Final = "Check the pull secret, role or login that the runtime uses for this registry."
_LATER: Final = "Look at the registry's state and limits; a later pull may succeed."
_NODE: Final = "Look at the container runtime on the node: its log, and the device or cgroup named."

# fmt: off
START_ERRORS: Final = (
    _error(
        "rate-limit", r"toomanyrequests|too many requests|pull rate limit|\b429\b|QPS exceeded",
        INFRA, "ImagePullFailure", "The registry limits the rate of pulls.", source=_REGISTRY,
        next_step=_LATER, deterministic=False,
    ),
    _error(
        "no-image",
        r"manifest unknown|manifest for \S{1,300} not found|repository does not exist|"
        r"no such image|image[^\n]{0,300}\bnot found|name unknown|invalid reference format|"
        r"(?:resolve ref|pull)[^\n]{0,400}: not found|\b404 Not Found|"
        r"matching platform|no match(?:ing manifest)? for platform|no matching manifest",
        APPLICATION, "ImagePullFailure", "The image does not exist under this name, or not for "
        "this platform.", source=_REGISTRY, next_step=_IMAGE, deterministic=True,
    ),
    _error(
        "image-denied",
        r"(?:pull|image|manifest|registry|repository|ecr|resolve ref|token)[^\n]{0,400}"
        r"(?:denied|unauthorized|forbidden|no basic auth|not authorized|authentication required|"
        r"authorization (?:failed|token)|\b40[13]\b)",
        APPLICATION, "ImagePullFailure", "The registry refuses this image to the one who asks.",
        source=_REGISTRY, next_step=_RIGHTS, deterministic=True,
    ),
    _error(
        "log-driver",
        r"(?:logging driver|logger args|log stream|log group)[^\n]{0,400}(?:AccessDenied|"
        r"not authorized|ResourceNotFound|does not exist|invalid)",
        APPLICATION, "SpecError", "The log that the container is to write to is not there for it.",
        source=_DAEMON, next_step="Check the log group and the role of the task.",
        deterministic=True,
    ),
    _error(
        "disk-full", r"no space left on device|disk quota exceeded",
        INFRA, "DiskFull", "The node's disk is full.", source=_DAEMON,
        next_step="Free space on the node: images, logs and layers.", deterministic=False,
        hint=Hint.OTHER_NODE,
    ),
    _error(
        "registry-unreachable",
        r"(?:pull|image|manifest|registry|repository|resolve ref|v2/|blob)[^\n]{0,600}"
        r"(?:i/o timeout|handshake timeout|connection (?:reset|refused)|context (?:canceled|"
        r"deadline exceeded)|request canceled|Client\.Timeout|unexpected EOF|: EOF|no such host|"
        r"name resolution|unreachable|server misbehaving|temporarily unavailable|"
        r"\b50[0234]\b|bad gateway|service unavailable|gateway time-?out|internal server error)",
        INFRA, "ImagePullFailure", "The registry did not answer, or the pull was cut off.",
        source=_REGISTRY, next_step=_LATER, deterministic=False,
    ),
    _error(
        "daemon-unreachable", r"cannot connect to the docker daemon|error during connect|"
        r"is the docker daemon running",
        INFRA, "OrchestratorUnreachable", "The Docker daemon does not answer.", source=_DAEMON,
        next_step="Look at the daemon on the node: systemctl status docker.", deterministic=False,
    ),
    _error(
        "gpu",
        r"nvidia-container-cli|could not select device driver|nvidia-container-runtime|"
        r"libnvidia-ml|failed to (?:inject|generate) CDI|unresolvable CDI devices",
        INFRA, "EnvSetupFailure", "The node could not give the container its GPU.", source=_NVIDIA,
        next_step="Run nvidia-smi on the node, and look at its driver and container toolkit.",
        hint=Hint.OTHER_NODE,
    ),
    _error(
        "bad-command",
        r"executable file not found|exec format error|exec user process|"
        r"(?:exec|starting container process|start container|runc|oci runtime|stat )[^\n]{0,400}"
        r"(?:no such file or directory|permission denied|not a directory|is a directory|"
        r"argument list too long)|no command specified|unable to find user",
        APPLICATION, "StartError", "The command of the container cannot be executed.", source=_RUNC,
        next_step="Check the path of the command in the image, its mode, and the image's platform.",
        deterministic=True,
    ),
    _error(
        "bad-specification",
        r"invalid (?:mount|container name|volume|argument|env)|bind source path does not exist|"
        r"container name [^\n]{0,200}already in use|minimum memory limit|unknown (?:flag|runtime)|"
        r"mount path must be absolute|conflicting options|invalid (?:hostport|containerport)|"
        r"range of CPUs is from|network \S{1,100} not found",
        APPLICATION, "SpecError", "The container's own settings were refused.", source=_RUNC,
        next_step="Correct the setting that the message names.", deterministic=True,
    ),
    _error(
        "runtime-timeout",
        r"could not transition to|timed out after waiting|ContainerRuntimeTimeoutError|"
        r"DockerTimeoutError|deadline exceeded",
        INFRA, "StartTimeout", "The container runtime did not answer in time.", source=_DAEMON,
        next_step=_NODE, deterministic=False, hint=Hint.OTHER_NODE,
    ),
    _error(
        "runtime",
        r"failed to create (?:shim|task|containerd)|shim task|cgroup|device or resource busy|"
        r"cannot allocate memory|resource temporarily unavailable|input/output error|"
        r"driver failed programming|failed to set up|overlay2?|storage driver|devmapper|"
        r"unable to (?:apply|create) |ttrpc|containerd|read-only file system|iptables",
        INFRA, "RuntimeStartError", "The container runtime failed on the node.", source=_DAEMON,
        next_step=_NODE, deterministic=False, hint=Hint.OTHER_NODE,
    ),
    _error(
        "other", "", UNKNOWN, "StartError",
        "The container did not start, and the message does not tell whose fault it was.",
        source=_RUNC, next_step="Read the runtime's log on the node.", confidence=GUESS,
    ),
)
# fmt: on
