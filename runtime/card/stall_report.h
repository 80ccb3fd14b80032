// State that a card shows when it makes no progress, or when its status is requested.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/card/card_snapshot.h"
#include "runtime/card/code_map.h"
#include "runtime/hw/grid.h"

namespace ttfd {

// Where the pipeline stands, for status and for hang reports. Reading it costs PCIe reads; never
// polled.
struct HartReport {
  std::string where;  // "prefetch (16,2) BRISC"
  uint32_t state = 0;
  std::string waypoint;
  uint32_t progress = 0;
  uint32_t pc = 0;   // 0 where the backend cannot tell
  std::string text;  // one sentence: what it waits for, or its fault
  uint32_t program =
      0;  // of a worker: the id (BuildProgram) of the program that its tile began last

  hw::Coordinate tile = {0, 0};  // translated
  uint32_t hart = 0;             // hw::Hart
  int32_t worker = kNoWorker;    // its number, row by row
  hw::Coordinate core = {0, 0};  // of a worker, in the workers' grid
  std::string
      doing;  // in a few words: "waiting for a semaphore", "misaligned access to 0x30001"; empty: it runs
  std::string note;      // what its kernel says it is at: "task 777"; empty: nothing
  CodePlace code;        // what lies at the pc
  bool faulted = false;  // by a fault the device reported, or stopped by firmware
  CodePlace caller;      // of a hart that faulted: what ra points behind
  std::optional<EngineWait> engine_wait;  // in the tile's Tensix engine, where the device can say

  static constexpr int32_t kNoWorker = -1;
};

// The stage at which the pipeline stands, in the order of the flow of work.
enum class StalledStage {
  kNone,        // nothing is outstanding
  kUnreadable,  // the card does not answer
  kFault,       // a hart stopped on a fault
  kHost,        // the prefetcher is idle: it was not told of what the host believes it sent
  kPrefetcher,  // in a command, or stalled on a count
  kDispatcher,  // waits for a stream and count, or for room in the completion queue
  kDispatchS,   // waits for the dispatcher's word
  kWorkers,     // a launch has not ended
};

// How far a worker tile is.
struct TileCount {
  uint32_t worker = 0;
  uint32_t launches = 0;  // ended on it since the boot; wraps
  uint32_t program = 0;   // that it began last
  std::string waypoint;   // of its BRISC
};

// Count that a dispatch tile keeps of the workers of one sub-device.
struct StreamCount {
  uint32_t hardware_queue = 0;
  uint32_t stream = 0;
  uint64_t expected = 0;  // since the boot: answers to everything submitted
  uint32_t wire = 0;      // that, as records carry it
  uint32_t shows = 0;
};

struct StallReport {
  StalledStage stage = StalledStage::kNone;
  uint32_t hardware_queue = 0;
  bool waits_for_queue = false;  // the stage waits for an event of another hardware queue
  std::string text;              // one sentence: which stage stopped, and what it waits for
  std::vector<HartReport> harts;
  std::vector<FirmwareDamage> damage;  // firmware that somebody wrote over
  std::vector<TileCount> tiles;        // of all workers
  std::vector<StreamCount> streams;    // on which anything was launched
  std::string card;                    // all that it was made of: SnapshotText
};
std::string_view StalledStageName(StalledStage stage);
// "workers of CQ0 stopped: ..."
std::string ToString(const StallReport& report);

}  // namespace ttfd
