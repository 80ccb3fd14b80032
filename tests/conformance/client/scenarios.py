"""What a client library must cope with, one case each. The runner lists them: run.py --list.

A scenario is a script for the fake daemon (fake_daemon.Script), the parameters it is run with, and what the client must
report (run.py has the job and the report).
"""

from __future__ import annotations

import dataclasses
from typing import Any, Callable

import disturbances as other
import losses
from fake_daemon import Script
from replies import Code

OK = {"outcome": "ok"}
Points = Callable[[dict[str, int]], list[dict[str, int]]]


@dataclasses.dataclass(frozen=True)
class Scenario:
    """`points`: parameters of one run each, given what a run without disturbance counted."""

    script: Callable[..., Script]
    expect: dict[str, Any] = dataclasses.field(default_factory=lambda: OK)
    points: Points = lambda counts: [{}]
    options: tuple[str, ...] = ()  # of the job
    reconnect_ms: int = 20_000
    least: dict[str, int] = dataclasses.field(default_factory=dict)  # counts of the daemon, at least
    ends: bool = True  # the session must be over when the client has ended


def error(code: str, reason: str, **more: Any) -> dict[str, Any]:
    """The report of a job that ended with an error; "": any."""
    return {"outcome": "error", "code": code, "reason": reason} | more


def at(number: int) -> Points:
    """One run."""
    return lambda counts: [{"at": number}]


def every(count: str, most: int = 40) -> Points:
    """A run for each number up to three quarters of what was counted, evenly thinned out to `most`.

    A client that has less time puts the same into fewer messages: it would not get to the last.
    """

    def points(counts: dict[str, int]) -> list[dict[str, int]]:
        last = max(1, counts[count] * 3 // 4)
        return [{"at": number} for number in range(1, last + 1, max(1, last // most))]

    return points


def byte_points(counts: dict[str, int]) -> list[dict[str, int]]:
    """Pseudo-random places in the first three quarters, the same in every run."""
    state, points = 12345, []
    for _ in range(24):
        state = (state * 1103515245 + 12345) % 2**31
        way = "up" if state >> 16 & 1 else "down"
        points.append({way: 60 + (state >> 8) % max(1, counts[f"{way}_bytes"] * 3 // 4 - 60)})
    return points


RESUMES = {"resumes": 1}
SCENARIOS = {
    "undisturbed": Scenario(Script),
    "not-resumable": Scenario(Script, reconnect_ms=0),
    "leave": Scenario(Script, options=("leave",)),
    # connections that are lost
    "cut-after-received": Scenario(losses.CutReceived, points=every("messages"), least=RESUMES),
    "cut-after-sent": Scenario(losses.CutSent, points=every("sent"), least=RESUMES),
    "cut-at-byte": Scenario(losses.CutBytes, points=byte_points, least=RESUMES),
    "cut-often": Scenario(losses.CutOften, least={"resumes": 2}),
    "cut-at-welcome": Scenario(losses.CutWelcome, points=at(4), least={"resumes": 2}),
    "cut-after-silence": Scenario(losses.CutAfterSilence, points=at(4), reconnect_ms=1000, least=RESUMES),
    "cut-twice": Scenario(losses.CutTwice, points=at(4), reconnect_ms=1000, least={"resumes": 2}),
    "cut-without-reconnect": Scenario(losses.CutReceived, error("UNAVAILABLE", ""), points=at(4), reconnect_ms=0, ends=False),
    "lost-input": Scenario(losses.LostInput, points=at(2), least={"resumes": 1, "unaccepted": 1}),
    "lost-finish": Scenario(losses.LostFinish, least=RESUMES),
    "no-acks-then-cut": Scenario(losses.NoAcks, points=every("messages", 5), least=RESUMES),
    "old-messages-after-resume": Scenario(losses.OldMessages, points=lambda counts: [{"at": counts["messages"] - 2}], least=RESUMES),
    "old-windows-after-resume": Scenario(other.OldWindows, error("CANCELLED", "CANCELLED"), options=("cancel",), least=RESUMES),
    "resume-refused-at-first": Scenario(losses.RefusedOnce, points=at(4), least=RESUMES),
    # sessions that are gone
    "session-lost": Scenario(losses.LostWhileAway, error("", "SESSION_LOST"), points=at(4), ends=False),
    "terminated": Scenario(losses.ends(Code.ABORTED, "an administrator terminated the session: test", "CANCELLED"),
                           error("ABORTED", "CANCELLED"), points=at(4)),
    "drained": Scenario(losses.ends(Code.UNAVAILABLE, "the daemon is shutting down", "DRAINING", retry=True),
                        error("UNAVAILABLE", "DRAINING", retryable=True), points=at(4)),
    "device-reset": Scenario(losses.ends(Code.UNAVAILABLE, "the card was reset", "DEVICE_RESET", retry=True),
                             error("UNAVAILABLE", "DEVICE_RESET", retryable=True), points=at(4)),
    "lease-ended": Scenario(losses.ends(Code.ABORTED, "the lease has ended", "LEASE_ENDED"), error("ABORTED", "LEASE_ENDED"),
                            points=at(4)),
    "resumed-elsewhere": Scenario(losses.ResumedElsewhere, error("ABORTED", "CANCELLED"), points=at(4), ends=False),
    # messages
    "duplicates": Scenario(other.Duplicates),
    "gap": Scenario(other.Gap, error("INTERNAL", ""), points=at(3), ends=False),
    "ack-of-unsent": Scenario(other.AckTooMuch, error("INTERNAL", ""), ends=False),
    "unknown-fields": Scenario(other.Unknown),
    "old-progress": Scenario(other.OldProgress),
    "acks-alone": Scenario(other.AcksAlone),
    "small-window": Scenario(other.SmallWindow),
    "late-window": Scenario(other.LateWindow),
    "small-unacknowledged": Scenario(other.SmallUnacknowledged),
    # refusals and errors
    "hello-denied": Scenario(other.refuse(Code.PERMISSION_DENIED, "role submit is required", "PERMISSION_DENIED"),
                             error("PERMISSION_DENIED", "PERMISSION_DENIED", retryable=False)),
    "hello-over-limit": Scenario(
        other.refuse(Code.RESOURCE_EXHAUSTED, "too many sessions", "LIMIT", limit="sessions_per_user", limit_value="16",
                     limit_used="16", field="hello"),
        error("RESOURCE_EXHAUSTED", "LIMIT", limit="sessions_per_user", limit_value=16, limit_used=16, field="hello")),
    "hello-revision": Scenario(other.refuse(Code.FAILED_PRECONDITION, "revision 1 is not spoken", "UNSUPPORTED"),
                               error("FAILED_PRECONDITION", "UNSUPPORTED")),
    "hello-while-draining": Scenario(other.refuse(Code.UNAVAILABLE, "the daemon is draining", "DRAINING"),
                                     error("UNAVAILABLE", "DRAINING")),
    "queue-refused": Scenario(other.QueueRefused, error("RESOURCE_EXHAUSTED", "LIMIT", limit="queues", limit_value=1),
                              options=("leave",)),
    "command-fails": Scenario(other.CommandFails, error(
        "RESOURCE_EXHAUSTED", "LIMIT", field="write.size", limit="transfer_bytes", limit_value=4096, limit_used=17,
        hang_report="20260101T000000Z-000001", retryable=True, execution_state="NOT_STARTED"), options=("leave",)),
    "streamed-write-fails": Scenario(other.StreamFails, error("INVALID_ARGUMENT", "INVALID", field="write.size"), options=("leave",)),
    "cancel": Scenario(other.Cancels, error("CANCELLED", "CANCELLED", execution_state="NOT_STARTED"), options=("cancel",),
                       least={"cancels": 1}),
    "prints": Scenario(other.Prints),
    # leases
    "lease": Scenario(other.LeaseWaits, options=("lease",)),
    "lease-times-out": Scenario(other.LeaseTimesOut, error("DEADLINE_EXCEEDED", "DEADLINE"), options=("lease",)),
    "lease-cut-while-waiting": Scenario(other.LeaseCutWaiting, {"outcome": "error"}, options=("lease",), ends=False),
    "lease-cut": Scenario(other.LeaseCut, points=at(4), options=("lease",), least=RESUMES),
    "lease-joined": Scenario(other.LeaseJoined, points=at(4), options=("lease-token",), least=RESUMES),
}
