"""libttfd for the package ttfd, which checks the arguments. Built from client/python/native.

Times are in milliseconds, buffers and other resources are their handles, tiles are (x0, y0, x1, y1).
"""

import enum
from typing import Any, Callable, Sequence

from ttfd.errors import Error
from ttfd.types import Position

_Range = tuple[int, int, int, int]
_LinkPlace = tuple[int, int, int, int, int]  # device, channel, x, y, end
_Bytes = Any  # an object with the buffer protocol, contiguous
# Kernel, common words, (word, buffer) among them, words for each tile, these words.
_Arguments = tuple[int, Sequence[int], Sequence[tuple[int, int]], int, _Bytes | None]
_Launch = tuple[int, Sequence[_Arguments], int]

__version__: str

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
    COMPLETED = 2  # it ran to its end; its result is lost, or it did damage
    UNKNOWN = 3  # it had started; some, all or none of it took effect

class DramBank:
    """A bank of a card's DRAM: NoC coordinates of the tile at which NoC 0 reaches it, and the worker next to that tile."""

    port: tuple[int, int]
    nearest_worker: tuple[int, int]

class Neighbour:
    """A link of a device to another device of the daemon; the other has it at `peer_channel`. system: not for kernels."""

    channel: int
    device: int
    peer_channel: int
    system: bool

class Device:
    """A card. Sizes in bytes; `*_alignment` says what offsets, sizes and pages must be multiples of."""

    index: int
    board: str
    backend: str
    grid_x: int
    grid_y: int
    dram_banks: int
    dram_bank_bytes: int
    dram_alignment: int
    l1_bytes: int
    l1_alignment: int
    clock_hz: int
    circular_buffers: int
    semaphores: int
    argument_words: int
    circular_buffer_bytes: int
    transfer_alignment: int
    kernel_bytes: int
    iommu: bool
    l1_base: int
    dram_base: int
    dram_bank_size: int
    worker_x: list[int]
    worker_y: list[int]
    banks: list[DramBank]
    neighbours: list[Neighbour]  # links to other devices, as the daemon found them when it started, by channel
    @property
    def workers(self) -> int:
        """Tiles that run kernels."""

class Limits:
    """What one session may use; exceeding one is RESOURCE_EXHAUSTED naming it. None: no limit."""

    message_bytes: int
    chunk_bytes: int
    inline_bytes: int
    commands_per_batch: int
    waits_per_batch: int
    queues: int
    handles: int
    dram_bytes: int
    l1_bytes: int
    transfer_bytes: int
    kernel_elf_bytes: int
    sessions_per_user: int
    client_name_bytes: int
    trace_bytes: int
    buffers: int
    kernels: int
    programs: int
    kernel_bytes: int
    idle_ms: int | None
    lease_ms: int | None
    lease_idle_ms: int | None
    lease_wait_ms: int
    weight: int  # the greatest without role admin
    priority: str  # the highest without role admin
    command_bytes: int  # as the rest, of the transport (types.proto)
    nested_messages: int
    unacknowledged_bytes: int
    reconnect_timeout_ms: int

class KernelPrint:
    """One print of a kernel. Those of a processor of a tile come in their order.

    position: of the launch or replay. launch: of a trace, which of its launches. kernel: the name it was loaded with.
    x, y: the tile. text: without the newline at its end. lost: so many prints of the session before this one were not
    read in time, and dropped. `str()` makes the line that goes to standard error.
    """

    position: Position
    launch: int
    kernel: str
    x: int
    y: int
    processor: int
    text: str
    lost: int

class SessionClient:
    """A session and the client behind it."""

    session: int
    client_name: str
    user: str
    uid: int
    pid: int | None  # None: not known (TCP)

class LeaseWait:
    """State of a lease request. Position 1 is next; 0: no lease was requested, commands wait for one to end."""

    position: int
    holders: list[SessionClient]  # of the blocking leases, at most 3; none: operations of others that have begun end first
    more_holders: int
    expected: float  # seconds, an estimate

class Resource:
    """A handle of a session. Freed by `free`, at the end of a `with` block, when collected, or with its session.

    Memory returns once the commands sent before have ended, so a buffer may be freed while launches that use it run.
    """

    handle: int
    def __init__(self, owner: Resource, details: str, /) -> None: ...
    def free(self) -> None:
        """Gives the handle back; it is unusable from here."""
    def __enter__(self) -> Any: ...
    def __exit__(self, *exception: object) -> None: ...

class Queue:
    """The calls of a queue that need no check of arguments, and those that `ttfd.Queue` checks."""

    @property
    def id(self) -> int: ...
    @property
    def submitted(self) -> int:
        """Value of the last command enqueued."""
    @property
    def completed(self) -> int:
        """Value of the last command known to have ended."""
    @property
    def error(self) -> Error | None:
        """What has failed the queue."""
    def __init__(self, queue: Queue) -> None: ...
    def flush(self) -> None:
        """Sends what has been enqueued."""
    def finish(self) -> None:
        """Waits for everything enqueued so far."""
    def clear_error(self) -> None:
        """Opens a failed queue again."""
    def _write(self, buffer: int, offset: int, array: _Bytes, /) -> None: ...
    def _enqueue_write(self, buffer: int, offset: int, array: _Bytes, /) -> int: ...
    def _read(self, buffer: int, offset: int, into: _Bytes, /) -> None: ...
    def _enqueue_read(self, buffer: int, offset: int, into: _Bytes, /) -> int: ...
    def _fill(self, buffer: int, offset: int, size: int, word: int, /) -> None: ...
    def _launch(self, launch: _Launch, /) -> None: ...
    def _enqueue_launch(self, launch: _Launch, /) -> int: ...
    def _record_trace(self, launches: Sequence[_Launch], /) -> Resource: ...
    def _replay(self, trace: int, patches: Sequence[tuple[int, _Arguments]], /) -> None: ...
    def _enqueue_replay(self, trace: int, patches: Sequence[tuple[int, _Arguments]], /) -> int: ...
    def _connect_links(self, links: Sequence[tuple[_LinkPlace, _LinkPlace]], /) -> None: ...
    def _enqueue_connect_links(self, links: Sequence[tuple[_LinkPlace, _LinkPlace]], /) -> int: ...
    def _enqueue_barrier(self) -> int: ...
    def _after(self, positions: Sequence[tuple[int, int]], /) -> None: ...
    def _wait(self, queue: int, value: int, timeout_ms: int | None, /) -> None: ...
    def _cancel(self, from_value: int, /) -> None: ...

class Session:
    """A session of libttfd; ends when it is collected."""

    @property
    def id(self) -> int: ...
    @property
    def address(self) -> str: ...
    @property
    def reconnects(self) -> int: ...
    def describe(self) -> tuple[int, str, list[Device], int, Limits, str]:
        """Id, version of the daemon, devices, index of the session's, limits, lease token."""
    def on_print(self, callback: Callable[[KernelPrint], None], /) -> None: ...
    def close(self) -> None: ...
    def abandon(self) -> None: ...
    def queue(self) -> Queue: ...
    def open_queue(self, transfer: bool, workers: Sequence[_Range], /) -> Queue: ...
    def allocate_dram(self, size: int, page_bytes: int, bank: int, /) -> Resource: ...
    def allocate_l1(self, size: int, page_bytes: int, cores: Sequence[_Range], /) -> Resource: ...
    def allocate_sharded(self, size: int, page_bytes: int, cores: Sequence[_Range], row_pages: int, shard_rows: int,
                         shard_row_pages: int, /) -> Resource: ...
    def load_kernel(self, elf: _Bytes, name: str, /) -> Resource: ...
    def load_kernel_file(self, path: str, name: str, /) -> Resource: ...
    def create_program(self, kernels: Sequence[tuple[int, int, Sequence[_Range]]],
                       circular_buffers: Sequence[tuple[int, int, int, Sequence[_Range], int, int | None]],
                       semaphores: Sequence[tuple[int, int, Sequence[_Range]]], /) -> Resource: ...

def connect(address: str, client_name: str, device: int | None, weight: int, priority: int, connect_ms: int, call_ms: int, batch_commands: int,
            tls: tuple[str, str, str, str, int], lease: tuple[Sequence[_Range], int, Sequence[int]] | None, lease_token: str,
            on_waiting: Callable[[LeaseWait], None] | None, reconnect_ms: int, /) -> Session: ...
def first_cores(grid_x: int, count: int, /) -> list[_Range]: ...
def to_tiles(numbers: _Bytes, shape: tuple[int, ...], format: int, into: _Bytes, /) -> None: ...
def from_tiles(tiles: _Bytes, shape: tuple[int, ...], format: int, into: _Bytes, /) -> None: ...

class Safetensors:
    def __init__(self, path: str) -> None: ...
    def names(self) -> list[str]: ...
    def shape(self, name: str) -> tuple[int, ...]: ...
    def dtype(self, name: str) -> str: ...
    def read(self, name: str, array: _Bytes) -> None: ...

class TensorInfo:
    """A tensor of a program, or a buffer of a TTMetal program. What the schema does not say is empty."""

    id: int
    shape: list[int]
    dtype: str
    layout: str
    memory: str

class OperationInfo:
    """An operation of a TTNN program, or a command of a TTMetal program."""

    type: str
    results: list[TensorInfo]
    operands: list[TensorInfo]
    attributes: dict[str, str]
    location: str

class ProgramInfo:
    """A program of a file. `operations` is their number."""

    name: str
    is_private: bool
    operations: int
    mesh_shape: list[int]
    inputs: list[TensorInfo]
    outputs: list[TensorInfo]
    native_bytes: int

class Binary:
    """A file, mapped and verified. Raises Error: NOT_FOUND, INVALID_ARGUMENT (damaged), UNIMPLEMENTED (a schema without a profile)."""

    kind: str
    version: str
    schema_hash: str
    git_hash: str
    programs: list[ProgramInfo]
    def __init__(self, path: str, profiles: str = ...) -> None:
        """`profiles`: a folder; empty: that of the installation."""
    def operations(self, program: int = ...) -> list[OperationInfo]: ...
    def operations_json(self, program: int = ...) -> str:
        """With the names and values of the schema."""
    def system_json(self) -> str: ...
    def problems(self, program: int = ..., allow_native: bool = ...) -> list[str]:
        """What cannot run; empty: all of it can."""
    def python(self, program: int = ...) -> str:
        """The program as calls of ttfd.tensor."""
    def submit(self, card: Any, program: int, inputs: Sequence[Any], *, allow_native: bool = ..., native_s: float = ...,
               native_bytes: int = ...) -> list[Any]:
        """Runs a program on a ttfd.tensor.Card with tensors of it; the outputs are tensors, too."""

def write_system_description(device: Device, path: str, schema: str = ..., profiles: str = ...) -> None:
    """Writes the description of a card for the tt-mlir compiler. `schema`: the first digits of its hash; empty: the newest."""

class Timeline:
    """When and where the tasks of a run were: tasks are structures of 32 bytes, edges pairs of uint32."""

    classes: list[tuple[str, list[tuple[int, int]]]]
    functions: list[str]
    clock_hz: int
    def write_trace(self, path: str) -> None: ...
    def summarize(self) -> tuple[int, int, float, float, list[tuple[str, int, int, float]]]: ...
    def tasks(self) -> bytes: ...
    def edges(self) -> bytes: ...

class MeshElement(enum.Enum):
    INT32 = ...
    FLOAT32 = ...
    BFLOAT16 = ...

class MeshBuffer:
    parts: int
    part_bytes: int
    page_bytes: int
    def handle(self, chip: int) -> int: ...
    def buffer_bytes(self, chip: int) -> int: ...

def find_placement(address: str, connect_ms: int, tls: tuple[str, str, str, str, int], shape: tuple[int, int], among: Sequence[int], /) -> tuple[list[int], tuple[bool, bool]]: ...

class Mesh:
    def __init__(self, sessions: Sequence[Session], shape: tuple[int, int], places: tuple[list[int], tuple[bool, bool]]) -> None: ...
    def allocate(self, part_bytes: int, parts: int) -> MeshBuffer: ...
    def write(self, buffer: MeshBuffer, chip: int, array: _Bytes) -> None: ...
    def read(self, buffer: MeshBuffer, chip: int, array: _Bytes) -> None: ...
    def enqueue_all_gather(self, from_: MeshBuffer, to: MeshBuffer, axis: int) -> None: ...
    def enqueue_reduce_scatter(self, from_: MeshBuffer, to: MeshBuffer, element: MeshElement, axis: int) -> None: ...
    def enqueue_all_reduce(self, from_: MeshBuffer, to: MeshBuffer, element: MeshElement, axis: int) -> None: ...
    def finish(self, timeout_ms: int) -> bool: ...
    def clocks(self) -> list[tuple[int, int]]: ...

class Graph:
    """A task graph: words are (word or handle of a buffer, whether it is a handle)."""

    tasks: int
    edges: int
    def __init__(self, session: Session, scheduler: tuple[int, int], classes: Sequence[tuple[str, Sequence[Any]]],
                 scratch: Sequence[tuple[int, int, int, int]], timeout_ms: int) -> None: ...
    def add_function(self, name: str, kernel: int, on: str, host: Callable[[list[int]], None] | None, compute: Sequence[int],
                     ncrisc: int, configured: bool) -> int: ...
    def add_configuration(self, circular_buffers: Sequence[tuple[int, int, int, int]],
                          common: Sequence[tuple[int, Sequence[tuple[int, bool]]]]) -> int: ...
    def add_configured(self, function: int, configuration: int, after: Sequence[int], on: str) -> int: ...
    def add(self, function: int, words: Sequence[tuple[int, bool]], after: Sequence[int], on: str) -> int: ...
    def add_many(self, function: int, array: _Bytes, rows: int, buffers: dict[int, int], on: str) -> int: ...
    def add_edges(self, array: _Bytes) -> None: ...
    def load(self, queue: Queue) -> None: ...
    def run(self, queue: Queue) -> None: ...
    def run_with_timeline(self, queue: Queue) -> Timeline: ...
    def enqueue(self, queue: Queue) -> int: ...
    def cancel(self, transfers: Queue) -> None: ...
    def rebind(self, from_: int, to: int) -> None: ...
    def launch(self, queue: Queue) -> tuple[int, list[tuple[int, list[int], list[tuple[int, int]]]]]: ...
    def report(self, queue: Queue) -> tuple[bool, int, int, int]: ...
    def run_on_host(self, buffers: Sequence[int]) -> None: ...
