// A trace: the records of a sequence of launches, laid out once, kept in device memory and replayed by
// small entries.
//
// It is cut into segments, each with consecutive launches. A segment is one command to record and one to replay: it
// counts worker completions from zero and has an event of its own, and other work may run between two of them.
//
// Built and checked on any thread; recorded, patched and replayed by the device thread alone. A trace
// that nobody holds any more no longer pins its kernels in the workers' caches.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "runtime/base/clock.h"
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
// Limits of one segment, but for one of a single launch. Worker completions (launches times workers): a stream register
// of 17 bits counts them, and the host cannot compare counts that are further apart. Bytes of the records of its
// launches, and of the kernel images that are written when none of them is in the workers' caches: what is sent at once
// to record it.
inline constexpr uint64_t kMaxSegmentCompletions = hw::kStreamCounterReach;
inline constexpr uint64_t kMaxSegmentBytes = 256 << 10;
inline constexpr uint64_t kMaxSegmentImageBytes = 1 << 20;

// New arguments of one kernel of one launch, from the next replay on. As many words as recorded.
struct TracePatch {
  uint32_t launch = 0;  // index into the launches of the trace
  uint32_t kernel = 0;
  KernelArguments arguments;
};

class Trace;

// How long a segment may be expected to run on the card, and each launch, in order. No `launches`: any time.
struct SegmentTime {
  Duration most{};
  std::span<const Duration> launches;
};

// Lays out the launches for `route`. INVALID_ARGUMENT says which launch breaks which rule of LaunchCommand;
// RESOURCE_EXHAUSTED that the records are too large. Thread-safe.
StatusOr<std::shared_ptr<Trace>> BuildTrace(const CardGeometry& card, const Route& route,
                                            const std::vector<LaunchCommand>& launches,
                                            const SegmentTime& time = {});

// The device memory RecordTraceCommand needs: a buffer interleaved over the DRAM banks.
uint64_t TraceBytes(const Trace& trace);      // a multiple of TracePageBytes
uint32_t TracePageBytes(const Trace& trace);  // a power of two from 1 KiB to 4 KiB
// Bytes of its records, which the host keeps as well.
uint64_t TraceRecordBytes(const Trace& trace);
uint32_t TraceLaunches(const Trace& trace);
uint32_t TraceSegments(const Trace& trace);
// The launches of a segment, [begin, end), and the bytes that are sent to record it.
struct SegmentExtent {
  uint32_t begin = 0;
  uint32_t end = 0;
  uint64_t bytes = 0;
};
SegmentExtent TraceSegmentExtent(const Trace& trace, uint32_t segment);

// Whether the patch fits the trace as recorded. INVALID_ARGUMENT says why not. Thread-safe.
Status CheckTracePatch(const Trace& trace, const TracePatch& patch);

}  // namespace ttfd
