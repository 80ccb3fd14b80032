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
// BareDispatch (but not of DEBUG) and WriteLinear stand for several, and their id says which.
struct DecodedDispatch {
  std::variant<abi::BareDispatch, abi::WriteLinear, abi::WriteLinearHHost, abi::WritePaged,
               abi::WritePacked, abi::WritePackedLarge, abi::Wait, abi::SetWriteOffset,
               abi::SendGoSignal, abi::NotifySubordinate, abi::SetNumWorkerSems,
               abi::SetGoSignalNocData, abi::Delay>
      header;
  uint32_t debugs = 0;                                     // DEBUG commands before it in its page
  std::vector<DecodedTarget> targets;                      // WRITE_PACKED
  std::vector<abi::WritePackedLargeTarget> large_targets;  // WRITE_PACKED_LARGE
  std::vector<uint32_t> words;  // SET_WRITE_OFFSET, SET_GO_SIGNAL_NOC_DATA
  // Data that travels with the command, padding of packets included; empty where a relay command
  // supplies it.
  ByteSpan data;
};

struct DecodedCommand {
  uint32_t offset = 0;  // in the entry or buffer
  // BarePrefetch, RelayLinear and RelayInline stand for several, and their id says which.
  std::variant<abi::BarePrefetch, abi::RelayLinear, abi::RelayPaged, abi::RelayInline,
               abi::RelayPagedPacked, abi::ExecBuf, abi::DebugPrefetch, abi::PagedToRingbuffer,
               abi::SetRingbufferOffset, abi::RelayRingbuffer>
      prefetch;
  std::optional<DecodedDispatch> dispatch;  // RELAY_INLINE, RELAY_INLINE_NOFLUSH, EXEC_BUF_END
  std::vector<abi::RelayPagedPackedTarget> stretches;      // RELAY_PAGED_PACKED
  std::vector<abi::RelayRingbufferTarget> ring_stretches;  // RELAY_RINGBUFFER
  ByteSpan debug_data;                                     // DEBUG
};

// The commands of one fetch entry; their spans point into it. INVALID_ARGUMENT, "offset 0x40: ...",
// for the first byte that is not as the protocol has it.
StatusOr<std::vector<DecodedCommand>> DecodeEntry(ByteSpan entry);

// Likewise of a buffer that EXEC_BUF names, up to its EXEC_BUF_END, which is the last one given back;
// the bytes behind it are nobody's.
StatusOr<std::vector<DecodedCommand>> DecodeExecBuffer(ByteSpan buffer);

}  // namespace ttfd
