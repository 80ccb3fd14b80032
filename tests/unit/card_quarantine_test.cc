// A user whose launches hang or fault too often is quarantined with all its sessions; the card and others are not.
#include <gmock/gmock.h>

#include "tests/support/offender_fixture.h"

namespace ttfd::card_quarantine_test {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;

class QuarantineOfAUser : public OffenderTest {
 protected:
  void Hang() {
    card->next_poll = Error(StatusCode::kDeadlineExceeded, "nothing can move any more");
    BatchRequest batch;
    batch.clears_error = offender->Progress();
    batch.commands = {Launch(3)};
    offender->SendBatch(std::move(batch));
    offender->Run();
    EXPECT_EQ(offender->ErrorOf(offender->Progress()).reason, "HANG");
  }
  SessionInfoReply Info() {
    for (const SessionInfoReply& info : core->admin().ListSessions()) {
      if (info.session == offender->id()) return info;
    }
    return {};
  }
};

TEST_F(QuarantineOfAUser, BeginsWithTheSecondHangWithinAWhile) {
  options.hangs = {2, 60'000};
  Prepare();
  offender->OpenQueue(ComputeQueue(1));
  offender->Send(BarrierRequest{});
  offender->Run();
  Hang();
  EXPECT_EQ(Info().state, SessionState::kActive);
  EXPECT_EQ(Info().hangs, 1u);
  Hang();
  EXPECT_EQ(Info().state, SessionState::kQuarantined);
  EXPECT_THAT(
      Info().quarantine_reason,
      HasSubstr("quarantined for 60 s: 2 of its launches hung or faulted within that time"));

  offender->SendOn(1, {}, Launch(3));
  offender->Run();
  const ErrorReply error = offender->ErrorOf(1, 1);
  EXPECT_EQ(error.code, StatusCode::kFailedPrecondition);
  EXPECT_EQ(error.reason, "QUARANTINED");
  EXPECT_THAT(error.message, HasSubstr("an administrator can release it earlier"));

  other->Send(Launch(3), Read(1, 0, 4096));
  other->Run();
  EXPECT_THAT(other->errors, IsEmpty()) << "another user";
  EXPECT_EQ(other->Data(6), Pattern(4096));

  const uint64_t id = offender->id();
  EXPECT_EQ(core->admin().ReleaseSession(id + 100).code(), StatusCode::kNotFound);
  ASSERT_TRUE(core->admin().ReleaseSession(id).ok());
  core->HandleAllInput();
  EXPECT_EQ(core->admin().ReleaseSession(id).code(), StatusCode::kFailedPrecondition);
  BatchRequest batch;
  batch.queue = 1;
  batch.clears_error = 1;
  batch.commands = {Launch(3), Read(1, 0, 4096)};
  offender->SendBatch(std::move(batch));
  offender->Run();
  EXPECT_EQ(offender->Data(3, 1), Pattern(4096)) << "what it had is still there";
  EXPECT_EQ(Info().state, SessionState::kActive);
}

TEST_F(QuarantineOfAUser, HoldsForAllItsSessionsWhereReadsAndFreesPass) {
  options.hangs = {1, 60'000};
  Prepare();
  const std::unique_ptr<TestClient> before = Connect();
  before->Send(Allocate(1, 1024), InlineKernel(2), OneKernelProgram(3, 2),
               InlineWrite(1, 0, Pattern(1024)));
  before->Run();
  Hang();
  const std::unique_ptr<TestClient> after = Connect();
  for (TestClient* const client : {before.get(), after.get()}) {
    client->OpenQueue(ComputeQueue(1));
    client->SendOn(1, {}, Launch(3));
    client->Run();
    EXPECT_EQ(client->ErrorOf(1, 1).reason, "QUARANTINED");
  }
  after->OpenQueue(TransferQueue(2));
  after->SendOn(2, {}, Allocate(1, 64));
  after->Run();
  EXPECT_EQ(after->ErrorOf(1, 2).reason, "QUARANTINED");
  const uint64_t read = before->Send(Read(1, 0, 1024), Free({1}), BarrierRequest{});
  before->Run();
  EXPECT_THAT(before->errors, ::testing::SizeIs(1)) << "the launch";
  EXPECT_EQ(before->Data(read), Pattern(1024));
  EXPECT_EQ(before->Progress(), read + 2);

  ASSERT_TRUE(core->admin().ReleaseSession(after->id()).ok());
  before->Send(Launch(3));
  before->Run();
  EXPECT_THAT(before->errors, ::testing::SizeIs(1));
}

TEST_F(QuarantineOfAUser, WhatHadNotStartedEndsWithTheSameReason) {
  options.hangs = {1, 60'000};
  options.card.window_commands = 1;
  Prepare();
  offender->OpenQueue(ComputeQueue(1));
  offender->Send(BarrierRequest{});
  offender->Run();
  card->hold = true;
  offender->Send(Launch(3));
  core->RunOnce();
  offender->SendOn(1, {}, Launch(3), Read(1, 0, 16));
  card->hold = false;
  card->next_poll = Error(StatusCode::kDeadlineExceeded, "nothing can move any more");
  offender->Run();
  EXPECT_EQ(offender->ErrorOf(6).reason, "HANG");
  EXPECT_EQ(offender->ErrorOf(1, 1).reason, "QUARANTINED");
  EXPECT_EQ(offender->Progress(1), 2u);
}

TEST_F(QuarantineOfAUser, HoldsForASessionThatSendsNothingMore) {
  options.hangs = {1, 60'000};
  options.card.window_commands = 1;
  Prepare();
  offender->OpenQueue(ComputeQueue(1));
  offender->Send(BarrierRequest{});
  offender->Run();
  card->hold = true;
  offender->Send(Launch(3));
  core->RunOnce();
  offender->SendOn(1, {}, Launch(3));
  offender->Finish();
  card->hold = false;
  card->next_poll = Error(StatusCode::kDeadlineExceeded, "nothing can move any more");
  offender->Run();
  EXPECT_EQ(offender->ErrorOf(6).reason, "HANG");
  EXPECT_EQ(offender->ErrorOf(1, 1).reason, "QUARANTINED");
}

// All of them were on the card at once.
TEST_F(QuarantineOfAUser, LaunchesThatHadNotBegunWhenItCameDoNotRun) {
  options.hangs = {1, 60'000};
  Prepare();
  offender->OpenQueue(ComputeQueue(1));
  offender->Send(BarrierRequest{});
  offender->Run();
  int launches = 0;
  card->on_launch = [&launches](const LaunchCommand&) { return ++launches, OkStatus(); };
  card->hold = true;
  const uint64_t before = card->submitted(0);
  offender->Send(Launch(3));
  core->RunOnce();
  offender->SendOn(1, {}, Launch(3), Read(1, 0, 16));
  core->RunOnce();
  ASSERT_EQ(card->submitted(0), before + 3) << "all on the card";
  card->hold = false;
  card->next_poll = Error(StatusCode::kDeadlineExceeded, "nothing can move any more");
  offender->Run();
  EXPECT_EQ(offender->ErrorOf(6).reason, "HANG");
  EXPECT_EQ(offender->ErrorOf(1, 1).reason, "QUARANTINED");
  EXPECT_EQ(offender->Progress(1), 2u);
  EXPECT_EQ(launches, 0);
  EXPECT_EQ(card->boots, 2);
}

TEST_F(QuarantineOfAUser, EndsByItselfWhenAsMuchTimeHasPassedAgain) {
  options.hangs = {2, 60'000};
  Prepare();
  Hang();
  Hang();
  clock.Advance(std::chrono::seconds(59));
  RunAll();
  EXPECT_EQ(Info().state, SessionState::kQuarantined);
  clock.Advance(std::chrono::seconds(1));
  RunAll();
  EXPECT_EQ(Info().state, SessionState::kActive);
  Hang();
  EXPECT_EQ(Info().state, SessionState::kActive) << "it counts anew";
}

TEST_F(QuarantineOfAUser, DoesNotBeginWithHangsFarApart) {
  options.hangs = {2, 60'000};
  Prepare();
  Hang();
  clock.Advance(std::chrono::seconds(61));
  Hang();
  EXPECT_EQ(Info().state, SessionState::kActive);
  EXPECT_EQ(Info().hangs, 2u);
}

TEST_F(QuarantineOfAUser, CanBeSwitchedOff) {
  options.hangs.quarantine_hangs = 0;
  Prepare();
  for (int i = 0; i < 5; ++i) Hang();
  EXPECT_EQ(Info().state, SessionState::kActive);
}

}  // namespace
}  // namespace ttfd::card_quarantine_test
