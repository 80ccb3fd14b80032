// Connections that break while a lease is granted.
#include <gmock/gmock.h>

#include "tests/support/lease_fixture.h"

namespace ttfd::session_lease_cut_test {
namespace {

using ::testing::IsEmpty;

using SessionLeaseCut = LeaseTest;

// Whoever knows that it has the lease can go on with it; of anybody else nothing is left, without any time passing.
TEST_F(SessionLeaseCut, ACutAtAnyMomentOfItsGrantNeitherLosesNorLeaksALease) {
  Start();
  card->completes_per_poll = 1;
  size_t kept = 0;
  size_t dropped = 0;
  bool reached = true;
  for (size_t cut = 0; reached; ++cut) {
    SCOPED_TRACE(cut);
    auto worker = Connect();
    Prepare(worker.get());
    card->hold = true;
    worker->Send(Launch(3), Launch(3));
    RunSome();
    HelloRequest hello = Hello(AttachKind::kLease);
    hello.reconnect_timeout_ms = 60'000;
    TestClient first(*core);
    TestClient second(*core);
    ASSERT_TRUE(first.Open(hello).ok());
    RunSome();
    ASSERT_TRUE(second.Open(hello, 2000).ok());
    RunSome();
    card->hold = false;
    size_t moment = 0;
    reached = false;
    for (int i = 0; i < 12 && !reached; ++i) {
      if (i % 2 == 0) {
        core->RunOnce();
      } else {
        first.Take();
      }
      reached = moment++ == cut;
    }
    first.Abandon(/*lost=*/true);
    RunSome();
    EXPECT_EQ(core->admin().ListLeases().size(), first.welcomed ? 2u : 1u);
    if (first.welcomed) {
      HelloRequest back = Hello(AttachKind::kResume);
      back.reconnect_timeout_ms = 60'000;
      back.resume.session = first.id();
      back.resume.token = first.session().welcome().token;
      TestClient again(*core);
      ASSERT_TRUE(again.Open(back).ok());
      Prepare(&again);
      const uint64_t launch = again.Send(Launch(3));
      again.Run();
      EXPECT_EQ(again.Progress(), launch);
      second.Take();
      EXPECT_FALSE(second.welcomed) << "it is not its turn";
      again.Leave();
      again.Abandon(false);
    }
    (first.welcomed ? kept : dropped) += 1;
    RunSome();
    second.Take();
    EXPECT_TRUE(second.welcomed) << "the lease is free";
    second.Abandon(false);
    worker->Abandon(false);
    RunAll();
    EXPECT_THAT(core->admin().ListLeases(), IsEmpty());
    EXPECT_THAT(core->admin().ListSessions(), IsEmpty());
    if (HasFailure()) return;
  }
  EXPECT_GE(kept, 3u);
  EXPECT_GE(dropped, 3u);
}

}  // namespace
}  // namespace ttfd::session_lease_cut_test
