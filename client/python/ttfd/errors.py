"""The one exception of the package."""

from __future__ import annotations

import contextlib
import enum
from typing import Iterator

import grpc

from ttfd import unix_socket
from ttfd.google_rpc import error_details_pb2, status_pb2
from ttfd.types import Position


class Code(enum.IntEnum):
    """The canonical status codes of gRPC."""

    OK = 0
    CANCELLED = 1
    UNKNOWN = 2
    INVALID_ARGUMENT = 3
    DEADLINE_EXCEEDED = 4
    NOT_FOUND = 5
    ALREADY_EXISTS = 6
    PERMISSION_DENIED = 7
    RESOURCE_EXHAUSTED = 8
    FAILED_PRECONDITION = 9
    ABORTED = 10
    OUT_OF_RANGE = 11
    UNIMPLEMENTED = 12
    INTERNAL = 13
    UNAVAILABLE = 14
    DATA_LOSS = 15
    UNAUTHENTICATED = 16


class ExecutionState(enum.IntEnum):
    """What happened to a command that failed."""

    UNSPECIFIED = 0  # the error is not a command's
    NOT_STARTED = 1  # nothing of it took effect
    COMPLETED = 2  # it ran to its end, but a result was lost
    UNKNOWN = 3  # it had started; some, all or none of it took effect


class Error(Exception):
    """What went wrong, as the daemon or the package says it.

    code: a `Code`. message: a sentence for a person. reason: stable, for a program (INVALID, LIMIT, UNKNOWN_HANDLE,
    KERNEL_REFUSED, DEVICE_FAULT, ...). field: the offending field of the request. cause: the `Position` of the first cause
    if this error only follows from another, else None. limit, limit_value, limit_used: the limit that was met.
    hang_report: id of the report that explains a hang. retryable: the same command may succeed when sent again.
    execution_state: of a command, an `ExecutionState`.
    """

    def __init__(self, code: int, message: str, *, reason: str = "", field: str = "", cause: Position | None = None,
                 limit: str = "", limit_value: int = 0, limit_used: int = 0, hang_report: str = "",
                 retryable: bool = False, execution_state: int = 0) -> None:
        self.code = Code(code) if code in Code._value2member_map_ else Code.UNKNOWN
        self.message = message
        self.reason = reason
        self.field = field
        self.cause = cause
        self.limit = limit
        self.limit_value = limit_value
        self.limit_used = limit_used
        self.hang_report = hang_report
        self.retryable = retryable
        self.execution_state = ExecutionState(execution_state) if execution_state <= 3 else ExecutionState.UNKNOWN
        super().__init__(message)

    def __str__(self) -> str:
        details = [self.reason] if self.reason else []
        if self.field:
            details.append(f"field {self.field}")
        if self.limit:
            details.append(f"limit {self.limit} = {self.limit_value}, {self.limit_used} used")
        if self.cause:
            details.append(f"caused by command {self.cause.value} of queue {self.cause.queue}")
        return f"{self.code.name}: {self.message}" + (f" [{', '.join(details)}]" if details else "")


@contextlib.contextmanager
def errors_name(path: str, field: str) -> Iterator[None]:
    """An error about `field`, raised inside, gets the path of the file at the head of its message."""
    try:
        yield
    except Error as error:
        if error.field.startswith(field):
            error.message = f"{path}: {error.message}"
        raise


def from_proto(status: status_pb2.Status, execution_state: int = 0) -> Error:
    """The exception for an error of the API."""
    info = error_details_pb2.ErrorInfo()
    retryable = False
    for detail in status.details:
        if detail.Is(info.DESCRIPTOR):
            detail.Unpack(info)
        retryable |= detail.Is(error_details_pb2.RetryInfo.DESCRIPTOR)
    more = info.metadata
    cause = Position(int(more["cause_queue"]), int(more["cause_value"])) if "cause_queue" in more else None
    return Error(status.code, status.message, reason=info.reason, field=more.get("field", ""), cause=cause,
                 limit=more.get("limit", ""), limit_value=int(more.get("limit_value", 0)),
                 limit_used=int(more.get("limit_used", 0)), hang_report=more.get("hang_report", ""), retryable=retryable,
                 execution_state=execution_state)


def from_grpc(failure: grpc.RpcError, address: str, welcomed: bool) -> Error:
    """The exception for a call that has ended, with the details the daemon sent."""
    for key, value in failure.trailing_metadata() or ():
        if key == "grpc-status-details-bin":
            return from_proto(status_pb2.Status.FromString(value))
    code = failure.code().value[0]
    if code == Code.UNAVAILABLE and welcomed:
        return Error(code, f"the connection to the daemon at {address} was lost; the session and what it had on the card "
                     "are gone", reason="CONNECTION_LOST", retryable=True)
    if code == Code.UNAVAILABLE:
        denied, message = unix_socket.failure(address, failure.details() or "")
        return Error(Code.PERMISSION_DENIED if denied else code, message, reason="UNREACHABLE", retryable=not denied)
    return Error(code, failure.details() or "the call has ended")
