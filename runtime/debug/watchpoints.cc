// Setting, recognising and matching watchpoints.
#include "runtime/debug/watchpoints.h"

#include <algorithm>

#include "runtime/hw/tensix.h"

namespace ttfd::debug {
namespace {

auto Same(WatchKind kind, uint32_t address, uint32_t bytes) {
  return [kind, address, bytes](const Watchpoint& watch) {
    return watch.kind == kind && watch.address == address && watch.bytes == bytes;
  };
}

bool Overlaps(const Watchpoint& watch, uint64_t address, uint32_t bytes) {
  return address < uint64_t{watch.address} + watch.bytes && watch.address < address + bytes;
}

uint32_t TileOf(uint32_t thread) { return (thread - 1) / hw::kHarts; }

}  // namespace

bool Watchpoints::Set(WatchKind kind, uint32_t address, uint32_t bytes, uint32_t thread) {
  const auto same = Same(kind, address, bytes);
  if (bytes == 0 || bytes > kMaxBytes) return false;
  if (std::any_of(set_.begin(), set_.end(), same)) return true;
  if (set_.size() == kMax) return false;
  const auto before = std::find_if(taken_away_.begin(), taken_away_.end(), same);
  set_.push_back({kind, address, bytes, before == taken_away_.end() ? thread : before->thread});
  return true;
}

bool Watchpoints::Clear(WatchKind kind, uint32_t address, uint32_t bytes) {
  const auto same = Same(kind, address, bytes);
  const auto found = std::find_if(set_.begin(), set_.end(), same);
  if (found == set_.end()) return false;
  // One that was taken away several times since is known once.
  std::erase_if(taken_away_, same);
  if (taken_away_.size() == kMax) taken_away_.erase(taken_away_.begin());
  taken_away_.push_back(*found);
  set_.erase(found);
  return true;
}

void Watchpoints::ClearAll() {
  set_.clear();
  taken_away_.clear();
}

const Watchpoint* Watchpoints::Find(uint32_t thread, uint32_t address, uint32_t bytes,
                                    bool store) const {
  const bool own = address - hw::kLocalRamAddress < hw::kLocalRamBytesBrisc;
  for (const Watchpoint& watch : set_) {
    const bool mine = own ? watch.thread == thread : TileOf(watch.thread) == TileOf(thread);
    const WatchKind other = store ? WatchKind::kRead : WatchKind::kWrite;
    if (mine && watch.kind != other && Overlaps(watch, address, bytes)) return &watch;
  }
  return nullptr;
}

const Watchpoint* Watchpoints::FindWriteToTile(uint32_t tile, uint64_t address,
                                               uint32_t bytes) const {
  for (const Watchpoint& watch : set_) {
    if (TileOf(watch.thread) == tile && watch.kind != WatchKind::kRead &&
        Overlaps(watch, address, bytes)) {
      return &watch;
    }
  }
  return nullptr;
}

}  // namespace ttfd::debug
