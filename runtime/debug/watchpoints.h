// Data watchpoints: which accesses stop the chip.
//
// GDB takes all threads for one process with one memory and says only an address. Here every tile
// has an L1 of its own and every hart a local RAM, so a watchpoint belongs to one of them: to that of
// the hart that was chosen when it was set for the first time. GDB takes its watchpoints away
// whenever the chip stops and sets them again when it goes on, perhaps with another hart chosen;
// what comes back is recognised and stays where it was.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

namespace ttfd::debug {

enum class WatchKind : uint8_t { kWrite, kRead, kAccess };

struct Watchpoint {
  WatchKind kind;
  uint32_t address;
  uint32_t bytes;
  uint32_t thread;  // whose memory
};

class Watchpoints {
 public:
  static constexpr size_t kMax = 16;
  static constexpr uint32_t kMaxBytes = 4096;

  // False: there are kMax of them, or it is longer than kMaxBytes.
  bool Set(WatchKind kind, uint32_t address, uint32_t bytes, uint32_t thread);
  bool Clear(WatchKind kind, uint32_t address, uint32_t bytes);
  void ClearAll();
  // The chip goes on: what was taken away since it stopped and not set again is forgotten.
  void Resumed() { taken_away_.clear(); }

  bool empty() const { return set_.empty(); }
  // The one that an access by a hart (`thread`) of its own tile hits, or null.
  const Watchpoint* Find(uint32_t thread, uint32_t address, uint32_t bytes, bool store) const;
  // The one that a write to L1 of the tile `tile`, from wherever, hits, or null.
  const Watchpoint* FindWriteToTile(uint32_t tile, uint64_t address, uint32_t bytes) const;

 private:
  std::vector<Watchpoint> set_;
  std::vector<Watchpoint> taken_away_;  // since the chip stopped
};

}  // namespace ttfd::debug
