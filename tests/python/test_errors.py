"""The Python client's promises about errors: whole, in time, and confined to who made them."""

import numpy as np
import pytest

import ttfd
from conftest import KERNELS


def refusal(call, *arguments, **named):
    """The error that a call ends with."""
    with pytest.raises(ttfd.Error) as caught:
        call(*arguments, **named)
    assert len(caught.value.message) > 10
    return caught.value


def test_nobody_at_the_address():
    error = refusal(ttfd.connect, "/nonexistent/ttfd.sock")
    assert (error.code, error.reason) == (ttfd.Code.UNAVAILABLE, "UNREACHABLE")
    assert "/nonexistent/ttfd.sock" in error.message


def test_bad_input_is_refused_with_its_field_and_the_session_goes_on(session):
    buffer = session.allocate_dram(4096)
    words = np.zeros(16, np.uint32)
    cases = [
        (lambda: session.allocate_dram(0), "allocate.size_bytes"),
        (lambda: session.allocate_dram(64, page_bytes=0), "allocate.page_bytes"),
        (lambda: session.allocate_dram(64, bank=99), "allocate.dram_bank"),
        (lambda: buffer.write(words, 3), "write.offset"),
        (lambda: buffer.write(words, 4090), "write."),
        (lambda: buffer.read(np.uint8, 5000), "read."),
        (lambda: session.create_program([]), "create_program.kernels"),
    ]
    for call, field in cases:
        error = refusal(call)
        assert error.code == ttfd.Code.INVALID_ARGUMENT
        assert error.reason == "INVALID"
        assert error.field.startswith(field)
        buffer.write(words)


def test_limits_are_named(session):
    error = refusal(session.allocate_dram, 1 << 50)
    assert error.code == ttfd.Code.RESOURCE_EXHAUSTED
    assert error.limit and error.limit_value > 0


def test_a_kernel_that_is_none_is_refused(session):
    assert refusal(session.load_kernel, b"not an ELF file").reason == "KERNEL_REFUSED"
    assert refusal(session.load_kernel, "/nonexistent.elf").code == ttfd.Code.NOT_FOUND


def test_a_freed_buffer_is_unknown(session):
    buffer = session.allocate_dram(4096)
    handle = buffer.handle
    buffer.free()
    buffer.handle = handle
    error = refusal(buffer.write, np.zeros(16, np.uint32))
    buffer.handle = 0
    assert (error.code, error.reason) == (ttfd.Code.NOT_FOUND, "UNKNOWN_HANDLE")


def test_what_was_freed_is_refused_by_its_name(session):
    cores = [ttfd.CoreRange(0, 0, 0, 0)]
    buffer, kernel = session.allocate_dram(4096), session.load_kernel(KERNELS / "empty.elf")
    l1 = session.allocate_l1(4096, cores=cores)
    program = session.create_program([ttfd.KernelUse(kernel, ttfd.BRISC, cores)])
    trace = session.queue.record_trace([ttfd.Launch(program)])
    for resource in (buffer, kernel, l1, trace):
        resource.free()
    launch = lambda **more: session.queue.launch(program, **more)
    for line, call in (
            ("read.buffer: the buffer was freed", lambda: buffer.read(np.uint32)),
            ("write.buffer: the buffer was freed", lambda: buffer.write(np.zeros(4, np.uint32))),
            ("arguments.common[1]: the buffer was freed", lambda: launch(arguments=[ttfd.Arguments(common=[1, buffer])])),
            ("replay_trace.trace: the trace was freed", lambda: session.queue.replay(trace)),
            ("create_program.kernels[0].kernel: the kernel was freed",
             lambda: session.create_program([ttfd.KernelUse(kernel, ttfd.BRISC, cores)])),
            ("create_program.circular_buffers[0].buffer: the buffer was freed",
             lambda: session.create_program([ttfd.KernelUse(session.load_kernel(KERNELS / "empty.elf"), ttfd.BRISC, cores)],
                                            [ttfd.CircularBuffer(0, 1, 64, cores, buffer=l1)])),
            ("launch.program: the program was freed", lambda: (program.free(), launch()))):
        error = refusal(call)
        assert (error.code, error.reason, error.message) == (ttfd.Code.INVALID_ARGUMENT, "INVALID", line)


def test_another_sessions_buffer_is_unknown(session, daemon):
    with ttfd.connect(daemon.address) as other:
        theirs = [other.allocate_dram(64) for _ in range(20)][-1]
        assert refusal(session.queue.write, theirs, np.zeros(16, np.uint32)).reason == "UNKNOWN_HANDLE"
        theirs.write(np.zeros(16, np.uint32))


def test_wrong_arguments_are_refused(session):
    kernel = session.load_kernel(KERNELS / "empty.elf")
    x = session.device.grid_x
    error = refusal(session.create_program, [ttfd.KernelUse(kernel, ttfd.BRISC, [ttfd.CoreRange(0, 0, x, 0)])])
    assert str(x - 1) in error.message
    program = session.create_program([ttfd.KernelUse(kernel, ttfd.BRISC, [ttfd.CoreRange(0, 0, 1, 0)])])
    assert refusal(session.launch, program, [ttfd.Arguments(kernel=1)]).field == "arguments.kernel"
    assert refusal(session.launch, program, [ttfd.Arguments(per_core=np.zeros((3, 1)))]).code == 3
    assert refusal(session.launch, program, [ttfd.Arguments(per_core=np.zeros(3))]).field == "arguments.per_core"
    assert refusal(session.launch, program, [ttfd.Arguments(common=[0] * 100_000)]).code == 3
    session.launch(program)


def test_an_enqueued_error_fails_its_queue_until_it_is_cleared(session):
    buffer = session.allocate_dram(4096)
    queue = session.queue
    bad = queue.enqueue_write(buffer, np.zeros(16, np.uint32), 1)
    after = queue.enqueue_barrier()
    assert refusal(queue.wait, bad).code == ttfd.Code.INVALID_ARGUMENT
    aborted = refusal(queue.wait, after)
    assert (aborted.code, aborted.cause) == (ttfd.Code.ABORTED, bad)
    assert queue.error is not None
    queue.clear_error()
    queue.wait(queue.enqueue_barrier())
    assert queue.error is None


def test_a_killed_daemon_is_a_clear_error(own_daemon):
    session = ttfd.connect(own_daemon.address, reconnect_for=0.3)
    own_daemon.process.kill()
    own_daemon.process.wait()
    error = refusal(lambda: session.queue.wait(session.queue.enqueue_barrier()))
    assert (error.code, error.reason) == (ttfd.Code.UNAVAILABLE, "CONNECTION_LOST")
    assert refusal(session.allocate_dram, 64).code == ttfd.Code.UNAVAILABLE


def test_leaving_by_an_exception_frees_the_session_at_once(own_daemon):
    with pytest.raises(KeyError):
        with ttfd.connect(own_daemon.address) as session:
            session.allocate_dram(1 << 20)
            raise KeyError
    with ttfd.connect(own_daemon.address):
        listed = own_daemon.ctl("sessions", "list", "--json").stdout
        assert listed.count('"session":') <= 2
