"""Programs of TTMetal files: kernels compiled from source, on queues of the card; the samples; wrong files and kernels."""

from __future__ import annotations

import os
import pathlib

import numpy as np
import pytest

import metal_files as files
from conftest import Daemon
from metal_files import address, argument, cores, create, dram, host, kernel, launch, port, sharded, to_card, to_host

SAMPLES = os.environ.get("TTFD_TTMLIR_SAMPLES")
TILE = 4096  # bytes, of 32 by 32 float32


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
    return np.random.default_rng(7).uniform(-2, 2, shape).astype(np.float32)


def tiles_of(matrix: np.ndarray) -> np.ndarray:
    """The elements as the engine has them: tiles row by row, four faces each."""
    rows, columns = matrix.shape
    faces = matrix.reshape(rows // 32, 2, 16, columns // 32, 2, 16)
    return np.ascontiguousarray(faces.transpose(0, 3, 1, 4, 2, 5)).reshape(-1)


LOOPBACK = """
#include "api/dataflow/dataflow_api.h"
void kernel_main() {
  const uint32_t from = get_common_arg_val<uint32_t>(0);
  constexpr auto arguments = TensorAccessorArgs<1, 0>();
  const auto source = TensorAccessor(arguments, from, 4096);
  const InterleavedAddrGen<true> target = {.bank_base_address = get_arg_val<uint32_t>(0), .page_size = 4096};
  constexpr uint32_t pages = get_compile_time_arg_val(0);
  for (uint32_t page = 0; page != pages; ++page) {
    cb_reserve_back(3, 1);
    noc_async_read_tile(page, source, get_write_ptr(3));
    noc_async_read_barrier();
    cb_push_back(3, 1);
    cb_wait_front(3, 1);
    noc_async_write(get_read_ptr(3), get_noc_addr(pages - 1 - page, target), 4096);
    noc_async_write_barrier();
    cb_pop_front(3, 1);
  }
}
"""


def test_pages_of_dram_are_read_and_written_back_in_reverse(daemon, tmp_path):
    pages = 20
    source, target, scratch = dram(2, pages * TILE, TILE), dram(3, pages * TILE, TILE), sharded(4, (2, 1), (2, 1), cores(1, 1))
    given, made = host(1, (pages, 1024)), host(5, (pages, 1024))
    count = argument("NamedArgument", {"name": "pages", "value": pages})
    copies = kernel(LOOPBACK, cores(1, 1), "RISCV_0", [count, argument("TensorAccessorArgs", {"operand_idx": 0})], [address(1)], [address(0)])
    commands = [*to_card(given, source), create(target), create(scratch), launch([copies], [source, target], [(3, scratch)]),
                *to_host(target, made)]
    array = numbers(pages, 1024)
    assert np.array_equal(run(daemon, files.write(tmp_path / "a.ttm", commands, [given], [made]), [array]), array[::-1])
