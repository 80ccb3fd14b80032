// Memory side of a tile: what a write to L1 sets off, parking and waking, leaving reset.
#include "runtime/sim/tensix_tile.h"

#include <algorithm>
#include <bit>
#include <cstring>

#include "runtime/sim/hart_hazards.h"
#include "runtime/sim/inspector.h"
#include "runtime/sim/scheduler.h"

namespace ttfd::sim {
namespace {

void ForgetLoops(Hart& hart) {
  hart.poll.last.pc = kNowhere;
  hart.poll.anchor.pc = kNowhere;
  hart.poll.slept_at = kNowhere;
  hart.poll.observe = false;
  hart.poll.proven = false;
  hart.permitted = kNever;
}

}  // namespace

void TensixTile::Init(Machine& machine, TileMemory memory, hw::Coordinate translated,
                      hw::Coordinate physical) {
  InitTile(machine, memory, hw::kL1Bytes, translated, physical);
  for (uint32_t i = 0; i < hw::kHarts; ++i) {
    harts_[i].index = i;
    harts_[i].tile = this;
    harts_[i].local_ram = memory.local_ram(i);
    harts_[i].local_ram_bytes = hw::LocalRamBytes(i);
    harts_[i].code = memory.code();
  }
  compute_.Init(*this);
}

void TensixTile::Reset() {
  for (Hart& hart : harts_) {
    Unpark(hart);
    hart.state = HartState::kHeld;
    hart.queued = false;
    hart.time = 0;
    hart.permitted = kNever;
    if (hart.hazards != nullptr) hart.hazards->Reset();
  }
  ResetNius();
  streams_.Reset();
  compute_.Reset();
  reset_vectors_ = {};
  soft_reset_ = hw::kSoftResetAllHarts;
  wall_clock_.Reset();
}

void TensixTile::Release(Hart& hart) {
  std::memset(hart.x, 0, sizeof(hart.x));
  std::memset(hart.local_ram, 0, hart.local_ram_bytes);
  hart.config0 = hw::kCsrConfig0AfterReset;
  hart.pc = reset_vectors_.PcOf(hart.index);
  ForgetLoops(hart);
  if (hart.hazards != nullptr) hart.hazards->Release();
  machine_->scheduler->Start(hart);
  TellOfState(hart);
}

void TensixTile::WakeParked(Hart& hart) {
  ForgetLoops(hart);
  if (hart.state == HartState::kParked) Wake(hart);
}

void TensixTile::Stop(Hart& hart, HartState state) {
  Unpark(hart);
  hart.state = state;
  if (state == HartState::kHeld) TellOfState(hart);
}

void TensixTile::TellOfState(const Hart& hart) const {
  for (Inspector* const inspector : machine_->inspectors) inspector->OnState(hart);
}

void TensixTile::Park(Hart& hart) {
  hart.state = HartState::kParked;
  const uint32_t bit = 1u << hart.index;
  parked_ |= bit;
  for (uint32_t i = 0; i < hart.poll.reads; ++i) {
    const uint32_t address = hart.poll.read[i];
    if (address < hw::kL1Bytes) {
      memory_.marks()[address >> kLineShift] |= static_cast<uint8_t>(bit);
    } else {
      register_watchers_ |= bit;
    }
  }
  TellOfState(hart);
}

void TensixTile::Unpark(Hart& hart) {
  const uint32_t bit = 1u << hart.index;
  if ((parked_ & bit) == 0) return;
  parked_ &= ~bit;
  register_watchers_ &= ~bit;
  compute_.Unparked(hart.index);
  for (uint32_t i = 0; i < hart.poll.reads; ++i) {
    const uint32_t address = hart.poll.read[i];
    if (address < hw::kL1Bytes) {
      memory_.marks()[address >> kLineShift] &= static_cast<uint8_t>(~bit);
    }
  }
}

void TensixTile::WakeReaders(uint32_t harts, uint32_t address, uint32_t length) {
  for (; harts != 0; harts &= harts - 1) {
    Hart& hart = harts_[static_cast<uint32_t>(std::countr_zero(harts))];
    const PollState& poll = hart.poll;
    for (uint32_t i = 0; i < poll.reads; ++i) {
      // Does the word overlap [address, address + length)?
      if (poll.read[i] + 3 < address || poll.read[i] >= uint64_t{address} + length) continue;
      Wake(hart);
      break;
    }
  }
}

void TensixTile::Wake(Hart& hart) {
  Unpark(hart);
  machine_->scheduler->Start(hart);
  hart.poll.woken = hart.time;
  hart.permitted = kNever;
  TellOfState(hart);
}

void TensixTile::OnWatchedWrite(uint32_t address, uint32_t length) {
  uint8_t* const marks = memory_.marks();
  const uint32_t end = address + length;
  const uint8_t mark = marks[address >> kLineShift];
  if ((mark & kLineReported) != 0) compute_.AccessL1(address, length, true);
  if (address >> kLineShift == (end - 1) >> kLineShift && mark <= kLineWatchers) {
    return WakeReaders(mark, address, length);
  }
  uint32_t any = 0;
  bool code_changed = false;
  for (uint32_t line = address >> kLineShift; line <= (end - 1) >> kLineShift; ++line) {
    any |= marks[line];
    if ((marks[line] & kLineHasCode) == 0) continue;
    const uint32_t line_start = line << kLineShift;
    const uint32_t from = std::max(address, line_start) / 4;
    const uint32_t to = (std::min(end, line_start + kLineBytes) + 3) / 4;
    code_changed |= DropDecoded(from, to - from);
    if (to - from == kLineBytes / 4) marks[line] &= static_cast<uint8_t>(~kLineHasCode);
  }
  WakeReaders(any & kLineWatchers, address, length);
  // Perhaps the code of a wait that somebody is in or was in: it goes on with what L1 holds now.
  if (code_changed) {
    for (Hart& hart : harts_) hart.poll.proven = false;
  }
  for (uint32_t bits = code_changed ? parked_ : 0; bits != 0; bits &= bits - 1) {
    Wake(harts_[static_cast<uint32_t>(std::countr_zero(bits))]);
  }
}

bool TensixTile::DropDecoded(uint32_t first_word, uint32_t words) {
  Decoded* const first = memory_.code() + first_word;
  bool executed = false;
  for (const Decoded* word = first; word < first + words; ++word) executed |= word->operation != 0;
  if (!executed) return false;
  // The word in front may be run in one go with the first.
  const uint32_t pair = first_word != 0 ? 1 : 0;
  std::memset(first - pair, 0, (words + pair) * sizeof(Decoded));
  return true;
}

}  // namespace ttfd::sim
