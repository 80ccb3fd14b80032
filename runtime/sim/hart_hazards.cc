// When a hart's loads, stores and fetches happen, with hazards.
#include "runtime/sim/hart_hazards.h"

#include <algorithm>
#include <cstring>

#include "runtime/base/bytes.h"
#include "runtime/hw/tensix_config.h"
#include "runtime/sim/hart_access.h"
#include "runtime/sim/scheduler.h"
#include "runtime/sim/tensix_tile.h"

namespace ttfd::sim {
namespace {

constexpr uint64_t kRngOfHarts = uint64_t{1} << 32;  // its streams: one a hart, from here
constexpr uint32_t kLocalRamClearingClocks = 2048;   // at most: BabyRISCV/README.md, Local Data RAM
constexpr uint32_t kPipelinedInstructions = 20;      // at most: InstructionCache.md
constexpr uint32_t kNoRegister = ~0u;

uint32_t LoadBytes(const std::byte* from, uint32_t bytes) {
  uint32_t value = 0;
  std::memcpy(&value, from, bytes);
  return value;
}

}  // namespace

HartHazards::HartHazards(Hart& hart, const HazardOptions& options, uint64_t number, Decoded* code)
    : hart_(hart), on_(options.on), rng_(options.seed, kRngOfHarts + number) {
  if (code != nullptr) instructions_.emplace(code);
  if (!has(kHazardLocalRam)) return;
  for (uint32_t i = 0; i < hart.local_ram_bytes; i += 8) StoreAt(hart.local_ram + i, rng_.Next());
}

void HartHazards::Attend() {
  if (hart_.time >= invalidate_at_) {
    instructions_->Invalidate();
    invalidate_at_ = kNever;
  }
  while (loads_ != 0 && hart_.time >= on_their_way_[0].until) AnswerLoads(1);
  for (PendingStore store; stores_.TakeDue(hart_.time, &store);) CarryOut(store);
  Changed();
}

void HartHazards::Changed() {
  attention_ = std::min(stores_.due(), invalidate_at_);
  if (loads_ != 0) attention_ = std::min(attention_, on_their_way_[0].until);
}

void HartHazards::ConsumeLoads(const Decoded& next) {
  for (size_t i = loads_; i != 0; --i) {
    const uint32_t rd = on_their_way_[i - 1].rd;
    if (rd != next.rs1 && rd != next.rs2) continue;
    AnswerLoads(i);
    break;
  }
  // The register holds another value from now on than the one that was loaded.
  for (size_t i = 0; i < loads_; ++i) {
    if (on_their_way_[i].rd == next.rd) on_their_way_[i].rd = kNoRegister;
  }
}

void HartHazards::AnswerLoads(size_t count) {
  if (count == 0) return;
  const uint64_t number = on_their_way_[count - 1].number;
  std::move(on_their_way_.begin() + static_cast<ptrdiff_t>(count),
            on_their_way_.begin() + static_cast<ptrdiff_t>(loads_), on_their_way_.begin());
  loads_ -= count;
  CarryOutUpTo(kL1Region, number);
}

uint32_t HartHazards::LoadL1(uint32_t address, uint32_t bytes, uint32_t rd) {
  const std::byte* const l1 = hart_.tile->memory().l1();
  const uint32_t in_l1 = LoadBytes(l1 + address, bytes);
  const bool cached = has(kHazardL0Cache) && (hart_.config0 & hw::kCsrConfig0DataCacheOff) == 0;
  if (!cached) cache_.Flush();
  if (stores_.empty()) {
    if (!cached) return in_l1;
  } else {
    stores_.SendOverlapping(address, bytes, hart_.time);
  }
  const uint32_t line = address & ~(L0Cache::kLineBytes - 1);
  if (cached && !stores_.Overlaps(line, L0Cache::kLineBytes)) {
    const bool hit = cache_.Has(address);
    const std::byte* const entry = cache_.Line(l1, address, rng_);
    const uint32_t value = LoadBytes(entry + (address - line), bytes);
    hart_.poll.side_effect |= value != in_l1;
    if (hit) return value;
  }
  const uint64_t number = stores_.LastSent(kL1Region, hart_.time);
  if (number != 0) {
    if (loads_ == kRetireQueue) AnswerLoads(1);
    on_their_way_[loads_++] = {rd, number, hart_.time + kRetireQueue};
    Changed();
  }
  return stores_.Forward(address, bytes, in_l1);
}

bool HartHazards::StoreL1(uint32_t address, uint32_t bytes, uint32_t value) {
  cache_.Drop(address);
  std::byte* const to = hart_.tile->memory().l1() + address;
  const bool differs = std::memcmp(to, &value, bytes) != 0;
  if (has(kHazardStores)) {
    // One that changes nothing has nothing to wait for. A loop may park that does this in every trip.
    if (!differs && stores_.empty()) return false;
    return Push(address, bytes, value);
  }
  std::memcpy(to, &value, bytes);
  hart_.tile->WroteMemory(address, bytes);
  return differs;
}

void HartHazards::BeforeRegisterLoad(uint32_t address) {
  if (stores_.empty()) return;
  stores_.SendOverlapping(address, 4, hart_.time);
  const uint32_t region = RegionOf(address);
  CarryOutUpTo(region, stores_.LastSent(region, hart_.time));
}

bool HartHazards::StoreRegister(uint32_t address, uint32_t value) {
  if (!has(kHazardStores)) return false;
  if (address >= hw::tensix::kPush && address <= hw::tensix::kPushFromBrisc2) {
    // A push may have to wait: in front of its own instruction, with all stores before it carried out.
    CarryOutAll();
    return false;
  }
  Push(address, 4, value);
  return true;
}

bool HartHazards::Push(uint32_t address, uint32_t bytes, uint32_t value) {
  PendingStore oldest;
  if (stores_.full() && stores_.TakeOldest(&oldest)) CarryOut(oldest);
  const bool pushed = stores_.Push({address, bytes, value, hart_.pc, 0, 0, 0}, hart_.time, rng_);
  Changed();
  return pushed;
}

void HartHazards::BeforeAtomic() {
  Fence();
  CarryOutUpTo(kL1Region, kNever);
}

void HartHazards::Fence() {
  stores_.SendAll(hart_.time);
  AnswerLoads(loads_);
  cache_.Flush();
}

void HartHazards::CarryOutUpTo(uint32_t region, uint64_t number) {
  for (PendingStore store; stores_.TakeUpTo(region, number, &store);) CarryOut(store);
  Changed();
}

void HartHazards::CarryOutAll() {
  for (PendingStore store; stores_.TakeOldest(&store);) CarryOut(store);
  Changed();
}

void HartHazards::CarryOut(const PendingStore& store) {
  // The trip that is observed may have read a value that is replaced now.
  hart_.poll.side_effect = true;
  if (RegionOf(store.address) != kL1Region) {
    const uint32_t pc = hart_.pc;
    hart_.pc = store.pc;  // whose fault it is if it is refused
    WriteRegisterNow(hart_, store.address, store.value);
    if (hart_.state != HartState::kFaulted) hart_.pc = pc;
    return;
  }
  std::memcpy(hart_.tile->memory().l1() + store.address, &store.value, store.bytes);
  cache_.Drop(store.address);  // it may have been filled again before the store got there
  hart_.tile->WroteMemory(store.address, store.bytes);
}

void HartHazards::InvalidateInstructions() {
  if (!instructions_) return;
  // By the hart's own time, which may be behind the time of who asked.
  invalidate_at_ = std::min(invalidate_at_, hart_.time + rng_.Below(kPipelinedInstructions + 1));
  Changed();
}

void HartHazards::Hold() {
  loads_ = 0;
  CarryOutAll();
}

void HartHazards::Release() {
  cache_.Flush();
  loads_ = 0;
  invalidate_at_ = kNever;
  if (instructions_) instructions_->Invalidate();
  if (has(kHazardLocalRam)) {
    local_ram_ready_ =
        hart_.tile->machine().scheduler->now() + rng_.Below(kLocalRamClearingClocks + 1);
  }
  Changed();
}

void HartHazards::Reset() {
  stores_.Clear();
  loads_ = 0;
  invalidate_at_ = kNever;
  local_ram_ready_ = 0;
  Changed();
}

}  // namespace ttfd::sim
