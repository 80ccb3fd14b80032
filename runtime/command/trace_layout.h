// The inside of a trace: its records, and what is known of each launch in them.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "runtime/base/bytes.h"
#include "runtime/command/go_table.h"
#include "runtime/command/launch_records.h"
#include "runtime/command/region.h"
#include "runtime/command/trace.h"

namespace ttfd {

struct TraceLaunch {
  std::shared_ptr<const LaunchRecords> records;
  std::shared_ptr<const Program> program;
  uint32_t offset = 0;  // of its records in its segment
  uint32_t slot = 0;
  uint32_t config_address = 0;
  uint32_t wait_workers = 0;  // its go waits for this count
  uint8_t go_first = 0;
};

struct TraceSegment {
  // Constant after BuildTrace.
  uint32_t first_launch = 0;
  uint32_t launches = 0;
  uint64_t offset = 0;                                   // in the trace's region: at the first bank
  std::vector<std::shared_ptr<const Program>> programs;  // distinct ones
  std::vector<uint32_t>
      waits;             // offsets of WAIT commands: their stream is not known before recording
  uint64_t workers = 0;  // answers all its launches ask for
  GoTable go_table;      // as the segment leaves it; empty if it sends none
  bool sends_go_table = false;
  bool prints = false;  // kernels of it do

  // Device thread only.
  std::vector<std::byte>
      shadow;               // the records as they are in device memory; a multiple of page_bytes
  Region region;            // where they are
  uint32_t sub_device = 0;  // whose stream and go word the records name
  uint32_t boot = 0;        // number of the boot since which they are there; 0: never recorded
  uint64_t written = 0;     // writes of its hardware queue when the last byte was sent
};

class Trace {
 public:
  // Constant after BuildTrace.
  Route route;
  uint32_t page_bytes = 0;
  std::vector<TraceLaunch> launches;

  std::vector<TraceSegment> segments;

  std::span<const TraceLaunch> LaunchesOf(const TraceSegment& segment) const {
    return std::span(launches).subspan(segment.first_launch, segment.launches);
  }
};

}  // namespace ttfd
