// Resets of the harts and of the chip, and whether the card is in use.
#include <gmock/gmock.h>

#include <array>

#include "tests/support/core_fixture.h"

namespace ttfd::card_reset_test {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

class CardReset : public CoreTest {
 protected:
  void Prepare() {
    Start();
    for (std::unique_ptr<TestClient>& client : clients) {
      client = Connect();
      client->Send(Allocate(1, 4096), InlineKernel(2), OneKernelProgram(3, 2));
      client->Run();
    }
    card->log.clear();
  }

  std::array<std::unique_ptr<TestClient>, 2> clients;
};

// It costs all memory, so it is the second attempt.
TEST_F(CardReset, AChipIsResetWhereItsHartsDoNotBoot) {
  behaviour.resets_chip = true;
  Prepare();
  clients[0]->Send(Launch(3));
  card->next_poll = Error(StatusCode::kFailedPrecondition, "died");
  clients[0]->Run();
  EXPECT_THAT(card->log, Not(Contains("chip reset"))) << "the harts boot";
  card->failing_boots = 1;
  clients[1]->Send(Launch(3));
  card->next_poll = Error(StatusCode::kFailedPrecondition, "died");
  core->RunOnce();
  EXPECT_THAT(card->log, Contains("chip reset"));
  for (const auto& client : clients) {
    Status status;
    ASSERT_TRUE(client->Ended(&status));
    EXPECT_EQ(status.code(), StatusCode::kUnavailable);
    EXPECT_THAT(std::string(StatusMessage(status)), HasSubstr("loses all memory"));
  }
  EXPECT_EQ(core->admin().GetStatus().state, DaemonState::kReady);
  const auto next = Connect(1001);
  next->Send(Allocate(1, 4096), Read(1, 0, 16));
  next->Run();
  EXPECT_THAT(next->errors, IsEmpty());
}

TEST_F(CardReset, AChipThatDoesNotBootWithTheDaemonIsReset) {
  behaviour.resets_chip = true;
  behaviour.failing_boots = 1;
  Start();
  EXPECT_EQ(core->admin().GetStatus().state, DaemonState::kReady);
  EXPECT_THAT(card->log, Contains("chip reset"));
}

// Once: a chip that is silent afterwards is as lost as one that is removed.
TEST_F(CardReset, AChipThatFallsSilentIsReset) {
  behaviour.resets_chip = true;
  Prepare();
  card->presence = Error(StatusCode::kDataLoss, "it answers all ones");
  const auto look = [&] {
    clock.Advance(std::chrono::seconds(1));
    core->RunOnce();
  };
  look();
  EXPECT_EQ(core->admin().GetStatus().state, DaemonState::kFailed);
  EXPECT_THAT(card->log, Not(Contains("chip reset")));
  card->on_boot = [&] {
    if (!card->log.empty() && card->log.back() == "chip reset") card->presence = OkStatus();
  };
  look();
  EXPECT_THAT(card->log, Contains("chip reset"));
  EXPECT_EQ(core->admin().GetStatus().state, DaemonState::kReady);
}

TEST_F(CardReset, TheCardIsInUseWhileThereAreSessions) {
  std::vector<bool> uses;
  options.card.set_in_use = [&uses](bool in_use) { uses.push_back(in_use); };
  Prepare();
  EXPECT_THAT(uses, ElementsAre(true, true));
  clients[1].reset();
  core->RunOnce();
  EXPECT_TRUE(uses.back());
  clients[0].reset();
  core->RunOnce();
  EXPECT_FALSE(uses.back());
}

}  // namespace
}  // namespace ttfd::card_reset_test
