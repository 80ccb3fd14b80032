// Kernels written for TT-Metalium, compiled with ttfd's SDK: the names of its kernel API that the tt-mlir compiler puts
// into kernels of TTMetal files. Each has the meaning that it has there, or is not there, so that a kernel which needs
// it does not compile.
//
// A kernel has its arguments (<ttfd/metal/argument.h>), then this header in place of all that it includes, then its
// text; that of a compute kernel follows `using namespace ttfd::compute`. TTFD_COMPUTE and TTFD_WHOLE_DST are 1 for a
// compute kernel.
#pragma once

#if TTFD_COMPUTE
#include <ttfd/metal/compute.h>
using ttfd::compute::cb_pop_front;
using ttfd::compute::cb_push_back;
using ttfd::compute::cb_reserve_back;
using ttfd::compute::cb_wait_front;
#else
#include <ttfd/metal/objects.h>
#endif
#include <ttfd/metal/circular_buffer.h>

// Kernels of 2024 name their entry so.
#define NAMESPACE ttfd_metal_kernel
#define MAIN ttfd_metal_main()
