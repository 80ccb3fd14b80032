"""A unix socket before another one that can be cut, at once or after so many bytes in one direction."""

from __future__ import annotations

import contextlib
import socket
import threading


class Relay:
    """Thread-safe. Bytes are counted over all connections."""

    def __init__(self, path: str, target: str) -> None:
        self.target = target
        self.cut_at: dict[str, int | None] = {"up": None, "down": None}
        self.passed = {"up": 0, "down": 0}
        self.cuts = 0
        self._lock = threading.Lock()
        self._open: set[socket.socket] = set()
        self._listener = socket.socket(socket.AF_UNIX)
        self._listener.bind(path)
        self._listener.listen(16)
        threading.Thread(target=self._accept, daemon=True).start()

    def cut(self) -> None:
        """Ends every connection, without a word to either side."""
        with self._lock:
            self.cuts += 1
            for end in self._open:
                with contextlib.suppress(OSError):
                    end.shutdown(socket.SHUT_RDWR)
            self._open.clear()

    def close(self) -> None:
        """No further connections; those there are end."""
        with contextlib.suppress(OSError):
            self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()
        self.cut()

    def _accept(self) -> None:
        with contextlib.suppress(OSError):
            while True:
                client, _ = self._listener.accept()
                daemon = socket.socket(socket.AF_UNIX)
                daemon.connect(self.target)
                with self._lock:
                    self._open |= {client, daemon}
                for source, sink, way in ((client, daemon, "up"), (daemon, client, "down")):
                    threading.Thread(target=self._pass, args=(source, sink, way), daemon=True).start()

    def _pass(self, source: socket.socket, sink: socket.socket, way: str) -> None:
        with contextlib.suppress(OSError):
            while data := source.recv(65536):
                with self._lock:
                    at = self.cut_at[way]
                    left = None if at is None else at - self.passed[way]
                    self.passed[way] += len(data)
                if left is not None and left < len(data):
                    with self._lock:
                        self.cut_at[way] = None
                    sink.sendall(data[:max(0, left)])
                    self.cut()
                    return
                sink.sendall(data)
        for end in (source, sink):
            with contextlib.suppress(OSError):
                end.shutdown(socket.SHUT_RDWR)
