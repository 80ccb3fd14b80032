"""The one exception of the package."""

from __future__ import annotations

import enum

import grpc

from ttfd.types import Position
from ttfd.v1 import types_pb2


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


class Error(Exception):
    """What went wrong, as the daemon or the package says it.

    code: a `Code`. message: a sentence for a person. reason: stable, for a program (INVALID, LIMIT, UNKNOWN_HANDLE,
    KERNEL_REFUSED, DEVICE_FAULT, ...). field: the offending field of the request. cause: the `Position` of the first cause
    if this error only follows from another, else None. limit, limit_value, limit_used: the limit that was met.
    hang_report: id of the report that explains a hang. retryable: the same command may succeed when sent again.
    """

    def __init__(self, code: int, message: str, *, reason: str = "", field: str = "", cause: Position | None = None,
                 limit: str = "", limit_value: int = 0, limit_used: int = 0, hang_report: str = "",
                 retryable: bool = False) -> None:
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
        details = [reason] if reason else []
        if field:
            details.append(f"field {field}")
        if limit:
            details.append(f"limit {limit} = {limit_value}, {limit_used} used")
        if cause:
            details.append(f"caused by command {cause.value} of queue {cause.queue}")
        super().__init__(f"{self.code.name}: {message}" + (f" [{', '.join(details)}]" if details else ""))


def from_proto(error: types_pb2.Error) -> Error:
    """The exception for an error message of the API."""
    cause = Position(error.cause.queue, error.cause.value) if error.cause.value else None
    return Error(error.code, error.message, reason=error.reason, field=error.field, cause=cause, limit=error.limit,
                 limit_value=error.limit_value, limit_used=error.limit_used, hang_report=error.hang_report,
                 retryable=error.retryable)


def from_grpc(failure: grpc.RpcError, address: str, welcomed: bool) -> Error:
    """The exception for a call that has ended, with what the daemon put into its trailer."""
    for key, value in failure.trailing_metadata() or ():
        if key == "ttfd-error-bin":
            return from_proto(types_pb2.Error.FromString(value))
    code = failure.code().value[0]
    if code == Code.UNAVAILABLE and welcomed:
        return Error(code, f"the connection to the daemon at {address} was lost; the session and what it had on the card "
                     "are gone", reason="CONNECTION_LOST", retryable=True)
    if code == Code.UNAVAILABLE:
        return Error(code, f"no ttfd daemon answers at {address} ({failure.details()})", reason="UNREACHABLE",
                     retryable=True)
    return Error(code, failure.details() or "the call has ended")
