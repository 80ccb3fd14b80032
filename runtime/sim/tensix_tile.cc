// Memory side of a tile: what a write to L1 sets off, parking and waking, leaving reset.
#include "runtime/sim/tensix_tile.h"

#include <algorithm>
#include <cstring>

#include "runtime/sim/scheduler.h"

namespace ttfd::sim {

void TensixTile::Init(Machine& machine, TileMemory memory, hw::Coordinate translated,
                      hw::Coordinate physical) {
  machine_ = &machine;
  memory_ = memory;
  translated_ = translated;
  physical_ = physical;
  for (uint32_t i = 0; i < hw::kHarts; ++i) {
    harts_[i].index = i;
    harts_[i].tile = this;
    harts_[i].local_ram = memory.local_ram(i);
    harts_[i].local_ram_bytes = hw::LocalRamBytes(i);
  }
  for (uint32_t i = 0; i < nius_.size(); ++i) nius_[i].Init(i, physical, translated);
}

void TensixTile::Reset() {
  for (Hart& hart : harts_) {
    hart.state = HartState::kHeld;
    hart.queued = false;
    hart.time = 0;
  }
  parked_ = 0;
  register_watchers_ = 0;
  for (Niu& niu : nius_) niu.Reset();
  streams_.Reset();
  soft_reset_ = hw::kSoftResetAllHarts;
  wall_clock_high_latched_ = 0;
  trisc_reset_pc_ = {};
  trisc_reset_pc_override_ = 0;
  ncrisc_reset_pc_ = 0;
  ncrisc_reset_pc_override_ = 0;
}

uint32_t TensixTile::ResetPc(uint32_t hart) const {
  if (hart == hw::kBrisc) return 0;
  if (hart == hw::kNcrisc) {
    return ncrisc_reset_pc_override_ != 0 ? ncrisc_reset_pc_ : hw::kNcriscDefaultPc;
  }
  const uint32_t trisc = hart - hw::kTrisc0;
  return (trisc_reset_pc_override_ >> trisc & 1) != 0 ? trisc_reset_pc_[trisc]
                                                      : hw::kTriscDefaultPc[trisc];
}

void TensixTile::Release(Hart& hart) {
  std::memset(hart.x, 0, sizeof(hart.x));
  std::memset(hart.local_ram, 0, hart.local_ram_bytes);
  hart.config0 = 0;
  hart.pc = ResetPc(hart.index);
  hart.poll.last.pc = 1;
  hart.poll.anchor.pc = 1;
  hart.poll.observe = false;
  machine_->scheduler->Start(hart);
}

void TensixTile::Park(Hart& hart) {
  hart.state = HartState::kParked;
  parked_ |= 1u << hart.index;
  uint8_t* const flags = memory_.line_flags();
  for (uint32_t i = 0; i < hart.poll.reads; ++i) {
    const uint32_t address = hart.poll.read[i];
    if (address < hw::kL1Bytes) {
      flags[address >> kLineShift] |= kLineIsWatched;
    } else {
      register_watchers_ |= 1u << hart.index;
    }
  }
}

void TensixTile::Unpark(Hart& hart) {
  parked_ &= ~(1u << hart.index);
  register_watchers_ &= ~(1u << hart.index);
}

void TensixTile::WakeReaders(uint32_t address, uint32_t length) {
  for (uint32_t bits = parked_; bits != 0; bits &= bits - 1) {
    Hart& hart = harts_[static_cast<uint32_t>(__builtin_ctz(bits))];
    const PollState& poll = hart.poll;
    // Words that overlap [address, address + length).
    const bool reads = std::any_of(poll.read, poll.read + poll.reads, [&](uint32_t word) {
      return word + 3 >= address && word < uint64_t{address} + length;
    });
    if (reads) Wake(hart);
  }
}

void TensixTile::Wake(Hart& hart) {
  Unpark(hart);
  hart.poll.observe = true;  // most wakes are not the awaited one: look, then sleep again
  machine_->scheduler->Start(hart);
}

void TensixTile::WroteFlagged(uint32_t address, uint32_t length) {
  uint8_t* const flags = memory_.line_flags();
  const uint32_t end = address + length;
  uint8_t any = 0;
  bool code_changed = false;
  for (uint32_t line = address >> kLineShift; line <= (end - 1) >> kLineShift; ++line) {
    any |= flags[line];
    if ((flags[line] & kLineHasCode) == 0) continue;
    const uint32_t line_start = line << kLineShift;
    const uint32_t from = std::max(address, line_start) / 4;
    const uint32_t to = (std::min(end, line_start + kLineBytes) + 3) / 4;
    code_changed |= DropDecoded(from, to - from);
    if (to - from == kLineBytes / 4) flags[line] &= static_cast<uint8_t>(~kLineHasCode);
  }
  if (code_changed) {  // perhaps of a loop that is parked: it goes on with what L1 holds now
    for (uint32_t bits = parked_; bits != 0; bits &= bits - 1) {
      Wake(harts_[static_cast<uint32_t>(__builtin_ctz(bits))]);
    }
  }
  if ((any & kLineIsWatched) == 0) return;
  WakeReaders(address, length);
  // The marks of the lines are renewed from the harts that still sleep.
  for (uint32_t line = address >> kLineShift; line <= (end - 1) >> kLineShift; ++line) {
    flags[line] &= static_cast<uint8_t>(~kLineIsWatched);
  }
  for (uint32_t bits = parked_; bits != 0; bits &= bits - 1) {
    const PollState& poll = harts_[static_cast<uint32_t>(__builtin_ctz(bits))].poll;
    for (uint32_t i = 0; i < poll.reads; ++i) {
      if (poll.read[i] < hw::kL1Bytes) flags[poll.read[i] >> kLineShift] |= kLineIsWatched;
    }
  }
}

bool TensixTile::DropDecoded(uint32_t first_word, uint32_t words) {
  Decoded* const first = memory_.code() + first_word;
  bool executed = false;
  for (Decoded* word = first; word < first + words; ++word) executed |= word->operation != 0;
  if (executed) std::memset(first, 0, words * sizeof(Decoded));
  return executed;
}

}  // namespace ttfd::sim
