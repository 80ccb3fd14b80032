"""One call of DeviceService.Session: its channel, what is to be sent, what comes. Used by ttfd.reader only."""

from __future__ import annotations

import queue
from typing import Callable, Iterator, Mapping

import grpc

from ttfd.channel import make_channel
from ttfd.v1 import ttfd_pb2

_METHOD = "/ttfd.v1.DeviceService/Session"
_END = b"end"  # by identity
_WAKE = b"wake"


def _decode(encoded: bytes) -> tuple[ttfd_pb2.ServerMessage, int]:
    return ttfd_pb2.ServerMessage.FromString(encoded), len(encoded)


class Stream:
    """Messages travel encoded, so that what is kept for a resume is what was sent.

    `on_idle` is called when nothing has been sent for `idle_s` since the last message or `linger`; what it returns, if
    anything, is sent. gRPC's own thread calls it.
    """

    def __init__(self, address: str, tls: Mapping[str, str] | None, hello: ttfd_pb2.ClientMessage,
                 on_idle: Callable[[], bytes | None], idle_s: float) -> None:
        self._on_idle = on_idle
        self._idle_s = idle_s
        self._lingers = False
        self._messages: queue.SimpleQueue[bytes] = queue.SimpleQueue()
        self._messages.put(hello.SerializeToString())
        self._channel = make_channel(address, tls)
        self._call = self._channel.stream_stream(_METHOD, response_deserializer=_decode)(self._requests())

    def send(self, encoded: bytes) -> None:
        """Any thread."""
        self._messages.put(encoded)

    def linger(self) -> None:
        """on_idle is to be called once nothing has been sent for a while."""
        if not self._lingers:
            self._lingers = True
            self._messages.put(_WAKE)

    def received(self) -> Iterator[tuple[ttfd_pb2.ServerMessage, int]]:
        """Messages with their encoded size, until the call ends. Raises grpc.RpcError for how, unless that is OK."""
        return self._call

    def cancel(self) -> None:
        """Ends the call. Any thread."""
        self._messages.put(_END)
        self._call.cancel()

    def close(self) -> None:
        """Ends the call and the connection. Any thread, any number of times."""
        self.cancel()
        self._channel.close()

    def _requests(self) -> Iterator[bytes]:
        while True:
            try:
                message = self._messages.get(timeout=self._idle_s if self._lingers else None)
            except queue.Empty:
                self._lingers = False
                idle = self._on_idle()
                if idle is not None:
                    yield idle
                continue
            if message is _END:
                return
            if message is not _WAKE:
                self._lingers = True  # an answer is likely, and will have to be acknowledged
                yield message
