// The NIU as this project uses it: command buffers whose constant fields are set once, and the
// counters that tell what is still under way.
//
// Rules obeyed here and by every user (tt-isa-documentation BlackholeA0/NoC, tt-metal
// noc_nonblocking_api.h):
// - a buffer is written only while it is free, and read back before a counter is believed;
// - every command sets both of its coordinates, unless a probe says that they are kept (worker/brisc.cc):
//   issuing one may write translated coordinates back into the buffer (NoC/MemoryMap.md), and translating
//   those again names another tile;
// - reads and writes are non-posted, at most 16 KiB, source and destination equal modulo 16 (64 when
//   reading DRAM or host memory);
// - unicasts use static VC 1 and multicasts VC 4, so a write and a following atomic to one tile
//   arrive in order, and a multicast is never ordered against a unicast;
// - a multicast reserves its path, and one that is not linked to the previous waits for all
//   acknowledgements first;
// - atomics are non-posted, go to 16-byte aligned words in L1 and return the old value to a slot of
//   this hart; inline writes go to registers only.
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "firmware/common/io.h"
#include "firmware/common/wait.h"
#include "runtime/abi/boot_block.h"
#include "runtime/abi/l1_map.h"
#include "runtime/hw/noc.h"

namespace ttfd::firmware {

inline constexpr uint32_t kUnicast =
    hw::kNocResponse | hw::kNocStaticVc | hw::kNocUnicastVc << hw::kNocVcShift;
inline constexpr uint32_t kReadControl = kUnicast;
inline constexpr uint32_t kWriteControl = kUnicast | hw::kNocWrite;
inline constexpr uint32_t kInlineControl = kUnicast | hw::kNocWrite | hw::kNocInline;
inline constexpr uint32_t kAtomicControl = kUnicast | hw::kNocAtomic;
inline constexpr uint32_t kMulticastControl = hw::kNocWrite | hw::kNocResponse | hw::kNocMulticast |
                                              hw::kNocPathReserve | hw::kNocStaticVc |
                                              hw::kNocMulticastVc << hw::kNocVcShift;

constexpr uint32_t PacketTag(uint32_t transaction_id) { return transaction_id << 10; }

constexpr uint32_t AtomicReturnSlot(uint32_t hart) {
  return abi::kNocScratchAddress + hart * abi::kNocScratchStride;
}
constexpr uint32_t StagingSlot(uint32_t hart) { return AtomicReturnSlot(hart) + 16; }

// Bit 24 of a record's noc_xy stands for address bit 60 (host memory) and never reaches an NIU.
constexpr uint32_t PcieMid(uint32_t record_xy) { return (record_xy & 1u << 24) << 4; }
constexpr uint32_t TileOf(uint32_t record_xy) { return record_xy & ~(1u << 24); }

// The dispatch harts do little else than talk to their NIU: they keep its address in a register of its
// own, from where a load or store reaches the counters and the command buffers 0 and 1; and this tile, the
// local side of every command, in another.
#ifdef TTFD_NIU_REGISTER
register uint32_t niu_register asm("s11");
register uint32_t own_xy_register asm("s10");
inline uint32_t OwnXy() { return own_xy_register; }
inline constexpr uint32_t kNiuRegister =
    hw::kNiuAddress + kThisNiu * hw::kNiuStride + hw::kNiuCommandBufferStride;
inline void SetNiuRegister() {
  niu_register = kNiuRegister;
  own_xy_register = Load(abi::kBootBlockAddress + offsetof(abi::BootBlock, own_xy));
}
inline uint32_t NiuRegister(uint32_t address) {
  const uint32_t offset = address - kNiuRegister;
  return offset + 0x800 < 0x1000 ? niu_register + offset : address;
}
#else
inline uint32_t OwnXy() { return Load(abi::kBootBlockAddress + offsetof(abi::BootBlock, own_xy)); }
constexpr uint32_t NiuRegister(uint32_t address) { return address; }
#endif

template <uint32_t kNiu>
constexpr uint32_t NiuCounterAddress(uint32_t counter) {
  return hw::kNiuAddress + kNiu * hw::kNiuStride + hw::kNocStatus + 4 * counter;
}
template <uint32_t kNiu>
inline uint32_t NiuCounter(uint32_t counter) {
  return Load(NiuRegister(NiuCounterAddress<kNiu>(counter)));
}
template <uint32_t kNiu, uint32_t kCounter>
inline void AwaitNiuCounterZero() {
  AwaitZeroAt<NiuCounterAddress<kNiu>(kCounter)>(NiuCounter<kNiu>(kCounter));
}

template <uint32_t kNiu, uint32_t kBuffer>
struct CommandBuffer {
  static constexpr uint32_t kBase =
      hw::kNiuAddress + kNiu * hw::kNiuStride + kBuffer * hw::kNiuCommandBufferStride;

  static void Set(uint32_t offset, uint32_t value) { Store(NiuRegister(kBase + offset), value); }

  static bool free() { return Load(NiuRegister(kBase + hw::kNocCommand)) == 0; }
  static void AwaitFree() {
    AwaitZeroAt<kBase + hw::kNocCommand>(Load(NiuRegister(kBase + hw::kNocCommand)));
  }
  static void Issue() {
#ifdef TTFD_KERNEL
    // Tells the linker, where this is compiled in, that the kernel has something to wait for when it returns
    // (sdk/kernel.ld). It is no instruction.
    asm inline(".weak ttfd_issues_commands\n.set ttfd_issues_commands, 1");
#endif
    Set(hw::kNocCommand, 1);
  }

  // Constant fields, so that a command sets only what differs, and its coordinates.
  static void InitializeRead(uint32_t transaction_id) {
    Initialize(kReadControl, transaction_id);
    Set(hw::kNocReturnMid, 0);
  }
  static void InitializeWrite(uint32_t control, uint32_t transaction_id) {
    Initialize(control, transaction_id);
    Set(hw::kNocTargetMid, 0);
    Set(hw::kNocReturnMid, 0);
  }
  static void InitializeAtomic(uint32_t transaction_id) {
    Initialize(kAtomicControl, transaction_id);
    Set(hw::kNocTargetMid, 0);
    Set(hw::kNocReturnLow, AtomicReturnSlot(kThisHart));
    Set(hw::kNocReturnMid, 0);
    Set(hw::kNocLength, hw::kNocAtomicIncrement);
  }

 private:
  static void Initialize(uint32_t control, uint32_t transaction_id) {
    AwaitFree();
    Set(hw::kNocControl, control);
    Set(hw::kNocPacketTag, PacketTag(transaction_id));
    Set(hw::kNocBroadcastExclude, 0);
  }
};

// Adds to a counter at `tile`.
template <uint32_t kNiu, uint32_t kBuffer>
inline void AtomicIncrement(uint32_t tile, uint32_t address, uint32_t increment) {
  using Buffer = CommandBuffer<kNiu, kBuffer>;
  Buffer::AwaitFree();
  Buffer::Set(hw::kNocTargetLow, address);
  Buffer::Set(hw::kNocTargetHigh, tile);
  Buffer::Set(hw::kNocReturnHigh, OwnXy());
  Buffer::Set(hw::kNocData, increment);
  Buffer::Issue();
}

}  // namespace ttfd::firmware
