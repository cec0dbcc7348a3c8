"""The platform's own sentences, where the reason that belongs to them was lost or is not given."""

from __future__ import annotations

import re
from typing import Final

_SENTENCES: Final = (
    (r"The node was low on |The node had condition: ", "Evicted"),
    (r"Usage of EmptyDir volume |Pod ephemeral local storage usage exceeds ", "Evicted"),
    (r"Container \S+ exceeded its local ephemeral storage limit", "Evicted"),
    (r"Pod was active on the node longer than the specified deadline", "DeadlineExceeded"),
    (r"Preempted in order to admit critical pod", "Preempting"),
    (r"Pod was terminated (?:in response|due) to imminent node shutdown", "Terminated"),
    (r"Pod was rejected as the node is shutting down", "NodeShutdown"),
    (r"Node is (?:shutting|in progress of shutting down)", "NodeShutdown"),
    (r"Node \S+ which was running pod \S+ is unresponsive", "NodeLost"),
    (r"Node has reached its volume attachment limit", "VolumeAttachmentLimitExceeded"),
    (r"Resources cannot be allocated with Topology locality", "TopologyAffinityError"),
    (r"Allocate failed due to |Update plugin resources failed due to ", "UnexpectedAdmissionError"),
    (r"forbidden sysctl: ", "SysctlForbidden"),
    (r"Cannot enforce AppArmor: ", "AppArmor"),
)
_PREFIX: Final = r"(?:Pod was rejected: |Pod )?"
_KNOWN: Final = tuple(
    (re.compile(_PREFIX + sentence).match, token) for sentence, token in _SENTENCES
)
_PREDICATE: Final = re.compile(_PREFIX + r"Predicate (\w{1,60}) failed")
_NO_ROOM: Final = re.compile(
    r"(?:Pod was rejected: |Pod )?Node didn't have enough resource: ([\w./-]{1,80})"
)


def reason_of(message: str) -> str | None:
    """Return the reason that the kubelet gives together with this message."""
    no_room = _NO_ROOM.match(message)
    if no_room is not None:
        return f"OutOf{no_room[1]}"
    predicate = _PREDICATE.match(message)
    if predicate is not None:
        return predicate[1]
    for match, token in _KNOWN:
        if match(message):
            return token
    return None
