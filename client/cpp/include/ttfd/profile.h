// A profile of where harts spend their time: its options and its summary.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <vector>

#include "ttfd/types.h"

namespace ttfd::client {

struct ProfileOptions {
  uint32_t device = 0;
  std::optional<std::chrono::milliseconds> duration = {};  // at most 60 s; unset: 5 s
  // Sampling interval of the device model, which samples whole call stacks: 20 to 1,000,000,000. Unset: 1,000.
  std::optional<uint32_t> interval_clocks = {};
  // Between reads of program counters, on other backends: 100 to 1,000,000. Unset: 1,000.
  std::optional<uint32_t> interval_us = {};
  bool program_counters = false;      // even where whole stacks are available
  bool idle = false;                  // include harts that wait for work
  std::vector<CoreRange> cores = {};  // none: all workers and the dispatch tiles
};

struct ProfileSummary {
  uint64_t samples = 0;
  uint64_t lost = 0;  // dropped: too many different stacks
  bool whole_stacks = false;
  uint64_t interval_clocks = 0;
};

}  // namespace ttfd::client
