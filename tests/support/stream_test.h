// GoogleTest's side of the random streams: runs a range of seeds, reports the one that fails.
#pragma once

#include <gtest/gtest.h>

#include <cstdio>
#include <cstdlib>

#include "tests/support/stream_runner.h"

namespace ttfd::testing {

struct StreamRange {
  uint32_t first_seed = 0;
  uint32_t streams = 0;
  uint32_t commands = 0;  // of a queue
};

inline void ReportStream(uint32_t seed, uint32_t commands, const Status& failure) {
  const uint32_t fewest = ShortestFailure(seed, commands);
  StreamCounts counts;
  const Status shortest = RunStream(seed, fewest, &counts);
  FAIL() << failure.ToString() << "\nreplay: TTFD_SEED=" << seed << ":" << commands
         << "\nshortest: TTFD_SEED=" << seed << ":" << fewest << "\n"
         << shortest.ToString();
}

// Every command of the protocol.
inline void ExpectEveryCommand(const StreamCounts& counts) {
  for (size_t id = 1; id < counts.prefetch.size(); ++id) {
    EXPECT_NE(counts.prefetch[id], 0u) << "prefetch command " << id;
  }
  for (size_t id = 1; id < counts.dispatch.size(); ++id) {
    EXPECT_NE(counts.dispatch[id], 0u) << "dispatch command " << id;
  }
}

// TTFD_SEED=S[:C] in the environment: the stream of seed S alone, with C commands a queue. TTFD_STREAMS=N:
// another number of streams.
inline void RunStreams(StreamRange range) {
  StreamCounts counts;
  bool few = false;  // perhaps too few for every command to come up
  if (const char* const text = std::getenv("TTFD_SEED"); text != nullptr) {
    char* rest = nullptr;
    const auto seed = static_cast<uint32_t>(std::strtoul(text, &rest, 10));
    if (*rest == ':') range.commands = static_cast<uint32_t>(std::strtoul(rest + 1, nullptr, 10));
    const Status same = RunStream(seed, range.commands, &counts);
    if (!same.ok()) ReportStream(seed, range.commands, same);
    return;
  }
  if (const char* const text = std::getenv("TTFD_STREAMS"); text != nullptr) {
    range.streams = static_cast<uint32_t>(std::strtoul(text, nullptr, 10));
    few = true;
  }
  for (uint32_t i = 0; i < range.streams; ++i) {
    const uint32_t seed = range.first_seed + i;
    const Status same = RunStream(seed, range.commands, &counts);
    if (!same.ok()) return ReportStream(seed, range.commands, same);
  }
  if (!few) ExpectEveryCommand(counts);
  std::printf("%llu streams, %llu records\n", static_cast<unsigned long long>(counts.streams),
              static_cast<unsigned long long>(counts.records));
}

}  // namespace ttfd::testing
