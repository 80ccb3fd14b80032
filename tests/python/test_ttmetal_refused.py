"""TTMetal files with a mistake: refused before anything runs, with command, kernel and line; kernels that do not end."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import metal_files as files
from metal_files import TILE, address, argument, cores, create, dram, host, kernel, launch, numbers, run, sharded, to_card, to_host


def broken(text: str) -> list[dict[str, Any]]:
    """The commands of a copy through one kernel with this source."""
    source, target = dram(2, TILE, TILE), dram(3, TILE, TILE)
    return [*to_card(host(1, (1, 1024)), source), create(target), launch([kernel(text, cores(1, 1))], [source, target]),
            *to_host(target, host(5, (1, 1024)))]


def changed(index: int, path: str, value: Any) -> list[dict[str, Any]]:
    """The commands of a copy, with one field of one of them changed: names and indices separated by dots."""
    commands = broken("void kernel_main() {}")
    *names, last = path.split(".")
    at = commands[index]["type"]
    for name in names:
        at = at[int(name)] if name.isdigit() else at[name]
    at[int(last) if last.isdigit() else last] = value
    return commands


WRONG = {
    "a buffer that was never made": (changed(1, "dst", dram(7, TILE, TILE)), "command 1 EnqueueWriteBufferCommand at test.mlir:1:1: %7 is not on the card"),
    "an array that was never made": (changed(5, "dst", host(8, (1, 1024))), "%8 is not on the host"),
    "another size": (changed(4, "dst", host(5, (2, 1024))), "%5 has 8192 bytes, and %3 4096"),
    "pages that do not divide": (changed(0, "ref", dram(2, TILE, 4095)), "%2 of 4096 bytes has pages of 4095"),
    "cores outside a card": (changed(3, "program.kernels.0.core_range_set", cores(70, 1)), "a range of cores is not in the grid of a card"),
    "an operand that is not there": (changed(3, "program.kernels.0.args.rt_args", [address(5)]), "kernel 0 of command 3: it has no operand 5"),
    "a kernel of another hart": (changed(3, "program.kernels.0.type.processor", "RISCV_5"), "its kernel is for a hart that workers do not have"),
    "an array of more than there is": (changed(4, "dst.desc.host_volume", 2**40), "more than"),
}


def spread(x: int) -> list[dict[str, Any]]:
    """A buffer whose pages lie on a worker in column `x` or the first one, and an accessor of it."""
    buffer = sharded(2, (2, 1), (1, 1), cores(2, 1), 1024)
    buffer["desc"]["buffer_detail"]["buffer_config"]["buffer_distribution_spec"] = {
        "tensor_shape_in_pages": [2, 1], "shard_shape_in_pages": [1, 1], "cores": [{"y": 0, "x": x}, {"y": 0, "x": 0}]}
    reads = kernel("void kernel_main() {}", cores(1, 1), compile_time=[argument("TensorAccessorArgs", {"operand_idx": 0})])
    return [*to_card(host(1, (512,)), buffer), launch([reads], [buffer]), *to_host(buffer, host(5, (512,)))]


def computes_integers() -> list[dict[str, Any]]:
    """A compute kernel with a circular buffer of integers."""
    ring = sharded(2, (1, 1), (1, 1), cores(1, 1), TILE, "Int32")
    return [create(ring), launch([kernel("void kernel_main() {}", cores(1, 1), "compute")], [], [(0, ring)])]


WRONG["a core that is none"] = (spread(-1), "%2: a core is not in the grid of a card")
WRONG["integers for a compute kernel"] = (computes_integers(), "circular buffer 0 has elements of Int32, which compute kernels do not take")


@pytest.mark.parametrize(("commands", "message"), WRONG.values(), ids=WRONG.keys())
def test_a_wrong_command_is_refused_before_anything_runs(daemon, tmp_path, commands, message):
    file = files.write(tmp_path / "a.ttm", commands, [host(1, (1, 1024))], [host(5, (1, 1024))])
    listed = daemon.ctl("inspect", file, "--support")
    assert message in listed.stdout
    np.save(tmp_path / "in.npy", numbers(1, 1024))
    done = daemon.ctl("run", file, "--input", tmp_path / "in.npy", "-o", tmp_path / "out.npy")
    assert done.returncode != 0
    assert message in done.stderr and str(file) in done.stderr
    assert not (tmp_path / "out.npy").exists()


def test_an_input_that_is_there_twice_or_has_no_elements_is_refused(daemon, tmp_path):
    twice = files.write(tmp_path / "a.ttm", [], [dram(1, 4 * TILE, TILE), dram(1, TILE, TILE)], [])
    assert "input 1: %1 is an input twice" in daemon.ctl("inspect", twice, "--support").stdout
    empty, tiles = files.old_tensor(1, (32, 0), 1, "rows"), files.old_tensor(2, (32, 32), 1, "tile")
    reads = {"type_type": "EnqueueReadBufferCommand", "type": {"src": tiles, "dst": empty}}
    file = files.write_old(tmp_path / "b.ttm", [{"type_type": "CreateBufferCommand", "type": {"ref": tiles}}, reads], [empty], [])
    assert "input 0: %1 has no shape and strides of an array" in daemon.ctl("inspect", file, "--support").stdout


def test_a_native_function_of_2025_writes_over_an_input_of_its_output_s_shape(daemon, tmp_path):
    given, made = host(1, (4,)), host(2, (8,))
    call = files.command("CpuCommand", {"ins": [given], "out": made, "func_name": "f", "dylib_id": 4})
    file = files.write(tmp_path / "a.ttm", [call], [given], [], files.OF_2025, native=b"no library")
    assert "its last input, over which it writes, has another shape" in daemon.ctl("inspect", file, "--support").stdout


def test_what_the_compiler_says_of_a_kernel_has_its_name_and_line(daemon, tmp_path):
    file = files.write(tmp_path / "a.ttm", broken("void kernel_main() {\n  get_arg_val<uint32_t>(0) +;\n}"), [host(1, (1, 1024))], [host(5, (1, 1024))])
    np.save(tmp_path / "in.npy", numbers(1, 1024))
    done = daemon.ctl("run", file, "--input", tmp_path / "in.npy", "-o", tmp_path / "out.npy")
    assert done.returncode != 0
    assert "program main: command 3 EnqueueProgramCommand at test.mlir:1:1: kernel 0 of command 3: it does not compile" in done.stderr
    assert "kernel 0 of command 3:2:29: error:" in done.stderr


def test_a_kernel_that_does_not_end_is_reported_and_the_card_serves_the_next(daemon, tmp_path):
    stuck = broken("void kernel_main() {\n  cb_wait_front(0, 1);\n}")
    ring = sharded(6, (1, 1), (1, 1), cores(1, 1))
    stuck.insert(3, create(ring))
    stuck[4]["type"]["cbs"] = [{"port": 0, "buffer_ref": ring}]
    np.save(tmp_path / "in.npy", numbers(1, 1024))
    file = files.write(tmp_path / "a.ttm", stuck, [host(1, (1, 1024))], [host(5, (1, 1024))])
    done = daemon.ctl("run", file, "--input", tmp_path / "in.npy", "-o", tmp_path / "out.npy")
    assert done.returncode != 0 and "kernel 0 of command 4" in done.stderr
    file = files.write(tmp_path / "b.ttm", broken("void kernel_main() {}"), [host(1, (1, 1024))], [host(5, (1, 1024))])
    assert not run(daemon, file, [numbers(1, 1024)]).any()
