// A task: c = a + s of float32 elements. BRISC.
//
// Arguments: 0 a, 1 the bits of s, 2 c, buffers in DRAM with pages of 2048 bytes; 3 number of elements.
#include "task_floats.h"

using namespace task_floats;

void kernel_main() {
  const float scalar = __builtin_bit_cast(float, Argument(1));
  const InterleavedBuffer a(Argument(0), kPageBytes);
  Combine(a, a, {Argument(2), kPageBytes}, Argument(3),
          [scalar](float x, float) { return x + scalar; });
}
