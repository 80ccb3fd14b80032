"""Sessions."""

from __future__ import annotations

import functools
import os
import sys
import weakref
from typing import Any, Callable, Mapping, Sequence, TypeVar

from ttfd import _native, check
from ttfd._native import KernelPrint, LeaseWait
from ttfd.arguments import core_ranges, format_number, processor_number
from ttfd.queue import Queue
from ttfd.resources import Buffer, ComputeKernel, Kernel, Program
from ttfd.types import TRISC0, Arguments, CircularBuffer, ComputeUse, Cores, KernelUse, Lease, Semaphore

_PRIORITIES = ("low", "normal", "high")  # 1, 2, 3 in the API
_TLS_NAMES = ("ca", "certificate", "key", "server_name", "keepalive_ms")
_KEEPALIVE_MS = 30_000
_Made = TypeVar("_Made")


def tls_options(tls: Mapping[str, Any] | None) -> tuple[str, str, str, str, int]:
    """The options of `connect(tls=...)` as the native module takes them."""
    if tls is not None and (not isinstance(tls, Mapping) or not all(name in _TLS_NAMES for name in tls)):
        check.refuse_value(tls, "tls", f"a dict with keys of {', '.join(_TLS_NAMES)}")
    given = dict(tls or {})
    keepalive_ms = check.integer(given.pop("keepalive_ms", _KEEPALIVE_MS), "tls.keepalive_ms", (1 << 31) - 1, smallest=1)
    texts = {name: check.path(value, f"tls.{name}") for name, value in given.items() if value is not None}
    ca, certificate, key, server_name = (texts.get(name, "") for name in _TLS_NAMES[:4])
    return ca, certificate, key, server_name, keepalive_ms


def connect(address: str | os.PathLike[str] | None = None, *, client_name: str = "", device: int | None = None, weight: int = 0, priority: str = "normal",
            connect_timeout: float = 10.0, call_timeout: float = 60.0, batch_commands: int = 64,
            tls: Mapping[str, Any] | None = None, lease: Lease | None = None, lease_token: str | None = None,
            on_waiting: Callable[[LeaseWait], None] | None = None, reconnect_for: float = 20.0) -> Session:
    """Opens a session.

    address: gRPC address or path of a unix socket; None: the environment variable TTFD_ADDRESS, else
    "unix:/run/ttfd/ttfd.sock". Any other address is TCP and needs certificates: `tls` has paths of PEM files as "ca",
    "certificate" and "key", and "server_name" where that is not the host; what is missing comes from TTFD_TLS_CA,
    TTFD_TLS_CERTIFICATE, TTFD_TLS_KEY and TTFD_TLS_SERVER_NAME. A daemon that is silent for `tls["keepalive_ms"]`
    (30,000) is probed, and after as long without an answer the connection is lost. Timeouts in seconds; `call_timeout`
    bounds every blocking call. `weight` (0: 1) is the share of a contended card among the user's sessions, `priority` ("low",
    "normal", "high") divides or multiplies it by eight; what is allowed is in `Session.limits`. Raises Error with reason
    UNREACHABLE when no daemon answers: code UNAVAILABLE, or PERMISSION_DENIED where the socket is not open to this user.

    device: the card of the session, by its index: of its lease, buffers, programs and queues; None: the environment variable
    TTFD_DEVICE, else the daemon chooses the card with the fewest users.

    lease: requests the card, or some tiles, for this session alone, and returns when it has it. lease_token: works under the
    lease of another session, which has this `lease_token`; None, and without `lease`: the environment variable TTFD_LEASE, as
    `ttfdctl lease` sets it. on_waiting: called with the state of a lease that is waited for; must not call the session.

    reconnect_for: a session whose connection was lost is resumed within this time, where it was. What cannot be
    resumed raises UNAVAILABLE (reason SESSION_LOST, CONNECTION_LOST or DRAINING) with what is gone; the next call that
    creates something opens a new session in place of it, unless that had a lease. 0: a lost connection ends the session.
    """
    if not isinstance(priority, str) or priority not in _PRIORITIES:
        check.refuse(f"priority {priority!r} is none of {', '.join(_PRIORITIES)}", "hello.priority")
    check.callback(on_waiting, "on_waiting")
    if lease is not None:
        check.one(lease, Lease, "lease")
    return Session(_native.connect(
        "" if address is None else check.path(address, "address"), check.text(client_name, "hello.client_name"),
        None if device is None else check.integer(device, "hello.device", (1 << 32) - 1),
        max(1, check.integer(weight, "hello.weight")), _PRIORITIES.index(priority) + 1,
        check.milliseconds(connect_timeout, "connect_timeout"), check.milliseconds(call_timeout, "call_timeout"),
        max(1, check.integer(batch_commands, "batch_commands")), tls_options(tls),
        lease and (core_ranges(lease.workers, "lease.workers"), check.milliseconds(lease.wait, "lease.wait"),
                   [check.integer(one, "lease.devices") for one in check.items(lease.devices, "lease.devices", "a list of indices")]),
        "" if lease_token is None else check.text(lease_token, "lease_token"), on_waiting,
        check.milliseconds(reconnect_for, "reconnect_for")))


def _kernel_tuples(kernels: Sequence[KernelUse | ComputeUse]) -> tuple[list[tuple[Any, ...]], list[range]]:
    """The kernels of a program and their tiles; and the numbers of each of `kernels` among them."""
    entries: list[tuple[Any, ...]] = []
    numbers = []
    for index, given in enumerate(check.items(kernels, "create_program.kernels", "a list of ttfd.KernelUse")):
        field, first, uses = f"create_program.kernels[{index}]", len(entries), [given]
        if isinstance(given, ComputeUse):
            kinds = check.one(given.kernels, ComputeKernel, f"{field}.kernels").kernels
            uses = [KernelUse(kernel, TRISC0 + number, given.cores) for number, kernel in enumerate(kinds)]
        for use in uses:
            kernel = check.live(check.one(use, KernelUse, field).kernel, Kernel, f"{field}.kernel")
            entries.append((kernel.handle, processor_number(use.processor, f"{field}.processor"), core_ranges(use.cores, f"{field}.cores"),
                            bool(use.callable), bool(use.configured)))
        numbers.append(range(first, len(entries)))
    return entries, numbers


def _write_to_stderr(line: KernelPrint) -> None:
    if line.lost:
        print(f"[ttfd] {line.lost} lines of kernels were not read in time and are lost", file=sys.stderr)
    print(line, file=sys.stderr, flush=True)


def _deliver(session: weakref.ref[Session], line: KernelPrint) -> None:
    """A line of a kernel. The native session keeps this function: a reference to the session would keep that alive."""
    owner = session()
    callback = _write_to_stderr if owner is None else owner.on_print
    if callback is not None:
        callback(line)


class Session:
    """A session with the daemon. Made by `ttfd.connect`; a context manager that closes it.

    Leaving the `with` block by an exception ends the session at once; otherwise the daemon finishes what it has.
    """

    def __init__(self, native: _native.Session) -> None:
        self._native = native
        self._on_print: Callable[[KernelPrint], None] | None = _write_to_stderr
        native.on_print(functools.partial(_deliver, weakref.ref(self)))
        self._take()

    def __repr__(self) -> str:
        return f"<ttfd.Session {self.id} at {self._native.address}>"

    def _take(self) -> None:
        """What the daemon says of the session, which may be a new one in place of one that was lost."""
        self.id, self.daemon_version, self.devices, index, self.limits, self.lease_token = self._native.describe()
        self.device = self.devices[index]
        self.queue = Queue(self._native.queue())

    def _make(self, call: Callable[..., _Made], *arguments: Any) -> _Made:
        try:
            return call(*arguments)
        finally:
            if self._native.id != self.id:
                self._take()

    reconnects = property(lambda self: self._native.reconnects, doc="How often the connection was lost and the session resumed.")

    @property
    def on_print(self) -> Callable[[KernelPrint], None] | None:
        """Called with each line a kernel of this session prints, before the call that waits for its launch returns.

        On the session's own thread: it must not call the session. At first it writes to standard error; None drops the lines.
        """
        return self._on_print

    @on_print.setter
    def on_print(self, callback: Callable[[KernelPrint], None] | None) -> None:
        check.callback(callback, "on_print")
        self._on_print = callback

    def close(self) -> None:
        """Lets the daemon finish everything, then ends the session."""
        self._native.close()

    def __enter__(self) -> Session:
        return self

    def __exit__(self, kind: object, *_: object) -> None:
        if kind is None:
            self.close()
        else:
            self._native.abandon()

    def open_queue(self, transfer: bool = False, workers: Cores = ()) -> Queue:
        """One more queue, for compute or for transfers; `workers`: the tiles it may use (none: all)."""
        return Queue(self._make(self._native.open_queue, bool(transfer), core_ranges(workers, "open_queue.workers")))

    def allocate_dram(self, size_bytes: int, page_bytes: int = 2048, bank: int | None = None) -> Buffer:
        """A zeroed buffer in DRAM: page p in bank p modulo banks, or all pages in `bank`."""
        number = -1 if bank is None else check.integer(bank, "allocate.dram_bank", (1 << 31) - 1)
        return self._allocate(self._native.allocate_dram, size_bytes, page_bytes, number)

    def allocate_l1(self, size_bytes: int, page_bytes: int = 1024, cores: Cores = ()) -> Buffer:
        """A zeroed buffer in L1, its pages over the tiles in `cores` (none: all workers)."""
        return self._allocate(self._native.allocate_l1, size_bytes, page_bytes, core_ranges(cores, "allocate.l1.cores"))

    def allocate_sharded(self, size_bytes: int, page_bytes: int, cores: Cores, row_pages: int,
                         shard_rows: int, shard_row_pages: int) -> Buffer:
        """A zeroed buffer in L1 whose pages form rows of `row_pages`. Shards of `shard_rows` by `shard_row_pages` pages go to the tiles
        of `cores` in order, row by row of shards; the last of a row or column may be partly used."""
        field = "allocate.l1_sharded"
        return self._allocate(self._native.allocate_sharded, size_bytes, page_bytes, core_ranges(cores, f"{field}.cores"),
                              check.integer(row_pages, f"{field}.row_pages"), check.integer(shard_rows, f"{field}.shard_rows"),
                              check.integer(shard_row_pages, f"{field}.shard_row_pages"))

    def _allocate(self, call: Callable[..., _native.Resource], size_bytes: int, page_bytes: int, *layout: Any) -> Buffer:
        size = check.integer(size_bytes, "allocate.size_bytes", check.LARGEST)
        page = check.integer(page_bytes, "allocate.page_bytes")
        return Buffer(self._make(call, size, page, *layout), self, size, page)

    def load_kernel(self, elf: bytes | bytearray | memoryview | str | os.PathLike, name: str = "") -> Kernel:
        """A kernel from the bytes of an ELF file, or from its path. Uploaded only if the daemon does not have it.

        `name` appears in errors, reports and prints; without it that of the file. An error names the path.
        """
        name = check.text(name, "load_kernel.name")
        if isinstance(elf, (str, os.PathLike)):
            path = check.path(elf, "load_kernel.elf")
            name = name or os.path.basename(path)
            return Kernel(self._make(self._native.load_kernel_file, path, name), name)
        if not isinstance(elf, (bytes, bytearray, memoryview)):
            check.refuse_value(elf, "load_kernel.elf", "the bytes of an ELF file, or its path")
        return Kernel(self._make(self._native.load_kernel, check.payload(elf, "load_kernel.elf"), name), name)

    def load_kernels(self, path: str | os.PathLike[str]) -> ComputeKernel:
        """The kernels of the three files that `ttfd_add_kernel` makes of one source with COMPUTE: `path` followed by "_trisc0.elf",
        "_trisc1.elf" and "_trisc2.elf"."""
        if not isinstance(path, (str, os.PathLike)):
            check.refuse_value(path, "load_kernels.path", "a path")
        stem = check.path(path, "load_kernels.path")
        return ComputeKernel([self.load_kernel(f"{stem}_trisc{number}.elf") for number in range(3)])

    def create_program(self, kernels: Sequence[KernelUse | ComputeUse], circular_buffers: Sequence[CircularBuffer] = (),
                       semaphores: Sequence[Semaphore] = ()) -> Program:
        """Which kernels run on which tiles; launch arguments name a kernel by its index in `kernels`."""
        uses, numbers = _kernel_tuples(kernels)
        buffers, counters, kept = [], [], []
        for field, one in check.several(circular_buffers, CircularBuffer, "create_program.circular_buffers"):
            if one.buffer is not None:
                kept.append(check.live(one.buffer, Buffer, f"{field}.buffer"))
            buffers.append((*check.integers(one, field, "index", "pages", "page_bytes"), core_ranges(one.cores, f"{field}.cores"),
                            format_number(one.format, f"{field}.format"), None if one.buffer is None else one.buffer.handle))
        for field, counter in check.several(semaphores, Semaphore, "create_program.semaphores"):
            counters.append((*check.integers(counter, field, "index", "initial"), core_ranges(counter.cores, f"{field}.cores")))
        return Program(self._make(self._native.create_program, uses, buffers, counters), numbers, kept)

    def launch(self, program: Program, arguments: Sequence[Arguments] = (), timeout: float = 0.0) -> None:
        """`queue.launch` on the session's first queue."""
        self.queue.launch(program, arguments, timeout)
