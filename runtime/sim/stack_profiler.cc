// Samples the call stacks of all harts.
#include "runtime/sim/stack_profiler.h"

#include <algorithm>
#include <tuple>
#include <utility>

#include "runtime/base/bytes.h"
#include "runtime/hw/tensix.h"
#include "runtime/sim/tensix_tile.h"

namespace ttfd::sim {
namespace {

constexpr uint32_t kJal = 0x6F;
constexpr uint32_t kJalr = 0x67;
constexpr uint32_t kReturnAddress = 1;  // ra, and t0, the alternate link register
constexpr uint32_t kAlternate = 5;

bool IsLink(uint32_t x) { return x == kReturnAddress || x == kAlternate; }

}  // namespace

bool StackProfiler::Key::operator<(const Key& other) const {
  const auto fields = [](const Key& key) {
    return std::tie(key.tile.x, key.tile.y, key.hart, key.program_word, key.state_word, key.sleeps,
                    key.stack);
  };
  return fields(*this) < fields(other);
}

StackProfiler::StackProfiler(Chip& chip, const Options& options) : chip_(chip), options_(options) {
  chip_.Attach(this);
  Begin();
}

StackProfiler::~StackProfiler() { chip_.Detach(this); }

void StackProfiler::Begin() {
  tracks_.clear();
  last_hart_ = nullptr;
  for (uint32_t index = 0; index < chip_.tensix_count(); ++index) {
    for (uint32_t i = 0; i < hw::kHarts; ++i) {
      const Hart& hart = *chip_.FindHart(chip_.TensixCoordinate(index), i);
      Track& track = tracks_[&hart];
      track.runs = hart.state != HartState::kHeld;
      track.sleeps = hart.state == HartState::kParked;
      track.due = (chip_.clock() / options_.interval + 1) * options_.interval;
    }
  }
}

StackProfiler::Track& StackProfiler::Of(const Hart& hart) {
  if (last_hart_ != &hart) {
    last_hart_ = &hart;
    last_track_ = &tracks_[&hart];
  }
  return *last_track_;
}

void StackProfiler::Sample(const Hart& hart, Track& track, uint64_t clock) {
  if (clock < track.due) return;
  const uint64_t count = (clock - track.due) / options_.interval + 1;
  track.due += count * options_.interval;
  if (!track.runs) return;
  const std::byte* const l1 = hart.tile->memory().l1();
  Key key;
  key.tile = hart.tile->translated();
  key.hart = hart.index;
  key.program_word = LoadAt<uint32_t>(l1 + options_.program_address);
  key.state_word =
      LoadAt<uint32_t>(l1 + options_.state_address + hart.index * options_.state_stride);
  key.sleeps = track.sleeps;
  key.stack.push_back(hart.pc);
  key.stack.insert(key.stack.end(), track.returns.rbegin(), track.returns.rend());
  if (const auto found = samples_.find(key); found != samples_.end()) {
    found->second += count;
  } else if (samples_.size() < options_.max_stacks) {
    samples_.emplace(std::move(key), count);
  } else {
    lost_ += count;
  }
}

void StackProfiler::Follow(const Hart& hart, uint32_t word, Track* track) {
  const uint32_t opcode = word & 0x7F;
  if (opcode != kJal && opcode != kJalr) return;
  std::vector<uint32_t>& returns = track->returns;
  if (IsLink(word >> 7 & 31)) {
    if (returns.size() < kMaxFrames) returns.push_back(hart.pc + 4);
    return;
  }
  const uint32_t base = word >> 15 & 31;
  if (opcode != kJalr || !IsLink(base)) return;
  const auto offset = static_cast<uint32_t>(static_cast<int32_t>(word) >> 20);
  const uint32_t target = (hart.x[base] + offset) & ~1u;
  // Frames that never returned, and calls that were not kept, are passed over.
  const auto found = std::find(returns.rbegin(), returns.rend(), target);
  if (found != returns.rend()) returns.erase(std::prev(found.base()), returns.end());
}

bool StackProfiler::BeforeInstruction(const Hart& hart, uint32_t word) {
  Track& track = Of(hart);
  Sample(hart, track, hart.time);
  track.sleeps = false;
  Follow(hart, word, &track);
  return true;
}

void StackProfiler::OnState(const Hart& hart) {
  Track& track = Of(hart);
  if (hart.state == HartState::kRunnable && track.sleeps) return;  // until it executes
  Sample(hart, track, std::max(hart.time, chip_.clock()));
  track.sleeps = hart.state == HartState::kParked;
  if (hart.state == HartState::kHeld || !track.runs) track.returns.clear();
  track.runs = hart.state != HartState::kHeld;
}

void StackProfiler::OnReset() { Begin(); }

StackProfiler::Samples StackProfiler::Take(uint64_t* lost) {
  for (auto& [hart, track] : tracks_) {
    if (track.sleeps) Sample(*hart, track, chip_.clock());
  }
  *lost += std::exchange(lost_, 0);
  return std::exchange(samples_, {});
}

}  // namespace ttfd::sim
