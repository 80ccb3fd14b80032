// Carries out the host's accesses, at once or later.
#include "runtime/sim/host_path.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "runtime/hw/pcie.h"
#include "runtime/sim/scheduler.h"
#include "runtime/sim/transmit_queues.h"

namespace ttfd::sim {

Refusal HostPath::Read(const HostWay& way, uint64_t address, MutableByteSpan to) {
  if (Refusal refusal = TakeLateRefusal()) return refusal;
  if (way.ordering == hw::kTlbStrictOrdering) {
    for (auto it = pending_.begin(); it != pending_.end();) {
      const uint64_t number = it->first;
      const bool waits = it->second.way.window == way.window;
      ++it;
      if (waits) Arrive(number);
    }
    if (Refusal refusal = TakeLateRefusal()) return refusal;
  }
  return noc_.HostRead(way.rectangle.end, address, to);
}

Refusal HostPath::Write(const HostWay& way, uint64_t address, ByteSpan from) {
  if ((machine_.hazards.on & kHazardHost) == 0) return WriteNow(way, address, from);
  uint64_t clock = machine_.scheduler->now() + 1 + Delay(rng_);
  if (way.ordering == hw::kTlbStrictOrdering) {
    uint64_t& before = arrived_[way.window];
    clock = before = std::max(before, clock);
  }
  const uint64_t number = next_number_++;
  pending_.emplace(number, PendingWrite{way, address, {from.begin(), from.end()}});
  machine_.scheduler->At(clock, [this, number] { Arrive(number); });
  return TakeLateRefusal();
}

void HostPath::Reset() {
  pending_.clear();
  arrived_.clear();
  late_ = {};
}

Refusal HostPath::WriteNow(const HostWay& way, uint64_t address, ByteSpan from) {
  if (!way.multicast && address >= hw::kEthTransmit &&
      TransmitQueues::Has(static_cast<uint32_t>(address))) {
    machine_.host_link_clock = machine_.scheduler->now();
  }
  return way.multicast ? noc_.HostMulticast(way.rectangle, address, from)
                       : noc_.HostWrite(way.rectangle.end, address, from);
}

// A read may have waited for it before its time.
void HostPath::Arrive(uint64_t number) {
  const auto found = pending_.find(number);
  if (found == pending_.end()) return;
  const PendingWrite write = std::move(found->second);
  pending_.erase(found);
  const Refusal refusal = WriteNow(write.way, write.address, write.bytes);
  if (refusal && !late_) late_ = refusal;
}

Refusal HostPath::TakeLateRefusal() { return std::exchange(late_, {}); }

}  // namespace ttfd::sim
