// Writes zeros over the base firmware of its own tile, then returns to it. BRISC. No arguments.
#include <ttfd/kernel.h>

#include "runtime/abi/l1_map.h"

void kernel_main() {
  using namespace ttfd;
  for (uint32_t word = 0; word < abi::kFirmwareBytes[hw::kBrisc]; word += 4) {
    *reinterpret_cast<volatile uint32_t*>(abi::kFirmwareAddress[hw::kBrisc] + word) = 0;
  }
}
