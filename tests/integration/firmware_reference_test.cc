// Random streams of records: what the firmware on the device model leaves in memory, counters and rings is
// what the protocol says. stream_test.h says how to replay one.
#include <gtest/gtest.h>

#include "tests/support/stream_test.h"

namespace ttfd::testing {
namespace {

constexpr uint32_t kStreams = 500;

class FirmwareReference : public ::testing::TestWithParam<uint32_t> {};

TEST_P(FirmwareReference, EveryStreamLeavesWhatTheReferenceDoes) {
  RunStreams({20'261'121 + GetParam() * kStreams, kStreams, 60});
}

// In parts, for as many cores.
INSTANTIATE_TEST_SUITE_P(Seeds, FirmwareReference, ::testing::Range(0u, 4u));

// Few streams, so long that every counter and every ring comes round many times.
TEST(FirmwareReferenceSoak, LongStreams) { RunStreams({7'000'000, 10, 600}); }

}  // namespace
}  // namespace ttfd::testing
