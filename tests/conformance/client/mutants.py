#!/usr/bin/python3
"""Clients with one mistake each, which the conformance suite must find: mutants.py runs them all.

A mutant is the Python client of client/examples with a method changed. MUTANTS says which scenario finds it, and by what
complaint; only that scenario is run. `mutants.py serve` is the driver: the class of a mutant is a further word of its job.
"""

from __future__ import annotations

import concurrent.futures
import dataclasses
import os
import sys
import time
from typing import Any

import grpc

import run
from raw_driver import Session, serve

HANG_S = 4.0  # for a client that waits for ever
HANGS = f"did not end within {HANG_S:g} s"


class NeverAcknowledges(Session):
    """Results come only as far as the daemon sends ahead."""

    def _acknowledge(self) -> None:
        pass


class TakesDuplicates(Session):
    """A message that comes again counts again."""

    def _take(self, message: Any) -> None:
        received = self.received
        if message.sequence:
            self.received = message.sequence - 1
        super()._take(message)
        self.received = max(self.received, received)


class IgnoresGaps(Session):
    """A message may be missing."""

    def _check(self, message: Any) -> None:
        pass


class IgnoresAcks(Session):
    """The daemon may acknowledge what was not sent."""

    def _check(self, message: Any) -> None:
        if message.sequence > self.received + 1:
            super()._check(message)


class ResendsNothing(Session):
    """What the daemon has not accepted is gone with the connection."""

    def _take_welcome(self, welcome: Any) -> None:
        self.kept.clear()
        super()._take_welcome(welcome)


class ResendsTooMuch(Session):
    """What Welcome.received covers is sent again."""

    def _take_welcome(self, welcome: Any) -> None:
        welcome.received = 0
        super()._take_welcome(welcome)


class ResendsWithNewAck(Session):
    """A message that is resent is made anew."""

    def _take_welcome(self, welcome: Any) -> None:
        for index, (sequence, encoded) in enumerate(self.kept):
            message = self.pb.ClientMessage.FromString(encoded)
            message.ack = self.received
            self.kept[index] = (sequence, message.SerializeToString())
        super()._take_welcome(welcome)


class LeavesByClosing(Session):
    """The connection is closed in place of Leave."""

    def send(self, **fields: Any) -> None:
        if "leave" not in fields:
            super().send(**fields)
        else:
            self.close()


class ClosesWithoutFinish(Session):
    """The connection is closed in place of Finish."""

    def finish(self) -> None:
        self.close()


class IgnoresWindow(Session):
    """Everything is sent at once."""

    def _open_window(self, window: int) -> None:
        self.window = 1 << 62


class ShrinksWindow(Session):
    """The window is the one that came last."""

    def _open_window(self, window: int) -> None:
        self.window = window or self.window


class ChargesNoCommands(Session):
    """Only bytes are charged."""

    def charge(self, message: Any, encoded_bytes: int) -> int:
        return encoded_bytes if message.batches or message.data else 0


class ChargesNoData(Session):
    """Payload is not charged."""

    def charge(self, message: Any, encoded_bytes: int) -> int:
        return super().charge(message, encoded_bytes) if message.batches else 0


class KeepsFirstToken(Session):
    """The token of the first Welcome is used for every resume."""

    def _take_welcome(self, welcome: Any) -> None:
        welcome.token = self.welcome.token if self.welcome is not None else welcome.token
        super()._take_welcome(welcome)


class ResumesFromZero(Session):
    """A resume says that nothing was received."""

    def _resume(self) -> Any:
        self.received, received = 0, self.received
        resume = super()._resume()
        self.received = received
        return resume


class ProgressGoesBack(Session):
    """The newest progress counts, not the greatest."""

    def _take(self, message: Any) -> None:
        super()._take(message)
        for position in message.progress:
            self.completed[position.queue] = position.value


class ResumesEnded(Session):
    """UNAVAILABLE is taken for a lost connection, whatever the daemon says."""

    def _resumable(self, end: grpc.RpcError) -> bool:
        return end.code() == grpc.StatusCode.UNAVAILABLE


class ResumesAborted(Session):
    """ABORTED is taken for a lost connection."""

    def _resumable(self, end: grpc.RpcError) -> bool:
        return super()._resumable(end) or end.code() == grpc.StatusCode.ABORTED


class CountsFromLastMessage(Session):
    """The reconnect timeout counts from when the client began to wait for a message."""

    def receive(self) -> bool:
        self.lost_at = time.monotonic()
        return super().receive()


class CountsFromFirstLoss(Session):
    """The reconnect timeout counts from the first loss, though the session was resumed since."""

    def _take_welcome(self, welcome: Any) -> None:
        lost_at = self.lost_at
        super()._take_welcome(welcome)
        self.lost_at = lost_at


class KeepsLeaseToken(Session):
    """The lease's token remains in Hello, and takes the place of the resume."""

    def _open(self) -> None:
        if self.welcome is not None:
            self.hello.lease_token = bytes.fromhex("1ea5e0")
        super()._open()


# The scenario and the complaint by which each is found.
MUTANTS: list[tuple[type[Session], str, str]] = [
    (NeverAcknowledges, "small-unacknowledged", HANGS),
    (TakesDuplicates, "duplicates", "wrong bytes"),
    (IgnoresGaps, "gap", "the client reports"),
    (IgnoresAcks, "ack-of-unsent", "the client reports"),
    (ResendsNothing, "lost-input", HANGS),
    (ResendsTooMuch, "cut-after-received", "which Welcome.received has covered"),
    (ResendsWithNewAck, "lost-input", "was changed when it was resent"),
    (LeavesByClosing, "leave", "its session has not"),
    (ClosesWithoutFinish, "undisturbed", "its session has not"),
    (IgnoresWindow, "small-window", "bytes of the window were sent"),
    (IgnoresWindow, "late-window", "bytes of the window were sent"),
    (ShrinksWindow, "old-windows-after-resume", HANGS),
    (ChargesNoCommands, "small-window", "bytes of the window were sent"),
    (ChargesNoData, "small-window", "bytes of the window were sent"),
    (KeepsFirstToken, "cut-often", "SESSION_LOST"),
    (KeepsFirstToken, "cut-twice", "SESSION_LOST"),
    (ResumesFromZero, "old-windows-after-resume", "the client has received 0 messages"),
    (ProgressGoesBack, "old-progress", HANGS),
    (ResumesEnded, "drained", "that the daemon has ended"),
    (ResumesAborted, "resumed-elsewhere", "that the daemon has ended"),
    (CountsFromLastMessage, "cut-after-silence", "the client reports"),
    (CountsFromFirstLoss, "cut-twice", "the client reports"),
    (KeepsLeaseToken, "lease-joined", "a second session was opened"),
]


def check(mutant: type[Session], name: str, complaint: str, drivers: run.Pool) -> str:
    """Why the mutant is not found; empty: it is."""
    from scenarios import SCENARIOS  # pylint: disable=import-outside-toplevel

    scenario = SCENARIOS[name]
    scenario = dataclasses.replace(scenario, options=(*scenario.options, mutant.__name__))
    numbers = scenario.points({"messages": 5, "sent": 5})[-1]
    wrong, _ = run.run_once(scenario, drivers, numbers, HANG_S if complaint == HANGS else run.RUN_S, end_s=0.5)
    if any(complaint in one for one in wrong):
        return ""
    return f"{mutant.__name__} is not found by {name}: {complaint!r} is not in {wrong}"


def main() -> int:
    if sys.argv[1:] == ["serve"]:
        classes = {mutant.__name__: mutant for mutant, _, _ in MUTANTS}
        return serve(lambda words: classes[words[-1]])
    drivers = run.Pool([sys.executable, "-B", __file__, "serve"], 4)
    try:
        with concurrent.futures.ThreadPoolExecutor(drivers.size) as pool:
            missed = [why for why in pool.map(lambda row: check(*row, drivers), MUTANTS) if why]
    finally:
        drivers.close()
    print(*missed, f"mutants: {len(MUTANTS) - len(missed)} found, {len(missed)} not", sep="\n")
    return 1 if missed else 0


if __name__ == "__main__":
    os.environ["GRPC_ENABLE_FORK_SUPPORT"] = "0"
    status = main()
    sys.stdout.flush()
    os._exit(status)  # threads of calls may still wait
