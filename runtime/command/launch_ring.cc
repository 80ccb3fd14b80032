// Slots of the launch ring and blocks of the config ring of one worker set.
#include "runtime/command/launch_ring.h"

#include <algorithm>

namespace ttfd {

void LaunchRing::Clear() {
  config_.Clear();
  launches_ = 0;
  busy_workers_.fill(0);
}

void LaunchRing::Fill(uint64_t workers) {
  Clear();
  config_.Take(abi::kConfigRingBytes);
  config_.Used(workers);
  busy_workers_.fill(workers);
}

LaunchRing::Place LaunchRing::Take(uint32_t config_bytes, uint64_t waited) {
  Place place;
  place.slot = static_cast<uint32_t>(launches_ % abi::kLaunchSlots);
  if (busy_workers_[place.slot] > waited) {
    // The slot's last launch must have ended. Waiting for half of the slots at once makes it one wait in
    // four launches and still leaves four to run while more are placed.
    place.wait_workers = busy_workers_[(launches_ + abi::kLaunchSlots / 2 - 1) % abi::kLaunchSlots];
  }
  place.config_address = abi::kConfigRingAddress;
  took_config_ = config_bytes > 0;
  if (took_config_) {
    const ConfigRing::Block block = config_.Take(config_bytes, waited);
    place.config_address = block.address;
    place.wait_workers = std::max(place.wait_workers, block.wait_workers);
  }
  return place;
}

void LaunchRing::Used(uint64_t workers) {
  busy_workers_[launches_++ % abi::kLaunchSlots] = workers;
  if (took_config_) config_.Used(workers);
}

}  // namespace ttfd
