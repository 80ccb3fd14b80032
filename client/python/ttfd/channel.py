"""Where a client connects, and with what."""

from __future__ import annotations

import os
from typing import Mapping

import grpc

from ttfd import check
from ttfd.errors import Code, Error

# A connection of its own; bulk data on a local socket in fewer and larger frames and reads.
_CHANNEL_OPTIONS = (
    ("grpc.use_local_subchannel_pool", 1),
    ("grpc.enable_http_proxy", 0),
    ("grpc.http2.max_frame_size", 1 << 20),
    ("grpc.experimental.tcp_read_chunk_size", 256 << 10),
    ("grpc.experimental.tcp_max_read_chunk_size", 1 << 20),
)
_KEEPALIVE_MS = 30_000
_TLS_FILES = (("ca", "TTFD_TLS_CA"), ("certificate", "TTFD_TLS_CERTIFICATE"), ("key", "TTFD_TLS_KEY"))


def resolve_address(address: str | os.PathLike[str] | None) -> str:
    """What the caller said, else TTFD_ADDRESS, else the default; a path becomes a unix socket."""
    if address is not None:
        address = check.text(os.fspath(address) if isinstance(address, os.PathLike) else address, "address")
    chosen = address or os.environ.get("TTFD_ADDRESS") or "unix:/run/ttfd/ttfd.sock"
    return "unix:" + chosen if chosen.startswith("/") else chosen


def check_tls(tls: Mapping[str, str] | None) -> None:
    """Refuses options that do not exist, or have values that they cannot have."""
    names = [what for what, _ in _TLS_FILES] + ["server_name", "keepalive_ms"]
    if tls is not None and (not isinstance(tls, Mapping) or not all(name in names for name in tls)):
        check.refuse_value(tls, "tls", f"a dict with keys of {', '.join(names)}")
    for name, value in (tls or {}).items():
        if name == "keepalive_ms":
            check.integer(value, "tls.keepalive_ms", (1 << 31) - 1, smallest=1)
        elif value is not None:
            check.text(os.fspath(value) if isinstance(value, os.PathLike) else value, f"tls.{name}")


def make_channel(address: str, tls: Mapping[str, str] | None) -> grpc.Channel:
    """A channel with a connection of its own. TCP is only ever spoken with certificates of both sides."""
    if address.startswith(("unix:", "unix-abstract:")):
        return grpc.insecure_channel(address, options=_CHANNEL_OPTIONS)
    given = dict(tls or {})
    pem = {}
    for what, variable in _TLS_FILES:
        path = given.get(what) or os.environ.get(variable)
        if not path:
            raise Error(Code.INVALID_ARGUMENT, "a daemon that is reached over TCP needs certificates: "
                        f"no {what} is given ({variable})", reason="INVALID", field=f"tls.{what}")
        try:
            with open(path, "rb") as file:
                pem[what] = file.read()
        except OSError as error:
            raise Error(Code.INVALID_ARGUMENT, f"cannot read the {what} {path}: {error.strerror}", reason="INVALID",
                        field=f"tls.{what}") from error
    options = list(_CHANNEL_OPTIONS)
    name = given.get("server_name") or os.environ.get("TTFD_TLS_SERVER_NAME")
    if name:
        options.append(("grpc.ssl_target_name_override", name))
    # After so long without a word the daemon is asked, and after as long without an answer the connection is lost.
    keepalive_ms = int(given.get("keepalive_ms", _KEEPALIVE_MS))
    options += [("grpc.keepalive_time_ms", keepalive_ms), ("grpc.keepalive_timeout_ms", keepalive_ms),
                ("grpc.keepalive_permit_without_calls", 1), ("grpc.http2.max_pings_without_data", 0)]
    credentials = grpc.ssl_channel_credentials(pem["ca"], pem["key"], pem["certificate"])
    return grpc.secure_channel(address, credentials, options=options)
