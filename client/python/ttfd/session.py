"""Sessions and queues."""

from __future__ import annotations

import hashlib
import os
import pathlib
from typing import Callable, Mapping, Sequence

import numpy as np
import numpy.typing as npt

from ttfd import check, words
from ttfd.channel import check_tls, resolve_address
from ttfd.connection import CONTROL_QUEUE, FIRST_USER_QUEUE, Connection
from ttfd.cores import add_ranges
from ttfd.errors import Code, Error, errors_name
from ttfd.messages import fill_launch, fill_program, fill_replay, record_commands
from ttfd.resources import Buffer, ComputeKernel, Kernel, Program, Trace
from ttfd.types import (
    BACKENDS,
    PRIORITIES,
    Arguments,
    CircularBuffer,
    ComputeUse,
    Cores,
    Device,
    KernelPrint,
    KernelUse,
    Launch,
    Lease,
    LeaseWait,
    Limits,
    Patch,
    Position,
    Semaphore,
)
from ttfd.v1 import ttfd_pb2


def connect(address: str | os.PathLike[str] | None = None, *, client_name: str = "", weight: int = 0, priority: str = "normal",
            connect_timeout: float = 10.0, call_timeout: float = 60.0, batch_commands: int = 64,
            tls: Mapping[str, str] | None = None, lease: Lease | None = None, lease_token: str | None = None,
            on_waiting: Callable[[LeaseWait], None] | None = None, reconnect_for: float = 20.0) -> Session:
    """Opens a session.

    address: gRPC address or path of a unix socket; None: the environment variable TTFD_ADDRESS, else
    "unix:/run/ttfd/ttfd.sock". Any other address is TCP and needs certificates: `tls` has paths of PEM files as "ca",
    "certificate" and "key", and "server_name" where that is not the host; what is missing comes from TTFD_TLS_CA,
    TTFD_TLS_CERTIFICATE, TTFD_TLS_KEY and TTFD_TLS_SERVER_NAME. A daemon that is silent for `tls["keepalive_ms"]`
    (30,000) is asked, and after as long without an answer the connection is lost. Timeouts in seconds; `call_timeout` bounds every
    blocking call. `weight` is the share of a contended card among the user's sessions, `priority` ("low", "normal",
    "high") divides or multiplies it by eight; what is allowed is in `Session.limits`. Raises Error with reason UNREACHABLE when
    no daemon answers: code UNAVAILABLE, or PERMISSION_DENIED where the socket is not open to this user.

    lease: asks for the card, or some tiles, for this session alone, and returns when it has it. lease_token: works under
    the lease of which another session's `lease_token` told this; None, and without `lease`: the environment variable
    TTFD_LEASE, as `ttfdctl lease` sets it. on_waiting: told how it stands while a lease is waited for, on the session's
    own thread.

    reconnect_for: so long a session whose connection was lost is sought again, and goes on where it was. What cannot be
    resumed raises UNAVAILABLE (reason SESSION_LOST, CONNECTION_LOST or DRAINING) with what is gone; the next call that
    creates something opens a new session in place of it, unless that had a lease. 0: a lost connection ends the session.
    """
    target = resolve_address(address)
    check_tls(tls)
    check.seconds(connect_timeout, "connect_timeout")
    check.seconds(call_timeout, "call_timeout")
    check.integer(batch_commands, "batch_commands")
    check.callback(on_waiting, "on_waiting")

    def opened(grace: float, first_handle: int = 1) -> Connection:
        while True:
            try:
                return Connection(target, client_name, weight, priority, connect_timeout, call_timeout,
                                  batch_commands, tls, lease, lease_token, on_waiting, grace, first_handle)
            except Error as error:
                if error.field != "hello.reconnect_timeout_ms" or grace == 0:
                    raise
                grace = grace / 4 if grace >= 4 else 0  # the daemon allows less

    again = None if lease is not None else lambda handle: opened(reconnect_for, handle)
    return Session(opened(check.seconds(reconnect_for, "reconnect_for")), again)


def _allocation(size_bytes: int, page_bytes: int) -> ttfd_pb2.Allocate:
    return ttfd_pb2.Allocate(size_bytes=check.integer(size_bytes, "allocate.size_bytes", check.LARGEST),
                             page_bytes=check.integer(page_bytes, "allocate.page_bytes"))


def _read_file(path: str) -> bytes:
    try:
        return pathlib.Path(path).read_bytes()
    except OSError as failure:
        raise Error(Code.NOT_FOUND, f"cannot read the kernel file {path}: {failure.strerror}") from failure


def _values(message) -> dict[str, object]:
    """Every field by its name; None: an optional one that is not set."""
    return {field.name: None if field.has_presence and not message.HasField(field.name) else getattr(message, field.name)
            for field in message.DESCRIPTOR.fields}


class Queue:
    """An ordered stream of commands of a session; queues are independent of each other, but for `after`.

    Every command has a blocking form, which raises what went wrong, and an `enqueue_` form, which returns its `Position` at
    once. The first error of an enqueued command fails the queue: what follows ends ABORTED, unexecuted, until `clear_error`.
    A blocking form that raises leaves the queue open again. Enqueued commands leave when `batch_commands` have gathered,
    at `flush`, and whenever something waits.
    """

    def __init__(self, session: Session, queue_id: int) -> None:
        self._session = session
        self._connection = session._connection
        self.id = queue_id

    def __repr__(self) -> str:
        return f"<ttfd.Queue {self.id}: {self.completed} of {self.submitted} commands completed>"

    def enqueue_write(self, buffer: Buffer, array: npt.ArrayLike, offset: int = 0) -> Position:
        """Like `write`; returns when the bytes have been taken."""
        payload = check.payload(array, "write.array")
        command = ttfd_pb2.Command()
        command.write.buffer = check.one(buffer, Buffer, "write.buffer").handle
        command.write.offset = check.integer(offset, "write.offset", check.LARGEST)
        command.write.size = len(payload)
        if len(payload) <= self._session.limits.inline_bytes:
            command.write.inline = bytes(payload)
            return self._connection.enqueue(self.id, command, payload=len(payload))
        command.write.streamed = True
        position = self._connection.enqueue(self.id, command)
        self._connection.supply(position, payload)
        return position

    def write(self, buffer: Buffer, array: npt.ArrayLike, offset: int = 0) -> None:
        """Copies an array's bytes (any shape, C order) to byte `offset` of the buffer."""
        self._connection.finish_call(self.enqueue_write(buffer, array, offset))

    def enqueue_read(self, buffer: Buffer, into: np.ndarray, offset: int = 0) -> Position:
        """Fills the C-contiguous array `into` by the time its position is done."""
        target = check.array_to_fill(into, "into")
        command = ttfd_pb2.Command()
        command.read.buffer = check.one(buffer, Buffer, "read.buffer").handle
        command.read.offset = check.integer(offset, "read.offset", check.LARGEST)
        command.read.size = target.nbytes
        return self._connection.enqueue(self.id, command, into=target)

    def read(self, buffer: Buffer, dtype: npt.DTypeLike = np.uint8, shape: int | tuple[int, ...] | None = None,
             offset: int = 0) -> np.ndarray:
        """A new array of `shape` from byte `offset` of the buffer; shape None: all that follows, one-dimensional."""
        kind = check.dtype(dtype)
        if shape is None:
            size = check.one(buffer, Buffer, "read.buffer").size_bytes - check.integer(offset, "read.offset", check.LARGEST)
            shape = max(0, size) // kind.itemsize
        array = check.empty_array(shape, kind)
        self._connection.finish_call(self.enqueue_read(buffer, array, offset))
        return array

    def fill(self, buffer: Buffer, word: int, offset: int = 0, size_bytes: int | None = None) -> None:
        """Sets every 32-bit word of a range (None: to the end) to `word`: an integer, or the bits of an np.float32."""
        command = ttfd_pb2.Command()
        command.fill.buffer = check.one(buffer, Buffer, "fill.buffer").handle
        command.fill.offset = check.integer(offset, "fill.offset", check.LARGEST)
        size = max(0, buffer.size_bytes - command.fill.offset) if size_bytes is None else size_bytes
        command.fill.size = check.integer(size, "fill.size", check.LARGEST)
        command.fill.word = words.word(word, "fill.word")
        self._connection.finish_call(self._connection.enqueue(self.id, command))

    def enqueue_launch(self, program: Program, arguments: Sequence[Arguments] = (), timeout: float = 0.0) -> Position:
        """Like `launch`, without waiting."""
        command = ttfd_pb2.Command()
        fill_launch(command.launch, Launch(program, arguments, timeout))
        return self._connection.enqueue(self.id, command, 64 + command.ByteSize())

    def launch(self, program: Program, arguments: Sequence[Arguments] = (), timeout: float = 0.0) -> None:
        """Runs a program and returns when every tile has finished and its writes have landed.

        timeout: seconds the launch may run, when shorter than the daemon's kernel timeout; 0: that one.
        """
        self._connection.finish_call(self.enqueue_launch(program, arguments, timeout))

    def record_trace(self, launches: Sequence[Launch]) -> Trace:
        """Lays out launches in device memory, to be replayed any number of times. Nothing runs yet.

        What was enqueued on this queue before is waited for.
        """
        steps = check.several(launches, Launch, "record_trace.launches")
        handle = self._connection.new_handle()
        self._connection.record(self.id, handle, record_commands(handle, steps))
        return Trace(self._session, handle, [step.program for step in steps])

    def enqueue_replay(self, trace: Trace, patches: Sequence[Patch] = ()) -> Position:
        """Like `replay`, without waiting."""
        command = ttfd_pb2.Command()
        fill_replay(command.replay_trace, trace, patches)
        return self._connection.enqueue(self.id, command, 64 + command.ByteSize())

    def replay(self, trace: Trace, patches: Sequence[Patch] = ()) -> None:
        """Runs the launches of a trace and returns when the last has finished. What is patched stays for later replays."""
        self._connection.finish_call(self.enqueue_replay(trace, patches))

    def enqueue_barrier(self) -> Position:
        """Nothing but a position: done when everything before it on this queue is done."""
        command = ttfd_pb2.Command()
        command.barrier.SetInParent()
        return self._connection.enqueue(self.id, command)

    def after(self, *positions: Position) -> None:
        """The next command of this queue starts only when these positions are done."""
        self._connection.after(self.id, [check.position(position, "positions") for position in positions])

    def flush(self) -> None:
        """Sends what has been enqueued."""
        self._connection.flush()

    def wait(self, position: Position, timeout: float | None = None) -> None:
        """Waits for a command; raises its error, or DEADLINE_EXCEEDED with reason WAIT after `timeout` seconds."""
        limit = None if timeout is None else check.seconds(timeout, "timeout")
        error = self._connection.wait(check.position(position, "position"), limit)
        if error is not None:
            raise error

    def finish(self) -> None:
        """Waits for everything enqueued so far."""
        self.wait(Position(self.id, self.submitted))

    @property
    def submitted(self) -> int:
        """Value of the last command enqueued."""
        return self._connection.submitted(self.id)

    @property
    def completed(self) -> int:
        """Value of the last command known to have ended."""
        return self._connection.completed(self.id)

    @property
    def error(self) -> Error | None:
        """What has failed the queue."""
        return self._connection.error(self.id)

    def clear_error(self) -> None:
        """Opens a failed queue again."""
        self._connection.clear_error(self.id)

    def cancel(self, from_value: int) -> None:
        """Commands from this value on that have not started end CANCELLED; started ones run out."""
        self._connection.cancel(Position(self.id, check.integer(from_value, "from_value", check.LARGEST)))


class Session:
    """A session with the daemon. Made by `ttfd.connect`; a context manager that closes it.

    Leaving the `with` block by an exception ends the session at once; otherwise the daemon finishes what it has.
    """

    def __init__(self, connection: Connection, open_again: Callable[[int], Connection] | None = None) -> None:
        self._open_again = open_again
        self._take(connection)

    def __repr__(self) -> str:
        return f"<ttfd.Session {self.id} at {self._connection.address}>"

    def _take(self, connection: Connection) -> None:
        self._connection = connection
        welcome = connection.welcome
        self.id: int = welcome.session
        self.daemon_version: str = welcome.daemon_version
        self.devices = [Device(**_values(device) | {"backend": BACKENDS[device.backend]}) for device in welcome.devices]
        self.limits = Limits(**_values(welcome.limits) | {"priority": PRIORITIES[welcome.limits.priority]})
        # For other processes of the same user that are to work under this session's lease; empty: it asked for none.
        self.lease_token: str = connection.lease_token
        self.queue = Queue(self, FIRST_USER_QUEUE)

    def _live(self) -> Connection:
        """For what begins something new: if the session was lost, a new one."""
        if self._open_again is not None and self._connection.lost:
            connection = self._open_again(self._connection.handles.next)
            connection.on_print = self._connection.on_print
            self._take(connection)
        return self._connection

    @property
    def reconnects(self) -> int:
        """How often the connection was lost and the session went on."""
        return self._connection.reconnects

    @property
    def on_print(self) -> Callable[[KernelPrint], None] | None:
        """Called with each line a kernel of this session prints, before the call that waits for its launch returns.

        On the session's own thread: it must not call back into the session. At first it writes to standard error; None
        drops the lines.
        """
        return self._connection.on_print

    @on_print.setter
    def on_print(self, callback: Callable[[KernelPrint], None] | None) -> None:
        check.callback(callback, "on_print")
        self._connection.on_print = callback

    @property
    def device(self) -> Device:
        """The first card."""
        return self.devices[0]

    def close(self) -> None:
        """Lets the daemon finish everything, then ends the session."""
        self._connection.close()

    def __enter__(self) -> Session:
        return self

    def __exit__(self, kind: object, *_: object) -> None:
        if kind is None:
            self.close()
        else:
            self._connection.abandon()

    def open_queue(self, transfer: bool = False, workers: Cores = ()) -> Queue:
        """One more queue, for compute or for transfers; `workers`: the tiles it may use (none: all)."""
        kind = ttfd_pb2.QUEUE_KIND_TRANSFER if transfer else ttfd_pb2.QUEUE_KIND_COMPUTE
        open_queue = ttfd_pb2.OpenQueue(kind=kind)
        add_ranges(open_queue.workers, workers, "open_queue.workers")
        return Queue(self, self._live().open_queue(open_queue))

    def allocate_dram(self, size_bytes: int, page_bytes: int = 2048, bank: int | None = None) -> Buffer:
        """A zeroed buffer in DRAM: page p in bank p modulo banks, or all pages in `bank`."""
        allocate = _allocation(size_bytes, page_bytes)
        if bank is None:
            allocate.dram.SetInParent()
        else:
            allocate.dram_bank = check.integer(bank, "allocate.dram_bank")
        return self._allocate(allocate)

    def allocate_l1(self, size_bytes: int, page_bytes: int = 1024, cores: Cores = ()) -> Buffer:
        """A zeroed buffer in L1, its pages over the tiles in `cores` (none: all workers)."""
        allocate = _allocation(size_bytes, page_bytes)
        allocate.l1.SetInParent()
        add_ranges(allocate.l1.cores, cores, "allocate.l1.cores")
        return self._allocate(allocate)

    def allocate_sharded(self, size_bytes: int, page_bytes: int, cores: Cores, row_pages: int,
                         shard_rows: int, shard_row_pages: int) -> Buffer:
        """A zeroed buffer in L1 whose pages form rows of `row_pages`.

        Shards of `shard_rows` by `shard_row_pages` pages go to the tiles of `cores` in order, row by row of shards;
        the last of a row or column may be partly used.
        """
        allocate = _allocation(size_bytes, page_bytes)
        sharded = allocate.l1_sharded
        add_ranges(sharded.cores, cores, "allocate.l1_sharded.cores")
        sharded.row_pages = check.integer(row_pages, "allocate.l1_sharded.row_pages")
        sharded.shard_rows = check.integer(shard_rows, "allocate.l1_sharded.shard_rows")
        sharded.shard_row_pages = check.integer(shard_row_pages, "allocate.l1_sharded.shard_row_pages")
        return self._allocate(allocate)

    def _allocate(self, allocate: ttfd_pb2.Allocate) -> Buffer:
        allocate.handle = self._live().new_handle()
        self._connection.create(ttfd_pb2.Command(allocate=allocate))
        return Buffer(self, allocate.handle, allocate.size_bytes, allocate.page_bytes)

    def load_kernel(self, elf: bytes | bytearray | memoryview | str | os.PathLike, name: str = "") -> Kernel:
        """A kernel from the bytes of an ELF file, or from its path. Uploaded only if the daemon does not have it.

        `name` appears in errors, reports and prints; without it that of the file. An error names the path.
        """
        name = check.text(name, "load_kernel.name")
        if isinstance(elf, (str, os.PathLike)):
            path = check.text(os.fspath(elf), "load_kernel.elf")
            with errors_name(path, "load_kernel"):
                return self.load_kernel(_read_file(path), name or os.path.basename(path))
        if not isinstance(elf, (bytes, bytearray, memoryview)):
            check.refuse_value(elf, "load_kernel.elf", "the bytes of an ELF file, or its path")
        elf = bytes(elf)
        load = ttfd_pb2.LoadKernel(handle=self._live().new_handle(), sha256=hashlib.sha256(elf).digest(),
                                   size=len(elf), name=name)
        if not self._load_cached(load):
            load.handle = self._connection.new_handle()
            self._upload(load, elf)
        return Kernel(self, load.handle, name)

    def _load_cached(self, load: ttfd_pb2.LoadKernel) -> bool:
        """Whether the daemon has had the file."""
        try:
            self._connection.create(ttfd_pb2.Command(load_kernel=load))
        except Error as error:
            if error.reason != "KERNEL_NOT_CACHED":
                raise
            return False
        return True

    def _upload(self, load: ttfd_pb2.LoadKernel, elf: bytes) -> None:
        if len(elf) <= self.limits.inline_bytes:
            load.inline = elf
            self._connection.create(ttfd_pb2.Command(load_kernel=load))
            return
        load.streamed = True
        position = self._connection.enqueue(CONTROL_QUEUE, ttfd_pb2.Command(load_kernel=load))
        self._connection.supply(position, memoryview(elf))
        self._connection.finish_call(position)
        self._connection.own(ttfd_pb2.Command(load_kernel=load))

    def load_kernels(self, path: str | os.PathLike[str]) -> ComputeKernel:
        """The kernels of the three files that `ttfd_add_kernel` makes of one source with COMPUTE.

        The files are `path` followed by "_trisc0.elf", "_trisc1.elf" and "_trisc2.elf".
        """
        if not isinstance(path, (str, os.PathLike)):
            check.refuse_value(path, "load_kernels.path", "a path")
        stem = check.text(os.fspath(path), "load_kernels.path")
        return ComputeKernel([self.load_kernel(f"{stem}_trisc{number}.elf") for number in range(3)])

    def create_program(self, kernels: Sequence[KernelUse | ComputeUse], circular_buffers: Sequence[CircularBuffer] = (),
                       semaphores: Sequence[Semaphore] = ()) -> Program:
        """Which kernels run on which tiles; launch arguments name a kernel by its index in `kernels`."""
        command = ttfd_pb2.Command()
        numbers = fill_program(command.create_program, kernels, circular_buffers, semaphores)
        command.create_program.handle = self._live().new_handle()
        self._connection.create(command)
        return Program(self, command.create_program.handle, numbers)

    def launch(self, program: Program, arguments: Sequence[Arguments] = (), timeout: float = 0.0) -> None:
        """`queue.launch` on the session's first queue."""
        self.queue.launch(program, arguments, timeout)
