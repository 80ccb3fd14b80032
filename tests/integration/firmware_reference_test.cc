// Random streams of records: what the firmware on the device model leaves in memory, counters and rings is
// what the protocol says.
//
// TTFD_SEED=S[:C] runs the stream of seed S alone, with C commands a queue; TTFD_STREAMS=N runs N streams.
#include <gtest/gtest.h>

#include <cstdlib>
#include <string>

#include "tests/support/stream_runner.h"

namespace ttfd::testing {
namespace {

constexpr uint32_t kFirstSeed = 20261121;
constexpr uint32_t kCommands = 60;

uint32_t NumberIn(const char* variable, uint32_t otherwise) {
  const char* const text = std::getenv(variable);
  return text == nullptr ? otherwise : static_cast<uint32_t>(std::strtoul(text, nullptr, 10));
}

void Report(uint32_t seed, uint32_t commands, const Status& failure) {
  const uint32_t fewest = ShortestFailure(seed, commands);
  StreamCounts counts;
  const Status shortest = RunStream(seed, fewest, &counts);
  FAIL() << failure.ToString() << "\nreplay: TTFD_SEED=" << seed << ":" << commands
         << "\nshortest: TTFD_SEED=" << seed << ":" << fewest << "\n"
         << shortest.ToString();
}

void RunStreams(uint32_t streams) {
  StreamCounts counts;
  if (const char* const text = std::getenv("TTFD_SEED"); text != nullptr) {
    char* rest = nullptr;
    const auto seed = static_cast<uint32_t>(std::strtoul(text, &rest, 10));
    const uint32_t commands =
        *rest == ':' ? static_cast<uint32_t>(std::strtoul(rest + 1, nullptr, 10)) : kCommands;
    const Status same = RunStream(seed, commands, &counts);
    if (!same.ok()) Report(seed, commands, same);
    return;
  }
  for (uint32_t i = 0; i < streams; ++i) {
    const Status same = RunStream(kFirstSeed + i, kCommands, &counts);
    if (!same.ok()) return Report(kFirstSeed + i, kCommands, same);
  }
  // Every command of the protocol but RELAY_LINEAR_H, which is for cards of several chips.
  for (size_t id = 1; id < counts.prefetch.size(); ++id) {
    if (static_cast<abi::PrefetchId>(id) == abi::PrefetchId::kRelayLinearH) continue;
    EXPECT_NE(counts.prefetch[id], 0u) << "prefetch command " << id;
  }
  for (size_t id = 1; id < counts.dispatch.size(); ++id) {
    EXPECT_NE(counts.dispatch[id], 0u) << "dispatch command " << id;
  }
  std::printf("%llu streams, %llu records\n", static_cast<unsigned long long>(counts.streams),
              static_cast<unsigned long long>(counts.records));
}

TEST(FirmwareReference, EveryStreamLeavesWhatTheReferenceDoes) {
  RunStreams(NumberIn("TTFD_STREAMS", 2000));
}

}  // namespace
}  // namespace ttfd::testing
