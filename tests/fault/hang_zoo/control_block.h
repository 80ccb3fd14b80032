// For kernels that write over what a hardware queue's own tiles share with each other: those tiles that this worker was
// told of when it booted.
#pragma once

#include <ttfd/kernel.h>

#include "firmware/common/boot.h"
#include "runtime/abi/control_block.h"
#include "runtime/abi/l1_map.h"

namespace ttfd::zoo {

// So low that no count of these tests comes near.
inline constexpr uint32_t kFarBehind = 0xC0000000;

// Where this worker may gather what it writes: the scratch of circular buffers.
inline volatile uint32_t* Staging() {
  return kernel::L1Pointer<volatile uint32_t>(abi::kCircularBufferAddress);
}

// Writes `bytes` of the staging over the control block at `offset` in the tile, and waits until they are there.
inline void WriteControlBlock(uint32_t tile, uint32_t offset, uint32_t bytes) {
  kernel::Write(abi::kCircularBufferAddress, {tile, abi::kControlBlockAddress + offset}, bytes);
  kernel::WriteBarrier();
}

}  // namespace ttfd::zoo
