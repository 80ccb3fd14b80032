// What kernels print goes to the session that launched them, before the end of their launch is told, and within a
// limit.
#include <gmock/gmock.h>

#include "daemon/session/output_buffer.h"
#include "tests/support/core_fixture.h"

namespace ttfd::session_print_test {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

KernelPrint Line(const std::string& text) { return {0, 0, "kernel", 1, 2, hw::kNcrisc, text}; }

std::vector<std::string> TextsOf(const TestClient& client) {
  std::vector<std::string> texts;
  for (const KernelPrintReply& reply : client.prints) texts.push_back(reply.print.text);
  return texts;
}

class SessionPrints : public CoreTest {
 protected:
  void Prepare() {
    Start();
    first = Connect();
    second = Connect();
    for (TestClient* client : {first.get(), second.get()}) {
      client->Send(InlineKernel(2), OneKernelProgram(3, 2));
      client->Run();
    }
  }

  std::unique_ptr<TestClient> first, second;
};

TEST_F(SessionPrints, GoToTheSessionThatLaunched) {
  Prepare();
  int launches = 0;
  card->on_launch = [&](const LaunchCommand&) {
    card->Print({0, card->completed(0) + 1}, Line("launch " + std::to_string(++launches)));
    return OkStatus();
  };
  const uint64_t value = first->Send(Launch(3));
  first->Run();
  second->Send(Launch(3));
  second->Run();
  EXPECT_THAT(TextsOf(*first), ElementsAre("launch 1"));
  EXPECT_THAT(TextsOf(*second), ElementsAre("launch 2"));
  EXPECT_EQ(first->prints[0].position, (QueuePosition{0, value}));
  EXPECT_EQ(first->Progress(), value);
}

TEST_F(SessionPrints, OfALaunchThatFaultsComeBeforeItsError) {
  Prepare();
  card->on_launch = [this](const LaunchCommand&) {
    card->on_launch = nullptr;
    return Error(StatusCode::kFailedPrecondition, "died");
  };
  card->on_halt = [this] { card->Print({0, card->completed(0) + 1}, Line("last words")); };
  const uint64_t value = first->Send(Launch(3));
  first->Run();
  EXPECT_EQ(first->ErrorOf(value).reason, "DEVICE_FAULT");
  EXPECT_THAT(TextsOf(*first), ElementsAre("last words"));
}

TEST_F(SessionPrints, OfAnAdministratorsResetComeBeforeItsError) {
  Prepare();
  card->hold = true;
  card->on_halt = [this] { card->Print({0, card->submitted(0)}, Line("last words")); };
  first->Send(Launch(3));
  core->RunOnce();
  ASSERT_TRUE(core->admin().ResetDevice(0, [](const Status&) {}).ok());
  card->hold = false;
  first->Run();
  EXPECT_THAT(TextsOf(*first), ElementsAre("last words"));
}

TEST_F(SessionPrints, OfAnUnknownTicketGoNowhere) {
  Prepare();
  card->Print({0, 4711}, Line("nobody's"));
  card->Print({1, 1}, Line("nobody's"));
  first->Run();
  second->Run();
  EXPECT_THAT(first->prints, IsEmpty());
  EXPECT_THAT(second->prints, IsEmpty());
}

TEST(OutboxPrints, BeyondTheLimitTheOldestAreDroppedAndCounted) {
  OutputBuffer outbox;
  constexpr uint64_t kLimit = 10'000;
  for (int i = 0; i < 1000; ++i) outbox.AddPrint({{0, 1}, Line(std::to_string(i))}, kLimit);
  outbox.SetProgress(0, 1);
  const SessionOutputBatch batch = outbox.Take(1);
  ASSERT_FALSE(batch.prints.empty());
  EXPECT_LT(batch.prints.size(), kLimit / 100);
  EXPECT_EQ(batch.prints.front().lost, 1000 - batch.prints.size());
  EXPECT_EQ(batch.prints.front().print.text, std::to_string(batch.prints.front().lost));
  EXPECT_EQ(batch.prints.back().print.text, "999");
  EXPECT_EQ(batch.prints.back().lost, 0u);
  EXPECT_EQ(batch.progress.size(), 1u) << "in the same message, behind them";
  EXPECT_TRUE(outbox.empty());
  outbox.AddPrint({{0, 2}, Line("next")}, kLimit);
  EXPECT_EQ(outbox.Take(1).prints.front().lost, 0u) << "reported once";
}

TEST(OutboxPrints, OneIsKeptHoweverLong) {
  OutputBuffer outbox;
  outbox.AddPrint({{0, 1}, Line(std::string(1000, 'x'))}, 100);
  EXPECT_EQ(outbox.Take(1).prints.size(), 1u);
}

}  // namespace
}  // namespace ttfd::session_print_test
