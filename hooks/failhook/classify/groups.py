"""What a member of an exception group may decide for the whole group."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from failhook.error_info import ErrorInfo

_MAX_ERRORS = 256


def all_agree(
    outermost: ErrorInfo, error: ErrorInfo, blameless: Callable[[], frozenset[int]]
) -> bool:
    """Return whether each group that an error is part of was ended by infrastructure alone.

    One full disk beside a ValueError excuses nobody: every other member, or something that it was
    raised from, must be blameless too.

    Args:
        outermost: the error as it was raised.
        error: one below it.
        blameless: returns the ids of the errors for which infrastructure is to blame.
    """
    for group in _all(outermost):
        if len(group.exceptions) < 2:
            continue
        trees = [list(_all(member)) for member in group.exceptions]
        if any(each is error for tree in trees for each in tree):
            excused = blameless()
            if not all(any(id(each) in excused for each in tree) for tree in trees):
                return False
    return True


def _all(error: ErrorInfo) -> Iterator[ErrorInfo]:
    queue = [error]
    for current in queue:
        yield current
        if len(queue) < _MAX_ERRORS:
            below = (current.cause, current.context, *current.exceptions)
            queue.extend(each for each in below if each is not None)
