"""Exceptions that resist being looked at, built in the child process that raises them."""

# ruff: noqa: D103, N818 - these are named after what they do
from __future__ import annotations

import threading


class NeedsArguments(Exception):
    def __init__(self, one, two):
        super().__init__(f"{one} and {two}")


class KeywordOnly(Exception):
    def __init__(self, *, reason):
        super().__init__(reason)


class HoldsLock(Exception):
    def __init__(self):
        super().__init__("locked")
        self.lock = threading.Lock()
        self.work = lambda: self


class BadStr(Exception):
    def __str__(self):
        raise RuntimeError("no text")


class BadRepr(Exception):
    def __repr__(self):
        raise RuntimeError("no repr")


class BadBoth(Exception):
    def __str__(self):
        raise SystemExit(9)

    __repr__ = __str__


class BadReduce(Exception):
    def __reduce__(self):
        raise RuntimeError("no pickle")


class StrIsNoString(Exception):
    def __str__(self):
        return 42  # noqa: PLE0307 - that is the point


class BadAttributes(Exception):
    def __getattr__(self, name):
        raise RuntimeError(f"no {name}")


class BadTraceback(Exception):
    @property
    def __traceback__(self):
        raise RuntimeError("no traceback")


class BadNotes(Exception):
    @property
    def __notes__(self):
        raise RuntimeError("no notes")


class BadArgs(Exception):
    args = property(lambda self: 1 / 0)


class BadHash(Exception):
    __hash__ = None

    def __eq__(self, other):
        raise RuntimeError("not comparable")


class Base(BaseException):
    pass


def _class_gone():
    return type("Gone", (Exception,), {"__module__": "no_such_module"})("class gone")


def _cyclic():
    error = ValueError("round")
    error.__cause__ = other = TypeError("and round")
    other.__cause__ = error
    return error


def _deep():
    error = ValueError("bottom")
    for level in range(200):
        above = ValueError(f"level {level}")
        above.__cause__ = error
        error = above
    return error


def _group():
    inner = ExceptionGroup("inner", [ValueError("leaf"), BadStr()])
    return ExceptionGroup("outer", [inner, KeywordOnly(reason="why")])


BUILD = {
    "NeedsArguments": lambda: NeedsArguments(1, 2),
    "KeywordOnly": lambda: KeywordOnly(reason="why"),
    "HoldsLock": HoldsLock,
    "BadStr": BadStr,
    "BadRepr": lambda: BadRepr("repr"),
    "BadBoth": BadBoth,
    "BadReduce": lambda: BadReduce("reduce"),
    "StrIsNoString": StrIsNoString,
    "BadAttributes": lambda: BadAttributes("attributes"),
    "BadTraceback": lambda: BadTraceback("traceback"),
    "BadNotes": lambda: BadNotes("notes"),
    "BadArgs": BadArgs,
    "BadHash": lambda: BadHash("hash"),
    "Base": lambda: Base("base"),
    "surrogates": lambda: ValueError("lone \ud800 surrogate"),
    "huge": lambda: ValueError("head " + "x" * 10_000_000 + " tail"),
    "class gone": _class_gone,
    "cyclic": _cyclic,
    "deep": _deep,
    "group": _group,
}
EXPECTED = {
    "NeedsArguments": ("NeedsArguments", "1 and 2"),
    "KeywordOnly": ("KeywordOnly", "why"),
    "HoldsLock": ("HoldsLock", "locked"),
    "BadStr": ("BadStr", ""),
    "BadRepr": ("BadRepr", "repr"),
    "BadBoth": ("BadBoth", ""),
    "BadReduce": ("BadReduce", "reduce"),
    "StrIsNoString": ("StrIsNoString", ""),
    "BadAttributes": ("BadAttributes", "attributes"),
    "BadTraceback": ("BadTraceback", "traceback"),
    "BadNotes": ("BadNotes", "notes"),
    "BadArgs": ("BadArgs", ""),
    "BadHash": ("BadHash", "hash"),
    "Base": ("Base", "base"),
    "surrogates": ("ValueError", "surrogate"),
    "huge": ("ValueError", "head xxx"),
    "class gone": ("Gone", "class gone"),
    "cyclic": ("ValueError", "round"),
    "deep": ("ValueError", "level 199"),
    "group": ("ExceptionGroup", "outer"),
}
NAMES = list(BUILD)


def throw(name):
    raise BUILD[name]()  # noqa: RSE102 - it is called for what it builds
