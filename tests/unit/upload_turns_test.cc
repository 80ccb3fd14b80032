// Turns to have data sent: few at a time, in order, and nobody waits for one that does not send.
#include "daemon/session/upload_turns.h"

#include <gtest/gtest.h>

#include <vector>

namespace ttfd {
namespace {

using std::chrono::milliseconds;
using Ids = std::vector<uint64_t>;

class UploadTurnsTest : public ::testing::Test {
 protected:
  Ids Next() {
    const UploadTurns::Changes changes = turns.Next(now, &again);
    over = changes.over;
    return changes.come;
  }

  UploadTurns turns{{.at_once = 2, .longest = milliseconds(5)}};
  TimePoint now{std::chrono::seconds(1)};
  TimePoint again;
  Ids over;
};

TEST_F(UploadTurnsTest, FewHaveOneAtATimeAndTheOthersComeInTheOrderOfAsking) {
  EXPECT_TRUE(turns.Take(1, now));
  EXPECT_TRUE(turns.Take(2, now));
  EXPECT_FALSE(turns.Take(3, now));
  EXPECT_FALSE(turns.Take(4, now));
  EXPECT_FALSE(turns.Take(3, now)) << "who waits keeps one place";
  EXPECT_EQ(Next(), Ids{});
  EXPECT_TRUE(turns.Release(2)) << "others wait";
  EXPECT_FALSE(turns.Take(2, now)) << "behind those who waited";
  EXPECT_EQ(Next(), Ids{3});
  EXPECT_EQ(Next(), Ids{}) << "named once";
  EXPECT_TRUE(turns.Release(1));
  EXPECT_TRUE(turns.Release(3));
  EXPECT_EQ(Next(), (Ids{4, 2}));
  EXPECT_EQ(again, now + milliseconds(5)) << "nobody waits, but two have turns";
  EXPECT_FALSE(turns.Release(4));
  EXPECT_FALSE(turns.Release(2));
  EXPECT_EQ(Next(), Ids{});
  EXPECT_EQ(again, TimePoint::max());
}

TEST_F(UploadTurnsTest, WhoGoesOnWhileNobodyWaitsIsNeverHeldUp) {
  EXPECT_TRUE(turns.Take(1, now));
  for (int i = 0; i < 10; ++i) {
    now += milliseconds(3);
    EXPECT_TRUE(turns.Take(1, now));
  }
  EXPECT_TRUE(turns.Take(2, now));
  EXPECT_FALSE(turns.Take(3, now));
  EXPECT_FALSE(turns.Take(1, now)) << "another waits: what it was told has to do";
  EXPECT_TRUE(turns.Release(1));
  EXPECT_EQ(Next(), Ids{3}) << "1 was not put into the line while it had its turn";
}

TEST_F(UploadTurnsTest, WhoDoesNotSendHoldsUpNobodyForLongerThanATurn) {
  EXPECT_TRUE(turns.Take(1, now));
  now += milliseconds(1);
  EXPECT_TRUE(turns.Take(2, now));
  EXPECT_FALSE(turns.Take(3, now));
  EXPECT_FALSE(turns.Take(4, now));
  EXPECT_EQ(Next(), Ids{});
  EXPECT_EQ(again, now + milliseconds(4)) << "the end of the first one's turn";
  now = again;
  EXPECT_EQ(Next(), Ids{3});
  EXPECT_EQ(over, Ids{1});
  EXPECT_EQ(again, now + milliseconds(1));
  now = again;
  EXPECT_EQ(Next(), Ids{4});
  EXPECT_EQ(over, Ids{2}) << "each is named once";
  EXPECT_FALSE(turns.Take(1, now)) << "its turn is over: it asks like everybody";
  EXPECT_TRUE(turns.Release(3));
  EXPECT_EQ(Next(), Ids{1});
}

TEST_F(UploadTurnsTest, ATurnThatIsOverIsTakenByTheNextWhoAsks) {
  EXPECT_TRUE(turns.Take(1, now));
  EXPECT_TRUE(turns.Take(2, now));
  now += milliseconds(5);
  EXPECT_TRUE(turns.Take(3, now));
  EXPECT_TRUE(turns.Take(4, now));
  EXPECT_FALSE(turns.Take(5, now));
  EXPECT_EQ(Next(), Ids{});
  EXPECT_EQ(over, (Ids{1, 2}));
}

TEST_F(UploadTurnsTest, WhoWantsNothingAnyMoreLeavesTheLine) {
  EXPECT_TRUE(turns.Take(1, now));
  EXPECT_TRUE(turns.Take(2, now));
  EXPECT_FALSE(turns.Take(3, now));
  EXPECT_FALSE(turns.Take(4, now));
  EXPECT_TRUE(turns.Release(3));
  EXPECT_TRUE(turns.Release(1));
  EXPECT_EQ(Next(), Ids{4});
}

}  // namespace
}  // namespace ttfd
