// Slots of the launch ring and blocks of the config ring of one worker set: where the next launch goes,
// and what must have ended first. The same place on every tile. Pure data structure.
#pragma once

#include <array>
#include <cstdint>

#include "runtime/abi/l1_map.h"
#include "runtime/abi/launch.h"
#include "runtime/command/config_ring.h"

namespace ttfd {

class LaunchRing {
 public:
  // Nothing is in use.
  void Clear();
  // Everything is in use until the workers' count is `workers`.
  void Fill(uint64_t workers);

  struct Place {
    uint32_t slot = 0;
    uint32_t config_address = 0;
    uint64_t wait_workers = 0;  // count that must be reached before anything is written there
  };
  // For a launch with `config_bytes` of configuration. `waited`: the count already waited for.
  Place Take(uint32_t config_bytes, uint64_t waited);
  // The launch taken last has ended when the count is `workers`.
  void Used(uint64_t workers);

 private:
  ConfigRing config_{abi::kConfigRingAddress, abi::kConfigRingBytes};
  uint64_t launches_ = 0;
  bool took_config_ = false;
  // [launch % slots]: count at which the launch has ended.
  std::array<uint64_t, abi::kLaunchSlots> busy_workers_{};
};

}  // namespace ttfd
