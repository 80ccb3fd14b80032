// Several cards in one daemon, through the whole core on fake cards: where sessions go, what belongs to which card, and
// what a card that hangs, is reset or lost leaves to the others.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "tests/support/lease_fixture.h"

namespace ttfd::daemon_cards_test {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

constexpr std::array<uint32_t, 2> kBoth = {0, 1};

class DaemonCardsTest : public LeaseTest {
 protected:
  DaemonCardsTest() { card_count = 2; }

  HelloRequest To(std::optional<uint32_t> device, AttachKind attach = AttachKind::kNew) {
    HelloRequest hello = Hello(attach);
    hello.device = device;
    return hello;
  }
  // A session on this card, with 4 KiB of DRAM as handle 1 and a program as handle 3; value 4 is next.
  std::unique_ptr<TestClient> On(std::optional<uint32_t> device) {
    auto client = std::make_unique<TestClient>(*core);
    const Status status = client->Open(To(device));
    EXPECT_TRUE(status.ok()) << StatusMessage(status);
    Prepare(client.get());
    return client;
  }
  static uint32_t DeviceOf(TestClient& client) { return client.session().welcome().device; }
  DeviceState StateOfDevice(uint32_t device) {
    return core->admin().GetStatus().devices[device].state;
  }
  // The session works: its card runs a launch.
  static void ExpectServed(TestClient& client) {
    const uint64_t launch = client.Send(Launch(3));
    client.Run();
    EXPECT_EQ(client.Progress(), launch);
    EXPECT_THAT(client.errors, IsEmpty());
  }
};

// ---- where sessions go

TEST_F(DaemonCardsTest, SessionsGoToTheCardWithTheFewestOfTheirUserUnlessTheyNameOne) {
  Start();
  std::vector<std::unique_ptr<TestClient>> clients;
  for (const uint32_t expected : {0u, 1u, 0u}) {
    clients.push_back(On(std::nullopt));
    EXPECT_EQ(DeviceOf(*clients.back()), expected);
  }
  clients.push_back(On(0));
  EXPECT_EQ(DeviceOf(*clients.back()), 0u);
  clients.erase(clients.begin(), clients.begin() + 1);
  RunAll();
  EXPECT_EQ(DeviceOf(*On(std::nullopt)), 1u) << "two are on device 0";
  EXPECT_EQ(clients.front()->session().welcome().devices->size(), 2u);

  TestClient wrong(*core);
  const Status refused = wrong.Open(To(2));
  EXPECT_EQ(refused.code(), StatusCode::kNotFound);
  EXPECT_THAT(std::string(StatusMessage(refused)), HasSubstr("devices 0 to 1"));
}

TEST_F(DaemonCardsTest, AUserWithManySessionsKeepsOthersOffNoCard) {
  Start();
  std::vector<std::unique_ptr<TestClient>> parked;
  for (int i = 0; i < 5; ++i) {
    parked.push_back(std::make_unique<TestClient>(*core));
    ASSERT_TRUE(parked.back()->Open(To(1), 2000).ok());
  }
  parked.push_back(std::make_unique<TestClient>(*core));
  ASSERT_TRUE(parked.back()->Open(To(0), 2000).ok());
  const auto first = On(std::nullopt);
  EXPECT_EQ(DeviceOf(*first), 0u) << "each card has one other user";
  EXPECT_EQ(DeviceOf(*On(std::nullopt)), 1u) << "though there are five sessions";
}

TEST_F(DaemonCardsTest, ALeaseIsOfOneCardAndTheOthersStayShared) {
  Start();
  const auto before = On(1);
  TestClient holder(*core);
  ASSERT_TRUE(holder.Open(To(0, AttachKind::kLease)).ok());
  RunAll();
  holder.Take();
  ASSERT_TRUE(holder.welcomed);
  ExpectServed(*before);
  EXPECT_EQ(DeviceOf(*On(std::nullopt)), 1u) << "device 0 is leased, though it has fewer sessions";
  const auto blocked = On(0);
  blocked->Send(Launch(3));
  RunAll();
  blocked->Take();
  EXPECT_EQ(blocked->lease_wait().holders.named.front().session, holder.id());

  holder.OpenQueue({7, 1, 0, {}});
  holder.Take();
  EXPECT_THAT(holder.ErrorOf(0, 7).message, HasSubstr("is of device 0"));
  TestClient member(*core);
  HelloRequest join = To(1, AttachKind::kLeaseToken);
  join.lease_token = holder.lease_token;
  EXPECT_EQ(member.Open(join).code(), StatusCode::kInvalidArgument);
  join.device.reset();
  ASSERT_TRUE(member.Open(join).ok());
  EXPECT_EQ(DeviceOf(member), 0u);
  TestClient other(*core);
  ASSERT_TRUE(other.Open(To(1, AttachKind::kLease)).ok());
  RunAll();
  other.Take();
  EXPECT_TRUE(other.welcomed) << "both leases are held at once";
  const std::vector<LeaseInfoReply> leases = core->admin().ListLeases();
  ASSERT_EQ(leases.size(), 2u);
  EXPECT_THAT(leases[1].devices, ElementsAre(1));
}

// ---- what belongs to which card

TEST_F(DaemonCardsTest, ObjectsAreOfTheCardOfTheirQueueAndKernelsOfNone) {
  Start();
  const auto client = On(0);
  client->OpenQueue({1, 1, 0, {}});
  client->SendOn(1, {}, OneKernelProgram(4, 2), Allocate(5, 4096), Launch(4),
                 InlineWrite(5, 0, Pattern(64)));
  client->Run();
  EXPECT_THAT(client->errors, IsEmpty());
  EXPECT_THAT(cards[1]->log, Contains("launch"));
  EXPECT_THAT(cards[0]->log, Not(Contains("launch")));
  const SessionInfoReply info = core->admin().ListSessions().front();
  EXPECT_THAT(info.devices, ElementsAre(0, 1));

  const struct {
    Request request;
    const char* field;
  } foreign[] = {{Launch(3), "launch.program"},
                 {Read(1, 0, 16), "read.buffer"},
                 {InlineWrite(1, 0, Pattern(64)), "write.buffer"}};
  for (const auto& one : foreign) {
    BatchRequest batch;
    batch.queue = 1;
    batch.commands.push_back(one.request);
    const uint64_t value = client->SendBatch(std::move(batch));
    client->Run();
    const ErrorReply error = client->ErrorOf(value, 1);
    EXPECT_EQ(error.field, one.field);
    EXPECT_THAT(error.message, HasSubstr("is of device 0; the queue is on device 1"));
    BatchRequest clear;
    clear.queue = 1;
    clear.clears_error = value;
    clear.commands.push_back(BarrierRequest());
    client->SendBatch(std::move(clear));
    client->Run();
  }
  const uint64_t freed = client->SendOn(1, {}, Free({1}));
  client->Run();
  EXPECT_EQ(client->ErrorOf(freed, 1).code, StatusCode::kOk) << "any queue may free";
  EXPECT_EQ(core->admin().GetStatus().devices[0].memory[0].used_bytes, 0u);
}

TEST_F(DaemonCardsTest, AWaitForAQueueOfAnotherCardLastsUntilTheCommandHasEnded) {
  Start();
  const auto client = On(0);
  client->OpenQueue({1, 1, 0, {}});
  client->SendOn(1, {}, OneKernelProgram(4, 2));
  client->Run();
  cards[0]->hold = true;
  const uint64_t first = client->Send(Launch(3));
  client->SendOn(1, {{0, first}}, Launch(4));
  RunSome();
  EXPECT_THAT(cards[0]->log, Contains("launch"));
  EXPECT_THAT(cards[1]->log, Not(Contains("launch")));
  cards[0]->hold = false;
  client->Run();
  EXPECT_THAT(cards[1]->log, Contains("launch"));
  EXPECT_THAT(client->errors, IsEmpty());
}

// ---- what others keep

// While device 0 boots again, device 1 takes and ends commands; then device 0 works again.
TEST_F(DaemonCardsTest, WhileACardThatHungBootsTheOthersServe) {
  Start();
  const auto offender = On(0);
  const auto other = On(1);
  TestClient holder(*core);  // requests a lease of device 1 meanwhile
  int ticks = 0;
  uint64_t launch = 0;
  cards[0]->boot_lasts = [&] {
    if (ticks++ == 0) launch = other->Send(Launch(3));
    other->Take();
    if (other->Progress() < launch) return ticks < 100;
    if (holder.session_ == nullptr) {
      EXPECT_TRUE(holder.Open(To(1, AttachKind::kLease)).ok());
    }
    holder.Take();
    return !holder.welcomed && ticks < 100;
  };
  cards[0]->next_poll = Error(StatusCode::kFailedPrecondition, "died");
  const uint64_t hung = offender->Send(Launch(3));
  offender->Run();
  EXPECT_NE(offender->ErrorOf(hung).code, StatusCode::kOk);
  EXPECT_NE(launch, 0u);
  EXPECT_EQ(other->Progress(), launch);
  EXPECT_THAT(other->errors, IsEmpty());
  EXPECT_TRUE(holder.welcomed);
  EXPECT_LT(ticks, 100);
  const StatusReply status = core->admin().GetStatus();
  EXPECT_EQ(status.devices[0].stats.resets, 1u);
  EXPECT_EQ(status.devices[1].stats.resets, 0u);
  EXPECT_THAT(status.devices[0].last_error, HasSubstr("died"));
  EXPECT_EQ(status.devices[1].last_error, "");
}

TEST_F(DaemonCardsTest, AResetOfOneCardLeavesTheOthersAsTheyAre) {
  Start();
  const auto reset_one = On(0);
  const auto other = On(1);
  for (FakeCard* one : cards) one->hold = true;
  const uint64_t lost = reset_one->Send(Launch(3));
  const uint64_t kept = other->Send(Launch(3));
  core->RunOnce();
  bool done = false;
  ASSERT_TRUE(
      core->admin().ResetDevice(0, [&done](const Status& status) { done = status.ok(); }).ok());
  core->RunOnce();
  for (FakeCard* one : cards) one->hold = false;
  RunAll();
  reset_one->Take();
  other->Take();
  EXPECT_TRUE(done);
  EXPECT_EQ(reset_one->ErrorOf(lost).reason, "DEVICE_RESET");
  EXPECT_EQ(other->ErrorOf(kept).code, StatusCode::kOk);
  EXPECT_EQ(other->Progress(), kept);
  EXPECT_EQ(cards[1]->boots, 1);
}

// A lost card ends the sessions that use it, and no others; new ones go elsewhere until it is back.
TEST_F(DaemonCardsTest, ALostCardEndsTheSessionsThatUseItAndNoOthers) {
  Start();
  const auto on_it = On(0);
  const auto on_both = On(1);
  on_both->OpenQueue({1, 0, 0, {}});
  const auto other = On(1);
  cards[0]->presence = Error(StatusCode::kUnavailable, "its registers read all ones");
  clock.Advance(std::chrono::seconds(1));
  RunAll();
  for (TestClient* ended : {on_it.get(), on_both.get()}) {
    EXPECT_EQ(EndOf(ended).code(), StatusCode::kUnavailable);
  }
  ExpectServed(*other);
  EXPECT_EQ(StateOfDevice(0), DeviceState::kFailed);
  EXPECT_EQ(core->admin().GetStatus().state, DaemonState::kReady);
  const auto late = On(std::nullopt);
  EXPECT_EQ(DeviceOf(*late), 1u);
  TestClient refused(*core);
  EXPECT_THAT(std::string(StatusMessage(refused.Open(To(0)))), HasSubstr("all ones"));

  cards[0]->presence = OkStatus();
  bool done = false;
  ASSERT_TRUE(
      core->admin().ResetDevice(0, [&done](const Status& status) { done = status.ok(); }).ok());
  RunAll();
  EXPECT_TRUE(done);
  ExpectServed(*On(0));
}

TEST_F(DaemonCardsTest, ACardThatDoesNotBootAtTheStartIsServedOnceAResetHelps) {
  Create();
  cards[0]->failing_boots = 1;
  ASSERT_TRUE(core->Boot().ok());
  EXPECT_EQ(StateOfDevice(0), DeviceState::kFailed);
  ExpectServed(*On(std::nullopt));
  bool done = false;
  ASSERT_TRUE(
      core->admin().ResetDevice(0, [&done](const Status& status) { done = status.ok(); }).ok());
  RunAll();
  EXPECT_TRUE(done);
  ExpectServed(*On(0));
}

TEST_F(DaemonCardsTest, WithoutACardThatBootsThereIsNoDaemon) {
  Create();
  for (FakeCard* one : cards) one->failing_boots = 1;
  EXPECT_EQ(core->Boot().code(), StatusCode::kDeadlineExceeded);
}

// ---- a chip behind another

class CardBehind : public DaemonCardsTest {
 protected:
  CardBehind() {
    change_served = [this](std::vector<ServedCard>* served) {
      (*served)[1].behind = 0;
      (*served)[1].settle = [this] {
        steps.emplace_back("settle");
        return OkStatus();
      };
    };
  }
  void StartWith(bool resets_chip) {
    behaviour.resets_chip = resets_chip;
    Start();
    cards[0]->on_boot = [this] { steps.emplace_back("boot"); };
    steps.clear();
  }

  std::vector<std::string> steps;
};

TEST_F(CardBehind, ItsWritesTakeEffectBeforeTheOtherIsReset) {
  StartWith(false);
  const auto behind = On(1);
  bool done = false;
  ASSERT_TRUE(
      core->admin().ResetDevice(0, [&done](const Status& status) { done = status.ok(); }).ok());
  RunAll();
  EXPECT_TRUE(done);
  EXPECT_THAT(steps, ElementsAre("settle", "settle", "boot")) << "before it is halted and booted";
  ExpectServed(*behind);
  EXPECT_EQ(cards[1]->boots, 1);
}

TEST_F(CardBehind, AResetOfTheOthersChipEndsItsSessions) {
  StartWith(true);
  const auto behind = On(1);
  cards[0]->failing_boots = 1;  // the reset of the chip follows
  ASSERT_TRUE(core->admin().ResetDevice(0, [](const Status&) {}).ok());
  core->RunOnce();
  EXPECT_THAT(std::string(StatusMessage(EndOf(behind.get()))), HasSubstr("is reset"));
  EXPECT_EQ(StateOfDevice(1), DeviceState::kFailed);
  clock.Advance(std::chrono::seconds(1));
  RunAll();
  EXPECT_EQ(StateOfDevice(1), DeviceState::kReady) << "it is looked for";
}

// A link that failed may be opened again: what is in flight fails, what lies in memory stays.
TEST_F(CardBehind, IsBootedAgainWhenItWasCutOff) {
  StartWith(false);
  const auto behind = On(1);
  cards[1]->hold = true;
  const uint64_t lost = behind->Send(Launch(3));
  core->RunOnce();
  cards[1]->presence = Error(StatusCode::kUnavailable, "no answer over 0.0");
  cards[1]->next_poll = cards[1]->presence;
  cards[1]->on_boot = [this] { cards[1]->presence = OkStatus(); };
  core->RunOnce();
  cards[1]->hold = false;
  RunAll();
  behind->Take();
  const ErrorReply error = behind->ErrorOf(lost);
  EXPECT_EQ(error.reason, "DEVICE_RESET");
  EXPECT_THAT(error.message, HasSubstr("no answer over 0.0"));
  EXPECT_EQ(StateOfDevice(1), DeviceState::kReady);
  Status status;
  EXPECT_FALSE(behind->Ended(&status)) << StatusMessage(status);
}

// ---- cards whose kernels wait for each other

struct StalledCase {
  const char* what;
  bool linked;
  bool other_stalled;  // with a launch; else the other card has nothing to do
  bool other_moves;    // its launch still runs
  bool hangs;          // the stalled card
};

class LinkDomainStalled : public DaemonCardsTest,
                          public ::testing::WithParamInterface<StalledCase> {};
INSTANTIATE_TEST_SUITE_P(
    , LinkDomainStalled,
    ::testing::Values(StalledCase{"alone", false, false, false, true},
                      StalledCase{"next to one at work", false, false, true, true},
                      StalledCase{"for one at work", true, false, true, false},
                      StalledCase{"for one without work", true, false, false, false},
                      StalledCase{"for each other", true, true, false, true}));

TEST_P(LinkDomainStalled, AStalledCardHangsIfWhatItMayWaitForIsStalled) {
  const StalledCase& one = GetParam();
  Start();
  if (one.linked) core->SetLinked(kBoth, true);
  const auto client = On(0);
  const auto other = On(1);
  cards[0]->hold = cards[0]->stalled = true;
  cards[1]->hold = true;
  cards[1]->stalled = one.other_stalled;
  client->Send(Launch(3));
  if (one.other_stalled || one.other_moves) other->Send(Launch(3));
  RunSome();
  cards[0]->hold = cards[1]->hold = false;
  const StatusReply status = core->admin().GetStatus();
  EXPECT_EQ(status.devices[0].stats.resets, one.hangs ? 1u : 0u) << one.what;
  EXPECT_EQ(status.devices[1].stats.resets, one.other_stalled ? 1u : 0u) << one.what;
  RunAll();
}

// A timeout alone decides there.
// Links join what is linked already.
TEST_F(DaemonCardsTest, ACardWaitsForAllThatItIsLinkedWithByOthers) {
  card_count = 3;
  Start();
  core->SetLinked(kBoth, true);
  core->SetLinked(std::array<uint32_t, 2>{1, 2}, true);
  const auto first = On(0);
  const auto last = On(2);
  for (FakeCard* one : cards) one->hold = true;
  cards[0]->stalled = true;
  first->Send(Launch(3));
  last->Send(Launch(3));
  RunSome();
  EXPECT_EQ(cards[0]->boots, 1);
  core->SetLinked(std::array<uint32_t, 1>{0}, false);
  RunSome();
  EXPECT_EQ(cards[0]->boots, 2) << "it waits for no other card";
  for (FakeCard* one : cards) one->hold = false;
  RunAll();
}

TEST_F(DaemonCardsTest, ACardThatWaitsForOneWithoutWorkHangsAfterItsKernelTimeout) {
  Start();
  core->SetLinked(kBoth, true);
  const auto client = On(0);
  cards[0]->hold = cards[0]->stalled = true;
  client->Send(Launch(3));
  RunSome();
  EXPECT_EQ(cards[0]->boots, 1);
  clock.Advance(std::chrono::milliseconds(options.timeouts.kernel_ms + 1));
  core->RunOnce();
  EXPECT_EQ(cards[0]->boots, 2);
  core->SetLinked(kBoth, false);
  cards[0]->hold = cards[0]->stalled = false;
  const auto next = On(0);
  cards[0]->hold = cards[0]->stalled = true;
  next->Send(Launch(3));
  RunSome();
  EXPECT_EQ(cards[0]->boots, 3) << "at once: nothing else can move it";
  cards[0]->hold = false;
  RunAll();
}

}  // namespace
}  // namespace ttfd::daemon_cards_test
