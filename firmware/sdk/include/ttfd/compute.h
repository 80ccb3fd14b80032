// The SDK of compute kernels: programs for the Tensix engine of a worker tile.
//
//   #include <ttfd/compute.h>
//   using namespace ttfd::compute;
//
//   void kernel_main() {
//     binary_op_init_common(0, 1, 2);          // circular buffers: two inputs, one output
//     add_tiles_init(0, 1);
//     for (uint32_t count = ttfd::kernel::CommonArgument(0); count != 0; --count) {
//       cb_wait_front(0, 1);
//       cb_wait_front(1, 1);
//       tile_regs_acquire();
//       add_tiles(0, 1, 0, 0, 0);
//       tile_regs_commit();
//       cb_pop_front(0, 1);
//       cb_pop_front(1, 1);
//       cb_reserve_back(2, 1);
//       tile_regs_wait();
//       pack_tile(0, 2);
//       tile_regs_release();
//       cb_push_back(2, 1);
//     }
//   }
//
// Built with ttfd_add_kernel(<target> COMPUTE SOURCES ...) of TtfdKernel.cmake: three programs of one source, which
// run on TRISC0, TRISC1 and TRISC2 of a tile together (<ttfd/compute/engine.h>). The names are those of TT-Metalium's
// compute API.
//
// - Every hart runs the same code, so each loop and each condition is the same on all three.
// - The first function is an init function with the circular buffers of inputs and output: binary_op_init_common,
// mm_init, unary_op_init_common, reduce_init or compute_kernel_hw_startup. The init function of an operation comes
// before its first use, and again after another operation's.
// - Every tile that is unpacked is computed with, every half of Dst that is committed is packed from: between
// tile_regs_wait and tile_regs_release. The kernel has then left the engine empty when it returns.
#pragma once

#include <ttfd/compute/binary.h>
#include <ttfd/compute/copy.h>
#include <ttfd/compute/dst_binary.h>
#include <ttfd/compute/fill.h>
#include <ttfd/compute/matmul.h>
#include <ttfd/compute/online_softmax.h>
#include <ttfd/compute/reduce.h>
#include <ttfd/compute/row_reduce.h>
#include <ttfd/compute/tiles.h>
#include <ttfd/compute/unary.h>
#include <ttfd/kernel.h>
