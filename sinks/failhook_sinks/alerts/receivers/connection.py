"""Connections of urllib that end in time, whatever the other side does."""

from __future__ import annotations

import io
from collections.abc import Callable
from functools import partial
from http.client import HTTPConnection, HTTPResponse, HTTPSConnection
from ipaddress import ip_address
from socket import socket
from typing import Any, Final, cast
from urllib.request import HTTPHandler, HTTPSHandler, OpenerDirector, ProxyHandler, Request

TimeLeft = Callable[[], float]
"""Returns the seconds that are left; raises TimeoutError when there are none."""

_PIECE: Final = 16_384
"""Bytes that are sent at a time: as many as TLS puts into a record."""


def opener(left: TimeLeft, *, proxied: bool) -> OpenerDirector:
    """Return what opens a request: any status is an answer, and no redirect is followed.

    Args:
        left: bounds sending and receiving together. The timeout of the request bounds the
            connection, for each address that the host has.
        proxied: go through the proxy that ``HTTPS_PROXY``, ``HTTP_PROXY`` and ``NO_PROXY`` name.
    """
    director = OpenerDirector()
    if proxied:
        director.add_handler(ProxyHandler())
    director.add_handler(_Http(left))
    director.add_handler(_Https(left))
    return director


def is_loopback(host: str) -> bool:
    """Return whether the host is this machine, to which no proxy leads."""
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


class _Http(HTTPHandler):
    def __init__(self, left: TimeLeft) -> None:
        super().__init__()
        self._left = left

    def http_open(self, req: Request) -> HTTPResponse:
        return self.do_open(partial(_Plain, left=self._left), req)


class _Https(HTTPSHandler):
    def __init__(self, left: TimeLeft) -> None:
        super().__init__()
        self._left = left

    def https_open(self, req: Request) -> HTTPResponse:
        return self.do_open(partial(_Tls, left=self._left), req)


class _Plain(HTTPConnection):
    def __init__(self, *args: Any, left: TimeLeft, **more: Any) -> None:
        super().__init__(*args, **more)
        self._left = left
        self.response_class = cast("type[HTTPResponse]", partial(_Response, left=left))

    def send(self, data: Any) -> None:
        """Send piece by piece, each in what is left of the time; urllib sends bytes alone."""
        whole = memoryview(data)
        for start in range(0, len(whole), _PIECE):
            sock = cast("socket | None", self.sock)
            if sock is not None:
                sock.settimeout(self._left())
            super().send(whole[start : start + _PIECE])


class _Tls(_Plain, HTTPSConnection):
    """The same through TLS: `HTTPSConnection.connect` comes before `HTTPConnection.connect`."""


class _Response(HTTPResponse):
    def __init__(self, sock: socket, *args: Any, left: TimeLeft, **more: Any) -> None:
        super().__init__(sock, *args, **more)
        raw = self.fp.detach()
        self.fp = io.BufferedReader(_Received(raw, sock, left))


class _Received(io.RawIOBase):
    """What arrives on a socket, each piece in what is left of the time."""

    def __init__(self, raw: io.RawIOBase, sock: socket, left: TimeLeft) -> None:
        super().__init__()
        self._raw = raw
        self._sock = sock
        self._left = left

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int | None:
        self._sock.settimeout(self._left())
        return self._raw.readinto(buffer)

    def close(self) -> None:
        self._raw.close()
        super().close()
