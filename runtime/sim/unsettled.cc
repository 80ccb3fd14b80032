// Uses that are under way, and what conflicts with them.
#include "runtime/sim/unsettled.h"

#include <fmt/format.h>

#include <algorithm>

#include "runtime/sim/fault.h"
#include "runtime/sim/tensix/disassemble.h"

namespace ttfd::sim {
namespace {

namespace isa = hw::tensix;
using tensix::Pipeline;
using tensix::Range;
using tensix::Resource;

// Where resources lie among the uses.
constexpr uint32_t kConfigAt = tensix::kDstRows;
constexpr uint32_t kThreadConfigAt = kConfigAt + isa::kConfigWords;
constexpr uint32_t kGprsAt = kThreadConfigAt + isa::kThreads * isa::kThreadConfigWords;
constexpr uint32_t kSourcesAt = kGprsAt + isa::kThreads * isa::kGprCount;
constexpr uint32_t kUses = kSourcesAt + 4;

// As many accesses to L1 are kept: of unpackers and packer, and of others.
constexpr size_t kMostTransfers = 1024;
constexpr size_t kMostAccesses = 4096;
// A hart in a loop repeats one of its last accesses.
constexpr size_t kRecentAccesses = 16;

// Units that a STALLWAIT waits for.
struct UnitWait {
  uint32_t condition;
  Pipeline pipeline;
};
constexpr UnitWait kUnitWaits[] = {
    {isa::kUntilThcon, Pipeline::kThcon},     {isa::kUntilUnpack0, Pipeline::kUnpack0},
    {isa::kUntilUnpack1, Pipeline::kUnpack1}, {isa::kUntilPack, Pipeline::kPack},
    {isa::kUntilMath, Pipeline::kMath},       {isa::kUntilSfpu, Pipeline::kSfpu},
};

uint32_t ActorOf(Pipeline pipeline) { return static_cast<uint32_t>(pipeline); }

std::string NameOf(const Range& range) {
  const uint32_t last = range.first + range.count - 1;
  const std::string numbers = range.count == 1 ? fmt::format(" {}", range.first)
                                               : fmt::format("s {} to {}", range.first, last);
  switch (range.resource) {
    case Resource::kDst:
    case Resource::kDst32:
      return fmt::format("row{} of Dst", numbers);
    case Resource::kConfig:
      return fmt::format("configuration word{}", numbers);
    case Resource::kThreadConfig:
      return fmt::format("thread configuration{}", numbers);
    case Resource::kGpr:
      return fmt::format("general register{}", numbers);
    case Resource::kSource:
      return range.count == 1
                 ? fmt::format("bank {} of Src{}", range.first % 2, range.first < 2 ? 'A' : 'B')
                 : "the banks of SrcA and SrcB";
    case Resource::kL1:
      return fmt::format("L1 {:#x} to {:#x}", range.first, last);
  }
  return "";
}

}  // namespace

Unsettled::Unsettled(bool stores_take_time) : stores_take_time_(stores_take_time), uses_(kUses) {}

uint32_t Unsettled::IndexOf(Resource resource, uint32_t thread, uint32_t index) {
  switch (resource) {
    case Resource::kConfig:
      return kConfigAt + index;
    case Resource::kThreadConfig:
      return kThreadConfigAt + thread * isa::kThreadConfigWords + index;
    case Resource::kGpr:
      return kGprsAt + thread * isa::kGprCount + index;
    case Resource::kSource:
      return kSourcesAt + index;
    default:
      return index % tensix::kDstRows;
  }
}

// Calls `each` with the index of every use in a range, until it returns false.
template <typename Each>
bool Unsettled::ForEach(uint32_t thread, const Range& range, Each each) {
  for (uint32_t i = range.first; i < range.first + range.count; ++i) {
    if (range.resource == Resource::kDst32) {
      const uint32_t high = tensix::Dst::HighRow(i % tensix::kDstRows);
      if (!each(high) || !each(high + tensix::Dst::kLowHalf)) return false;
    } else if (!each(IndexOf(range.resource, thread, i))) {
      return false;
    }
  }
  return true;
}

bool Unsettled::Found(uint32_t actor, const Use& use, const Range& range, bool use_writes) {
  const char* const action = range.written ? "writes" : "reads";
  found_hart_ = actor == kHarts ? use.thread : hw::kTrisc0 + use.thread;
  if (actor == kHarts) {
    report_ = fmt::format("{} {}, where a store of {} may not have arrived", action, NameOf(range),
                          HartName(use.thread));
  } else {
    report_ =
        fmt::format("{} {}, which T{} {} has not finished {}", action, NameOf(range), use.thread,
                    tensix::Disassemble(use.instruction), use_writes ? "writing" : "reading");
  }
  return false;
}

bool Unsettled::Check(uint32_t actor, uint32_t thread, const Range& range) {
  return ForEach(thread, range, [&](uint32_t index) {
    const Uses& uses = uses_[index];
    for (uint32_t other = 0; other < kActors; ++other) {
      if (other == actor) continue;
      const Use& written = uses.written[other];
      if (IsUnderWay(other, written)) return Found(other, written, range, true);
      const Use& read = uses.read[other];
      if (range.written && IsUnderWay(other, read)) return Found(other, read, range, false);
    }
    return true;
  });
}

void Unsettled::Record(uint32_t actor, uint32_t thread, uint32_t instruction, const Range& range) {
  ForEach(thread, range, [&](uint32_t index) {
    Uses& uses = uses_[index];
    (range.written ? uses.written : uses.read)[actor] = {now_, instruction, thread};
    return true;
  });
}

bool Unsettled::CheckL1(uint32_t actor, const Range& range, uint64_t since) {
  for (const L1Use& use : l1_) {
    if (use.actor == actor || !use.Overlaps(range.first, range.count)) continue;
    if ((use.written || range.written) && IsUnderWay(use.actor, use.use)) {
      return Found(use.actor, use.use, range, use.written);
    }
  }
  for (const L1Use& other : others_) {
    if (other.use.number <= since || !other.Overlaps(range.first, range.count)) continue;
    if (!other.written && !range.written) continue;
    report_ = fmt::format(
        "{} {}, which a hart, the NoC or the host has {} since the instruction was pushed",
        range.written ? "writes" : "reads", NameOf(range), other.written ? "written" : "read");
    return false;
  }
  return true;
}

// An instruction has waited until a bank was valid.
void Unsettled::EndFilling(uint32_t bank) {
  const uint32_t unpacker = ActorOf(bank < 2 ? Pipeline::kUnpack0 : Pipeline::kUnpack1);
  for (uint32_t thread = 0; thread < isa::kThreads; ++thread) {
    Settle(unpacker, thread, filled_[bank]);
  }
}

// An unpacker has waited until its bank was free.
void Unsettled::EndUseOfFreeBanks(const tensix::Footprint& footprint) {
  constexpr auto kMath = static_cast<uint32_t>(Pipeline::kMath);
  for (const Range& range : footprint) {
    if (range.resource != Resource::kSource) continue;
    Uses& uses = uses_[kSourcesAt + range.first];
    if (uses.read[kMath].number <= released_[range.first]) uses.read[kMath] = {};
    if (uses.written[kMath].number <= released_[range.first]) uses.written[kMath] = {};
  }
}

bool Unsettled::Execute(uint32_t thread, uint32_t instruction, const tensix::Footprint& footprint,
                        uint64_t since) {
  ++now_;
  // An instruction of no pipeline conflicts with uses of all.
  const bool in_pipeline = footprint.pipeline != Pipeline::kNone;
  const uint32_t actor = in_pipeline ? ActorOf(footprint.pipeline) : kActors;
  const bool unpacks =
      footprint.pipeline == Pipeline::kUnpack0 || footprint.pipeline == Pipeline::kUnpack1;
  if (unpacks) EndUseOfFreeBanks(footprint);
  for (uint32_t source = 0; source < 2; ++source) {
    if ((footprint.awaits >> source & 1) != 0) EndFilling(footprint.matrix_banks[source]);
    if ((footprint.releases >> source & 1) != 0) released_[footprint.matrix_banks[source]] = now_;
  }
  for (const Range& range : footprint) {
    const bool good = range.resource == Resource::kL1 ? CheckL1(actor, range, since)
                                                      : Check(actor, thread, range);
    if (!good) return false;
  }
  if (!in_pipeline) return true;
  const Use use = {now_, instruction, thread};
  for (const Range& range : footprint) {
    if (range.resource != Resource::kL1) {
      Record(actor, thread, instruction, range);
      if (unpacks && range.resource == Resource::kSource) filled_[range.first] = now_;
      continue;
    }
    RecordL1({use, actor, range.first, range.count, range.written});
  }
  return true;
}

void Unsettled::RecordL1(const L1Use& use) {
  std::erase_if(l1_, [&](const L1Use& at) {
    const bool again = at.actor == use.actor && at.use.thread == use.use.thread &&
                       at.address == use.address && at.length == use.length &&
                       at.written == use.written;
    return again || !IsUnderWay(at.actor, at.use);
  });
  if (l1_.size() == kMostTransfers) l1_.erase(l1_.begin());
  l1_.push_back(use);
}

void Unsettled::Settle(uint32_t actor, uint32_t thread, uint64_t number) {
  settled_[actor][thread] = std::max(settled_[actor][thread], number);
}

void Unsettled::EndWait(uint32_t thread, uint32_t conditions, const tensix::Engine& engine,
                        uint64_t pushed) {
  for (const UnitWait& unit : kUnitWaits) {
    if ((conditions & unit.condition) != 0) Settle(ActorOf(unit.pipeline), thread, now_);
  }
  for (uint32_t source = 0; source < 2; ++source) {
    if ((conditions & (isa::kUntilSrcAValid << source)) == 0) continue;
    EndFilling(2 * source + engine.source(source).matrix_index());
  }
  if ((conditions & isa::kUntilConfig) != 0) Settle(kHarts, hw::kTrisc0 + thread, pushed);
}

void Unsettled::Drain(uint32_t thread) {
  for (uint32_t actor = 0; actor < tensix::kPipelines; ++actor) Settle(actor, thread, now_);
}

bool Unsettled::Store(uint32_t hart, Resource resource, uint32_t index) {
  ++now_;
  const uint32_t thread = hart >= hw::kTrisc0 ? hart - hw::kTrisc0 : 0;
  const Range range = {resource, index, 1, true};
  if (!Check(kHarts, thread, range)) return false;
  if (resource == Resource::kConfig) Record(kHarts, hart, 0, range);
  return true;
}

bool Unsettled::Load(uint32_t hart, Resource resource, uint32_t index) {
  const uint32_t thread = hart >= hw::kTrisc0 ? hart - hw::kTrisc0 : 0;
  return Check(kHarts, thread, {resource, index, 1, false});
}

void Unsettled::LoadedConfig(uint32_t hart, uint32_t word) {
  fenced_[hart] = std::min(fenced_[hart], now_);
  Settle(kHarts, hart, std::max(stored_[hart][word], fenced_[hart]));
}

bool Unsettled::AccessL1(uint32_t address, uint32_t length, bool writes, bool queued) {
  const Range range = {Resource::kL1, address, length, writes};
  for (const L1Use& use : l1_) {
    if ((use.written || writes) && use.Overlaps(address, length) &&
        IsUnderWay(use.actor, use.use)) {
      return Found(use.actor, use.use, range, use.written);
    }
  }
  if (!queued) {
    others_.clear();
    return true;
  }
  ++now_;
  const size_t recent = others_.size() - std::min(others_.size(), kRecentAccesses);
  for (size_t i = recent; i < others_.size(); ++i) {
    L1Use& other = others_[i];
    if (other.address == address && other.length == length && other.written == writes) {
      other.use.number = now_;
      return true;
    }
  }
  if (others_.size() == kMostAccesses)
    others_.erase(others_.begin(), others_.begin() + kMostAccesses / 2);
  others_.push_back({{now_, 0, 0}, 0, address, length, writes});
  return true;
}

}  // namespace ttfd::sim
