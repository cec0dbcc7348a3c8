"""Python's own exceptions. What nothing more specific is known of is the task's own failure."""

from __future__ import annotations

from typing import Final

from failhook.classify.conditions import PRESENT, is_not, like
from failhook.classify.python.raised import raised
from failhook.classify.rule import (
    APPLICATION,
    CONFIRMED,
    GUESS,
    MANUAL,
    UNKNOWN,
    Rule,
    Tier,
)
from failhook.details import Hint

_EXCEPTIONS: Final = "https://docs.python.org/3/library/exceptions.html"
_PICKLE: Final = "https://docs.python.org/3/library/pickle.html#what-can-be-pickled-and-unpickled"
_JSON: Final = "https://docs.python.org/3/library/json.html#json.JSONEncoder"
_EXIT: Final = "https://docs.python.org/3/library/sys.html#sys.exit"
_ASYNCIO: Final = "https://docs.python.org/3/library/asyncio-exceptions.html"
_NUMPY: Final = "https://numpy.org/doc/stable/reference/generated/numpy.empty.html"

CODE: Final = (
    raised(
        "python.syntax",
        ("SyntaxError", "lark.UnexpectedInput"),
        APPLICATION,
        "CodeLoadError",
        deterministic=True,
        confidence=CONFIRMED,
        because="The code does not parse, and it will not parse on a retry.",
        source=f"{_EXCEPTIONS}#SyntaxError",
    ),
    raised(
        "python.import",
        "ImportError",
        APPLICATION,
        "CodeLoadError",
        deterministic=True,
        confidence=CONFIRMED,
        because="A module or a name in it is not there, and it will not be there on a retry.",
        source=f"{_EXCEPTIONS}#ImportError",
    ),
    raised(
        "python.module-attribute",
        "AttributeError",
        APPLICATION,
        "CodeLoadError",
        when={
            "exception.message": like(
                r"^(?:partially initialized )?module '[^'\n]{1,200}' has no attribute"
            )
        },
        deterministic=True,
        because="The installed module lacks a name that the code uses: a wrong version, mostly.",
        source=f"{_EXCEPTIONS}#AttributeError",
    ),
    raised(
        "python.broken-definition",
        ("NameError", "TypeError", "AttributeError", "ValueError", "KeyError", "Exception"),
        APPLICATION,
        "CodeLoadError",
        when={"log": like(r"(?:^|\n|\] )Broken DAG: \[|Failed to import: /")},
        deterministic=True,
        because="The error arose while the pipeline's definition was loaded.",
        source="https://airflow.apache.org/docs/apache-airflow/stable/faq.html",
    ),
    raised(
        "python.name",
        "NameError",
        APPLICATION,
        "UserException",
        deterministic=True,
        because="The code uses a name that nobody defined.",
        source=f"{_EXCEPTIONS}#NameError",
    ),
    raised(
        "python.call-signature",
        "TypeError",
        APPLICATION,
        "UserException",
        when={
            "exception.message": like(
                r"\(\) (?:missing \d{1,3} required (?:positional|keyword-only) argument"
                r"|got an unexpected keyword argument|got multiple values for (?:keyword )?argument"
                r"|takes (?:from \d{1,3} to |exactly |at (?:most"
                r"|least) )?\w{1,5} (?:positional )?arguments?\b"
                r"|takes no (?:keyword )?arguments)"
            )
        },
        deterministic=True,
        because="A call does not fit the function's signature, and a retry makes the same call.",
        source=f"{_EXCEPTIONS}#TypeError",
    ),
    raised(
        "python.not-implemented",
        "NotImplementedError",
        APPLICATION,
        "UserException",
        deterministic=True,
        because="The code says itself that this case is not implemented.",
        source=f"{_EXCEPTIONS}#NotImplementedError",
    ),
)

VALUES: Final = (
    raised(
        "python.pickle.class",
        ("pickle.PicklingError", "pickle.PickleError", "pickle.UnpicklingError"),
        APPLICATION,
        "SerializationError",
        deterministic=True,
        because="A value cannot be pickled or unpickled; that is a property of the code.",
        source=_PICKLE,
    ),
    raised(
        "python.pickle.message",
        ("TypeError", "AttributeError", "NotImplementedError", "ValueError"),
        APPLICATION,
        "SerializationError",
        when={
            "exception.message": like(
                r"(?:[Cc]an'?t|[Cc]annot|[Cc]an not) (?:pickle|serialize"
                r"|get (?:local object|attribute '[^'\n]{1,200}' on <module))"
                r"|[Pp]ickling (?:of|client|an) "
                r"|self\.\w{1,80} cannot be converted to a Python object for pickling"
            )
        },
        deterministic=True,
        because="A value cannot be pickled or unpickled; that is a property of the code.",
        source=_PICKLE,
    ),
    raised(
        "python.json.not-serialisable",
        ("TypeError", "ValueError"),
        APPLICATION,
        "SerializationError",
        when={
            "exception.message": like(
                r"\b(?:is )?not JSON serializable\b|Circular reference detected"
                r"|Out of range float values are not JSON compliant"
            )
        },
        deterministic=True,
        because="A value has no form in JSON; that is a property of the code.",
        source=_JSON,
    ),
    raised(
        "python.memory",
        (
            "MemoryError",
            "numpy.ArrayMemoryError",
            "numpy._ArrayMemoryError",
            "pyarrow.ArrowMemoryError",
        ),
        APPLICATION,
        "OutOfMemory",
        confidence=CONFIRMED,
        hint=Hint.MORE_MEMORY,
        because="An allocation was refused; the interpreter lived and said so.",
        source=f"{_EXCEPTIONS}#MemoryError",
    ),
    raised(
        "python.memory.numpy",
        ("ValueError", "Exception"),
        APPLICATION,
        "OutOfMemory",
        when={
            "exception.message": like(
                r"^Unable to allocate \d[\d.]{0,20} [KMGTPE]?i?B for an array"
            )
        },
        hint=Hint.MORE_MEMORY,
        because="An array does not fit into memory.",
        source=_NUMPY,
    ),
)

ENDINGS: Final = (
    raised(
        "python.exit.signal",
        "SystemExit",
        UNKNOWN,
        "Terminated",
        when={"exception.message": ("143", "130", "137", "129")},
        confidence=GUESS,
        because="A handler turned a signal into an exit; who sent the signal is not known.",
        source=_EXIT,
    ),
    raised(
        "python.exit",
        "SystemExit",
        APPLICATION,
        "UserExit",
        confidence=CONFIRMED,
        message="The code ended itself with exit status {exception.message}.",
        because="The code ended itself with sys.exit().",
        source=_EXIT,
    ),
    raised(
        "python.interrupt",
        "KeyboardInterrupt",
        MANUAL,
        "Interrupted",
        because="Somebody sent SIGINT, as Ctrl-C does.",
        source=f"{_EXCEPTIONS}#KeyboardInterrupt",
    ),
    raised(
        "python.cancelled",
        (
            "asyncio.CancelledError",
            "CancelledError",
            "concurrent.CancelledError",
            "anyio.Cancelled",
        ),
        UNKNOWN,
        "Cancelled",
        confidence=GUESS,
        ended_by_itself=False,
        because="A future was cancelled: by a person, a shutdown, or the code itself.",
        source=_ASYNCIO,
        next_step="Find out what cancelled it: the engine's log, a time-out, a sibling's failure.",
    ),
)

FALLBACKS: Final = (
    raised(
        "python.text",
        "str",
        UNKNOWN,
        "Unknown",
        confidence=GUESS,
        fallback=True,
        ended_by_itself=False,
        because="There is only a text, and it names nothing that decides.",
        source="docs/concepts.md",
    ),
    Rule(
        id="python.exception",
        tier=Tier.REPORT,
        when={"exception.is": is_not("str"), "exception.type": PRESENT},
        kind=APPLICATION,
        reason="UserException",
        confidence=CONFIRMED,
        message="{exception.line}",
        fallback=True,
        because="The task's code raised it, and nothing says that anything else caused it.",
        source=_EXCEPTIONS,
    ),
)

BUILTINS: Final = (*VALUES, *CODE, *ENDINGS)
