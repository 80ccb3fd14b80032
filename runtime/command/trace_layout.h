// The inside of a trace: its records, and what is known of each launch in them.
#pragma once

#include <cstdint>
#include <memory>
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
  uint32_t offset = 0;  // of its records in the trace
  uint32_t slot = 0;
  uint32_t config_address = 0;
  uint32_t wait_workers = 0;  // its go waits for this count
  uint8_t go_first = 0;
};

class Trace {
 public:
  // Constant after BuildTrace.
  Route route;
  uint32_t page_bytes = 0;
  std::vector<TraceLaunch> launches;
  std::vector<std::shared_ptr<const Program>> programs;  // distinct ones
  std::vector<uint32_t>
      waits;             // offsets of WAIT commands: their stream is not known before recording
  uint64_t workers = 0;  // answers the whole trace asks for
  GoTable go_table;      // as the trace leaves it; empty if it sends none
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

}  // namespace ttfd
