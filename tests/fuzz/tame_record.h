// Makes bytes that a fuzzer chose fit to be sent to the firmware: destinations, sources and amounts are moved
// to where the device model has memory. Everything else, and above all what is malformed, stays.
#pragma once

#include <cstdint>
#include <vector>

#include "runtime/base/bytes.h"
#include "tests/support/firmware_bench.h"

namespace ttfd::testing {

inline constexpr uint32_t kTameTrace = 0xA0000000;  // in DRAM: the exec buffer

struct TameRecord {
  std::vector<std::byte> bytes;
  bool is_buffer = false;     // to be put into DRAM and executed from there
  bool stall = false;         // the entry's stall bit
  bool leaves_state = false;  // the next input needs a card booted anew
};

// The first byte of `input` chooses how the rest is sent.
TameRecord Tame(ByteSpan input, const FirmwareBench& bench);

}  // namespace ttfd::testing
