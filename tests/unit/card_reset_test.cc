// Resets of the harts and of the chip, and whether the card is in use.
#include <gmock/gmock.h>

#include <algorithm>
#include <array>
#include <memory>
#include <string>

#include "tests/support/core_fixture.h"

namespace ttfd::card_reset_test {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::SizeIs;

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
  Create();
  card->failing_boots = 1;
  ASSERT_TRUE(core->Boot().ok());
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
  set_in_use = [&uses](bool in_use) { uses.push_back(in_use); };
  Prepare();
  EXPECT_THAT(uses, ElementsAre(true, true));
  clients[1].reset();
  core->RunOnce();
  EXPECT_TRUE(uses.back());
  clients[0].reset();
  core->RunOnce();
  EXPECT_FALSE(uses.back());
}

// A user is not charged for a launch that a reset removed from the card, and gets its share at once.
class CardResetShares : public CoreTest {
 protected:
  CardResetShares() {
    // A launch is expected to take a hundred times what a write takes.
    options.scheduler.launch_guess = std::chrono::milliseconds(10);
    options.scheduler.transfer_overhead = std::chrono::microseconds(100);
    options.scheduler.quantum = std::chrono::microseconds(1);
  }

  // The card is reset under a launch of the first client that it has come to so far.
  void ResetUnderLaunch(ExecutionState state) {
    Start();
    ConnectBoth();
    clients[0]->Send(InlineKernel(2), OneKernelProgram(3, 2), Launch(3));
    card->hold = true;
    core->RunOnce();
    ASSERT_EQ(core->admin().GetStatus().devices[0].hardware_queues[0].in_flight, 1u);
    card->state = [state](const Ticket&) { return std::optional(state); };
    ASSERT_TRUE(core->admin().ResetDevice(0, [](const Status&) {}).ok());
    card->hold = false;
    RunAll();
    ASSERT_EQ(card->boots, 2);
    clients[0]->Take();
  }

  // Two users.
  void ConnectBoth() {
    for (size_t i = 0; i < clients.size(); ++i) {
      clients[i] = Connect(1000 + static_cast<uint32_t>(i));
      clients[i]->OpenQueue(ComputeQueue(1));
    }
  }

  // The first client's of the first ten writes that the card is given while both clients have ten.
  ptrdiff_t WritesOfFirst() {
    card->log.clear();
    for (uint32_t i = 0; i < clients.size(); ++i) {
      clients[i]->SendOn(1, {}, Allocate(1, 4096));
      for (int n = 0; n < 10; ++n) {
        clients[i]->SendOn(1, {}, InlineWrite(1, 0, Pattern(i == 0 ? 64 : 128)));
      }
    }
    RunAll();
    std::erase_if(card->log, [](const std::string& entry) { return !entry.starts_with("write "); });
    EXPECT_THAT(card->log, SizeIs(20));
    card->log.resize(10);
    return std::count(card->log.begin(), card->log.end(), "write 64");
  }

  std::array<std::unique_ptr<TestClient>, 2> clients;
};

TEST_F(CardResetShares, ALaunchThatWasInterruptedIsNotCharged) {
  ResetUnderLaunch(ExecutionState::kRunning);
  EXPECT_EQ(clients[0]->ErrorOf(3).reason, "DEVICE_RESET");
  EXPECT_EQ(WritesOfFirst(), 5);
}

TEST_F(CardResetShares, ALaunchThatHadEndedUnseenIsNotCharged) {
  ResetUnderLaunch(ExecutionState::kCompleted);
  EXPECT_EQ(clients[0]->Progress(), 3u);
  EXPECT_THAT(clients[0]->errors, IsEmpty());
  EXPECT_EQ(WritesOfFirst(), 5);
}

TEST_F(CardResetShares, ALaunchThatWentWithAllMemoryIsNotChargedToItsUser) {
  behaviour.memory_survives_reset = false;
  ResetUnderLaunch(ExecutionState::kRunning);
  ConnectBoth();
  EXPECT_EQ(WritesOfFirst(), 5);
}

}  // namespace
}  // namespace ttfd::card_reset_test
