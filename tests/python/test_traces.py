"""The Python client's promises about traces and queues of a kind."""


import numpy as np
import pytest

import ttfd
from conftest import BUILD, KERNELS, join, start_thread
from test_errors import refusal

PAGE_BYTES = 64
CORES = [ttfd.CoreRange(2, 1, 5, 4)]
TILES = 16


class Counters:
    """A kernel that adds a number to the first word of a page, one page a tile."""

    def __init__(self, session):
        self.pages = session.allocate_dram(TILES * PAGE_BYTES, PAGE_BYTES)
        kernel = session.load_kernel(BUILD / "tests/dispatch_kernels/bump_brisc.elf")
        self.program = session.create_program([ttfd.KernelUse(kernel, ttfd.BRISC, CORES)])

    def arguments(self, value, padding=0):
        """What makes a launch add `value`; `padding`: words that nobody looks at."""
        return ttfd.Arguments(common=[self.pages, PAGE_BYTES, value, 0] + [0] * padding,
                              per_core=np.arange(TILES).reshape(TILES, 1))

    def add(self, value, padding=0):
        """A launch that adds `value`."""
        return ttfd.Launch(self.program, [self.arguments(value, padding)])

    def value(self):
        """What every tile has counted."""
        words = self.pages.read(np.uint32, (TILES, PAGE_BYTES // 4))[:, 0]
        assert len(set(words.tolist())) == 1
        return int(words[0])


@pytest.fixture
def counters(session):
    """Counters of the session of the test."""
    return Counters(session)


def test_a_trace_replays_with_patches_that_hold(session, counters):
    queue = session.queue
    with queue.record_trace([counters.add(1), counters.add(10)]) as trace:
        assert trace.launches == 2 and counters.value() == 0
        queue.replay(trace)
        queue.enqueue_replay(trace, [ttfd.Patch(1, counters.arguments(1000))])
        queue.replay(trace)
        assert counters.value() == 11 + 1001 + 1001


def test_a_replay_after_the_release_is_refused(session, counters):
    trace = session.queue.record_trace([counters.add(1)])
    handle = trace.handle
    trace.free()
    trace.handle = handle
    error = refusal(session.queue.replay, trace)
    trace.handle = 0
    assert (error.code, error.reason, error.field) == (ttfd.Code.NOT_FOUND, "UNKNOWN_HANDLE", "replay_trace.trace")
    session.queue.replay(session.queue.record_trace([counters.add(2)]))
    assert counters.value() == 2


def test_a_long_trace_is_recorded_in_pieces(session, counters):
    launches = [counters.add(index, 200) for index in range(800)]
    session.queue.replay(session.queue.record_trace(launches))
    assert counters.value() == 800 * 799 // 2


def test_threads_that_record_on_one_queue_do_not_mix_their_traces(session, counters):
    failures = []

    def record(value):
        try:
            for _ in range(3):
                trace = session.queue.record_trace([counters.add(value, 200)] * 400)
                assert trace.launches == 400
                session.queue.replay(trace)
        except BaseException as failure:  # pylint: disable=broad-except
            failures.append(failure)

    join(*[start_thread(record, value) for value in (1, 100)])
    assert not failures
    assert counters.value() == 3 * 400 * 101


def test_refusals_name_the_launch_or_the_patch(session, counters):
    queue = session.queue
    assert refusal(queue.record_trace, []).field == "record_trace.launches"
    bad = ttfd.Launch(counters.program, [ttfd.Arguments(per_core=np.zeros((3, 1), np.uint32))])
    error = refusal(queue.record_trace, [counters.add(1), bad])
    assert error.field.startswith("record_trace.launches[1].arguments[0].per_core")
    trace = queue.record_trace([counters.add(1)])
    assert refusal(queue.replay, trace, [ttfd.Patch(1, counters.arguments(1))]).field == "replay_trace.patches[0].launch"
    error = refusal(queue.replay, trace, [ttfd.Patch(0, counters.arguments(1, padding=1))])
    assert (error.reason, error.field) == ("INVALID", "replay_trace.patches[0].arguments")
    queue.replay(trace)
    assert counters.value() == 1


def test_a_launch_outside_of_its_queues_workers_is_refused(session):
    queue = session.open_queue(workers=[ttfd.CoreRange(0, 0, 5, 9)])
    kernel = session.load_kernel(KERNELS / "empty.elf")
    program = session.create_program([ttfd.KernelUse(kernel, ttfd.BRISC, [ttfd.CoreRange(5, 3, 6, 3)])])
    error = refusal(queue.launch, program)
    assert (error.reason, error.field) == ("INVALID", "launch.program")
    assert "(6,3)" in error.message
    session.launch(program)
