"""TTMetal files of tt-mlir, written for tests by the profile of their schema: buffers, kernels, commands."""

from __future__ import annotations

import json
import pathlib
import subprocess
from typing import Any

import numpy as np

from compiled_files import PROFILES, full_hash
from conftest import BUILD, Daemon

TILE = 4096  # bytes, of 32 by 32 float32
NEWEST, OF_2025, OLD = "ttmetal-dcfff37afffd", "ttmetal-4a24ba5af1b4", "ttmetal-9c61739ba0dc"


def write_root(path: pathlib.Path, root: dict[str, Any], profile: str) -> pathlib.Path:
    """A file of the profile."""
    done = subprocess.run([BUILD / "tests/write_compiled_file", PROFILES, profile], input=json.dumps(root).encode(), capture_output=True,
                          timeout=60, check=False)
    assert done.returncode == 0, done.stderr.decode()
    path.write_bytes(done.stdout)
    return path


def write(path: pathlib.Path, commands: list[dict[str, Any]], inputs: list[Any], outputs: list[Any], profile: str = NEWEST,
          native: bytes = b"") -> pathlib.Path:
    """A file of one program with these commands; `native` is its library 4."""
    described = [{"desc": {"shape": ref["desc"]["shape"], "layout": {"memory_desc": {"data_type": ref["desc"]["data_type"]}}}}
                 for ref in [*inputs, *outputs]]
    queue = {"name": "queue", "queue_id": 0, "commands": commands}
    program = {"name": "main", "inputs": described[:len(inputs)], "outputs": described[len(inputs):],
               "device_programs": [{"inputs": inputs, "outputs": outputs, "command_queues": [queue]}]}
    root = {"version": {"major": 0, "minor": 0, "patch": 1}, "schema_hash": full_hash(profile), "ttmlir_git_hash": "0" * 40,
            "programs": [program]}
    if native:
        root["dylibs"] = [{"dylib_id": 4, "raw_file": list(native)}]
    return write_root(path, root, profile)


def command(kind: str, fields: dict[str, Any]) -> dict[str, Any]:
    """One command."""
    return {"type_type": kind, "type": fields, "loc": 'loc("test.mlir":1:1)', "debug_info": kind}


def strides_of(shape: tuple[int, ...]) -> list[int]:
    """Strides of an array without gaps, in elements."""
    return [int(np.prod(shape[i + 1:])) for i in range(len(shape))]


def host(number: int, shape: tuple[int, ...], dtype: str = "Float32", strides: list[int] | None = None, volume: int = 0) -> dict[str, Any]:
    """A reference to an array of the host."""
    return {"global_id": number, "address": 0, "desc": {
        "shape": list(shape), "host_strides": strides or strides_of(shape), "host_volume": volume or int(np.prod(shape)), "data_type": dtype,
        "element_shape": {"y": 1, "x": 1}, "buffer_detail_type": "SystemBuffer", "buffer_detail": {}}}


def cores(columns: int, rows: int, x: int = 0, y: int = 0) -> list[dict[str, Any]]:
    """A rectangle of workers."""
    return [{"loc": {"y": y, "x": x}, "size": {"y": rows, "x": columns}}]


def card(number: int, shape: tuple[int, ...], config: dict[str, Any], kind: str, dtype: str, ring: dict[str, Any] | None) -> dict[str, Any]:
    """A reference to a buffer of the card, with its circular buffer."""
    where = "DRAM" if kind == "InterleavedBufferConfig" else "L1"
    detail = {"buffer_type": where, "buffer_config_type": kind, "buffer_config": config, "circular_buffer_config": ring}
    return {"global_id": number, "address": 4096 * number, "desc": {
        "shape": list(shape), "host_strides": strides_of(shape), "host_volume": int(np.prod(shape)), "data_type": dtype,
        "element_shape": {"y": 1, "x": 1}, "buffer_detail_type": "MetalBuffer",
        "buffer_detail": {name: value for name, value in detail.items() if value is not None}}}


def dram(number: int, size: int, page: int, dtype: str = "Float32") -> dict[str, Any]:
    """A buffer interleaved in DRAM, of `size` bytes."""
    return card(number, (size // 4,), {"size": size, "page_size": page}, "InterleavedBufferConfig", dtype, None)


def sharded(number: int, pages: tuple[int, int], shard: tuple[int, int], where: list[dict[str, Any]], page: int = 4096,
            dtype: str = "Float32") -> dict[str, Any]:
    """A buffer of pages[0] by pages[1] pages in L1, in shards of shard[0] by shard[1] pages. A shard is a circular buffer, too."""
    spec = {"shard_spec": {"core_range_set": where, "shard_shape": {"y": shard[0], "x": shard[1]}}, "page_shape": {"y": 1, "x": 1},
            "tensor_shape_in_pages": {"y": pages[0], "x": pages[1]}}
    size = pages[0] * pages[1] * page
    ring = {"core_range_set": where, "total_size": shard[0] * shard[1] * page, "page_size": page, "num_buffers": 1}
    config = {"size": size, "page_size": page, "shard_spec_buffer": spec}
    return card(number, (size // 4,), config, "ShardedBufferConfig", dtype, ring)


def argument(kind: str, fields: dict[str, Any]) -> dict[str, Any]:
    """One argument of a kernel."""
    return {"arg_type": f"KernelArg{kind}", "arg": fields}


def address(index: int) -> dict[str, Any]:
    """The address of operand `index`."""
    return argument("BufferAddress", {"operand_idx": index})


def port(index: int) -> dict[str, Any]:
    """The number of circular buffer `index` of the command."""
    return argument("CBPort", {"operand_idx": index})


def kernel(source: str, where: list[dict[str, Any]], hart: str = "RISCV_0", compile_time: list[Any] | None = None,
           runtime: list[Any] | None = None, common: list[Any] | None = None) -> dict[str, Any]:
    """A kernel: `hart` RISCV_0, RISCV_1 or compute. With the schema of 2025 RISCV_1 has to be given as Noc1."""
    if hart == "compute":
        config: tuple[str, dict[str, Any]] = ("ComputeConfig", {"math_fidelity": "HiFi4", "fp32_dest_acc_en": True})
    elif hart.startswith("Noc"):
        config = ("NocConfig", {"noc_index": hart})
    else:
        config = ("NocConfig", {"processor": hart, "noc_index": "Noc0" if hart == "RISCV_0" else "Noc1"})
    lists = {"rt_args": runtime or [], "ct_args": compile_time or []}
    if common is not None:
        lists["crt_args"] = common
    return {"kernel_type": "KernelSource", "kernel": {"source": source}, "core_range_set": where, "args": lists, "type_type": config[0],
            "type": config[1], "debug_info": "", "symbol": "kernel"}


def launch(kernels: list[Any], operands: list[Any], rings: list[tuple[int, Any]] | None = None, profile: str = NEWEST) -> dict[str, Any]:
    """A launch; `rings` are circular buffers: port and buffer."""
    ports = [{"port": number, "buffer_ref": buffer} for number, buffer in rings or []]
    fields: dict[str, Any] = {"cbs": ports, "program": {"kernels": kernels}}
    if profile == OF_2025:
        fields["buffers"] = operands
    else:
        kinds = ["BufferRef" if "desc" in one else "LocalSemaphoreRef" if "initial_value" in one else "GlobalSemaphoreRef" for one in operands]
        fields |= {"arg_refs_type": kinds, "arg_refs": operands}
    return command("EnqueueProgramCommand", fields)


def create(buffer: dict[str, Any]) -> dict[str, Any]:
    """Makes a buffer of the card."""
    return command("CreateBufferCommand", {"ref": buffer})


def to_card(array: dict[str, Any], buffer: dict[str, Any]) -> list[dict[str, Any]]:
    """Makes a buffer, and writes an array into it."""
    return [create(buffer), command("EnqueueWriteBufferCommand", {"src": array, "dst": buffer})]


def to_host(buffer: dict[str, Any], array: dict[str, Any]) -> list[dict[str, Any]]:
    """Makes an array, reads a buffer into it, and returns it."""
    return [command("HostAllocCommand", {"dst": array}), command("EnqueueReadBufferCommand", {"src": buffer, "dst": array}),
            command("FinishCommand", {}), command("ReturnCommand", {"results": [array]})]


def old_tensor(number: int, shape: tuple[int, int], rows_of_cores: int, layout: str, dtype: str = "Float32") -> dict[str, Any]:
    """A tensor of a file of 2024: in L1, its rows divided over a column of workers."""
    side = 32 if layout == "tile" else 1
    size = 4 if dtype == "Float32" else 2
    shard = (shape[0] // rows_of_cores, shape[1])
    memory = {"shape": [shard[0] // side, shard[1] // side], "tile_shape": {"y": side, "x": side}, "data_type": dtype, "memory_space": "DeviceL1",
              "memory_layout": "None", "size": shard[0] * shard[1] * size}
    layout_of = {"stride": [shape[1], 1], "oob_val": "Undef", "core_range_set": cores(1, rows_of_cores), "memory_desc": memory}
    return {"global_id": number, "address": 4096 * number, "size": memory["size"], "desc": {"shape": list(shape), "layout": layout_of}}


def old_launch(source: str, tensors: list[tuple[int, dict[str, Any]]]) -> dict[str, Any]:
    """A launch of a compute kernel of 2024, with circular buffers on tensors: port and tensor."""
    where = tensors[0][1]["desc"]["layout"]["core_range_set"]
    rings = []
    for number, tensor in tensors:
        memory = tensor["desc"]["layout"]["memory_desc"]
        page = 4096 if memory["data_type"] == "Float32" else 2048
        rings.append({"global_id": 100 + number, "tensor_ref": tensor, "address": tensor["address"],
                      "desc": {"port": number, "memory_desc": memory, "page_size": page, "num_buffers": 1}})
    kernels = [{"kernel_type": "KernelSource", "kernel": {"source_type": "Tensix", "source": source}, "core_range_set": where, "cbs": rings}]
    return {"type_type": "EnqueueProgramCommand", "type": {"operands": [tensor for _, tensor in tensors], "program": {"kernels": kernels}},
            "debug_info": "launch"}


def write_old(path: pathlib.Path, commands: list[dict[str, Any]], inputs: list[Any], outputs: list[Any]) -> pathlib.Path:
    """A file of 2024, of one program with these commands."""
    queue = {"name": "main", "commands": commands}
    program = {"name": "main", "inputs": inputs, "outputs": outputs,
               "device_programs": [{"inputs": inputs, "outputs": outputs, "command_queues": [queue]}]}
    root = {"version": {"major": 0, "minor": 0, "patch": 1}, "ttmlir_git_hash": full_hash(OLD), "programs": [program]}
    return write_root(path, root, OLD)


def run(daemon: Daemon, file: pathlib.Path, inputs: list[np.ndarray], *more: str) -> np.ndarray:
    """The output of a program, by ttfdctl."""
    words: list[str | pathlib.Path] = ["run", file, *more]
    for index, array in enumerate(inputs):
        np.save(file.parent / f"in{index}.npy", array)
        words += ["--input", file.parent / f"in{index}.npy"]
    done = daemon.ctl(*words, "-o", file.parent / "out.npy")
    assert done.returncode == 0, done.stderr
    return np.load(file.parent / "out.npy")


def numbers(*shape: int) -> np.ndarray:
    """The same of each shape, from -2 to 2."""
    return np.random.default_rng(7).uniform(-2, 2, shape).astype(np.float32)
