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

constexpr uint32_t kNiuEnd = hw::kNiuAddress + 2 * hw::kNiuStride;
constexpr uint32_t kSoftResetIgnored = 1u << 31;  // tt-umd's "staggered start" flag

bool IsPcSnapshot(uint32_t address) {
  return address >= hw::kPcSnapshot && address < hw::kPcSnapshot + 4 * hw::kHarts;
}

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
          "no register of a Tensix tile that the model knows"};
}

}  // namespace

Refusal TensixTile::ReadRegister(Accessor who, uint32_t address, uint32_t* value) {
  if (address >= hw::kNiuAddress && address < kNiuEnd) [[likely]] {
    const uint32_t offset = address - hw::kNiuAddress;
    return nius_[offset / hw::kNiuStride].Read(offset % hw::kNiuStride, value);
  }
  if (address >= hw::kStreamAddress && address < hw::kStreamEnd) {
    return streams_.Read(address - hw::kStreamAddress, value);
  }
  if (IsPcSnapshot(address)) {
    *value = harts_[(address - hw::kPcSnapshot) / 4].pc;
    return {};
  }
  if (address == hw::kTensixConfig || address == hw::kInstructionCacheInvalidate) {
    // tt-isa-documentation BlackholeA0/TensixTile/TensixCoprocessor/BackendConfiguration.md: loads of
    // RISCV B and T0-2 read the configuration. Firmware reads word 0 to know that a store to the region
    // has been carried out; nothing sets it here. ttsim knows no read of the mask, so neither has this.
    if (who.from_noc() || who.hart == hw::kNcrisc) return OnlyBriscAndTriscs(address);
    if (address != hw::kTensixConfig) return NotReadable(address);
    *value = 0;
    return {};
  }
  if (address == hw::kTdmaClockGateEnable) {
    return who.from_noc() ? Unknown(address) : NotReadable(address);
  }
  return ReadDebug(address, value);
}

Refusal TensixTile::WriteRegister(Accessor who, uint32_t address, uint32_t value) {
  if (address >= hw::kNiuAddress && address < kNiuEnd) {
    const uint32_t offset = address - hw::kNiuAddress;
    return WriteNiu(who, offset / hw::kNiuStride, offset % hw::kNiuStride, value);
  }
  if (address >= hw::kStreamAddress && address < hw::kStreamEnd) {
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
  if (IsPcSnapshot(address)) return NotWritable(address);
  if (address == hw::kInstructionCacheInvalidate || address == hw::kTdmaClockGateEnable) {
    if (who.from_noc() || who.hart == hw::kNcrisc) return OnlyBriscAndTriscs(address);
    if (address == hw::kInstructionCacheInvalidate && (value & ~hw::kInstructionCacheAll) != 0) {
      return {FaultKind::kUnsupportedValue, address,
              "the instruction cache mask has five bits, one a hart"};
    }
    // Without that hazard the model always executes what L1 holds.
    if (address == hw::kInstructionCacheInvalidate) InvalidateInstructions(value);
    return {};
  }
  return WriteDebug(address, value);
}

void TensixTile::InvalidateInstructions(uint32_t mask) {
  // Bit by bit: BRISC, TRISC0-2, NCRISC.
  constexpr uint32_t kHartOfBit[] = {hw::kBrisc, hw::kTrisc0, hw::kTrisc1, hw::kTrisc2,
                                     hw::kNcrisc};
  for (uint32_t bit = 0; bit < hw::kHarts; ++bit) {
    HartHazards* const hazards = harts_[kHartOfBit[bit]].hazards;
    if ((mask >> bit & 1) != 0 && hazards != nullptr) hazards->InvalidateInstructions();
  }
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

Refusal TensixTile::WriteNiu(Accessor who, uint32_t niu, uint32_t offset, uint32_t value) {
  if (who.from_noc() && offset % hw::kNiuCommandBufferStride == hw::kNocCommand) {
    return {FaultKind::kUnsupportedRegister, nius_[niu].address(offset),
            "NoC commands are issued by the tile's own harts"};
  }
  uint32_t issue = 0;
  Refusal refusal = nius_[niu].Write(offset, value, &issue);
  if (refusal) return refusal;
  if (issue < hw::kNiuCommandBuffers) return machine_->noc->Issue(*this, who.hart, niu, issue);
  RegisterChanged(nius_[niu].address(offset));
  if (offset == hw::kNocClearOutstanding) {
    for (uint32_t id = 0; id < 16; ++id) {
      RegisterChanged(nius_[niu].CounterAddress(hw::kNocRequestsOutstanding + id));
    }
  }
  return {};
}

bool TensixTile::IssueStreamUpdate(uint32_t address, uint32_t value) {
  const uint32_t offset = address - hw::kNiuAddress;
  const uint32_t in_niu = offset % hw::kNiuStride;
  const uint32_t buffer = in_niu / hw::kNiuCommandBufferStride;
  return offset < nius_.size() * hw::kNiuStride && buffer < hw::kNiuCommandBuffers &&
         in_niu % hw::kNiuCommandBufferStride == hw::kNocCommand && value == 1 &&
         machine_->noc->IssueStreamUpdate(*this, offset / hw::kNiuStride, buffer);
}

Refusal TensixTile::ReadDebug(uint32_t address, uint32_t* value) {
  switch (address) {
    case hw::kSoftReset0:
      *value = soft_reset_;
      return {};
    case hw::kWallClockLow: {
      const uint64_t now = machine_->scheduler->now();
      wall_clock_high_latched_ = static_cast<uint32_t>(now >> 32);
      *value = static_cast<uint32_t>(now);
      return {};
    }
    case hw::kWallClockHigh:
      *value = static_cast<uint32_t>(machine_->scheduler->now() >> 32);
      return {};
    case hw::kWallClockHighLatched:
      *value = wall_clock_high_latched_;
      return {};
    case hw::kTriscResetPc:
    case hw::kTriscResetPc + 4:
    case hw::kTriscResetPc + 8:
      *value = trisc_reset_pc_[(address - hw::kTriscResetPc) / 4];
      return {};
    case hw::kTriscResetPcOverride:
      *value = trisc_reset_pc_override_;
      return {};
    case hw::kNcriscResetPc:
    case hw::kNcriscResetPcOverride:
    case hw::kDestClockGateControl:
      return NotReadable(address);
    default:
      return Unknown(address);
  }
}

Refusal TensixTile::WriteDebug(uint32_t address, uint32_t value) {
  const bool is_pc = address == hw::kNcriscResetPc ||
                     (address >= hw::kTriscResetPc && address < hw::kTriscResetPc + 12);
  if (is_pc && (value >= hw::kL1Bytes || value % 4 != 0)) {
    return {FaultKind::kUnsupportedValue, address, "a reset PC is a multiple of 4 inside L1"};
  }
  const uint32_t override_mask = address == hw::kTriscResetPcOverride ? 7 : 1;
  const bool is_override =
      address == hw::kTriscResetPcOverride || address == hw::kNcriscResetPcOverride;
  if (is_override && (value & ~override_mask) != 0) {
    return {FaultKind::kUnsupportedValue, address, "one override bit a core"};
  }
  switch (address) {
    case hw::kSoftReset0:
      return WriteSoftReset(value);
    case hw::kTriscResetPc:
    case hw::kTriscResetPc + 4:
    case hw::kTriscResetPc + 8:
      trisc_reset_pc_[(address - hw::kTriscResetPc) / 4] = value;
      break;
    case hw::kTriscResetPcOverride:
      trisc_reset_pc_override_ = value;
      break;
    case hw::kNcriscResetPc:
      ncrisc_reset_pc_ = value;
      break;
    case hw::kNcriscResetPcOverride:
      ncrisc_reset_pc_override_ = value;
      break;
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
  if ((value & ~hw::kSoftResetAllHarts) != 0) {
    return {FaultKind::kUnsupportedValue, hw::kSoftReset0,
            "of SOFT_RESET_0 only the bits of the five harts (0x47800) are modelled"};
  }
  // What a hart has stored is there before it stops.
  for (Hart& hart : harts_) {
    if (hart.hazards != nullptr && (value & hw::SoftResetBit(hart.index)) != 0)
      hart.hazards->Hold();
  }
  const uint32_t changed = soft_reset_ ^ value;
  soft_reset_ = value;
  for (Hart& hart : harts_) {
    const uint32_t bit = hw::SoftResetBit(hart.index);
    if ((changed & bit) == 0) continue;
    if ((value & bit) != 0) {
      Hold(hart);
    } else {
      Release(hart);
    }
  }
  RegisterChanged(hw::kSoftReset0);
  return {};
}

}  // namespace ttfd::sim
