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
#include "runtime/command/trace.h"

namespace ttfd {

// The largest piece one transfer command moves. The daemon cuts larger ones, so that no client's
// transfer holds the queue longer than a quantum and every command fits the issue ring.
inline constexpr uint64_t kMaxTransferBytes = 256 * 1024;

// The records of a command fit an empty issue ring: RESOURCE_EXHAUSTED, nothing sent, otherwise. One of the default
// size takes any transfer with padding (StrideOf) of at most kMaxTransferBytes, any launch whose kernels are written to
// at most 16 rectangles of workers, and any segment of a trace of such launches.
//
// Ranges lie inside the region and have at most kMaxTransferBytes. Writes and fills begin and end at unit
// boundaries (IsUnitBoundary), reads at any byte.
struct WriteCommand {
  Region region;
  uint64_t offset = 0;
  ByteSpan data;  // read during TrySubmit only
};

struct FillCommand {
  Region region;
  uint64_t offset = 0;
  uint64_t size = 0;
  uint32_t word = 0;  // little-endian, again and again from `offset` on
};

struct ReadCommand {
  Region region;
  uint64_t offset = 0;
  uint64_t size = 0;
  // Called on the device thread, from Card::Poll, Halt and Shutdown, before the command counts as completed: once for
  // every byte, ascending where the region's pages lie over all banks or in one. The bytes are valid during the call
  // only.
  std::function<void(uint64_t offset_in_read, ByteSpan data)> sink;
};

// Moves bytes inside the card. Both ranges keep the rule of writes, and CopyKeepsUnits; they do not
// overlap.
struct CopyCommand {
  Region from;
  uint64_t from_offset = 0;
  Region to;
  uint64_t to_offset = 0;
  uint64_t size = 0;
};

// The program's tiles are among the workers of the route.
struct LaunchCommand {
  std::shared_ptr<const Program> program;
  std::vector<KernelArguments> arguments;  // one a kernel
};

// Puts a segment of a trace into device memory and its kernels into the workers' caches, where they stay while the
// trace lives. `region` is that of the whole trace: TraceBytes long and interleaved over the DRAM banks in pages of
// TracePageBytes; it belongs to the trace until the last replay has ended. The route is the one the
// trace was built for. RESOURCE_EXHAUSTED, nothing sent of this segment, if other traces pin too much of the caches.
struct RecordTraceCommand {
  std::shared_ptr<Trace> trace;
  Region region;
  uint32_t segment = 0;
};

// Runs the launches of a recorded segment; after a boot it is first recorded again.
struct ReplayTraceCommand {
  std::shared_ptr<Trace> trace;
  std::vector<TracePatch> patches;  // of its launches; stay for later replays
  uint32_t segment = 0;
};

using Command = std::variant<WriteCommand, FillCommand, ReadCommand, CopyCommand, LaunchCommand,
                             RecordTraceCommand, ReplayTraceCommand>;

}  // namespace ttfd
