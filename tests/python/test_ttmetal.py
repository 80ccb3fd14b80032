"""Programs of TTMetal files: kernels compiled from source, on queues of the card; the samples."""

from __future__ import annotations

import os
import pathlib
import subprocess

import numpy as np
import pytest

import metal_files as files
import ttfd
import ttfd.tensor as tt
from metal_files import TILE, address, argument, cores, create, dram, host, kernel, launch, numbers, port, run, sharded, to_card, to_host
from ttfd import ttmlir

SAMPLES = os.environ.get("TTFD_TTMLIR_SAMPLES")


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


OBJECTS = """
void kernel_main() {
  Noc noc0(0);
  UnicastEndpoint unicast_ep;
  MulticastEndpoint mcast_ep;
  CircularBuffer cb_ctarg_0(get_compile_time_arg_val(0));
  const auto arguments = TensorAccessorArgs<3, 0>();
  TensorAccessor source = TensorAccessor(arguments, get_compile_time_arg_val(1), 1024);
  const uint32_t x0 = worker_logical_col_to_virtual_col[0], y0 = worker_logical_row_to_virtual_row[0];
  cb_ctarg_0.reserve_back(1);
  noc0.async_read(source, CoreLocalMem<uint32_t>(cb_ctarg_0.get_write_ptr()), source.get_aligned_page_size(), {.page_id = 3}, {});
  noc0.async_read_barrier();
  cb_ctarg_0.push_back(1);
  cb_ctarg_0.wait_front(1);
  const uint32_t target = get_compile_time_arg_val(2);
  noc0.async_write_multicast<NocOptions::MCAST_INCL_SRC>(
      CoreLocalMem<uint32_t>(cb_ctarg_0.get_read_ptr()), mcast_ep, 1024, 2, {}, noc_traits_t<MulticastEndpoint>::dst_args_mcast_type{
      .noc_x_start = x0, .noc_y_start = y0, .noc_x_end = worker_logical_col_to_virtual_col[1], .noc_y_end = y0, .addr = target}, false);
  noc0.async_write(CoreLocalMem<uint32_t>(cb_ctarg_0.get_read_ptr()), unicast_ep, 512, {},
                   {.noc_x = worker_logical_col_to_virtual_col[2], .noc_y = y0, .addr = static_cast<uint32_t>(target + 512)});
  noc0.async_write_barrier();
  cb_ctarg_0.pop_front(1);
}
"""


def test_the_noc_and_its_ends_as_objects(daemon, tmp_path):
    source = sharded(2, (2, 2), (2, 1), cores(2, 1), 1024)  # page 3 is the second of the second worker
    target, scratch = sharded(3, (3, 1), (1, 1), cores(3, 1), 1024), sharded(4, (1, 1), (1, 1), cores(1, 1), 1024)
    given, made = host(1, (4, 256)), host(5, (3, 256))
    sends = kernel(OBJECTS, cores(1, 1), compile_time=[port(0), address(0), address(1), argument("TensorAccessorArgs", {"operand_idx": 0})])
    commands = [*to_card(given, source), create(target), create(scratch), launch([sends], [source, target], [(5, scratch)]), *to_host(target, made)]
    array = numbers(4, 256)
    got = run(daemon, files.write(tmp_path / "a.ttm", commands, [given], [made]), [array])
    wanted = np.stack([array[3], array[3], np.concatenate([np.zeros(128, np.float32), array[3, :128]])])
    assert np.array_equal(got, wanted)


TRANSPOSE = """
void kernel_main() {
  constexpr uint32_t side = get_named_compile_time_arg_val("side");
  const uint32_t row = my_logical_y_, column = my_logical_x_;
  cb_reserve_back(16, 1);
  noc_async_read(get_noc_addr(worker_logical_col_to_virtual_col[row], worker_logical_row_to_virtual_row[column], get_compile_time_arg_val(1)),
                 get_write_ptr(16), get_tile_size(16));
  noc_async_read_barrier();
  cb_push_back(16, 1);
  static_assert(side == 3);
}
"""


def test_pages_in_l1_are_transposed_by_reads_between_workers(daemon, tmp_path):
    side = 3
    source, target = (sharded(i, (side, side), (1, 1), cores(side, side), 1024) for i in (2, 3))
    given, made = (host(i, (side, side, 256)) for i in (1, 5))
    moves = kernel(TRANSPOSE, cores(side, side), "RISCV_1", [argument("NamedArgument", {"name": "side", "value": side}), address(0)])
    commands = [*to_card(given, source), create(target), launch([moves], [source, target], [(16, target)]), *to_host(target, made)]
    array = numbers(side, side, 256)
    assert np.array_equal(run(daemon, files.write(tmp_path / "a.ttm", commands, [given], [made]), [array]), array.transpose(1, 0, 2))


MULTICAST = """
void kernel_main() {
  const uint32_t data = get_arg_val<uint32_t>(0);
  volatile tt_l1_ptr uint32_t* arrived = reinterpret_cast<volatile tt_l1_ptr uint32_t*>(get_semaphore(get_arg_val<uint32_t>(1)));
  if (my_logical_x_ == 1 && my_logical_y_ == 0) {
    const uint32_t x0 = worker_logical_col_to_virtual_col[0], y0 = worker_logical_row_to_virtual_row[0];
    const uint32_t x1 = worker_logical_col_to_virtual_col[WIDTH - 1], y1 = worker_logical_row_to_virtual_row[1];
    noc_async_write_multicast(data, get_noc_multicast_addr(x0, y0, x1, y1, data), 1024, 2 * WIDTH - 1);
    noc_semaphore_set(arrived, 1);
    noc_semaphore_set_multicast(get_semaphore(get_arg_val<uint32_t>(1)),
                                get_noc_multicast_addr(x0, y0, x1, y1, get_semaphore(get_arg_val<uint32_t>(1))), 2 * WIDTH - 1);
    noc_async_write_barrier();
  }
  noc_semaphore_wait(arrived, 1);
}
"""


def test_a_worker_multicasts_to_a_rectangle_across_columns_without_workers(daemon, tmp_path):
    width = 9  # of the grid's columns, two of the NoC's between them have no workers
    buffer = sharded(2, (2, width), (1, 1), cores(width, 2), 1024)
    given, made = (host(i, (2, width, 256)) for i in (1, 5))
    semaphore = {"global_id": 9, "initial_value": 0}
    sends = kernel(MULTICAST.replace("WIDTH", str(width)), cores(width, 2), runtime=[address(0), argument("LocalSemaphore", {"operand_idx": 1})])
    commands = [*to_card(given, buffer), files.command("CreateLocalSemaphoreCommand", {"ref": semaphore}), launch([sends], [buffer, semaphore]),
                *to_host(buffer, made)]
    array = numbers(2, width, 256)
    wanted = np.broadcast_to(array[0, 1], array.shape)
    assert np.array_equal(run(daemon, files.write(tmp_path / "a.ttm", commands, [given], [made]), [array]), wanted)


RING = """
void kernel_main() {
  const uint32_t data = get_common_arg_val<uint32_t>(0);
  const uint32_t turn = get_common_arg_val<uint32_t>(1);
  const uint32_t own = my_logical_x_, next = (own + 1) % COUNT;
  const uint64_t next_data = get_noc_addr(worker_logical_col_to_virtual_col[next], worker_logical_row_to_virtual_row[0], data);
  volatile tt_l1_ptr uint32_t* waits = reinterpret_cast<volatile tt_l1_ptr uint32_t*>(turn);
  volatile tt_l1_ptr uint32_t* word = reinterpret_cast<volatile tt_l1_ptr uint32_t*>(data);
  if (own != 0) noc_semaphore_wait_min(waits, 6);
  *word = *word + own + 1;
  noc_async_write(data, next_data, 64);
  noc_semaphore_inc(get_noc_addr(worker_logical_col_to_virtual_col[next], worker_logical_row_to_virtual_row[0], turn), 1);
  if (own == 0) noc_semaphore_wait(waits, 6);
}
"""


def test_a_token_goes_round_a_ring_of_workers_by_semaphores(daemon, tmp_path):
    count = 5
    buffer = sharded(2, (count, 1), (1, 1), cores(count, 1), 64)
    given, made = (host(i, (count, 16), "UInt32") for i in (1, 5))
    semaphore = {"global_id": 9, "address": 7}
    passes = kernel(RING.replace("COUNT", str(count)), cores(count, 1), common=[address(0), argument("GlobalSemaphore", {"operand_idx": 1})])
    commands = [*to_card(given, buffer),
                files.command("CreateGlobalSemaphoreCommand", {"ref": semaphore, "initial_value": 3, "core_range_set": cores(count, 1)}),
                files.command("ResetGlobalSemaphoreCommand", {"ref": semaphore, "value": 5}),
                launch([passes], [buffer, semaphore]), *to_host(buffer, made)]
    array = np.zeros((count, 16), np.uint32)
    array[0, 0] = 100
    made_array = run(daemon, files.write(tmp_path / "a.ttm", commands, [given], [made]), [array])
    assert made_array[:, 0].tolist() == [115, 103, 106, 110, 115]  # what each passed on, and what the first has in the end


SENDER = """
void kernel_main() {
  noc_semaphore_inc(get_noc_addr(worker_logical_col_to_virtual_col[1], worker_logical_row_to_virtual_row[0], get_semaphore(get_arg_val<uint32_t>(0))), 9);
}
"""
RECEIVER = """
void kernel_main() {
  noc_semaphore_wait(reinterpret_cast<volatile tt_l1_ptr uint32_t*>(get_semaphore(get_arg_val<uint32_t>(1))), 10);
  noc_async_write(get_semaphore(get_arg_val<uint32_t>(1)), get_noc_addr(get_arg_val<uint32_t>(0)), 16);
}
"""


def test_kernels_on_two_workers_mean_one_semaphore_by_its_index(daemon, tmp_path):
    buffer, made = sharded(2, (1, 1), (1, 1), cores(1, 1, x=1), 16), host(5, (4,), "UInt32")
    semaphore = argument("LocalSemaphore", {"operand_idx": 1})
    kernels = [kernel(SENDER, cores(1, 1), runtime=[semaphore]), kernel(RECEIVER, cores(1, 1, x=1), runtime=[address(0), semaphore])]
    operands = [buffer, {"global_id": 9, "initial_value": 1}]
    commands = [create(buffer), files.command("CreateLocalSemaphoreCommand", {"ref": operands[1]}), launch(kernels, operands), *to_host(buffer, made)]
    assert run(daemon, files.write(tmp_path / "a.ttm", commands, [], [made]), [])[0] == 10


READER = """
void kernel_main() {
  for (uint32_t i = 0; i != 2; ++i) {
    cb_reserve_back(get_compile_time_arg_val(0), TILES);
    cb_push_back(get_compile_time_arg_val(0), TILES);
    cb_reserve_back(get_compile_time_arg_val(1), TILES);
    cb_push_back(get_compile_time_arg_val(1), TILES);
    break;
  }
}
"""
MATMUL = """
#include "api/compute/matmul.h"
void kernel_main() {
  constexpr uint32_t a = get_compile_time_arg_val(0), b = get_compile_time_arg_val(1), c = get_compile_time_arg_val(2);
  mm_init(a, b, c);
  cb_wait_front(a, ROWS * DEPTH);
  cb_wait_front(b, DEPTH * COLUMNS);
  cb_reserve_back(c, ROWS * COLUMNS);
  tile_regs_acquire();
  for (uint32_t k = 0; k != DEPTH; ++k) matmul_block(a, b, k, k * COLUMNS, 0, false, COLUMNS, ROWS, DEPTH);
  tile_regs_commit();
  tile_regs_wait();
  pack_tile_block(0, c, ROWS * COLUMNS);
  tile_regs_release();
  cb_push_back(c, ROWS * COLUMNS);
  cb_pop_front(a, ROWS * DEPTH);
  cb_pop_front(b, DEPTH * COLUMNS);
}
"""


@pytest.mark.parametrize("profile", [files.NEWEST, files.OF_2025])
def test_a_matrix_product_of_tiles_in_l1(daemon, tmp_path, profile):
    rows, depth, columns = 2, 3, 4  # eight tiles of the product: all of Dst
    one = cores(1, 1)
    a, b, c = (sharded(i, shape, shape, one) for i, shape in ((2, (rows, depth)), (3, (depth, columns)), (4, (rows, columns))))
    arrays = [host(i, (size * 1024,)) for i, size in ((11, rows * depth), (12, depth * columns))]
    made = host(5, (rows * columns * 1024,))
    words = {"ROWS": rows, "DEPTH": depth, "COLUMNS": columns}
    source = MATMUL
    for name, value in words.items():
        source = source.replace(name, str(value))
    first = READER.replace("get_compile_time_arg_val(1), TILES", f"get_compile_time_arg_val(1), {depth * columns}").replace("TILES", str(rows * depth))
    hart = "RISCV_0" if profile == files.NEWEST else "Noc1"
    kernels = [kernel(first, one, hart, [port(0), port(1)]), kernel(source, one, "compute", [port(0), port(1), port(2)])]
    commands = [*to_card(arrays[0], a), *to_card(arrays[1], b), create(c),
                launch(kernels, [a, b, c], [(0, a), (1, b), (16, c)], profile), *to_host(c, made)]
    left, right = numbers(32 * rows, 32 * depth), numbers(32 * depth, 32 * columns)
    file = files.write(tmp_path / "a.ttm", commands, arrays, [made], profile)
    got = run(daemon, file, [tiles_of(left), tiles_of(right)])
    wanted = tiles_of(left.astype(np.float64) @ right)
    assert np.corrcoef(got, wanted)[0, 1] >= 0.9999


NATIVE = """
#include <stdint.h>
#include <stdlib.h>
typedef struct { void* start; float* aligned; int64_t offset; int64_t* sizes; } reference;
static int64_t sizes[] = {2, 1};
reference* sums(reference* in) {
  reference* out = calloc(1, sizeof(reference));
  out->aligned = calloc(2, 4);
  out->sizes = sizes;
  for (int i = 0; i < 6; ++i) out->aligned[i / 3] += in->aligned[i];
  return out;
}
"""


def test_commands_of_the_host(daemon, tmp_path):
    (tmp_path / "native.c").write_text(NATIVE)
    subprocess.run(["cc", "-shared", "-fPIC", "-o", tmp_path / "native.so", tmp_path / "native.c"], check=True, timeout=60)
    given, sums, constant = host(1, (2, 3)), host(2, (2,)), host(5, (2,))
    gaps = host(3, (2, 3), strides=[8, 2], volume=16)
    padded, event = dram(4, 64, 64), {"global_id": 9}
    data = list(np.array([7, 8], np.float32).tobytes())
    commands = [
        files.command("CpuCommand", {"ins": [given], "outs": [sums], "func_name": "sums", "dylib_id": 4}),
        files.command("HostAllocCommand", {"dst": constant, "data": data}), files.command("HostAllocCommand", {"dst": gaps}),
        files.command("MemrefCopyCommand", {"src": given, "dst": gaps}), *to_card(gaps, padded),
        files.command("EnqueueRecordEventCommand", {"ref": event}), files.command("EnqueueWaitForEventCommand", {"ref": event}),
        files.command("EventSynchronizeCommand", {"ref": event}), *to_host(padded, host(6, (16,))),
        files.command("DeallocateBufferCommand", {"ref": padded})]
    commands[-2]["type"]["results"] = [sums, constant, host(6, (16,))]
    outputs = [sums, constant, host(6, (16,))]
    file = files.write(tmp_path / "a.ttm", commands, [given], outputs, native=(tmp_path / "native.so").read_bytes())
    array = numbers(2, 3)
    with tt.open(daemon.address) as card:
        binary, inputs = ttmlir.Binary(str(file)), [card.tensor(array, "float32")]
        with pytest.raises(ttfd.Error, match="command 0 CpuCommand at test.mlir:1:1: native code of the CPU, function sums of .* bytes"):
            binary.submit(card, 0, inputs)
        made = [tensor.numpy() for tensor in binary.submit(card, 0, inputs, allow_native=True)]
    np.testing.assert_allclose(made[0], array.sum(axis=1), rtol=1e-6)
    assert made[1].tolist() == [7, 8]
    wanted = np.zeros((2, 4, 2), np.float32)
    wanted[:, :3, 0] = array
    assert np.array_equal(made[2], wanted.reshape(-1))


OLD_KERNEL = """
#include "compute_kernel_api/common.h"
namespace NAMESPACE {
void kernel_main() {
  ::tt::CB in = ::tt::CB::c_in0;
  ::tt::CB out = ::tt::CB::c_out0;
BODY
}
void MAIN { kernel_main(); }
}
"""
TILIZE = "  tilize_init(in, 2, out);\n  tilize_block(in, 2, out);\n  cb_push_back(out, 2);"
EXP = """  unary_op_init_common(in, out);
  copy_tile_init(in);
  exp_tile_init<false>();
  for (int32_t i = 0; i < 2; i += 1) {
    acquire_dst();
    copy_tile(in, i, 7);
    exp_tile<false>(7);
    pack_tile(7, out, i);
    release_dst();
  }"""
UNTILIZE = "  untilize_init(in, out);\n  untilize_block(in, 2, out);\n  cb_push_back(out, 2);"


@pytest.mark.parametrize("dtype", ["Float32", "BFloat16"])
def test_a_file_of_2024_orders_rows_as_tiles_and_back(daemon, tmp_path, dtype):
    shape = (96, 64)
    rows, tiles, results, last = (files.old_tensor(i, shape, 3, layout, dtype) for i, layout in ((1, "rows"), (2, "tile"), (3, "tile"), (4, "rows")))
    steps = [(TILIZE, rows, tiles), (EXP, tiles, results), (UNTILIZE, results, last)]
    commands = []
    for body, source, target in steps:
        commands.append({"type_type": "CreateBufferCommand", "type": {"ref": target}})
        commands.append(files.old_launch(OLD_KERNEL.replace("BODY", body), [(0, source), (16, target)]))
    file = files.write_old(tmp_path / "a.ttm", commands, [rows], [last])
    array = numbers(*shape)
    np.testing.assert_allclose(run(daemon, file, [array]), np.exp(array), rtol=1e-4 if dtype == "Float32" else 0.02)


# Blocks of rows one after the other into the pages that are reserved.
UNTILIZE_TWICE = """  untilize_init(in, out);
  untilize_block(in, 2, out);
  cb_pop_front(in, 2);
  untilize_block(in, 2, out);
  cb_push_back(out, 4);"""


@pytest.mark.parametrize(("ends", "workers", "body"), [
    (("tile", "rows"), 2, UNTILIZE), (("rows", "tile"), 2, TILIZE), (("tile", "rows"), 1, UNTILIZE_TWICE)], ids=["rows", "tiles", "rows twice"])
def test_the_client_makes_tiles_of_inputs_and_rows_of_outputs(daemon, tmp_path, ends, workers, body):
    shape = (64, 64)
    given, made = (files.old_tensor(i, shape, workers, layout) for i, layout in ((1, ends[0]), (2, ends[1])))
    file = files.write_old(tmp_path / "a.ttm", [files.old_launch(OLD_KERNEL.replace("BODY", body), [(0, given), (16, made)])], [given], [made])
    array = numbers(*shape)
    assert np.array_equal(run(daemon, file, [array]), array)


@pytest.mark.skipif(SAMPLES is None, reason="TTFD_TTMLIR_SAMPLES names no folder of files of tt-mlir's compiler")
@pytest.mark.parametrize("name", ["multiply", "add"])
def test_the_sample_is_what_numpy_computes(daemon, tmp_path, name):
    file = tmp_path / "ttrt.ttm"
    file.write_bytes((pathlib.Path(SAMPLES) / "ttrt.ttm").read_bytes())
    a, b = numbers(64, 128), numbers(64, 128)[::-1]
    wanted = a * b if name == "multiply" else a + b
    got = run(daemon, file, [a, b], "--program", name)
    assert got.shape == wanted.shape
    assert np.corrcoef(got.ravel(), wanted.ravel())[0, 1] >= 0.9999
    assert np.linalg.norm(got - wanted) <= 0.002 * np.linalg.norm(wanted)
