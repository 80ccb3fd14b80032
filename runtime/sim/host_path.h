// The way of the host's accesses from a BAR window to the NoC.
//
// With the hazard "host" a write arrives some clocks later. Writes of one strict window arrive in order, and
// before what is read through that window is read. Relaxed and posted windows promise nothing: their writes
// pass each other, and a read passes them. No window waits for another.
#pragma once

#include <cstdint>
#include <map>
#include <unordered_map>
#include <vector>

#include "runtime/base/bytes.h"
#include "runtime/sim/machine.h"
#include "runtime/sim/noc.h"
#include "runtime/sim/rng.h"

namespace ttfd::sim {

// Where a window leads.
struct HostWay {
  uint32_t window = 0;  // those of BAR0, then those of BAR4
  uint32_t ordering = 0;
  bool multicast = false;
  Rectangle rectangle = {};  // of a unicast: its end
};

class HostPath {
 public:
  // Both outlive it.
  HostPath(Noc& noc, Machine& machine)
      : noc_(noc), machine_(machine), rng_(machine.hazards.seed, kRngOfHost) {}

  Refusal Read(const HostWay& way, uint64_t address, MutableByteSpan to);
  // The refusal of a write that arrives is the answer to the next call.
  Refusal Write(const HostWay& way, uint64_t address, ByteSpan from);

  // Discards what is under way. The scheduler has discarded its events.
  void Reset();

 private:
  struct PendingWrite {
    HostWay way;
    uint64_t address;
    std::vector<std::byte> bytes;
  };

  Refusal WriteNow(const HostWay& way, uint64_t address, ByteSpan from);
  void Arrive(uint64_t number);
  Refusal TakeLateRefusal();

  Noc& noc_;
  Machine& machine_;
  Rng rng_;
  std::map<uint64_t, PendingWrite> pending_;  // by number, in the order of the calls
  uint64_t next_number_ = 0;
  std::unordered_map<uint32_t, uint64_t> arrived_;  // clock of the last write, by strict window
  Refusal late_;
};

}  // namespace ttfd::sim
