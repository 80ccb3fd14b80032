// Buffers by address, and a few answers that hold until a buffer is removed.
#include "runtime/device/kernel_bounds.h"

#include <fmt/format.h>

#include <algorithm>

namespace ttfd {
namespace {

bool Contains(const KernelBounds::Range& outer, const KernelBounds::Range& inner) {
  return outer.memory == inner.memory && outer.begin <= inner.begin && inner.end <= outer.end;
}

// Short, because it is part of a first line; the addresses behind it are exact.
std::string DistanceText(uint64_t bytes) {
  constexpr uint64_t kKiB = 1 << 10, kMiB = 1 << 20;
  if (bytes >= 10 * kMiB) return fmt::format("{} MiB", bytes / kMiB);
  if (bytes >= 10 * kKiB) return fmt::format("{} KiB", bytes / kKiB);
  return fmt::format("{} B", bytes);
}

}  // namespace

void KernelBounds::Add(const Range& range, uint64_t owner, uint64_t name) {
  MutexLock lock(&mu_);
  buffers_[static_cast<size_t>(range.memory)][range.begin] = {range.end, owner, name};
}

void KernelBounds::Remove(const Range& range) {
  MutexLock lock(&mu_);
  buffers_[static_cast<size_t>(range.memory)].erase(range.begin);
  removals_.fetch_add(1, std::memory_order_release);
}

void KernelBounds::Begin(std::span<const uint32_t> programs, uint64_t owner) {
  for (const uint32_t program : programs) {
    Run& run = running_[program];
    run.owner = owner;
    ++run.launches;
  }
}

void KernelBounds::Ended(std::span<const uint32_t> programs) {
  for (const uint32_t program : programs) {
    const auto run = running_.find(program);
    if (run == running_.end() || --run->second.launches != 0) continue;
    running_.erase(run);
    // Another owner may get the number.
    for (Allowed& one : allowed_) {
      if (one.program == program) one = {};
    }
  }
}

bool KernelBounds::IsKnown(uint32_t program, const Range& range) const {
  return std::any_of(allowed_.begin(), allowed_.end(), [&](const Allowed& one) {
    return one.program == program && Contains(one.range, range);
  });
}

const KernelBounds::Buffers::value_type* KernelBounds::FindOwn(const Range& range,
                                                               uint64_t owner) const {
  const Buffers& buffers = buffers_[static_cast<size_t>(range.memory)];
  auto at = buffers.upper_bound(range.begin);
  if (at == buffers.begin()) return nullptr;
  --at;
  return at->second.owner == owner && range.end <= at->second.end ? &*at : nullptr;
}

std::optional<std::string> KernelBounds::Check(uint32_t program, const Access& access) {
  const uint64_t removals = removals_.load(std::memory_order_acquire);
  if (removals != removals_then_) {
    removals_then_ = removals;
    allowed_.fill({});
  }
  if (IsKnown(program, access.range)) return std::nullopt;
  const auto run = running_.find(program);
  if (run == running_.end()) return std::nullopt;
  MutexLock lock(&mu_);
  const Buffers::value_type* const own = FindOwn(access.range, run->second.owner);
  if (own == nullptr) return Describe(access, run->second.owner);
  Allowed& replaced = allowed_[next_allowed_++ % allowed_.size()];
  replaced = {program, {access.range.memory, own->first, own->second.end}};
  return std::nullopt;
}

// Names nothing of other owners: the next buffer of its own, and how far away the access is.
std::string KernelBounds::Describe(const Access& access, uint64_t owner) const {
  const Range& range = access.range;
  const std::string_view verb = access.writes ? "write" : "read";
  const std::string_view memory = range.memory == Memory::kL1 ? "L1" : "DRAM";
  const std::string where =
      fmt::format("addresses {:#x} to {:#x} of {}", range.begin, range.end, memory);
  const Buffers& buffers = buffers_[static_cast<size_t>(range.memory)];
  // Every hart may do this in one round of the model, and other owners may have any number of buffers.
  constexpr int kMostVisited = 64;
  const Buffers::value_type *below = nullptr, *above = nullptr;
  const auto from = buffers.upper_bound(range.begin);
  auto at = from;
  for (int i = 0; i != kMostVisited && above == nullptr && at != buffers.end(); ++i, ++at) {
    if (at->second.owner == owner) above = &*at;
  }
  at = from;
  for (int i = 0; i != kMostVisited && below == nullptr && at != buffers.begin(); ++i) {
    if ((--at)->second.owner == owner) below = &*at;
  }
  if (below == nullptr && above == nullptr) {
    return fmt::format("{} {} outside of buffers: {}; it has none near", verb, memory, where);
  }
  const bool past = above == nullptr ||
                    (below != nullptr && range.begin - std::min(range.begin, below->second.end) <=
                                             above->first - range.begin);
  const Buffers::value_type& nearest = past ? *below : *above;
  const uint64_t distance = past ? range.end - nearest.second.end : nearest.first - range.begin;
  return fmt::format("{} {} {} buffer {}: {}; the buffer has {:#x} to {:#x} in each {}", verb,
                     DistanceText(distance), past ? "past" : "before", nearest.second.name, where,
                     nearest.first, nearest.second.end,
                     range.memory == Memory::kL1 ? "worker" : "bank");
}

}  // namespace ttfd
