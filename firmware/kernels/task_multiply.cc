// A task: c = a * b of float32 elements. BRISC.
//
// Arguments: 0 a, 1 b, 2 c, buffers in DRAM with pages of 2048 bytes; 3 number of elements.
#include "task_floats.h"

using namespace task_floats;

void kernel_main() {
  Combine({Argument(0), kPageBytes}, {Argument(1), kPageBytes}, {Argument(2), kPageBytes},
          Argument(3), [](float x, float y) { return x * y; });
}
