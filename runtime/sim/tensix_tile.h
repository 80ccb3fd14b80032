// A Tensix tile: L1, five harts, two NIUs, the stream registers, the Tensix engine and the debug registers.
#pragma once

#include <array>
#include <cstdint>

#include "runtime/base/bytes.h"
#include "runtime/hw/grid.h"
#include "runtime/hw/tensix.h"
#include "runtime/sim/compute_unit.h"
#include "runtime/sim/fault.h"
#include "runtime/sim/hart.h"
#include "runtime/sim/machine.h"
#include "runtime/sim/niu.h"
#include "runtime/sim/reset_vectors.h"
#include "runtime/sim/streams.h"
#include "runtime/sim/tile_memory.h"
#include "runtime/sim/wall_clock.h"

namespace ttfd::sim {

// Origin of an access to a register: a hart of the tile, or the NoC (the host included).
struct Accessor {
  static constexpr uint32_t kNoc = ~0u;
  uint32_t hart = kNoc;

  static Accessor Hart(uint32_t hart) { return {hart}; }
  static Accessor FromNoc() { return {}; }
  bool from_noc() const { return hart == kNoc; }
};

class TensixTile {
 public:
  // `machine` outlives the tile. The tile must not move afterwards.
  void Init(Machine& machine, TileMemory memory, hw::Coordinate translated,
            hw::Coordinate physical);

  const TileMemory& memory() const { return memory_; }
  Machine& machine() const { return *machine_; }
  hw::Coordinate translated() const { return translated_; }
  hw::Coordinate physical() const { return physical_; }
  Hart& hart(uint32_t index) { return harts_[index]; }
  const Hart& hart(uint32_t index) const { return harts_[index]; }
  Niu& niu(uint32_t index) { return nius_[index]; }
  ComputeUnit& compute() { return compute_; }
  WallClock& wall_clock() { return wall_clock_; }

  // Registers: `address` is a multiple of 4, at or above kFirstRegisterAddress.
  Refusal ReadRegister(Accessor who, uint32_t address, uint32_t* value);
  Refusal WriteRegister(Accessor who, uint32_t address, uint32_t value);

  // The same for the NIU words that harts access all the time. False, and not done: another address,
  // or a write to a tile where a hart waits for a register.
  bool ReadNiuWord(uint32_t address, uint32_t* value) const {
    const uint32_t offset = address - hw::kNiuAddress;
    return offset < nius_.size() * hw::kNiuStride && offset % 4 == 0 &&
           nius_[offset / hw::kNiuStride].ReadWord(offset % hw::kNiuStride, value);
  }
  bool WriteNiuWord(uint32_t address, uint32_t value) {
    const uint32_t offset = address - hw::kNiuAddress;
    return offset < nius_.size() * hw::kNiuStride && offset % 4 == 0 && register_watchers_ == 0 &&
           nius_[offset / hw::kNiuStride].WriteWord(offset % hw::kNiuStride, value);
  }

  // Does what WriteRegister() would for a hart that issues what Noc::IssueStreamUpdate() knows. False,
  // and not done: another address, value or command.
  bool IssueStreamUpdate(uint32_t address, uint32_t value);
  // Adds to a stream by its update register. False, and not done: another address or a value to refuse.
  bool UpdateStream(uint64_t address, uint32_t value) {
    const uint64_t offset = address - hw::kStreamAddress;
    if (offset >= hw::kStreams * hw::kStreamStride ||
        !streams_.Add(static_cast<uint32_t>(offset), value)) {
      return false;
    }
    RegisterChanged(hw::kStreamAddress + Streams::SpaceAvailable(static_cast<uint32_t>(offset)));
    return true;
  }

  // To be called after every write to L1: drops decoded instructions, wakes harts that wait for it.
  void WroteMemory(uint32_t address, uint32_t length) {
    if (AnyMark(address >> kLineShift, (address + length - 1) >> kLineShift)) [[unlikely]] {
      WroteMarked(address, length);
    }
  }
  void WroteMarked(uint32_t address, uint32_t length);

  // To be called after a register changed.
  void RegisterChanged(uint32_t address) {
    if (register_watchers_ != 0) WakeReaders(register_watchers_, address, 4);
  }

  // Wakes a hart if it is parked, for whatever it waits, and drops what is recorded of its poll loops: its registers or
  // local RAM were changed from outside, or the Tensix engine may execute its instruction now.
  void WakeParked(Hart& hart);

  // `state`: kHeld, or kFaulted, which inspectors learn from the fault.
  void Stop(Hart& hart, HartState state);

  // Puts a hart to sleep until one of the words in hart.poll.read is written.
  void Park(Hart& hart);

  // The fundamental reset: every hart held, registers at their reset values; L1 keeps its contents.
  void Reset();

 private:
  // Is one of the lines marked? Eight at a time: a 16 KiB packet has 64 of them.
  bool AnyMark(uint32_t first, uint32_t last) const {
    const uint8_t* const marks = memory_.marks();
    uint64_t any = 0;
    for (; first + 7 <= last; first += 8) any |= LoadAt<uint64_t>(marks + first);
    for (; first <= last; ++first) any |= marks[first];
    return any != 0;
  }
  Refusal ReadNiu(Accessor who, uint32_t address, uint32_t* value);
  Refusal WriteNiu(Accessor who, uint32_t address, uint32_t value);
  Refusal ReadStream(Accessor who, uint32_t address, uint32_t* value);
  Refusal WriteStream(Accessor who, uint32_t address, uint32_t value);
  Refusal ReadCompute(Accessor who, uint32_t address, uint32_t* value);
  Refusal WriteCompute(Accessor who, uint32_t address, uint32_t value);
  Refusal ReadDebug(Accessor who, uint32_t address, uint32_t* value);
  Refusal WriteDebug(Accessor who, uint32_t address, uint32_t value);
  Refusal WriteSoftReset(uint32_t value);
  void UpdateStreamLater(uint32_t offset, uint32_t value);
  Refusal InvalidateInstructions(uint32_t mask);
  void Release(Hart& hart);
  void Unpark(Hart& hart);
  // Wakes those of `harts` (parked, one bit each) that wait for one of the bytes.
  void WakeReaders(uint32_t harts, uint32_t address, uint32_t length);
  void Wake(Hart& hart);
  // To the inspectors, after hart.state changed.
  void TellOfState(const Hart& hart) const;
  // True when one of the words had been executed.
  bool DropDecoded(uint32_t first_word, uint32_t words);

  Machine* machine_ = nullptr;
  TileMemory memory_;
  hw::Coordinate translated_ = {0, 0};
  hw::Coordinate physical_ = {0, 0};
  std::array<Hart, hw::kHarts> harts_;
  std::array<Niu, 2> nius_;
  Streams streams_;
  ComputeUnit compute_;
  ResetVectors reset_vectors_;

  uint32_t parked_ = 0;             // harts, one bit each
  uint32_t register_watchers_ = 0;  // parked harts that wait for a register, one bit each
  uint32_t soft_reset_ = hw::kSoftResetAllHarts;
  WallClock wall_clock_;
};

}  // namespace ttfd::sim
