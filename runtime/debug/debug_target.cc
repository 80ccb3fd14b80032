// Harts as threads, what stops them, and the chip's turns.
#include "runtime/debug/debug_target.h"

#include <algorithm>
#include <utility>

#include "runtime/hw/tensix.h"
#include "runtime/sim/fault.h"
#include "runtime/sim/tensix_tile.h"

namespace ttfd::debug {
namespace {

using sim::HartState;

// How often in one turn of the chip a step of a hart that fell asleep in front of its instruction is
// tried again: it never falls asleep twice in front of the same one.
constexpr int kTriesForSteps = 4;

}  // namespace

DebugTarget::DebugTarget(sim::Chip& chip)
    : chip_(chip),
      orders_(size_t{chip.tensix_count()} * hw::kHarts),
      breakpoint_bits_(hw::kL1Bytes / 4 / 64) {}

DebugTarget::~DebugTarget() { Disconnect(); }

void DebugTarget::Connect() {
  connected_ = true;
  chip_.HoldFaults(true);
  Interrupt(0);
  stop_.reset();  // it is asked for
}

void DebugTarget::Disconnect() {
  connected_ = false;
  chip_.HoldFaults(false);
  breakpoints_.clear();
  known_breakpoints_.clear();
  std::fill(breakpoint_bits_.begin(), breakpoint_bits_.end(), 0);
  watchpoints_.ClearAll();
  const Order everybody;
  Resume({&everybody, 1});
  for (HartOrder& order : orders_) order.look_again = false;
  look_again_ = 0;
  last_ = {};
  passes_ = 0;
}

Thread DebugTarget::ThreadOf(const sim::Hart& hart) const {
  const auto tile = static_cast<uint32_t>(hart.tile - &chip_.tile(0));
  return 1 + tile * hw::kHarts + hart.index;
}

sim::Hart& DebugTarget::MutableHart(Thread thread) {
  return chip_.tile((thread - 1) / hw::kHarts).hart((thread - 1) % hw::kHarts);
}

const sim::Hart& DebugTarget::hart(Thread thread) const {
  return chip_.tile((thread - 1) / hw::kHarts).hart((thread - 1) % hw::kHarts);
}

bool DebugTarget::IsAlive(Thread thread) const {
  return Exists(thread) && hart(thread).state != HartState::kHeld;
}

std::vector<Thread> DebugTarget::Threads() const {
  std::vector<Thread> threads;
  for (Thread thread = 1; Exists(thread); ++thread) {
    if (hart(thread).state != HartState::kHeld) threads.push_back(thread);
  }
  return threads;
}

std::string DebugTarget::NameOf(Thread thread) const {
  const hw::Coordinate at = hart(thread).tile->translated();
  return fmt::format("({},{}) {}", at.x, at.y, sim::HartName(hart(thread).index));
}

std::string DebugTarget::StateOf(Thread thread) const {
  const sim::Hart& one = hart(thread);
  if (one.state == HartState::kHeld) return "held in reset";
  if (one.state == HartState::kRunnable) return "runs";
  if (one.state == HartState::kFaulted) return "stopped by a fault";
  std::string words;
  for (uint32_t i = 0; i < one.poll.reads; ++i) words += fmt::format(" {:#x}", one.poll.read[i]);
  return words.empty() ? "waits for nothing" : "waits for" + words;
}

uint32_t DebugTarget::ReadRegister(Thread thread, uint32_t number) const {
  return number == kPc ? hart(thread).pc : hart(thread).x[number];
}

bool DebugTarget::WriteRegister(Thread thread, uint32_t number, uint32_t value) {
  if (number == kPc && (value % 4 != 0 || value >= hw::kL1Bytes)) return false;
  sim::Hart& one = MutableHart(thread);
  if (number == kPc) {
    one.pc = value;
  } else if (number != 0) {
    one.x[number] = value;
  }
  Rouse(thread);
  return true;
}

// The hart's state is not what it was, or is to be looked at: what is known of its waits is not true.
void DebugTarget::Rouse(Thread thread) {
  sim::Hart& one = MutableHart(thread);
  one.tile->WakeParked(one);
}

// ---- what stops the chip

bool DebugTarget::SetBreakpoint(uint32_t address) {
  if (address % 4 != 0 || address >= hw::kL1Bytes) return false;
  const auto place = std::lower_bound(breakpoints_.begin(), breakpoints_.end(), address);
  if (place != breakpoints_.end() && *place == address) return true;
  if (breakpoints_.size() == kMaxBreakpoints) return false;
  breakpoints_.insert(place, address);
  breakpoint_bits_[address / 4 / 64] |= uint64_t{1} << (address / 4 % 64);
  return true;
}

bool DebugTarget::ClearBreakpoint(uint32_t address) {
  const auto place = std::lower_bound(breakpoints_.begin(), breakpoints_.end(), address);
  if (place == breakpoints_.end() || *place != address) return false;
  breakpoints_.erase(place);
  breakpoint_bits_[address / 4 / 64] &= ~(uint64_t{1} << (address / 4 % 64));
  return true;
}

bool DebugTarget::SetWatchpoint(WatchKind kind, uint32_t address, uint32_t bytes, Thread thread) {
  return watchpoints_.Set(kind, address, bytes, thread);
}

bool DebugTarget::ClearWatchpoint(WatchKind kind, uint32_t address, uint32_t bytes) {
  return watchpoints_.Clear(kind, address, bytes);
}

void DebugTarget::StopWith(const Stop& stop) {
  if (!stop_.has_value()) stop_ = stop;
}

bool DebugTarget::StepIsOver(const sim::Hart& hart, HartOrder& order) {
  if (!order.begun) {
    order.begun = true;
    order.begun_at = hart.time;
    return false;
  }
  return hart.time != order.begun_at && (hart.pc < order.from || hart.pc >= order.to);
}

bool DebugTarget::BeforeInstruction(const sim::Hart& hart, uint32_t /*word*/) {
  if (stop_.has_value()) return false;
  if (steps_ != 0) [[unlikely]] {
    HartOrder& order = orders_[ThreadOf(hart) - 1];
    if (order.step) {
      const bool first = !order.begun || hart.time == order.begun_at;
      if (StepIsOver(hart, order)) {
        StopWith({Stop::Why::kStep, ThreadOf(hart)});
        return false;
      }
      if (first) return true;  // a breakpoint where it stands is what it steps off
    }
  }
  if (!IsBreakpoint(hart.pc)) [[likely]]
    return true;
  const Thread thread = ThreadOf(hart);
  if (passes_ == thread && passes_pc_ == hart.pc) {
    passes_ = 0;
    return true;
  }
  HartOrder& order = orders_[thread - 1];
  look_again_ += order.look_again ? 0 : 1;
  order.look_again = true;
  StopWith({Stop::Why::kBreakpoint, thread});
  return false;
}

void DebugTarget::OnLoad(const sim::Hart& hart, uint32_t address, uint32_t bytes,
                         uint32_t /*value*/) {
  if (watchpoints_.empty() || stop_.has_value()) return;
  const Watchpoint* const watch = watchpoints_.Find(ThreadOf(hart), address, bytes, false);
  if (watch == nullptr) return;
  StopWith({Stop::Why::kWatch, ThreadOf(hart), watch->kind, std::max(address, watch->address)});
}

void DebugTarget::OnStore(const sim::Hart& hart, uint32_t address, uint32_t bytes,
                          uint32_t /*value*/) {
  if (watchpoints_.empty() || stop_.has_value()) return;
  const Watchpoint* const watch = watchpoints_.Find(ThreadOf(hart), address, bytes, true);
  if (watch == nullptr) return;
  StopWith({Stop::Why::kWatch, ThreadOf(hart), watch->kind, std::max(address, watch->address)});
}

// Data that another tile sent: the hart whose watchpoint it is stands for who did it.
void DebugTarget::OnNoc(const sim::NocView& view) {
  if (watchpoints_.empty() || stop_.has_value() || view.event != sim::NocEvent::kDelivered) return;
  const bool read = view.kind == std::string_view("read");  // its data comes to the tile that asked
  // On NoC 1 a rectangle starts at its far corner.
  const auto [start_x, end_x] = std::minmax(view.remote_start.x, view.remote_end.x);
  const auto [start_y, end_y] = std::minmax(view.remote_start.y, view.remote_end.y);
  const hw::Coordinate start = read ? view.source : hw::Coordinate{start_x, start_y};
  const hw::Coordinate end = read ? view.source : hw::Coordinate{end_x, end_y};
  const bool without_source = !(start == end) && (view.control & hw::kNocIncludeSource) == 0;
  const uint64_t address = read ? view.local : view.remote;
  constexpr uint32_t kWord = 4;  // of inline writes and increments
  const uint32_t bytes = std::max(view.length, kWord);
  for (uint32_t tile = 0; tile < chip_.tensix_count(); ++tile) {
    const hw::Coordinate at = chip_.TensixCoordinate(tile);
    if (at.x < start.x || at.x > end.x || at.y < start.y || at.y > end.y) continue;
    if (without_source && at == view.source) continue;
    const Watchpoint* const watch = watchpoints_.FindWriteToTile(tile, address, bytes);
    if (watch == nullptr) continue;
    const auto first = static_cast<uint32_t>(std::max<uint64_t>(address, watch->address));
    StopWith({Stop::Why::kWatch, watch->thread, watch->kind, first});
    return;
  }
}

// ---- the chip's turns

std::optional<Stop> DebugTarget::TakeStop() { return std::exchange(stop_, std::nullopt); }

void DebugTarget::Watch(bool on) {
  if (on == attached_) return;
  attached_ = on;
  if (on) {
    chip_.Attach(this);
  } else {
    chip_.Detach(this);
  }
}

// A step needs its hart awake. One that left reset's other way (it, or its tile's BRISC, put it into
// reset) cannot be stepped any further.
bool DebugTarget::AttendSteps() {
  bool again = false;
  for (Thread thread = 1; steps_ != 0 && Exists(thread); ++thread) {
    HartOrder& order = orders_[thread - 1];
    if (!order.step) continue;
    const sim::Hart& one = hart(thread);
    if (one.state == HartState::kRunnable) continue;
    if (one.state != HartState::kParked || StepIsOver(one, order)) {
      StopWith({Stop::Why::kStep, thread});
      return false;
    }
    order.begun = false;
    Rouse(thread);
    again = true;
  }
  return again;
}

bool DebugTarget::AttendSleepers() {
  bool again = false;
  for (Thread thread = 1; look_again_ != 0 && Exists(thread); ++thread) {
    HartOrder& order = orders_[thread - 1];
    if (!order.look_again || hart(thread).state == HartState::kRunnable) continue;
    order.look_again = false;
    --look_again_;
    if (hart(thread).state != HartState::kParked || breakpoints_.empty()) continue;
    Rouse(thread);
    again = true;
  }
  return again;
}

StatusOr<sim::Chip::Progress> DebugTarget::Advance(uint64_t clocks) {
  sim::Chip::Progress progress;
  for (int tries = 0; tries < kTriesForSteps; ++tries) {
    if (steps_ != 0) AttendSteps();
    if (!running_ || stop_.has_value()) break;
    const StatusOr<sim::Chip::Progress> advanced = chip_.Advance(clocks);
    chip_.HoldFaults(connected_);  // Resume let the last one go
    ASSIGN_OR_RETURN(const sim::Chip::Progress turn, advanced);
    progress.clocks += turn.clocks;
    progress.quiescent = turn.quiescent;
    if (turn.halted && !stop_.has_value() && chip_.fault().has_value()) {
      const sim::Fault& fault = *chip_.fault();
      const sim::Hart* const culprit = chip_.FindHart(fault.translated, fault.hart);
      const Thread thread = culprit != nullptr ? ThreadOf(*culprit) : 1;
      StopWith({Stop::Why::kFault, thread, {}, 0, fault.kind});
    }
    if (stop_.has_value() || !(AttendSleepers() || AttendSteps())) break;
  }
  if (stop_.has_value()) {
    running_ = false;
    last_ = *stop_;
  }
  progress.halted = !running_;
  // A hart with a step goes on whenever it is asked to.
  progress.quiescent = progress.quiescent && running_ && steps_ == 0;
  return progress;
}

}  // namespace ttfd::debug
