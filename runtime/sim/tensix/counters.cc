// How counters are set and stepped.
#include "runtime/sim/tensix/counters.h"

namespace ttfd::sim::tensix {
namespace {

namespace isa = hw::tensix;

constexpr std::array<uint32_t, 4> kMasks = {0x3FFFF, 0x1FFF, 0xFF, 0xFF};  // by Dimension
constexpr uint32_t kSourceMask = 0x3F;
constexpr uint32_t kDstMask = 0x3FF;

// A counter of the packer.
void Step(AddressCounter* counter, Dimension dimension, uint32_t increment, bool to_cr,
          bool clear) {
  if (clear) return counter->Set(dimension, 0);
  if (to_cr) return counter->Set(dimension, counter->cr[dimension] + increment);
  counter->Add(dimension, increment);
}

}  // namespace

void AddressCounter::Set(Dimension dimension, uint32_t value) {
  at[dimension] = cr[dimension] = value & kMasks[dimension];
}

void AddressCounter::Add(Dimension dimension, uint32_t value) {
  at[dimension] = (at[dimension] + value) & kMasks[dimension];
}

Outcome Adcs::CheckUnits(uint32_t cnt_set_mask) {
  return cnt_set_mask != 0 ? Outcome::kDone
                           : report_.Refuse("cnt_set_mask", "it names no unit's counters");
}

Outcome Adcs::Execute(uint32_t thread, isa::SETADC instruction) {
  if (instruction.value() > 0xFFFF) {
    return report_.Refuse("value", "bits 17:16 select another thread's counter");
  }
  if (CheckUnits(instruction.cnt_set_mask()) != Outcome::kDone) return Outcome::kRefused;
  for (uint32_t unit = 0; unit < 3; ++unit) {
    if ((instruction.cnt_set_mask() >> unit & 1) == 0) continue;
    AddressCounters& at = counters_[thread][unit];
    const auto dimension = static_cast<Dimension>(instruction.dimension_index());
    (instruction.channel_index() == 0 ? at.source : at.dest).Set(dimension, instruction.value());
  }
  return Outcome::kDone;
}

Outcome Adcs::Execute(uint32_t thread, isa::SETADCXX instruction) {
  if (CheckUnits(instruction.cnt_set_mask()) != Outcome::kDone) return Outcome::kRefused;
  for (uint32_t unit = 0; unit < 3; ++unit) {
    if ((instruction.cnt_set_mask() >> unit & 1) == 0) continue;
    counters_[thread][unit].source.Set(kX, instruction.x_start());
    counters_[thread][unit].dest.Set(kX, instruction.x_end());
  }
  return Outcome::kDone;
}

template <typename Instruction>
Outcome Adcs::SetPair(uint32_t thread, Instruction instruction, Dimension first) {
  if (CheckUnits(instruction.cnt_set_mask()) != Outcome::kDone) return Outcome::kRefused;
  if (instruction.bit_mask() == 0) return report_.Refuse("bit_mask", "it names no counter");
  const auto second = static_cast<Dimension>(first + 1);
  for (uint32_t unit = 0; unit < 3; ++unit) {
    if ((instruction.cnt_set_mask() >> unit & 1) == 0) continue;
    AddressCounters& at = counters_[thread][unit];
    if ((instruction.bit_mask() & 1) != 0) at.source.Set(first, instruction.ch0_x());
    if ((instruction.bit_mask() & 2) != 0) at.source.Set(second, instruction.ch0_y());
    if ((instruction.bit_mask() & 4) != 0) at.dest.Set(first, instruction.ch1_x());
    if ((instruction.bit_mask() & 8) != 0) at.dest.Set(second, instruction.ch1_y());
  }
  return Outcome::kDone;
}

Outcome Adcs::Execute(uint32_t thread, isa::SETADCXY instruction) {
  return SetPair(thread, instruction, kX);
}

Outcome Adcs::Execute(uint32_t thread, isa::SETADCZW instruction) {
  return SetPair(thread, instruction, kZ);
}

void Rwcs::Counter::SetTo(uint32_t value, bool relative_to_cr, uint32_t mask) {
  cr = (relative_to_cr ? cr + value : value) & mask;
  at = cr;
}

void Rwcs::Counter::Step(uint32_t increment, bool to_cr, bool clear, uint32_t mask) {
  if (clear) {
    at = cr = 0;
  } else if (to_cr) {
    at = cr = (cr + increment) & mask;
  } else {
    at = (at + increment) & mask;
  }
}

void Rwcs::Set(isa::SETRWC instruction) {
  const uint32_t mask = instruction.bit_mask();
  const uint32_t cr = instruction.rwc_cr();
  if ((mask & 1) != 0) a_.SetTo(instruction.rwc_a(), (cr & 1) != 0, kSourceMask);
  if ((mask & 2) != 0) b_.SetTo(instruction.rwc_b(), (cr & 2) != 0, kSourceMask);
  if ((mask & 4) != 0) dst_.SetTo(instruction.rwc_d(), (cr & 4) != 0, kDstMask);
  if ((mask & 8) != 0) fidelity_ = 0;
}

void Rwcs::Increment(isa::INCRWC instruction) {
  const uint32_t cr = instruction.rwc_cr();
  a_.Step(instruction.rwc_a(), (cr & 1) != 0, false, kSourceMask);
  b_.Step(instruction.rwc_b(), (cr & 2) != 0, false, kSourceMask);
  dst_.Step(instruction.rwc_d(), (cr & 4) != 0, false, kDstMask);
}

void Rwcs::StepRows(uint32_t ab, uint32_t dst) {
  a_.Step(isa::kAddrModSrcAIncrement.Of(ab), isa::kAddrModSrcACr.Of(ab) != 0,
          isa::kAddrModSrcAClear.Of(ab) != 0, kSourceMask);
  b_.Step(isa::kAddrModSrcBIncrement.Of(ab), isa::kAddrModSrcBCr.Of(ab) != 0,
          isa::kAddrModSrcBClear.Of(ab) != 0, kSourceMask);
  if (isa::kAddrModDstToCr.Of(dst) != 0) {
    dst_.at = dst_.cr = (dst_.at + isa::kAddrModDstIncrement.Of(dst)) & kDstMask;
  } else {
    dst_.Step(isa::kAddrModDstIncrement.Of(dst), isa::kAddrModDstCr.Of(dst) != 0,
              isa::kAddrModDstClear.Of(dst) != 0, kDstMask);
  }
}

void Rwcs::StepFidelity(uint32_t dst) {
  fidelity_ = isa::kAddrModFidelityClear.Of(dst) != 0
                  ? 0
                  : (fidelity_ + isa::kAddrModFidelityIncrement.Of(dst)) & 3;
}

uint32_t ThreadRows::DstSum(uint32_t thread, uint32_t dst) const {
  return rows_[thread].dst() + dst + config_.thread(thread, isa::kThreadDstOffset);
}

uint32_t ThreadRows::Dst(uint32_t thread, uint32_t dst) const {
  return DstSum(thread, dst) & kDstMask;
}

Outcome ThreadRows::CheckModifier(uint32_t thread, uint32_t section) {
  const uint32_t dst = config_.thread(thread, isa::kThreadAddrModDst + section);
  const bool returns = isa::kAddrModDstCr.Of(dst) != 0 || isa::kAddrModDstClear.Of(dst) != 0;
  if (isa::kAddrModDstToCr.Of(dst) == 0 || !returns) return Outcome::kDone;
  return report_.Refuse("addr_mode", "its modifier of Dst has c_to_cr together with cr or clear");
}

void ThreadRows::Advance(uint32_t thread, uint32_t section) {
  AdvanceRows(thread, section);
  rows_[thread].StepFidelity(config_.thread(thread, isa::kThreadAddrModDst + section));
}

void ThreadRows::AdvanceRows(uint32_t thread, uint32_t section) {
  rows_[thread].StepRows(config_.thread(thread, isa::kThreadAddrModAb + section),
                         config_.thread(thread, isa::kThreadAddrModDst + section));
}

void AdvancePack(uint32_t mod, AddressCounters* at) {
  Step(&at->source, kY, isa::kAddrModSourceYIncrement.Of(mod), isa::kAddrModSourceYCr.Of(mod) != 0,
       isa::kAddrModSourceYClear.Of(mod) != 0);
  Step(&at->dest, kY, isa::kAddrModDestYIncrement.Of(mod), false,
       isa::kAddrModDestYClear.Of(mod) != 0);
  Step(&at->source, kZ, isa::kAddrModSourceZIncrement.Of(mod), false,
       isa::kAddrModSourceZClear.Of(mod) != 0);
  Step(&at->dest, kZ, isa::kAddrModDestZIncrement.Of(mod), false,
       isa::kAddrModDestZClear.Of(mod) != 0);
}

}  // namespace ttfd::sim::tensix
