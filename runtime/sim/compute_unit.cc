// Addresses, threads and wake-ups. Source of the address map: tt-isa-documentation
// BlackholeA0/TensixTile/BabyRISCV (memory map, PushTensixInstruction.md, TensixCoprocessor).
#include "runtime/sim/compute_unit.h"

#include "runtime/sim/machine.h"
#include "runtime/sim/tensix_tile.h"

namespace ttfd::sim {
namespace {

namespace isa = hw::tensix;

constexpr uint32_t kGprsEnd = isa::kGprs + 4 * isa::kGprCount;
constexpr uint32_t kSemaphoresEnd = isa::kSemaphore + 4 * isa::kSemaphores;

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
  engine_.reset();
  waits_ = {};
}

tensix::Engine& ComputeUnit::engine() {
  if (engine_ == nullptr) {
    engine_ = std::make_unique<tensix::Engine>(MutableByteSpan(tile_->memory().l1(), hw::kL1Bytes),
                                               *tile_->machine().lanes);
  }
  return *engine_;
}

Refusal ComputeUnit::Push(Hart& hart, uint32_t instruction) {
  if (hart.index == hw::kNcrisc) {
    return {FaultKind::kTensixInstruction, instruction, "NCRISC cannot push Tensix instructions"};
  }
  return PushTo(ThreadOf(hart.index), hart, instruction);
}

Refusal ComputeUnit::PushTo(uint32_t thread, Hart& hart, uint32_t instruction) {
  return Finish(engine().Push(thread, instruction), hart, thread, instruction,
                FaultKind::kTensixInstruction);
}

Refusal ComputeUnit::Finish(tensix::Outcome outcome, Hart& hart, uint32_t thread, uint64_t address,
                            FaultKind kind) {
  tensix::Report& report = engine_->report();
  if (outcome == tensix::Outcome::kRefused) {
    return {kind, address, report.reason, report.field, thread};
  }
  if (outcome == tensix::Outcome::kWaits) {
    waits_[hart.index] = {report.waits_for, static_cast<uint32_t>(address)};  // only pushes wait
    // No word that it has read wakes it.
    hart.poll.reads = 0;
    hart.poll.proven = false;
    tile_->Park(hart);
    return {};
  }
  tile_->machine().engine_work += std::exchange(report.work, 0);
  if (report.written_bytes != 0) {
    tile_->WroteMemory(report.written_address, std::exchange(report.written_bytes, 0));
  }
  if (report.changed != 0) WakeHarts(std::exchange(report.changed, 0));
  return {};
}

void ComputeUnit::WakeHarts(uint32_t events) {
  for (uint32_t hart = 0; hart < hw::kHarts; ++hart) {
    if ((waits_[hart].events & events) == 0) continue;
    tile_->WakeParked(tile_->hart(hart));
  }
  for (uint32_t i = 0; i < isa::kSemaphores; ++i) {
    if ((events & tensix::SemaphoreEvent(i)) != 0) tile_->RegisterChanged(isa::kSemaphore + 4 * i);
  }
}

Refusal ComputeUnit::Read(const Hart& hart, uint32_t address, uint32_t* value) const {
  if (const Refusal refusal = CheckReach(hart.index, address)) return refusal;
  *value = 0;
  if (IsConfig(address)) {
    const uint32_t word = (address - hw::kTensixConfig) / 4;
    if (!tensix::Config::IsReadable(word)) {
      return {FaultKind::kUnsupportedRegister, address,
              "the configuration word is write only, or not modelled"};
    }
    if (engine_ != nullptr) *value = engine_->config().word(word);
    return {};
  }
  if (IsGpr(address)) {
    if (engine_ != nullptr) {
      *value = engine_->gpr(ThreadOf(hart.index), (address - isa::kGprs) / 4);
    }
    return {};
  }
  if (IsSemaphore(address)) {
    if (engine_ != nullptr) *value = engine_->semaphore((address - isa::kSemaphore) / 4);
    return {};
  }
  // A thread has nothing under way: what it pushed was executed then.
  return address == isa::kSync ? Refusal{} : Unknown(address);
}

Refusal ComputeUnit::Write(Hart& hart, uint32_t address, uint32_t value) {
  if (const Refusal refusal = CheckReach(hart.index, address)) return refusal;
  const uint32_t thread = ThreadOf(hart.index);
  if (address == isa::kPush) return PushTo(thread, hart, value);
  if (hart.index == hw::kBrisc && address == isa::kPushFromBrisc1) return PushTo(1, hart, value);
  if (hart.index == hw::kBrisc && address == isa::kPushFromBrisc2) return PushTo(2, hart, value);
  if (IsConfig(address)) {
    return Finish(engine().WriteConfig((address - hw::kTensixConfig) / 4, value), hart, thread,
                  address, FaultKind::kUnsupportedValue);
  }
  if (IsSemaphore(address)) {
    return Finish(engine().WriteSemaphore((address - isa::kSemaphore) / 4, value), hart, thread,
                  address, FaultKind::kUnsupportedValue);
  }
  if (IsGpr(address)) {
    engine().WriteGpr(thread, (address - isa::kGprs) / 4, value);
    tile_->RegisterChanged(address);
    return {};
  }
  return address == isa::kSync ? Refusal{} : Unknown(address);
}

}  // namespace ttfd::sim
