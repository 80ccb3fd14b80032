"""Chips as a mesh: rows and columns of cards of one daemon, joined by Ethernet links.

    import numpy as np
    from ttfd import mesh

    with mesh.connect((1, 4)) as chips:
        part = chips.allocate(4096)                  # on every chip
        for chip in range(len(chips)):
            part.write(chip, np.full(1024, chip, np.int32))
        whole = chips.all_gather(part, axis=1)       # every chip has all four parts
        print(whole.read(2, np.int32, (4, 1024)))
        total = chips.all_reduce(part, "int32", axis=1)  # every chip has their sum
        print(total.read(0, np.int32))

Chip row * columns + column is in that row and column. Axis 0 joins chips that differ in their row, axis 1 those that differ in
their column: NumPy's axes of an array of the mesh's shape. Each chip has an ordinary session, `mesh.sessions[chip]`, for
programs of your own. docs/meshes.md is the guide, and says which workers and link ends operations use.
"""

from __future__ import annotations

import contextlib
import os
import time
from typing import Any, Sequence

import numpy as np
import numpy.typing as npt

from ttfd import _native, check
from ttfd._native import Code
from ttfd.errors import Error
from ttfd.resources import Buffer
from ttfd.session import Session, tls_options
from ttfd.session import connect as connect_session
from ttfd.types import Lease

_LOOK_MS = 100  # Python handles signals in between


def connect(shape: tuple[int, int], address: str | os.PathLike[str] | None = None, *, devices: Sequence[int] = (), wait: float = 0.0,
            **options: Any) -> Mesh:
    """Finds devices whose links give a mesh of `shape` (rows, columns), waits for the lease of all of them, and opens a session
    on each. Where it finds a placement whose lines are closed to rings, it takes that.

    devices: to choose from; none: all of the daemon. wait: longest wait for the lease, in seconds; 0: the daemon's limit. options:
    those of `ttfd.connect` but `device`, `lease` and `lease_token`. Raises Error with code INVALID_ARGUMENT where the daemon
    has too few devices, and FAILED_PRECONDITION where their links do not give the shape, naming the devices that lack one.
    """
    if not isinstance(shape, (tuple, list)) or len(shape) != 2:
        check.refuse_value(shape, "mesh.shape", "(rows, columns)")
    rows, columns = (check.integer(one, "mesh.shape") for one in shape)
    among = [check.integer(one, "mesh.devices") for one in check.items(devices, "mesh.devices", "a list of indices")]
    for name in ("device", "lease", "lease_token"):
        if name in options:
            check.refuse(f"{name} is not an option of a mesh, whose sessions have a lease of their devices", name)
    places = _native.find_placement("" if address is None else check.path(address, "address"),
                                    check.milliseconds(options.get("connect_timeout", 10.0), "connect_timeout"),
                                    tls_options(options.get("tls")), (rows, columns), among)
    with contextlib.ExitStack() as opened:
        sessions: list[Session] = []
        for device in places[0]:
            first = {"lease": Lease(devices=places[0], wait=wait)} if not sessions else {"lease_token": sessions[0].lease_token}
            sessions.append(opened.enter_context(connect_session(address, device=device, **first, **options)))
        mesh = Mesh(sessions, (rows, columns), places, options.get("call_timeout", 60.0))
        opened.pop_all()
        return mesh


def _element(element: npt.DTypeLike) -> _native.MeshElement:
    for name in ("int32", "float32", "bfloat16"):
        if element == name or element is getattr(np, name, None) or (isinstance(element, np.dtype) and element == np.dtype(name)):
            return _native.MeshElement.__members__[name.upper()]
    check.refuse_value(element, "element", "one of int32, float32 and bfloat16")


class Mesh:
    """Sessions on the chips of a mesh, under one lease. Made by `connect`; a context manager that closes them.

    sessions: by chip. shape: rows, columns. closed: for each axis, whether the last chip of its lines is linked with the first.
    An operation that fails on one chip ends on those that wait for it, which are reset with it. After a failure operations raise
    FAILED_PRECONDITION; connect the mesh again. Do so as well after a reset of one of its devices, which ends its links: the next
    operation fails.
    """

    def __init__(self, sessions: Sequence[Session], shape: tuple[int, int], places: tuple[list[int], tuple[bool, bool]], timeout: float) -> None:
        self.sessions, self.shape, self.closed, self._timeout = tuple(sessions), shape, places[1], timeout
        self._native = _native.Mesh([session._native for session in sessions], shape, places)

    def __len__(self) -> int:
        return len(self.sessions)

    def __repr__(self) -> str:
        return f"<ttfd.mesh.Mesh {self.shape[0]} x {self.shape[1]} on devices {', '.join(str(one.device.index) for one in self.sessions)}>"

    def __enter__(self) -> Mesh:
        return self

    def __exit__(self, kind: object, *rest: object) -> None:
        with contextlib.ExitStack() as ends:
            for session in self.sessions:
                ends.callback(session.__exit__, kind, *rest)

    def close(self) -> None:
        """Lets the daemon finish everything, then ends the sessions and the lease."""
        self.__exit__(None)

    def allocate(self, part_bytes: int, parts: int = 1) -> MeshBuffer:
        """A zeroed buffer in the DRAM of every chip, of `parts` parts."""
        return MeshBuffer(self, self._native.allocate(check.integer(part_bytes, "part_bytes", check.LARGEST), check.integer(parts, "parts")))

    def all_gather(self, buffer: MeshBuffer, axis: int, into: MeshBuffer | None = None) -> MeshBuffer:
        """Gives every chip the parts of all chips along `axis`, in the order of these chips. Returns `into`, or a new buffer."""
        to = self.enqueue_all_gather(buffer, axis, into)
        self.finish()
        return to

    def enqueue_all_gather(self, buffer: MeshBuffer, axis: int, into: MeshBuffer | None = None) -> MeshBuffer:
        """The same without waiting, behind what is enqueued on the queues of the sessions."""
        number = check.integer(axis, "axis")
        given = self._own(buffer, "buffer")
        to = into
        if to is None:
            to = self.allocate(buffer.part_bytes, buffer.parts * (self.shape[number] if number < 2 else 1))
        self._native.enqueue_all_gather(given, self._own(to, "into"), number)
        return to

    def reduce_scatter(self, buffer: MeshBuffer, element: npt.DTypeLike, axis: int, into: MeshBuffer | None = None) -> MeshBuffer:
        """Gives chip i of each line along `axis` the sum, over the chips of the line, of those parts that belong to it: the i-th of as many
        equal runs of parts as the line has chips. Returns `into`, or a new buffer.

        element: what the bytes are, "int32", "float32" or "bfloat16", or the type of NumPy. Sums of the same buffers on the same mesh repeat
        bit for bit; docs/meshes.md says in which order numbers are added, how sums are rounded, and what denormals and NaN become.
        """
        to = self.enqueue_reduce_scatter(buffer, element, axis, into)
        self.finish()
        return to

    def enqueue_reduce_scatter(self, buffer: MeshBuffer, element: npt.DTypeLike, axis: int, into: MeshBuffer | None = None) -> MeshBuffer:
        """The same without waiting, behind what is enqueued on the queues of the sessions."""
        number = check.integer(axis, "axis")
        given = self._own(buffer, "buffer")
        to = into
        if to is None:
            chips = self.shape[number] if number < 2 else 1
            if buffer.parts % chips != 0:
                check.refuse(f"{buffer.parts} parts are not the same for each of {chips} chips", "buffer")
            to = self.allocate(buffer.part_bytes, buffer.parts // chips)
        self._native.enqueue_reduce_scatter(given, self._own(to, "into"), _element(element), number)
        return to

    def all_reduce(self, buffer: MeshBuffer, element: npt.DTypeLike, axis: int, into: MeshBuffer | None = None) -> MeshBuffer:
        """Gives every chip the sum of all chips along `axis`. Returns `into`, which may be `buffer`, or a new buffer. element: as of
        `reduce_scatter`."""
        to = self.enqueue_all_reduce(buffer, element, axis, into)
        self.finish()
        return to

    def enqueue_all_reduce(self, buffer: MeshBuffer, element: npt.DTypeLike, axis: int, into: MeshBuffer | None = None) -> MeshBuffer:
        """The same without waiting, behind what is enqueued on the queues of the sessions."""
        number = check.integer(axis, "axis")
        given = self._own(buffer, "buffer")
        to = self.allocate(buffer.part_bytes, buffer.parts) if into is None else into
        self._native.enqueue_all_reduce(given, self._own(to, "into"), _element(element), number)
        return to

    def _own(self, buffer: MeshBuffer, field: str) -> _native.MeshBuffer:
        if check.one(buffer, MeshBuffer, field)._mesh is not self:
            check.refuse(f"{buffer!r} is a buffer of another mesh", field)
        return buffer._native

    def finish(self) -> None:
        """Waits for everything that is enqueued on the sessions' queues, or until a chip has failed. Of several errors it raises one that
        says why: rather a fault than a hang of a chip that has waited for it."""
        deadline = time.monotonic() + self._timeout
        while not self._native.finish(_LOOK_MS):
            if time.monotonic() > deadline:
                raise Error(Code.DEADLINE_EXCEEDED, f"what is enqueued on the mesh has not ended within {self._timeout} s", reason="WAIT")

    def clocks(self) -> int:
        """Clocks of the last operation over links that has ended, from the begin of its first kernel on a chip to the end of the last
        one there, of the chip that took longest. A kernel that began early has waited for the other chips. 0: there was none."""
        return max((end - begin for begin, end in self._native.clocks()), default=0)


class MeshBuffer:
    """A buffer in the DRAM of every chip: `parts` parts of `part_bytes`, each in whole pages of its own. By `Mesh.allocate`."""

    def __init__(self, mesh: Mesh, native: _native.MeshBuffer) -> None:
        self._mesh, self._native = mesh, native
        self.parts, self.part_bytes, self.page_bytes = native.parts, native.part_bytes, native.page_bytes

    def __repr__(self) -> str:
        return f"<ttfd.mesh.MeshBuffer: {self.parts} parts of {self.part_bytes} bytes on {len(self._mesh)} chips>"

    def write(self, chip: int, array: npt.ArrayLike) -> None:
        """Copies an array's bytes (any shape, C order) to all parts on a chip, and waits until they are there."""
        self._mesh._native.write(self._native, check.integer(chip, "chip"), check.payload(array, "array"))

    def read(self, chip: int, dtype: npt.DTypeLike = np.uint8, shape: int | tuple[int, ...] | None = None) -> np.ndarray:
        """A new array of `shape` from all parts on a chip; shape None: one-dimensional."""
        array = check.empty_array(shape, dtype, self.parts * self.part_bytes)
        self._mesh._native.read(self._native, check.integer(chip, "chip"), check.array_to_fill(array, "array"))
        return array

    def on(self, chip: int) -> Buffer:
        """The buffer of one chip, for launches on its session; part i begins at page i * ceil(part_bytes / page_bytes)."""
        number = check.integer(chip, "chip", len(self._mesh) - 1)
        owner = _native.Resource(self._native.handle(number))
        buffer = Buffer(owner, self._mesh.sessions[number], self._native.buffer_bytes(number), self.page_bytes)
        buffer._parts = self  # type: ignore[attr-defined]  # which frees it
        return buffer
