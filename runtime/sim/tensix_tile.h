// A Tensix tile: L1, five harts, two NIUs, the stream registers, the Tensix engine and the debug registers.
#pragma once

#include <array>
#include <cstdint>

#include "runtime/hw/grid.h"
#include "runtime/hw/tensix.h"
#include "runtime/sim/compute_unit.h"
#include "runtime/sim/hart.h"
#include "runtime/sim/noc_tile.h"
#include "runtime/sim/reset_vectors.h"
#include "runtime/sim/streams.h"
#include "runtime/sim/wall_clock.h"

namespace ttfd::sim {

class TensixTile final : public NocTile {
 public:
  // `machine` outlives the tile. The tile must not move afterwards.
  void Init(Machine& machine, TileMemory memory, hw::Coordinate translated,
            hw::Coordinate physical);

  Hart& hart(uint32_t index) { return harts_[index]; }
  const Hart& hart(uint32_t index) const { return harts_[index]; }
  ComputeUnit& compute() { return compute_; }
  WallClock& wall_clock() { return wall_clock_; }

  Refusal ReadRegister(Accessor who, uint32_t address, uint32_t* value) override;
  Refusal WriteRegister(Accessor who, uint32_t address, uint32_t value) override;

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

  void OnWatchedWrite(uint32_t address, uint32_t length) override;
  void ReadByNoc(uint32_t address, uint32_t length) override { compute_.ReadL1(address, length); }

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
  void WakeRegisterReaders(uint32_t address) override {
    WakeReaders(register_watchers_, address, 4);
  }
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

  std::array<Hart, hw::kHarts> harts_;
  Streams streams_;
  ComputeUnit compute_;
  ResetVectors reset_vectors_;

  uint32_t parked_ = 0;  // harts, one bit each
  uint32_t soft_reset_ = hw::kSoftResetAllHarts;
  WallClock wall_clock_;
};

}  // namespace ttfd::sim
