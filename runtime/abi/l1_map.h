// Where things lie in the L1 of every tile that runs our firmware. Rings lie where the boot block
// says; this is the rest.
//
// clang-format off
//   0x00000  JAL to BRISC firmware             0x01000  BRISC firmware
//   0x00010  NoC scratch, 32 B a hart          0x05000  NCRISC firmware
//   0x00100  BootBlock                         0x07000  TRISC0-2 firmware
//   0x00200  HartStatus x 5                    0x08800  print rings x 5 (workers)
//   0x00400  GoArea, 0x00480 LaunchMessage x 8 0x0A000  config ring (workers)
//   0x00880  SubordinateSync                   0x10000  kernel cache (workers)
//   0x00900  BankTable                         0x30000  circular buffers (workers)
//   0x00C00  ControlBlock (dispatch tiles)     0xB0000  buffers (workers)
//   0x00C00  CircularBufferState x 32 (workers)
//   0x00E00  PrintPosition x 5 (workers)
//   0x00F00  LinkEnd x 4 (workers)
// clang-format on
//
// On dispatch tiles everything from 0x0A000 up is rings.
#pragma once

#include <stdint.h>

#include "runtime/abi/launch.h"
#include "runtime/abi/link.h"
#include "runtime/abi/print_ring.h"
#include "runtime/hw/tensix.h"

namespace ttfd::abi {

inline constexpr uint32_t kNocScratchAddress =
    0x00010;  // [hart]: 16 B atomic return slot, 16 B staging
inline constexpr uint32_t kNocScratchStride = 32;
inline constexpr uint32_t kBootBlockAddress = 0x00100;
inline constexpr uint32_t kHartStatusAddress = 0x00200;
inline constexpr uint32_t kGoAreaAddress = 0x00400;
inline constexpr uint32_t kLaunchRingAddress = 0x00480;
constexpr uint32_t LaunchMessageAddress(uint32_t slot) {
  return kLaunchRingAddress + slot * kLaunchSlotBytes;
}
inline constexpr uint32_t kSubordinateSyncAddress = 0x00880;
static_assert(LaunchMessageAddress(kLaunchSlots) <= kSubordinateSyncAddress);
inline constexpr uint32_t kBankTableAddress = 0x00900;
inline constexpr uint32_t kControlBlockAddress = 0x00C00;         // dispatch tiles
inline constexpr uint32_t kCircularBufferStateAddress = 0x00C00;  // workers

inline constexpr uint32_t kPrintPositionAddress = 0x00E00;  // workers

inline constexpr uint32_t kFirmwareAddress[hw::kHarts] = {0x01000, 0x05000, 0x07000, 0x07800,
                                                          0x08000};
inline constexpr uint32_t kFirmwareBytes[hw::kHarts] = {0x4000, 0x2000, 0x0800, 0x0800, 0x0800};

inline constexpr uint32_t kPrintRingAddress = 0x08800;  // [hart]: kPrintRingBytes
constexpr uint32_t PrintPositionAddress(uint32_t hart) {
  return kPrintPositionAddress + hart * uint32_t{sizeof(PrintPosition)};
}
constexpr uint32_t PrintRingAddress(uint32_t hart) {
  return kPrintRingAddress + hart * kPrintRingBytes;
}
static_assert(PrintPositionAddress(hw::kHarts) <= kLinkEndAddress &&
                  LinkEndAddress(kLinkEnds) <= kFirmwareAddress[hw::kBrisc],
              "cleared by the boot");

inline constexpr uint32_t kConfigRingAddress = 0x0A000;
inline constexpr uint32_t kConfigRingBytes = 0x06000;
static_assert(kFirmwareAddress[hw::kTrisc2] + kFirmwareBytes[hw::kTrisc2] <= kPrintRingAddress &&
              PrintRingAddress(hw::kHarts) <= kConfigRingAddress);
inline constexpr uint32_t kKernelCacheAddress = 0x10000;
inline constexpr uint32_t kKernelCacheBytes = 0x20000;
// Scratch of the running program: its circular buffers. Programs on a tile run one after the other,
// so all share it.
inline constexpr uint32_t kCircularBufferAddress = 0x30000;
inline constexpr uint32_t kCircularBufferBytes = 0x80000;
inline constexpr uint32_t kBufferAddress = 0xB0000;  // L1 buffers, the same range on every worker
inline constexpr uint32_t kBufferBytes = hw::kL1Bytes - kBufferAddress;

}  // namespace ttfd::abi
