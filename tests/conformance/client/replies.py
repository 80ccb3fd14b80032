"""Values that the fake daemon sends: errors of the API, its device, its limits."""

from __future__ import annotations

from typing import Any

import grpc
from google.protobuf import any_pb2

from ttfd.google_rpc import error_details_pb2, status_pb2
from ttfd.v1 import types_pb2

Code = grpc.StatusCode
CHUNK_BYTES = 16 << 10
COMMAND_BYTES = 512
LEASE_TOKEN = bytes.fromhex("1ea5e0")


def status_of(code: Code, message: str, reason: str, retry: bool = False, **metadata: str) -> status_pb2.Status:
    """An error of the API with its standard details."""
    status = status_pb2.Status(code=code.value[0], message=message)
    details: list[Any] = [error_details_pb2.ErrorInfo(reason=reason, domain="ttfd", metadata=metadata)]
    if "limit" in metadata:
        details.append(error_details_pb2.QuotaFailure(violations=[{"subject": metadata["limit"], "description": message}]))
    if retry:
        details.append(error_details_pb2.RetryInfo())
    for detail in details:
        packed = any_pb2.Any()
        packed.Pack(detail)
        status.details.append(packed)
    return status


class CallEnd(Exception):
    """The call ends with this status."""

    def __init__(self, code: Code, message: str, reason: str = "", retry: bool = False, **metadata: str) -> None:
        super().__init__(message)
        self.code, self.message = code, message
        self.details = status_of(code, message, reason or "INVALID", retry, **metadata).SerializeToString()


def device() -> types_pb2.Device:
    """The one device."""
    return types_pb2.Device(board="p150", backend=types_pb2.BACKEND_EMBEDDED, grid_x=13, grid_y=10, dram_banks=8,
                            dram_bank_bytes=4 << 30, dram_alignment=64, l1_bytes=1 << 20, l1_alignment=16,
                            clock_hz=1_350_000_000, circular_buffers=32, semaphores=16, argument_words=256,
                            circular_buffer_bytes=512 << 10, transfer_alignment=16, kernel_bytes=60 << 10, iommu=True)


def limits(unacknowledged_bytes: int) -> types_pb2.Limits:
    """Of a session; the daemon sends at most `unacknowledged_bytes` ahead of the client's acks."""
    return types_pb2.Limits(message_bytes=4 << 20, chunk_bytes=CHUNK_BYTES, inline_bytes=4096, commands_per_batch=64,
                            waits_per_batch=16, queues=16, handles=4096, dram_bytes=1 << 30, l1_bytes=1 << 20,
                            transfer_bytes=1 << 28, kernel_elf_bytes=4 << 20, sessions_per_user=16, client_name_bytes=128,
                            trace_bytes=1 << 20, buffers=64, kernels=64, programs=64, kernel_bytes=1 << 26,
                            lease_wait_ms=60_000, weight=1, priority=types_pb2.PRIORITY_NORMAL, command_bytes=COMMAND_BYTES,
                            nested_messages=65536, unacknowledged_bytes=unacknowledged_bytes,
                            reconnect_timeout_ms=300_000)
