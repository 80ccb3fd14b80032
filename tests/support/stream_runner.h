// Feeds a random stream to the real firmware on the device model and compares what it leaves behind with
// the reference.
#pragma once

#include <array>
#include <cstdint>
#include <string>

#include "runtime/abi/dispatch_commands.h"
#include "runtime/abi/prefetch_commands.h"
#include "runtime/base/status.h"

namespace ttfd::testing {

struct StreamCounts {
  uint64_t streams = 0;
  uint64_t records = 0;  // prefetch commands, those of replayed traces too
  std::array<uint64_t, static_cast<size_t>(abi::PrefetchId::kMax)> prefetch = {};  // by id
  std::array<uint64_t, static_cast<size_t>(abi::DispatchId::kMax)> dispatch = {};
};

// Boots a card for the seed's stream, runs it, compares. An error says what differs first, and which
// commands touched it.
Status RunStream(uint32_t seed, uint32_t commands, StreamCounts* counts);

// The fewest commands with which the seed still fails, at most `commands`, with which it does.
uint32_t ShortestFailure(uint32_t seed, uint32_t commands);

}  // namespace ttfd::testing
