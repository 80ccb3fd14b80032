// A trace: the records of a sequence of launches, laid out once, kept in device memory and replayed by
// one small entry.
//
// Built and checked on any thread; recorded, patched and replayed by the device thread alone. A trace
// that nobody holds any more no longer pins its kernels in the workers' caches.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "runtime/base/status.h"
#include "runtime/command/card_geometry.h"
#include "runtime/command/program.h"
#include "runtime/command/route.h"
#include "runtime/hw/stream.h"

namespace ttfd {

struct LaunchCommand;

// Limits of one trace. Its records are kept twice: in device memory and as the host's shadow.
inline constexpr uint64_t kMaxTraceBytes = 4 << 20;
inline constexpr uint32_t kMaxTraceLaunches = 16 * 1024;
// Worker completions of one replay: launches times workers. The counter of a replay is a stream register of 17 bits,
// and the host cannot compare counts that are further apart.
inline constexpr uint64_t kMaxTraceCompletions = hw::kStreamCounterReach;

// New arguments of one kernel of one launch, from the next replay on. As many words as recorded.
struct TracePatch {
  uint32_t launch = 0;  // index into the launches of the trace
  uint32_t kernel = 0;
  KernelArguments arguments;
};

class Trace;

// Lays out the launches for `route`. INVALID_ARGUMENT says which launch breaks which rule of LaunchCommand, or exceeds
// kMaxTraceCompletions; RESOURCE_EXHAUSTED that the records are too large. Thread-safe.
StatusOr<std::shared_ptr<Trace>> BuildTrace(const CardGeometry& card, const Route& route,
                                            const std::vector<LaunchCommand>& launches);

// The device memory RecordTraceCommand needs: a buffer interleaved over the DRAM banks.
uint64_t TraceBytes(const Trace& trace);      // a multiple of TracePageBytes
uint32_t TracePageBytes(const Trace& trace);  // a power of two from 1 KiB to 4 KiB
uint32_t TraceLaunches(const Trace& trace);

// Whether the patch fits the trace as recorded. INVALID_ARGUMENT says why not. Thread-safe.
Status CheckTracePatch(const Trace& trace, const TracePatch& patch);

}  // namespace ttfd
