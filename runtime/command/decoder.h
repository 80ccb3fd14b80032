// Records back into values: what a fetch entry's bytes say, or where and why they say nothing.
#pragma once

#include <cstdint>
#include <optional>
#include <variant>
#include <vector>

#include "runtime/abi/dispatch_commands.h"
#include "runtime/abi/prefetch_commands.h"
#include "runtime/base/bytes.h"
#include "runtime/base/status.h"

namespace ttfd {

// One target of WRITE_PACKED.
struct DecodedTarget {
  uint32_t noc_word = 0;
  uint32_t receivers = 0;  // 0: unicast
  bool operator==(const DecodedTarget&) const = default;
};

// A dispatch command with the lists behind it. Which alternative `header` holds says the command;
// WRITE_LINEAR and TERMINATE carry their id.
struct DecodedDispatch {
  std::variant<abi::BareDispatch, abi::WriteLinear, abi::WriteLinearHHost, abi::WritePaged,
               abi::WritePacked, abi::WritePackedLarge, abi::Wait, abi::SetWriteOffset,
               abi::SendGoSignal, abi::NotifySubordinate, abi::SetNumWorkerSems,
               abi::SetGoSignalNocData>
      header;
  std::vector<DecodedTarget> targets;                      // WRITE_PACKED
  std::vector<abi::WritePackedLargeTarget> large_targets;  // WRITE_PACKED_LARGE
  std::vector<uint32_t> words;  // SET_WRITE_OFFSET, SET_GO_SIGNAL_NOC_DATA
  // Data that travels with the command, padding of packets included; empty where a relay command
  // supplies it.
  ByteSpan data;
};

struct DecodedCommand {
  uint32_t offset = 0;  // in the entry
  std::variant<abi::BarePrefetch, abi::RelayLinear, abi::RelayPaged, abi::RelayInline> prefetch;
  std::optional<DecodedDispatch> dispatch;  // with RELAY_INLINE and RELAY_INLINE_NOFLUSH
};

// The commands of one fetch entry; their spans point into it. INVALID_ARGUMENT, "offset 0x40: ...",
// for the first byte that is not as the protocol has it.
StatusOr<std::vector<DecodedCommand>> DecodeEntry(ByteSpan entry);

}  // namespace ttfd
