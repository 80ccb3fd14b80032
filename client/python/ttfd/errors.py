"""The one exception of the package."""

from __future__ import annotations

import dataclasses
from ttfd._native import Code, ExecutionState
from ttfd.types import Position


@dataclasses.dataclass(eq=False, repr=False)
class Error(Exception):
    """What went wrong, as the daemon or the package says it.

    code: a `Code`. message: a sentence for a person. reason: stable, for a program (INVALID, LIMIT, UNKNOWN_HANDLE,
    KERNEL_REFUSED, DEVICE_FAULT, ...). field: the offending field of the request. cause: the `Position` of the first cause
    if this error only follows from another, else None. limit, limit_value, limit_used: the limit that was met.
    hang_report: id of the report that explains a hang. retryable: the same command may succeed when sent again.
    execution_state: of a command, an `ExecutionState`.
    """

    code: Code
    message: str
    _: dataclasses.KW_ONLY
    reason: str = ""
    field: str = ""
    cause: Position | None = None
    limit: str = ""
    limit_value: int = 0
    limit_used: int = 0
    hang_report: str = ""
    retryable: bool = False
    execution_state: ExecutionState = ExecutionState.UNSPECIFIED

    def __post_init__(self) -> None:
        self.code = Code(self.code) if self.code in list(Code) else Code.UNKNOWN
        self.execution_state = ExecutionState(self.execution_state)
        super().__init__(self.message)

    def __str__(self) -> str:
        details = [self.reason] if self.reason else []
        if self.field:
            details.append(f"field {self.field}")
        if self.limit:
            details.append(f"limit {self.limit} = {self.limit_value}, {self.limit_used} used")
        if self.cause:
            details.append(f"caused by command {self.cause.value} of queue {self.cause.queue}")
        return f"{self.code.name}: {self.message}" + (f" [{', '.join(details)}]" if details else "")
