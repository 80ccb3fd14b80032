// The kernel SDK of ttfd: what a program on one hart of a worker tile can do.
//
//   #include <ttfd/kernel.h>
//   using namespace ttfd::kernel;
//
//   void kernel_main() {
//     const CircularBuffer scratch(0);                          // L1 of this tile, of the program
//     const InterleavedBuffer pages(CommonArgument(0), 2048);   // base address and page size
//     Read(pages.Page(Argument(0)), scratch.address(), 2048);   // starts, does not wait
//     ReadBarrier();                                            // now it is there
//     Write(scratch.address(), pages.Page(Argument(1)), 2048);  // has landed once the launch is done
//   }
//
// Built with ttfd_add_kernel() of TtfdKernel.cmake, for one PROCESSOR. The program defines
// kernel_main(); when it returns, the SDK waits until every write and increment it issued has been
// acknowledged, so a launch that is reported done has landed.
//
// Guarantees to a kernel, and rules that it must keep:
// - .bss is zero and .data is as linked at the start of every run; nothing survives a run. Harts
// share nothing but L1.
// - No constructors, virtual functions or tables of pointers (they hold absolute addresses; the
// loader refuses them by name), no exceptions, no thread-local data. 64-bit division is slow.
// - The stack is in local RAM: about 7 KiB on BRISC and NCRISC, 3 KiB on TRISCs. Local RAM cannot be
// the source or destination of a NoC transfer; keep buffers in circular buffers, L1 buffers or
// static arrays.
// - Data that another hart or tile writes into L1 is seen by volatile accesses behind a wait of this
// SDK. The L0 data cache is off, as the base firmware sets it; a hand-written poll of L1 needs a
// fence in its loop all the same.
// - The SDK waits for commands issued through it. A kernel that stores to NIU registers by itself waits
// for their acknowledgements by itself, too, before it returns.
// - One hart uses one NIU (NCRISC NoC 1, the others NoC 0) and one command buffer, so harts do not
// disturb each other. Coordinates are those of the logical worker grid.
// - Circular buffers and semaphores that the program, and arguments that the launch does not give are refused:
// <ttfd/given.h>.
// - There is no memory protection: a wrong address can hang the tile or overwrite others' data.
#pragma once

#include <ttfd/arguments.h>
#include <ttfd/callable.h>
#include <ttfd/circular_buffer.h>
#include <ttfd/interleaved_buffer.h>
#include <ttfd/noc.h>
#include <ttfd/note.h>
#include <ttfd/print.h>
#include <ttfd/semaphore.h>
#include <ttfd/tile.h>

// The kernel.
void kernel_main();
