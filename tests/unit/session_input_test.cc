// The way of input to the device thread: nothing that was posted is lost, sessions take turns, and long work is done
// elsewhere.
#include <gmock/gmock.h>

#include <functional>
#include <thread>
#include <utility>

#include "daemon/session/inbox.h"
#include "tests/support/core_fixture.h"

namespace ttfd::session_input_test {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::SizeIs;

// ---- The inbox.

class NoOutput final : public SessionOutput {
  void OutputReady() override {}
};

class InboxTest : public ::testing::Test {
 protected:
  static MessageRequest Numbered(uint64_t number) {
    MessageRequest message;
    message.cancels.push_back({0, number});
    return message;
  }

  SessionLimits limits;
  NoOutput connection, other;
  ReceiveWindow window{limits, std::make_shared<WindowPool>()};
  Inbox inbox{window, "first", &connection, /*waits_for_lease=*/false};
};

TEST_F(InboxTest, NothingPostedIsLost_AndTheDeviceThreadIsCalledOnlyWhenItIsNotThere) {
  constexpr uint64_t kMessages = 20'000;
  Mutex mu;
  CondVar changed;
  uint64_t calls = 0;
  std::thread poster([&] {
    for (uint64_t number = 1; number <= kMessages; ++number) {
      const StatusOr<bool> first = inbox.Post(&connection, Numbered(number), [] {});
      ASSERT_TRUE(first.ok());
      if (!*first) continue;
      MutexLock lock(&mu);
      ++calls;
      changed.NotifyOne();
    }
  });
  uint64_t taken = 0;
  TakenInput input;
  while (taken < kMessages) {
    {
      MutexLock lock(&mu);
      while (calls == 0) {
        ASSERT_TRUE(changed.WaitUntil(&mu, SteadyClock().Now() + std::chrono::seconds(20)));
      }
      ASSERT_EQ(--calls, 0u) << "not called again before it is idle";
    }
    do {
      inbox.Take(&input);
      for (const MessageRequest& message : std::exchange(input.messages, {})) {
        ASSERT_EQ(message.cancels.at(0).value, ++taken);
      }
    } while (!inbox.BecomeIdle());
  }
  poster.join();
}

TEST_F(InboxTest, Post_ChargesTheWindowBeforeTheMessageIsHeld) {
  MessageRequest message = Numbered(1);
  message.cost = limits.window_bytes + 1;
  bool accepted = false;
  const auto first = inbox.Post(&connection, std::move(message), [&] { accepted = true; });
  EXPECT_EQ(first.status().code(), StatusCode::kResourceExhausted);
  EXPECT_FALSE(accepted);
  EXPECT_TRUE(inbox.empty());
}

TEST_F(InboxTest, Attach_LetsTheOtherConnectionSendAndTheTokenBeforeBeUsedUntilItDoes) {
  const auto connect = [] { return true; };
  EXPECT_FALSE(inbox.Attach("guess", "second", &other, connect));
  EXPECT_FALSE(inbox.Attach("first", "second", &other, [] { return false; }));
  ASSERT_TRUE(inbox.Attach("first", "second", &other, connect));
  EXPECT_EQ(inbox.Post(&connection, {}, [] {}).status().code(), StatusCode::kAborted);
  ASSERT_TRUE(inbox.Attach("first", "third", &other, connect))
      << "the Welcome with the second was lost";
  ASSERT_TRUE(inbox.Post(&other, {}, [] {}).ok());
  EXPECT_FALSE(inbox.Attach("first", "fourth", &connection, connect));
  EXPECT_TRUE(inbox.Attach("third", "fourth", &connection, connect));
}

TEST_F(InboxTest, Close_DropsMessagesAndKeepsControls) {
  ASSERT_TRUE(inbox.Post(&connection, Numbered(1), [] {}).ok());
  inbox.Post([](Session&) {});
  inbox.Close(Error(StatusCode::kUnavailable, "ended"));
  EXPECT_EQ(inbox.Post(&connection, Numbered(2), [] {}).status().code(), StatusCode::kUnavailable);
  TakenInput input;
  inbox.Take(&input);
  EXPECT_THAT(input.controls, SizeIs(1));
  EXPECT_THAT(input.messages, IsEmpty());
  EXPECT_TRUE(inbox.BecomeIdle());
}

TEST_F(InboxTest, Take_AddsToWhatIsThereInTheOrderOfThePosts) {
  TakenInput input;
  for (uint64_t number = 1; number <= 3; number += 2) {
    for (uint64_t i = number; i <= number + 1; ++i) {
      ASSERT_TRUE(inbox.Post(&connection, Numbered(i), [] {}).ok());
      inbox.Post([](Session&) {});
    }
    inbox.Take(&input);
    EXPECT_TRUE(inbox.empty());
    EXPECT_THAT(input.controls, SizeIs(number + 1));
    ASSERT_THAT(input.messages, SizeIs(number + 1));
    EXPECT_EQ(input.messages.back().cancels.at(0).value, number + 1);
  }
  EXPECT_EQ(input.messages.front().cancels.at(0).value, 1u);
}

// ---- Turns.

// Time passes with every call, so that a round of turns is one.
class TickingClock final : public Clock {
 public:
  static constexpr Duration kStep = InputTurns::kRound;
  TimePoint Now() override { return now_ += kStep; }
  void Sleep(Duration time) override { now_ += time; }

 private:
  TimePoint now_{};
};

class SessionInput : public CoreTest {
 protected:
  SessionInput() {
    core_clock = &ticking;
    behaviour.dram_bank_bytes = 16 << 20;
  }
  // With buffer 1 and program 3.
  std::unique_ptr<TestClient> Prepared(uint32_t uid) {
    auto client = Connect(uid);
    client->Send(Allocate(1, 4096), InlineKernel(2), OneKernelProgram(3, 2));
    client->Run();
    EXPECT_THAT(client->errors, IsEmpty());
    return client;
  }
  // Posts commands on queue 0, from value `first` on, without having them handled.
  static void Post(TestClient& client, uint64_t first, std::vector<Request> commands) {
    BatchRequest batch;
    batch.first_value = first;
    batch.commands = std::move(commands);
    MessageRequest message;
    message.batches.push_back(std::move(batch));
    EXPECT_TRUE(client.session().Accept(std::move(message), [] {}).ok());
  }
  static LaunchRequest LaunchWithBuffers(size_t buffers) {
    LaunchRequest launch = Launch(3);
    ArgumentsRequest arguments;
    for (uint32_t word = 0; word < buffers; ++word) arguments.buffers.push_back({word, 1, 0});
    arguments.common.resize(buffers);
    launch.arguments.push_back(std::move(arguments));
    return launch;
  }
  static Request Trace(size_t launches) {
    RecordTraceRequest record;
    record.handle = 9;
    record.launches.assign(launches, Launch(3));
    return record;
  }
  uint64_t Submitted(const TestClient& client) {
    for (const SessionInfoReply& info : core->admin().ListSessions()) {
      if (info.session == client.id()) return info.submitted.at(0).value;
    }
    return 0;
  }

  TickingClock ticking;
};

TEST_F(SessionInput, AFloodDelaysOthersByNoMoreThanATurn) {
  struct Flood {
    const char* name;
    std::vector<Request> commands;
  };
  const Flood floods[] = {
      {"small commands", std::vector<Request>(4000, BarrierRequest{})},
      {"launches with buffers", std::vector<Request>(200, LaunchWithBuffers(200))},
      {"a trace", {Trace(4000)}},
      {"writes", std::vector<Request>(400, InlineWrite(1, 0, Pattern(4096)))},
      {"refused commands", std::vector<Request>(4000, Launch(77))},
  };
  for (const Flood& flood : floods) {
    for (const uint32_t uid : {1000u, 1001u}) {
      Start();
      auto flooding = Prepared(1000);
      auto light = Prepared(uid);
      Post(*flooding, 4, flood.commands);
      Post(*light, 4, {BarrierRequest{}});
      core->RunOnce();
      core->RunOnce();
      light->Take();
      EXPECT_EQ(light->Progress(), 4u) << flood.name << " of user " << uid;
      EXPECT_LT(Submitted(*flooding), 3 + flood.commands.size()) << flood.name << " are left";
      for (int rounds = 0; core->RunOnce() || flooding->Take(); ++rounds) ASSERT_LT(rounds, 10'000);
      EXPECT_EQ(Submitted(*flooding), 3 + flood.commands.size()) << flood.name;
      flooding.reset();
      light.reset();
    }
  }
}

TEST_F(SessionInput, ATraceIsDecodedInTurnsAndIsWhole) {
  Start();
  int launches = 0;
  card->on_launch = [&launches](const LaunchCommand&) {
    ++launches;
    return OkStatus();
  };
  auto client = Prepared(1000);
  ReplayTraceRequest replay;
  replay.trace = 9;
  Post(*client, 4, {Trace(4000), replay});
  core->RunOnce();
  EXPECT_EQ(Submitted(*client), 3u) << "one command takes several turns";
  client->Run();
  EXPECT_THAT(client->errors, IsEmpty());
  EXPECT_EQ(client->Progress(), 5u);
  EXPECT_EQ(launches, 4000);
}

TEST_F(SessionInput, AQueueThatFailsWhileACommandIsDecoded_FailsTheCommand) {
  Start();
  auto client = Prepared(1000);
  card->on_launch = [](const LaunchCommand&) {
    return Error(StatusCode::kFailedPrecondition, "died");
  };
  Post(*client, 4, {Launch(3), Trace(kMaxTraceLaunches)});
  client->Run();
  EXPECT_EQ(client->Progress(), 5u);
  EXPECT_EQ(client->ErrorOf(4).reason, "DEVICE_FAULT");
  EXPECT_EQ(client->ErrorOf(5).cause, (QueuePosition{0, 4}));
  card->on_launch = nullptr;
  BatchRequest batch;
  batch.clears_error = 5;
  batch.commands = {Trace(2)};
  const uint64_t value = 6;
  batch.first_value = value;
  client->SendBatch(std::move(batch));
  client->Run();
  EXPECT_EQ(client->ErrorOf(value).message, "") << "the handle is free again";
}

// ---- Host work.

TEST(HostWorkTest, SessionsTakeTurns) {
  HostWork work;
  std::vector<std::string> done;
  const auto add = [&](uint64_t session, const char* name) {
    work.Add(session, [&done, name] { done.emplace_back(name); });
  };
  add(1, "a1");
  add(1, "a2");
  add(1, "a3");
  add(2, "b1");
  add(7, "c1");
  while (work.RunOne()) continue;
  EXPECT_THAT(done, ElementsAre("a1", "b1", "c1", "a2", "a3"));
  add(1, "left");
  work.Start();
  work.Stop();
  EXPECT_EQ(done.back(), "left");
}

TEST_F(SessionInput, HostWorkOfAnEndedSessionIsNotDone) {
  int loads = 0;
  options.load_kernel = [&loads](ByteSpan elf, const std::string& name) {
    ++loads;
    return LoadFakeKernel(elf, name);
  };
  Start();
  auto client = Connect();
  Post(*client, 1, {InlineKernel(2)});
  client->Abandon(/*lost=*/false);
  EXPECT_EQ(loads, 0);
  RunAll();
  EXPECT_EQ(loads, 0);
  EXPECT_THAT(core->admin().ListSessions(), IsEmpty());
}

// ---- While the card is waited for.

TEST_F(SessionInput, InputAndControlsAreHandledWhileTheCardBoots) {
  Start();
  auto failing = Prepared(1000);
  auto busy = Prepared(1001);
  auto ended = Prepared(1002);
  auto terminated = Prepared(1003);
  int waits = 0;
  card->on_launch = [](const LaunchCommand&) {
    return Error(StatusCode::kFailedPrecondition, "died");
  };
  card->boot_lasts = [&] {
    if (++waits == 1) {
      Post(*busy, 4, {Allocate(5, 4096)});
      MessageRequest leave;
      leave.leave = true;
      EXPECT_TRUE(ended->session().Accept(std::move(leave), [] {}).ok());
      EXPECT_TRUE(core->admin().TerminateSession(terminated->id(), "enough").ok());
    }
    const auto has_ended = [](TestClient& client) {
      Status status;
      return client.session().CheckEnd(true, &status) == SessionPort::Ending::kEnded;
    };
    busy->Take();
    const bool all = busy->Progress() == 4 && has_ended(*ended) && has_ended(*terminated);
    return !all && waits < 100;
  };
  Post(*failing, 4, {Launch(3)});
  failing->Run();
  EXPECT_EQ(card->boots, 2);
  EXPECT_LT(waits, 100) << "during the boot";
  EXPECT_THAT(core->admin().ListSessions(), SizeIs(2));
}

}  // namespace
}  // namespace ttfd::session_input_test
