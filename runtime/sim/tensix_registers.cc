// Register side of a tile: the address map above L1 and local RAM.
//
// Source: tt-isa-documentation BlackholeA0/TensixTile (memory map, SoftReset.md). What is not listed
// here is refused.
#include "runtime/hw/noc.h"
#include "runtime/hw/stream.h"
#include "runtime/sim/hart_hazards.h"
#include "runtime/sim/noc.h"
#include "runtime/sim/scheduler.h"
#include "runtime/sim/tensix_tile.h"

namespace ttfd::sim {
namespace {

// The registers, in ranges.
enum class Block : uint8_t { kNiu, kStreams, kCompute, kPcs, kClockGate, kDebug, kNone };
struct BlockRange {
  uint32_t first;
  uint32_t end;
  Block block;
};
// The most frequent ones first.
constexpr BlockRange kRanges[] = {
    {hw::kNiuAddress, hw::kNiuAddress + 2 * hw::kNiuStride, Block::kNiu},
    {hw::kStreamAddress, hw::kStreamEnd, Block::kStreams},
    {ComputeUnit::kFirstRegister, ~0u, Block::kCompute},
    {hw::kPcSnapshot, hw::kPcSnapshot + 4 * hw::kHarts, Block::kPcs},
    {hw::kTdmaClockGateEnable, hw::kTdmaClockGateEnable + 4, Block::kClockGate},
    {hw::kSoftReset0, hw::kDestClockGateControl + 4, Block::kDebug},
};

constexpr Block BlockOf(uint32_t address) {
  for (const BlockRange& range : kRanges) {
    if (address >= range.first && address < range.end) return range.block;
  }
  return Block::kNone;
}

constexpr uint32_t kSoftResetIgnored =
    0xFF000000;  // bits 24 to 30, and tt-umd's "staggered start" flag

Refusal NotWritable(uint32_t address) {
  return {FaultKind::kUnsupportedRegister, address, "the register is read only"};
}
Refusal NotReadable(uint32_t address) {
  return {FaultKind::kUnsupportedRegister, address, "the register is write only"};
}
Refusal OnlyBriscAndTriscs(uint32_t address) {
  return {FaultKind::kUnsupportedRegister, address,
          "only BRISC and the TRISCs of the tile reach this register"};
}
Refusal Unknown(uint32_t address) {
  return {FaultKind::kUnsupportedRegister, address,
          "no register of a Tensix tile that is modelled"};
}

}  // namespace

Refusal TensixTile::ReadRegister(Accessor who, uint32_t address, uint32_t* value) {
  switch (BlockOf(address)) {
    case Block::kNiu:
      return ReadNiu(address, value);
    case Block::kStreams:
      return ReadStream(who, address, value);
    case Block::kCompute:
      return ReadCompute(who, address, value);
    case Block::kPcs:
      *value = harts_[(address - hw::kPcSnapshot) / 4].pc;
      return {};
    case Block::kClockGate:
      return who.from_noc() ? Unknown(address) : NotReadable(address);
    case Block::kDebug:
      return ReadDebug(who, address, value);
    case Block::kNone:
      break;
  }
  return Unknown(address);
}

Refusal TensixTile::WriteRegister(Accessor who, uint32_t address, uint32_t value) {
  switch (BlockOf(address)) {
    case Block::kNiu:
      return WriteNiu(who, who.from_noc() ? nullptr : &harts_[who.hart], address, value);
    case Block::kStreams:
      return WriteStream(who, address, value);
    case Block::kCompute:
      return WriteCompute(who, address, value);
    case Block::kPcs:
      return NotWritable(address);
    case Block::kClockGate:
      return who.from_noc() || who.hart == hw::kNcrisc ? OnlyBriscAndTriscs(address) : Refusal{};
    case Block::kDebug:
      return WriteDebug(who, address, value);
    case Block::kNone:
      break;
  }
  return Unknown(address);
}

Refusal TensixTile::ReadStream(Accessor /*who*/, uint32_t address, uint32_t* value) {
  return streams_.Read(address - hw::kStreamAddress, value);
}

Refusal TensixTile::WriteStream(Accessor /*who*/, uint32_t address, uint32_t value) {
  const uint32_t offset = address - hw::kStreamAddress;
  if ((machine_->hazards.on & kHazardStreams) != 0 && Streams::IsIncrement(offset, value)) {
    UpdateStreamLater(offset, value);
    return {};
  }
  uint32_t changed = 0;
  const Refusal refusal = streams_.Write(offset, value, &changed);
  if (!refusal) RegisterChanged(hw::kStreamAddress + changed);
  return refusal;
}

// Loads of BRISC and the TRISCs read the configuration: tt-isa-documentation
// BlackholeA0/TensixTile/TensixCoprocessor/BackendConfiguration.md. Firmware reads word 0 to wait until a store to the
// region has been carried out. ttsim has no read of the mask of instruction caches.
Refusal TensixTile::ReadCompute(Accessor who, uint32_t address, uint32_t* value) {
  if (who.from_noc()) return OnlyBriscAndTriscs(address);
  if (address == hw::kInstructionCacheInvalidate) return NotReadable(address);
  return compute_.Read(harts_[who.hart], address, value);
}

Refusal TensixTile::WriteCompute(Accessor who, uint32_t address, uint32_t value) {
  if (who.from_noc()) return OnlyBriscAndTriscs(address);
  if (address != hw::kInstructionCacheInvalidate) {
    return compute_.Write(harts_[who.hart], address, value);
  }
  return who.hart == hw::kNcrisc ? OnlyBriscAndTriscs(address) : InvalidateInstructions(value);
}

// Without that hazard the model always executes what L1 holds.
Refusal TensixTile::InvalidateInstructions(uint32_t mask) {
  if ((mask & ~hw::kInstructionCacheAll) != 0) {
    return {FaultKind::kUnsupportedValue, hw::kInstructionCacheInvalidate,
            "the instruction cache mask has five bits, one a hart"};
  }
  // Bit by bit: BRISC, TRISC0-2, NCRISC.
  constexpr uint32_t kHartOfBit[] = {hw::kBrisc, hw::kTrisc0, hw::kTrisc1, hw::kTrisc2,
                                     hw::kNcrisc};
  for (uint32_t bit = 0; bit < hw::kHarts; ++bit) {
    HartHazards* const hazards = harts_[kHartOfBit[bit]].hazards;
    if ((mask >> bit & 1) != 0 && hazards != nullptr) hazards->InvalidateInstructions();
  }
  return {};
}

// Updates that are on their way may overtake each other and are all counted; the stream handles writes in
// order, so one that sets it comes after those.
void TensixTile::UpdateStreamLater(uint32_t offset, uint32_t value) {
  Scheduler& scheduler = *machine_->scheduler;
  scheduler.At(scheduler.now() + Delay(machine_->stream_chance),
               [this, offset, value, set = streams_.times_set(offset)] {
                 if (streams_.times_set(offset) != set) return;
                 streams_.Arrive(offset, value);
                 RegisterChanged(hw::kStreamAddress + Streams::SpaceAvailable(offset));
               });
}

bool TensixTile::IssueStreamUpdate(uint32_t address, uint32_t value) {
  const uint32_t offset = address - hw::kNiuAddress;
  const uint32_t in_niu = offset % hw::kNiuStride;
  const uint32_t buffer = in_niu / hw::kNiuCommandBufferStride;
  return offset < nius_.size() * hw::kNiuStride && buffer < hw::kNiuCommandBuffers &&
         in_niu % hw::kNiuCommandBufferStride == hw::kNocCommand && value == 1 &&
         machine_->noc->IssueStreamUpdate(*this, offset / hw::kNiuStride, buffer);
}

Refusal TensixTile::ReadDebug(Accessor /*who*/, uint32_t address, uint32_t* value) {
  if (ResetVectors::Has(address)) return reset_vectors_.Read(address, value);
  switch (address) {
    case hw::kSoftReset0:
      *value = soft_reset_;
      return {};
    case hw::kWallClockLow:
    case hw::kWallClockHigh:
    case hw::kWallClockHighLatched:
      *value = wall_clock_.Read(address, machine_->scheduler->now());
      return {};
    case hw::kDestClockGateControl:
      return NotReadable(address);
    default:
      return Unknown(address);
  }
}

Refusal TensixTile::WriteDebug(Accessor /*who*/, uint32_t address, uint32_t value) {
  if (ResetVectors::Has(address)) {
    const Refusal refusal = reset_vectors_.Write(address, value);
    if (!refusal) RegisterChanged(address);
    return refusal;
  }
  switch (address) {
    case hw::kSoftReset0:
      return WriteSoftReset(value);
    case hw::kDestClockGateControl:
      break;  // clock gating has no effect on what the model does
    case hw::kWallClockLow:
    case hw::kWallClockHigh:
    case hw::kWallClockHighLatched:
      return NotWritable(address);
    default:
      return Unknown(address);
  }
  RegisterChanged(address);
  return {};
}

Refusal TensixTile::WriteSoftReset(uint32_t value) {
  value &= ~kSoftResetIgnored;
  if ((value & hw::kSoftResetEngine) != 0 && value != hw::kSoftResetEverything) {
    return {FaultKind::kUnsupportedValue, hw::kSoftReset0,
            "the Tensix engine is held in reset as a whole, with all harts (0xFFFFFF)"};
  }
  // Stores of a hart are carried out before it stops.
  for (Hart& hart : harts_) {
    if (hart.hazards != nullptr && (value & hw::SoftResetBit(hart.index)) != 0)
      hart.hazards->Hold();
  }
  const uint32_t changed = std::exchange(soft_reset_, value) ^ value;
  for (Hart& hart : harts_) {
    const uint32_t bit = hw::SoftResetBit(hart.index);
    if ((changed & bit) == 0) continue;
    if ((value & bit) != 0) {
      Stop(hart, HartState::kHeld);
    } else {
      Release(hart);
    }
  }
  if (value == hw::kSoftResetEverything) compute_.Reset();
  RegisterChanged(hw::kSoftReset0);
  return {};
}

}  // namespace ttfd::sim
