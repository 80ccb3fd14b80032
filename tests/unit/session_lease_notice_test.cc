// Notices to sessions without a lease whose commands leases keep from the card: who holds the leases, once.
#include <gmock/gmock.h>

#include "tests/support/lease_fixture.h"

namespace ttfd::session_lease_notice_test {
namespace {

using ::testing::HasSubstr;

using LeaseNotice = LeaseTest;

TEST_F(LeaseNotice, IsSentOncePerHolder) {
  Start();
  auto shared = Connect();
  Prepare(shared.get());
  auto holder = AskFor();
  holder->Run();
  shared->Run();
  EXPECT_EQ(shared->lease_waits.size(), 0u) << "it has no commands";
  const uint64_t first = shared->Send(Launch(3));
  shared->Run();
  EXPECT_EQ(shared->lease_waits.size(), 1u);
  EXPECT_EQ(shared->lease_wait().position, 0u);
  EXPECT_THAT(shared->lease_wait().holders.Text(), HasSubstr("session 2 "));
  shared->Send(InlineWrite(1, 0, Pattern(64)), Launch(3));
  shared->Run();
  EXPECT_EQ(shared->lease_waits.size(), 1u) << "not with every command";
  auto next = AskFor();
  shared->Run();
  EXPECT_EQ(shared->lease_waits.size(), 1u) << "nor when others wait";
  holder.reset();
  shared->Run();
  EXPECT_EQ(shared->lease_waits.size(), 2u);
  EXPECT_THAT(shared->lease_wait().holders.Text(), HasSubstr("session 3 "));
  next.reset();
  shared->Run();
  EXPECT_EQ(shared->Progress(), first + 2);
  auto last = AskFor();
  last->Run();
  shared->Send(Launch(3));
  shared->Run();
  EXPECT_EQ(shared->lease_waits.size(), 3u) << "it waits anew";
  EXPECT_THAT(shared->lease_wait().holders.Text(), HasSubstr("session 4 "));
}

TEST_F(LeaseNotice, IsAnnounced) {
  Start();
  auto shared = Connect();
  Prepare(shared.get());
  auto holder = AskFor();
  holder->Run();
  shared->Run();
  const int ready = shared->ready;
  shared->Send(Launch(3));
  RunAll();
  EXPECT_GT(shared->ready, ready) << "it is the only output";
  shared->Take();
  EXPECT_EQ(shared->lease_waits.size(), 1u);
}

TEST_F(LeaseNotice, CoversCommandsSentBeforeTheLease) {
  Start();
  auto shared = Connect();
  Prepare(shared.get());
  card->hold = true;
  shared->Send(Launch(3));
  RunSome();
  auto holder = AskFor();
  RunSome();
  shared->Take();
  EXPECT_EQ(shared->lease_waits.size(), 0u) << "its launch is on the card";
  shared->Send(Launch(3));
  RunSome();
  shared->Take();
  EXPECT_EQ(shared->lease_waits.size(), 1u);
  card->hold = false;
  shared->Run();
  EXPECT_EQ(shared->lease_waits.size(), 1u);
  EXPECT_THAT(shared->lease_wait().holders.Text(), HasSubstr("session 2 "));
}

TEST_F(LeaseNotice, CoversATransferThatHasBegun) {
  behaviour.dram_bank_bytes = 16 << 20;
  Start();
  auto shared = Connect();
  shared->Send(Allocate(1, 8 << 20));
  shared->Run();
  card->hold = true;
  card->room = 2;
  const uint64_t fill = shared->Send(FillRequest{1, 0, 8 << 20, 7});
  RunSome();
  auto holder = AskFor();
  RunSome();
  shared->Take();
  EXPECT_EQ(shared->lease_waits.size(), 0u) << "what is on the card ends first";
  card->hold = false;
  shared->Run();
  EXPECT_EQ(shared->lease_waits.size(), 1u);
  EXPECT_LT(shared->Progress(), fill);
  holder.reset();
  shared->Run();
  EXPECT_EQ(shared->Progress(), fill);
}

TEST_F(LeaseNotice, GoesOnlyToWhatNeedsLeasedWorkers) {
  Start();
  auto holder = AskFor({{0, 0, 0, 0}});
  holder->Run();
  auto there = Connect();
  Prepare(there.get(), {0, 0, 0, 0});
  auto elsewhere = Connect();
  Prepare(elsewhere.get(), {1, 0, 1, 0});
  auto other_lease = AskFor({{3, 3, 3, 3}});
  other_lease->Run();
  elsewhere->Send(Launch(3), InlineWrite(1, 0, Pattern(64)), Read(1, 0, 64));
  there->Send(Launch(3));
  elsewhere->Run();
  there->Run();
  EXPECT_EQ(elsewhere->lease_waits.size(), 0u);
  EXPECT_EQ(there->lease_waits.size(), 1u);
  EXPECT_THAT(there->lease_wait().holders.Text(), HasSubstr("session 1 "));
  EXPECT_EQ(there->lease_wait().holders.Text().find(" and "), std::string::npos)
      << there->lease_wait().holders.Text();
  other_lease.reset();
  there->Run();
  EXPECT_EQ(there->lease_waits.size(), 1u) << "the lease that ended was not in its way";
}

TEST_F(LeaseNotice, GoesToAQueueWithLeasedWorkers) {
  Start();
  auto holder = AskFor({{0, 0, 0, 0}});
  holder->Run();
  auto shared = Connect();
  shared->OpenQueue(ComputeQueue(1, {{0, 0, 1, 0}}));
  shared->Send(Allocate(1, 4096));
  shared->Run();
  shared->SendOn(1, {}, InlineWrite(1, 0, Pattern(64)));
  shared->Run();
  EXPECT_EQ(shared->lease_waits.size(), 1u);
  EXPECT_THAT(shared->lease_wait().holders.Text(), HasSubstr("session 1 "));
}

TEST_F(LeaseNotice, ReachesASessionThatSentItsLast) {
  Start();
  auto shared = Connect();
  Prepare(shared.get());
  auto holder = AskFor();
  holder->Run();
  shared->Send(Launch(3));
  shared->Finish();
  shared->Run();
  EXPECT_EQ(shared->lease_waits.size(), 1u);
}

}  // namespace
}  // namespace ttfd::session_lease_notice_test
