// Millions of records through the firmware on the device model, against the reference.
#include <gtest/gtest.h>

#include "tests/support/stream_test.h"

namespace ttfd::testing {
namespace {

TEST(FirmwareSoak, ManyStreams) { RunStreams({100'000'000, 6'000, 60}); }

TEST(FirmwareSoak, LongStreams) { RunStreams({200'000'000, 60, 4'000}); }

}  // namespace
}  // namespace ttfd::testing
