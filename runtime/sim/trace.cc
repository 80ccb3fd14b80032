// Puts together what an instruction did, and leaves out what nobody wants to see.
#include "runtime/sim/trace.h"

#include <algorithm>

#include "runtime/sim/encoding.h"
#include "runtime/sim/tensix_tile.h"

namespace ttfd::sim {

bool TraceFilter::Wants(hw::Coordinate tile, uint64_t clock) const {
  return clock >= from && clock < to &&
         (tiles.empty() || std::find(tiles.begin(), tiles.end(), tile) != tiles.end());
}

bool Tracer::BeforeInstruction(const Hart& hart, uint32_t word) {
  Finish(nullptr);
  const hw::Coordinate tile = hart.tile->translated();
  if (!filter_.instructions && !filter_.memory) return true;
  if (!filter_.WantsHart(tile, hart.index, hart.time)) return true;
  const Encoding* const encoding = FindEncoding(word);
  const bool writes = encoding != nullptr && OperandsOf(encoding->format).rd;
  hart_ = &hart;
  instruction_ = {};
  instruction_.tile = tile;
  instruction_.hart = hart.index;
  instruction_.clock = hart.time;
  instruction_.pc = hart.pc;
  instruction_.word = word;
  instruction_.rd = writes ? RdOf(word) : 0;
  return true;
}

void Tracer::OnLoad(const Hart& hart, uint32_t address, uint32_t bytes, uint32_t value) {
  if (&hart == hart_) instruction_.load = {bytes, address, value};
}

void Tracer::OnStore(const Hart& hart, uint32_t address, uint32_t bytes, uint32_t value) {
  if (&hart == hart_) instruction_.store = {bytes, address, value};
}

void Tracer::OnNoc(const NocView& view) {
  if (filter_.noc && filter_.Wants(view.source, view.clock)) Emit(view);
}

void Tracer::OnState(const Hart& hart) {
  // It went to sleep in front of an instruction that it was allowed to execute.
  const bool before = &hart == hart_ && hart.pc == instruction_.pc;
  if (before && hart.state == HartState::kParked) hart_ = nullptr;
  const hw::Coordinate tile = hart.tile->translated();
  if (filter_.states && filter_.WantsHart(tile, hart.index, hart.time)) {
    Emit(TraceState{tile, hart.index, hart.time, hart.pc, hart.state});
  }
}

void Tracer::OnReset() {
  hart_ = nullptr;
  Finish(nullptr);
  sink_(TraceReset{});
}

void Tracer::Settle(const Fault* fault) {
  Finish(fault);
  if (fault != nullptr && filter_.WantsHart(fault->translated, fault->hart, fault->clock)) {
    sink_(*fault);
  }
}

void Tracer::Emit(const TraceEvent& event) {
  if (hart_ != nullptr) {
    behind_.push_back(event);
  } else {
    sink_(event);
  }
}

void Tracer::Finish(const Fault* fault) {
  if (hart_ != nullptr) {
    // An instruction takes time. One that took none held its own hart, or was not executed after all: another inspector
    // stopped the chip, and it will be asked about again.
    const bool refused = fault != nullptr && fault->hart == instruction_.hart &&
                         fault->translated == instruction_.tile && fault->pc == instruction_.pc;
    const bool ended = !refused && hart_->time != instruction_.clock;
    instruction_.rd = ended ? instruction_.rd : 0;
    if (instruction_.rd != 0) instruction_.rd_value = hart_->x[instruction_.rd];
    const bool accessed = instruction_.load.bytes != 0 || instruction_.store.bytes != 0;
    const bool shown = ended || refused || accessed;
    if (!filter_.memory) instruction_.load = instruction_.store = {};
    if (shown && (filter_.instructions || accessed)) sink_(instruction_);
    hart_ = nullptr;
  }
  if (behind_.empty()) return;
  for (const TraceEvent& event : behind_) sink_(event);
  behind_.clear();
}

}  // namespace ttfd::sim
