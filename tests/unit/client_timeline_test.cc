// The client's state of one queue.
#include <gtest/gtest.h>

#include <array>

#include "client/cpp/src/timeline.h"

namespace ttfd::client::client_timeline_test {
namespace {

Status Fault() { return Status(Code::kInternal, "fault"); }
Status Aborted() { return Status(Code::kAborted, "aborted"); }

TEST(ClientTimeline, ProgressIsStateAndNeverGoesBack) {
  Timeline timeline;
  EXPECT_TRUE(timeline.Advance(5));
  EXPECT_FALSE(timeline.Advance(5));
  EXPECT_FALSE(timeline.Advance(3));
  EXPECT_EQ(timeline.completed(), 5u);
}

TEST(ClientTimeline, ErrorsOfWhatWasSentBeforeTheOpeningDoNotFailTheQueueAgain) {
  Timeline timeline;
  for (int i = 0; i < 4; ++i) {
    timeline.NextValue();
  }
  timeline.AddError(2, 2, Fault());
  timeline.ClearError();
  EXPECT_EQ(timeline.next_header().clears_error, 2u);
  timeline.AddError(3, 4, Aborted());
  EXPECT_TRUE(timeline.FirstError().ok());
  EXPECT_EQ(timeline.Outcome(4).code(), Code::kAborted);
  EXPECT_TRUE(timeline.Outcome(5).ok());
}

TEST(ClientTimeline, OnlyTheCallerOfTheFirstErrorOpensTheQueue) {
  Timeline timeline;
  timeline.NextValue();
  timeline.NextValue();
  timeline.AddError(1, 1, Fault());
  timeline.AddError(2, 2, Aborted());
  timeline.ClearErrorOf(2);
  EXPECT_FALSE(timeline.FirstError().ok());
  timeline.ClearErrorOf(1);
  EXPECT_TRUE(timeline.FirstError().ok());
}

TEST(ClientTimeline, KeepsTheFirstErrorHoweverManyFollow) {
  Timeline timeline;
  timeline.AddError(1, 1, Fault());
  for (uint64_t value = 2; value < 10'000; ++value) {
    timeline.AddError(value, value, Aborted());
  }
  EXPECT_EQ(timeline.FirstError().code(), Code::kInternal);
  EXPECT_EQ(timeline.Outcome(9'999).code(), Code::kAborted);
}

TEST(ClientTimeline, BytesOutsideOfAReadAreRefused) {
  Timeline timeline;
  std::array<std::byte, 8> into = {};
  std::array<std::byte, 9> bytes = {};
  uint64_t done = 0;
  uint64_t size = 0;
  EXPECT_FALSE(timeline.AcceptData(1, 0, bytes, &done, &size));  // no read is expected
  timeline.ExpectRead(1, into);
  EXPECT_FALSE(timeline.AcceptData(1, 0, bytes, &done, &size));
  EXPECT_FALSE(timeline.AcceptData(1, 4, std::span(bytes).first(4), &done, &size));  // a gap
  EXPECT_TRUE(timeline.AcceptData(1, 0, std::span(bytes).first(4), &done, &size));
  EXPECT_FALSE(timeline.AcceptData(1, 4, std::span(bytes).first(5), &done, &size));
  EXPECT_EQ(done, 4u);
}

TEST(ClientTimeline, AReadThatEndsShortIsDataLoss) {
  Timeline timeline;
  std::array<std::byte, 8> into = {};
  timeline.ExpectRead(timeline.NextValue(), into);
  timeline.Advance(1);
  EXPECT_EQ(timeline.Outcome(1).code(), Code::kDataLoss);
}

TEST(ClientTimeline, AbandonedRead_TouchesNoMemory) {
  Timeline timeline;
  std::array<std::byte, 4> into = {};
  const std::array<std::byte, 4> bytes = {std::byte{1}, std::byte{2}, std::byte{3}, std::byte{4}};
  timeline.ExpectRead(timeline.NextValue(), into);
  timeline.AbandonRead(1);
  uint64_t done = 0;
  uint64_t size = 0;
  EXPECT_TRUE(timeline.AcceptData(1, 0, bytes, &done, &size));
  EXPECT_EQ(into[0], std::byte{0});
  timeline.Advance(1);
  EXPECT_TRUE(timeline.Outcome(1).ok());
}

}  // namespace
}  // namespace ttfd::client::client_timeline_test
