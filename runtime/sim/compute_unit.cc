// Addresses, threads and wake-ups. Source of the address map: tt-isa-documentation
// BlackholeA0/TensixTile/BabyRISCV (memory map, PushTensixInstruction.md, TensixCoprocessor).
#include "runtime/sim/compute_unit.h"

#include "runtime/sim/hart_access.h"
#include "runtime/sim/hart_hazards.h"
#include "runtime/sim/machine.h"
#include "runtime/sim/scheduler.h"
#include "runtime/sim/tensix_tile.h"

namespace ttfd::sim {
namespace {

namespace isa = hw::tensix;

constexpr uint32_t kGprsEnd = isa::kGprs + 4 * isa::kGprCount;
constexpr uint32_t kSemaphoresEnd = isa::kSemaphore + 4 * isa::kSemaphores;

// Events of queues, beyond those of tensix/report.h: there is space in a thread's queue; it is drained.
constexpr uint32_t SpaceEvent(uint32_t thread) { return 1u << 16 << thread; }
constexpr uint32_t DrainEvent(uint32_t thread) { return 1u << 24 << thread; }
constexpr uint32_t kEngineEvents = SpaceEvent(0) - 1;

bool IsTrisc(uint32_t hart) { return hart >= hw::kTrisc0; }
uint32_t ThreadOf(uint32_t hart) { return IsTrisc(hart) ? hart - hw::kTrisc0 : 0; }

bool IsConfig(uint32_t address) {
  return address >= hw::kTensixConfig && address < hw::kTensixConfig + 4 * isa::kConfigWords;
}
bool IsGpr(uint32_t address) { return address >= isa::kGprs && address < kGprsEnd; }
bool IsSemaphore(uint32_t address) {
  return address >= isa::kSemaphore && address < kSemaphoresEnd;
}

Refusal Unknown(uint32_t address) {
  return {FaultKind::kUnsupportedRegister, address,
          "no register of a Tensix tile that is modelled"};
}

// NCRISC reaches nothing; BRISC configuration and push addresses.
Refusal CheckReach(uint32_t hart, uint32_t address) {
  const bool for_triscs = IsGpr(address) || IsSemaphore(address) || address == isa::kSync;
  if (hart == hw::kNcrisc || (hart == hw::kBrisc && for_triscs)) {
    return {FaultKind::kUnsupportedRegister, address,
            for_triscs ? "only the TRISCs of the tile reach this register"
                       : "only BRISC and the TRISCs of the tile reach this register"};
  }
  return {};
}

}  // namespace

void ComputeUnit::Reset() {
  if (queue_ != nullptr) MarkL1(false);
  queue_.reset();
  engine_.reset();
  scheduled_ = 0;
  waits_ = {};
}

const ComputeUnit::Wait& ComputeUnit::WaitOf(uint32_t hart) const {
  if (queue_ == nullptr) return waits_[hart];
  // A TRISC may have pushed more, or do something else, while its thread waits.
  if (IsTrisc(hart)) return queue_->wait(ThreadOf(hart));
  for (uint32_t thread = 0; thread < isa::kThreads; ++thread) {
    if (waits_[hart].events == SpaceEvent(thread)) return queue_->wait(thread);
  }
  return waits_[hart];
}

void ComputeUnit::Allocate() {
  engine_ = std::make_unique<tensix::Engine>(MutableByteSpan(tile_->memory().l1(), hw::kL1Bytes),
                                             *tile_->machine().lanes);
  const HazardOptions& hazards = tile_->machine().hazards;
  if ((hazards.on & kHazardCompute) != 0) {
    const uint64_t number = tile_->physical().x * hw::kGridRows + tile_->physical().y;
    queue_ = std::make_unique<ComputeQueue>(*engine_, hazards,
                                            Rng(hazards.seed, kEngineStreams + number));
    MarkL1(true);
  }
}

Refusal ComputeUnit::Push(Hart& hart, uint32_t instruction) {
  if (hart.index == hw::kNcrisc) {
    return {FaultKind::kTensixInstruction, instruction, "NCRISC cannot push Tensix instructions"};
  }
  return PushTo(ThreadOf(hart.index), hart, instruction);
}

Refusal ComputeUnit::PushTo(uint32_t thread, Hart& hart, uint32_t instruction) {
  tensix::Engine& to = engine();
  if (queue_ != nullptr) {
    Enqueue(thread, hart, instruction);
    return {};
  }
  tensix::Outcome outcome = to.Push(thread, instruction);
  if (outcome == tensix::Outcome::kDone) [[likely]] {
    ShowChanges();
    return {};
  }
  if (outcome == tensix::Outcome::kWaits && hart.hazards != nullptr) {
    // Perhaps for a store of its own, which does not arrive while the hart is parked.
    hart.hazards->CarryOutAll();
    outcome = to.Push(thread, instruction);
  }
  return Finish(outcome, hart, thread, instruction, FaultKind::kTensixInstruction);
}

Refusal ComputeUnit::Finish(tensix::Outcome outcome, Hart& hart, uint32_t thread, uint64_t address,
                            FaultKind kind) {
  tensix::Report& report = engine_->report();
  if (outcome == tensix::Outcome::kRefused) {
    return {kind, address, report.reason, report.field, thread};
  }
  if (outcome == tensix::Outcome::kWaits) {
    Park(hart, {report.waits_for, static_cast<uint32_t>(address)});  // only pushes wait
    return {};
  }
  ShowChanges();
  return {};
}

void ComputeUnit::Park(Hart& hart, const Wait& wait) {
  waits_[hart.index] = wait;
  // No word that it has read wakes it.
  hart.poll.reads = 0;
  hart.poll.proven = false;
  tile_->Park(hart);
}

// Shows the tile what the engine has reported.
void ComputeUnit::ShowChanges() {
  tensix::Report& report = engine_->report();
  tile_->machine().engine_work += std::exchange(report.work, 0);
  if (report.written_bytes != 0) {
    engine_writes_ = true;
    tile_->WroteMemory(report.written_address, std::exchange(report.written_bytes, 0));
    engine_writes_ = false;
  }
  if (report.changed != 0) WakeHarts(std::exchange(report.changed, 0));
}

void ComputeUnit::WakeHarts(uint32_t events) {
  if (queue_ != nullptr && (events & kEngineEvents) != 0) {
    const uint32_t woken = queue_->Wake(events);
    for (uint32_t thread = 0; thread < isa::kThreads; ++thread) {
      if ((woken >> thread & 1) != 0) Schedule(thread);
    }
  }
  for (uint32_t hart = 0; hart < hw::kHarts; ++hart) {
    if ((waits_[hart].events & events) == 0) continue;
    tile_->WakeParked(tile_->hart(hart));
  }
  for (uint32_t i = 0; i < isa::kSemaphores; ++i) {
    if ((events & tensix::SemaphoreEvent(i)) != 0) tile_->RegisterChanged(isa::kSemaphore + 4 * i);
  }
}

void ComputeUnit::Enqueue(uint32_t thread, Hart& hart, uint32_t instruction) {
  if (!queue_->HasSpace(thread)) return ParkUntil(SpaceEvent(thread), hart, instruction);
  queue_->Push(thread, {instruction, hart.index, hart.pc});
  Schedule(thread);
}

void ComputeUnit::ParkUntil(uint32_t event, Hart& hart, uint32_t instruction) {
  if (hart.hazards != nullptr) hart.hazards->CarryOutAll();  // the queue may wait for them
  Park(hart, {event, instruction});
}

void ComputeUnit::Schedule(uint32_t thread) {
  if ((scheduled_ >> thread & 1) != 0 || !queue_->IsReady(thread)) return;
  scheduled_ |= 1u << thread;
  Scheduler& scheduler = *tile_->machine().scheduler;
  scheduler.At(scheduler.now() + queue_->Pause(thread), [this, thread] { Run(thread); });
}

void ComputeUnit::Run(uint32_t thread) {
  uint32_t left = queue_->Burst();
  do {
    const ComputeQueue::Step step = queue_->Execute(thread);
    if (step == ComputeQueue::Step::kRefused) {
      Hart& hart = tile_->hart(queue_->at().hart);
      hart.pc = queue_->at().pc;  // the thread executes nothing more until the chip is reset
      return RaiseFault(hart, queue_->refusal());
    }
    if (step == ComputeQueue::Step::kDone) ShowChanges();
  } while (--left != 0 && queue_->IsReady(thread) && !queue_->IsEmpty(thread));
  scheduled_ &= ~(1u << thread);
  Schedule(thread);
  if (queue_->HasSpace(thread)) WakeHarts(SpaceEvent(thread));
  if (queue_->IsDrained(thread)) WakeHarts(DrainEvent(thread));
}

void ComputeUnit::MarkL1(bool reported) {
  uint8_t* const marks = tile_->memory().marks();
  for (uint32_t line = 0; line < hw::kL1Bytes / kLineBytes; ++line) {
    const auto others = static_cast<uint8_t>(marks[line] & ~kLineReported);
    marks[line] = reported ? others | kLineReported : others;
  }
}

void ComputeUnit::AccessL1(uint32_t address, uint32_t length, bool writes) {
  if (engine_writes_) return;
  uint32_t hart = 0;
  const Refusal refusal = queue_->AccessL1(address, length, writes, &hart);
  if (refusal) RaiseFault(tile_->hart(hart), refusal);
}

void ComputeUnit::Fence(const Hart& hart) {
  if (queue_ != nullptr) queue_->Fence(hart.index);
}

Refusal ComputeUnit::Read(Hart& hart, uint32_t address, uint32_t* value) {
  if (const Refusal refusal = CheckReach(hart.index, address)) return refusal;
  *value = 0;
  if (IsConfig(address)) {
    const uint32_t word = (address - hw::kTensixConfig) / 4;
    if (!tensix::Config::IsReadable(word)) {
      return {FaultKind::kUnsupportedRegister, address,
              "the configuration word is write only, or not modelled"};
    }
    if (engine_ != nullptr) *value = engine_->config().word(word);
    if (queue_ != nullptr) return queue_->Load(hart.index, tensix::Resource::kConfig, word);
    return {};
  }
  if (IsGpr(address)) {
    const uint32_t index = (address - isa::kGprs) / 4;
    if (engine_ != nullptr) *value = engine_->gpr(ThreadOf(hart.index), index);
    if (queue_ != nullptr) return queue_->Load(hart.index, tensix::Resource::kGpr, index);
    return {};
  }
  if (IsSemaphore(address)) {
    if (engine_ != nullptr) *value = engine_->semaphore((address - isa::kSemaphore) / 4);
    return {};
  }
  if (address != isa::kSync) return Unknown(address);
  const uint32_t thread = ThreadOf(hart.index);
  // Without queues a thread has nothing under way: what it pushed was executed then.
  if (queue_ == nullptr) return {};
  if (queue_->IsDrained(thread)) {
    queue_->EndDrain(thread);
  } else {
    ParkUntil(DrainEvent(thread), hart, 0);
  }
  return {};
}

Refusal ComputeUnit::Write(Hart& hart, uint32_t address, uint32_t value) {
  if (const Refusal refusal = CheckReach(hart.index, address)) return refusal;
  const uint32_t thread = ThreadOf(hart.index);
  if (address == isa::kPush) return PushTo(thread, hart, value);
  if (hart.index == hw::kBrisc && address == isa::kPushFromBrisc1) return PushTo(1, hart, value);
  if (hart.index == hw::kBrisc && address == isa::kPushFromBrisc2) return PushTo(2, hart, value);
  if (IsConfig(address)) {
    const uint32_t word = (address - hw::kTensixConfig) / 4;
    tensix::Engine& to = engine();
    if (queue_ != nullptr) {
      const Refusal refusal = queue_->Store(hart.index, tensix::Resource::kConfig, word, value);
      if (refusal) return refusal;
    }
    return Finish(to.WriteConfig(word, value), hart, thread, address, FaultKind::kUnsupportedValue);
  }
  if (IsSemaphore(address)) {
    return Finish(engine().WriteSemaphore((address - isa::kSemaphore) / 4, value), hart, thread,
                  address, FaultKind::kUnsupportedValue);
  }
  if (IsGpr(address)) {
    const uint32_t index = (address - isa::kGprs) / 4;
    tensix::Engine& to = engine();
    if (queue_ != nullptr) {
      const Refusal refusal = queue_->Store(hart.index, tensix::Resource::kGpr, index, value);
      if (refusal) return refusal;
    }
    to.WriteGpr(thread, index, value);
    tile_->RegisterChanged(address);
    return {};
  }
  return address == isa::kSync ? Refusal{} : Unknown(address);
}

}  // namespace ttfd::sim
