"""What the operating system refused: `OSError` by its number, child processes by their end."""

from __future__ import annotations

from typing import Final

from failhook.classify.conditions import between, has, like, one_of
from failhook.classify.python.raised import raised
from failhook.classify.rule import (
    APPLICATION,
    GUESS,
    INFRA,
    UNKNOWN,
)
from failhook.details import Hint

_ERRNO: Final = "https://man7.org/linux/man-pages/man3/errno.3.html"
_EXCEPTIONS: Final = "https://docs.python.org/3/library/exceptions.html"
_SUBPROCESS: Final = "https://docs.python.org/3/library/subprocess.html"
_SSL: Final = "https://docs.python.org/3/library/ssl.html#exceptions"
_SOCKET: Final = "https://docs.python.org/3/library/socket.html#exceptions"
_WINSOCK: Final = "https://learn.microsoft.com/windows/win32/winsock/windows-sockets-error-codes-2"

FILES: Final = (
    raised(
        "os.shared-memory-full",
        "OSError",
        APPLICATION,
        "DiskFull",
        when={"exception.errno": 28, "exception.message": has("'/dev/shm/", "'/dev/shm'")},
        because="Shared memory is sized for the task, and no other task is in it.",
        source="https://man7.org/linux/man-pages/man7/shm_overview.7.html",
        next_step="Enlarge /dev/shm, or keep less in it.",
    ),
    raised(
        "os.disk-full",
        "OSError",
        INFRA,
        "DiskFull",
        when={"exception.errno": one_of(28, 122)},  # ENOSPC EDQUOT
        confidence=GUESS,
        because="A file system is full: the node's, or one that was sized for the task.",
        source=_ERRNO,
    ),
    raised(
        "os.disk-full.text",
        ("OSError", "str"),
        INFRA,
        "DiskFull",
        when={
            "exception.message": like(
                r"^(?:[^\n:]{1,200}: )?(?:\[Errno (?:28|122)\]|No space left on device"
                r"|Disk quota exceeded)"
            )
        },
        confidence=GUESS,
        because="A file system is full: the node's, or one that was sized for the task.",
        source=_ERRNO,
    ),
    raised(
        "os.device",
        "OSError",
        INFRA,
        "HardwareFailure",
        when={"exception.errno": one_of(5, 6, 19, 117, 121)},  # EIO ENXIO ENODEV EUCLEAN EREMOTEIO
        confidence=GUESS,
        because="A device failed to read or write, or went away.",
        source=_ERRNO,
    ),
    raised(
        "os.stale-file-handle",
        "OSError",
        INFRA,
        "ConnectionLost",
        when={"exception.errno": one_of(116, 107, 112)},  # ESTALE ENOTCONN EHOSTDOWN
        confidence=GUESS,
        because="A network file system lost its server.",
        source=_ERRNO,
    ),
    raised(
        "os.platform-log-directory",
        "PermissionError",
        INFRA,
        "PlatformMisconfigured",
        when={
            "exception.message": like(
                r"'[^'\n]{0,300}airflow/logs|'[^'\n]{0,300}/(?:dagster_home|\.prefect|celery)/"
            )
        },
        deterministic=True,
        because="The platform may not write into its own directory; no task could start there.",
        source="https://airflow.apache.org/docs/apache-airflow/stable/administration-and-deployment"
        "/logging-monitoring/logging-tasks.html",
    ),
    raised(
        "os.permission",
        "PermissionError",
        APPLICATION,
        "PermissionDenied",
        deterministic=True,
        because="The account that runs the task may not do this with this file.",
        source=f"{_EXCEPTIONS}#PermissionError",
    ),
    raised(
        "os.descriptors",
        "OSError",
        APPLICATION,
        "ResourceExhausted",
        when={"exception.errno": one_of(24, 11, 98, 99)},  # EMFILE EAGAIN EADDRINUSE EADDRNOTAVAIL
        because="The process has used up what it may have: descriptors, processes, ports.",
        source=_ERRNO,
    ),
    raised(
        "os.machine-descriptors",
        "OSError",
        INFRA,
        "ResourceExhausted",
        when={"exception.errno": 23},  # ENFILE
        because="The whole machine ran out of file descriptors.",
        source=_ERRNO,
    ),
    raised(
        "os.no-memory",
        "OSError",
        APPLICATION,
        "OutOfMemory",
        when={"exception.errno": 12},  # ENOMEM
        hint=Hint.MORE_MEMORY,
        because="The kernel refused memory to the process.",
        source=_ERRNO,
    ),
    raised(
        "os.no-thread",
        "RuntimeError",
        APPLICATION,
        "ResourceExhausted",
        when={"exception.message": has("can't start new thread")},
        because="The process may not have more threads: its own limit, or its cgroup's.",
        source="https://docs.python.org/3/library/threading.html#threading.Thread.start",
    ),
)

NETWORK: Final = (
    raised(
        "os.connection",
        ("ConnectionError", "asyncio.IncompleteReadError"),
        APPLICATION,
        "RemoteTransient",
        deterministic=False,
        because="The connection to another service was refused, reset or closed.",
        source=f"{_EXCEPTIONS}#ConnectionError",
    ),
    raised(
        "os.connection.number",
        ("OSError", "socket.error", "select.error", "IOError", "WindowsError"),
        APPLICATION,
        "RemoteTransient",
        # EPIPE ENETDOWN ENETUNREACH ENETRESET ECONNABORTED ECONNRESET ESHUTDOWN ECONNREFUSED
        # EHOSTUNREACH, and Winsock's numbers for them
        when={
            "exception.errno": one_of(
                *(32, 100, 101, 102, 103, 104, 108, 111, 113),
                *(10050, 10051, 10052, 10053, 10054, 10058, 10061, 10064, 10065),
            )
        },
        deterministic=False,
        because="The connection to another service was refused, reset or closed.",
        source=_WINSOCK,
    ),
    raised(
        "os.timeout.number",
        ("OSError", "socket.error"),
        APPLICATION,
        "ClientTimeout",
        when={"exception.errno": one_of(110, 10060, 62)},  # ETIMEDOUT, Winsock's, ETIME
        deterministic=False,
        because="The operating system gave up waiting for another service.",
        source=_ERRNO,
    ),
    raised(
        "os.timeout",
        ("TimeoutError", "socket.timeout", "asyncio.TimeoutError", "concurrent.TimeoutError"),
        APPLICATION,
        "ClientTimeout",
        deterministic=False,
        because="Code of the task waited for something with a limit of its own.",
        source=f"{_EXCEPTIONS}#TimeoutError",
    ),
    raised(
        "os.name-resolution.unknown",
        ("socket.gaierror", "socket.herror"),
        APPLICATION,
        "RemoteTransient",
        when={"exception.errno": one_of(-2, -5, 11001, 8, 1)},  # EAI_NONAME EAI_NODATA
        because="No such host is known; the name is wrong, or its server did not say.",
        source=_SOCKET,
    ),
    raised(
        "os.name-resolution",
        ("socket.gaierror", "socket.herror"),
        APPLICATION,
        "RemoteTransient",
        deterministic=False,
        because="The name server did not answer.",
        source=_SOCKET,
    ),
    raised(
        "os.tls.certificate",
        ("ssl.SSLCertVerificationError", "ssl.SSLError", "ssl.CertificateError"),
        APPLICATION,
        "RemoteRejected",
        when={
            "exception.message": like(
                r"CERTIFICATE_VERIFY_FAILED|certificate verify failed|hostname mismatch"
                r"|doesn't match"
            )
        },
        deterministic=True,
        because="The other side's certificate does not hold.",
        source=_SSL,
    ),
    raised(
        "os.tls",
        "ssl.SSLError",
        APPLICATION,
        "RemoteTransient",
        deterministic=False,
        because="The encrypted connection broke.",
        source=_SSL,
    ),
)

CHILDREN: Final = (
    raised(
        "child.timeout",
        "subprocess.TimeoutExpired",
        APPLICATION,
        "ClientTimeout",
        because="The task gave its own command a time limit, and it was over.",
        source=f"{_SUBPROCESS}#subprocess.TimeoutExpired",
    ),
    raised(
        "child.airflow-wrapper",
        "subprocess.CalledProcessError",
        UNKNOWN,
        "GenericExit",
        when={
            "exception.message": like(r"^Command '?\[?'?airflow'?,? '?(?:run|tasks)\b"),
            "exception.exit_code": between(1, 125),
        },
        confidence=GUESS,
        because="The command is the platform's own wrapper, and says only that it failed.",
        source="https://airflow.apache.org/docs/apache-airflow/stable/core-concepts/executor",
    ),
    raised(
        "child.killed",
        "subprocess.CalledProcessError",
        INFRA,
        "KilledBySignal",
        when={"exception.signal": 9},
        confidence=GUESS,
        because="A command of the task was killed from outside; whether for memory is not known.",
        source=f"{_SUBPROCESS}#subprocess.CalledProcessError",
    ),
    raised(
        "child.crash",
        "subprocess.CalledProcessError",
        APPLICATION,
        "NativeCrash",
        when={"exception.signal": one_of(4, 5, 6, 7, 8, 11, 31)},
        because="A command of the task crashed.",
        source=f"{_SUBPROCESS}#subprocess.CalledProcessError",
    ),
    raised(
        "child.signal",
        "subprocess.CalledProcessError",
        UNKNOWN,
        "Terminated",
        when={"exception.signal": between(1, 64)},
        confidence=GUESS,
        because="A command of the task was ended by a signal; who sent it is not known.",
        source=f"{_SUBPROCESS}#subprocess.CalledProcessError",
    ),
    raised(
        "child.shell-killed",
        "subprocess.CalledProcessError",
        UNKNOWN,
        "KilledBySignal",
        when={"exception.exit_code": 137},
        confidence=GUESS,
        because="A shell turns SIGKILL into 137, but a program can also choose that code.",
        source="https://www.gnu.org/software/bash/manual/html_node/Exit-Status.html",
    ),
    raised(
        "child.shell-terminated",
        "subprocess.CalledProcessError",
        UNKNOWN,
        "Terminated",
        when={"exception.exit_code": one_of(143, 130, 129)},
        confidence=GUESS,
        because="A shell turns a signal into this code, but a program can also choose it.",
        source="https://www.gnu.org/software/bash/manual/html_node/Exit-Status.html",
    ),
    raised(
        "child.shell-crash",
        "subprocess.CalledProcessError",
        APPLICATION,
        "NativeCrash",
        when={"exception.exit_code": one_of(132, 133, 134, 135, 136, 139)},
        because="A command of the task crashed; a shell turned the signal into this code.",
        source="https://www.gnu.org/software/bash/manual/html_node/Exit-Status.html",
    ),
    raised(
        "child.bad-command",
        "subprocess.CalledProcessError",
        APPLICATION,
        "SpecError",
        when={"exception.exit_code": one_of(126, 127)},
        deterministic=True,
        because="A shell could not find or run the command.",
        source="https://www.gnu.org/software/bash/manual/html_node/Exit-Status.html",
    ),
    raised(
        "child.failed",
        (
            "subprocess.CalledProcessError",
            "plumbum.ProcessExecutionError",
            "luigi.ExternalProgramRunError",
            "sh.ErrorReturnCode",
        ),
        APPLICATION,
        "ChildProcessFailed",
        because="A command that the task ran returned an error.",
        source=f"{_SUBPROCESS}#subprocess.CalledProcessError",
    ),
)

OPERATING_SYSTEM: Final = (*FILES, *CHILDREN, *NETWORK)
