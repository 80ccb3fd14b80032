// Commands as plain values, resolved to device addresses: what the daemon hands to the dispatcher.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <variant>
#include <vector>

#include "runtime/base/bytes.h"
#include "runtime/command/program.h"
#include "runtime/command/region.h"

namespace ttfd {

// The largest piece one transfer command moves. The daemon cuts larger ones, so that no client's
// transfer holds the queue longer than a quantum and every command fits the issue ring.
inline constexpr uint64_t kMaxTransferBytes = 256 * 1024;

// Offsets and sizes: multiples of 16 for writes and fills, any byte for reads; inside the region;
// at most kMaxTransferBytes.
struct WriteCommand {
  Region region;
  uint64_t offset = 0;
  ByteSpan data;  // read during Submit only
};

struct FillCommand {
  Region region;
  uint64_t offset = 0;
  uint64_t size = 0;
  uint32_t word = 0;
};

struct ReadCommand {
  Region region;
  uint64_t offset = 0;
  uint64_t size = 0;
  // Called on the device thread, from Dispatcher::Poll (and from Submit or Event where those have to
  // wait for room), in ascending order, before the command counts as completed. The bytes are valid
  // during the call only.
  std::function<void(uint64_t offset_in_read, ByteSpan data)> sink;
};

// Moves bytes inside the card. Offsets and size: multiples of 64; at most kMaxTransferBytes.
struct CopyCommand {
  Region from;
  uint64_t from_offset = 0;
  Region to;
  uint64_t to_offset = 0;
  uint64_t size = 0;
};

struct LaunchCommand {
  std::shared_ptr<const Program> program;
  std::vector<KernelArguments> arguments;  // one a kernel
};

using Command = std::variant<WriteCommand, FillCommand, ReadCommand, CopyCommand, LaunchCommand>;

}  // namespace ttfd
