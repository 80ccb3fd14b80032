// Where this kernel runs, and what time it is.
#pragma once

#include <stdint.h>

#include "firmware/common/io.h"
#include "firmware/common/this_hart.h"
#include "runtime/abi/boot_block.h"
#include "runtime/abi/kernel_image.h"
#include "runtime/abi/l1_map.h"
#include "runtime/abi/launch.h"
#include "runtime/hw/noc.h"

namespace ttfd::kernel {

namespace internal {
// Context that the base firmware handed over. The entry glue keeps it in tp, which compiled code leaves alone: no
// kernel needs .bss for it.
inline const abi::KernelContext& Context() {
  const abi::KernelContext* context;
  asm("mv %0, tp" : "=r"(context));
  return *context;
}

inline uint32_t BootWord(uint32_t offset) {
  return firmware::Load(abi::kBootBlockAddress + offset);
}
inline uint32_t OwnXy() { return BootWord(offsetof(abi::BootBlock, own_xy)); }

// Column number of a translated x: Tensix columns are 1..7 and 10..16.
constexpr uint32_t ColumnOf(uint32_t x) { return x <= 7 ? x - 1 : x - 3; }
constexpr uint32_t XOf(uint32_t column) { return column <= 6 ? column + 1 : column + 3; }
}  // namespace internal

inline constexpr uint32_t kHart = firmware::kThisHart;  // runtime/hw/tensix.h Hart

// A place in the logical worker grid: x to the right, y down, both from 0, no holes.
struct Position {
  uint32_t x;
  uint32_t y;
};

inline Position OwnPosition() {
  return {internal::Context().logical_x, internal::Context().logical_y};
}

// NoC coordinate of a worker tile.
inline uint32_t TileAt(Position position) {
  const uint32_t start = internal::BootWord(offsetof(abi::BootBlock, worker_start_xy));
  const uint32_t column = internal::ColumnOf(hw::NocX(start)) + position.x;
  return hw::NocXy(internal::XOf(column), hw::NocY(start) + position.y);
}

// An L1 address of this tile as a pointer.
template <typename T>
inline T* L1Pointer(uint32_t address) {
  return reinterpret_cast<T*>(address);
}

inline uint32_t L1AddressOf(const void* pointer) {
  return static_cast<uint32_t>(reinterpret_cast<uintptr_t>(pointer));
}

// Clocks since the tile left reset (1.35 GHz when busy; on the device model one an instruction).
inline uint64_t WallClock() {
  const uint32_t low = firmware::Load(hw::kWallClockLow);  // latches the high half
  return static_cast<uint64_t>(firmware::Load(hw::kWallClockHighLatched)) << 32 | low;
}

}  // namespace ttfd::kernel
