// What commands on their way take of the daemon's memory: counted as the heap counts it, held back beyond its limits,
// given back to the system afterwards.
#include <gtest/gtest.h>
#include <malloc.h>

#include <functional>
#include <memory>
#include <string>

#include "tests/support/core_fixture.h"

namespace ttfd {
namespace {

using std::chrono::milliseconds;

uint64_t HeapBytes() {
  const struct mallinfo2 info = mallinfo2();
  return info.uordblks + info.hblkhd;
}

class SessionHostMemory : public CoreTest {
 protected:
  void Begin() {
    Start();
    card->keep_log = false;
  }
  // Has a buffer 1 and a program 3.
  std::unique_ptr<TestClient> Ready(uint32_t uid = 1000) {
    auto client = Connect(uid);
    client->Send(Allocate(1, 4096), InlineKernel(2), OneKernelProgram(3, 2));
    client->Run();
    return client;
  }
  uint64_t Used(const std::string& limit, const TestClient* client, uint32_t uid = 1000) {
    const uint64_t session = client == nullptr ? 0 : client->session_->welcome().session;
    for (const LimitUsesReply& uses : core->GetLimits().uses) {
      if (uses.session != session || uses.uid != uid) continue;
      for (const LimitUseReply& use : uses.uses) {
        if (use.name == limit) return use.used;
      }
    }
    return 0;
  }
  uint64_t Held(const TestClient& client) { return Used("command_bytes_in_flight", &client); }
  static LaunchRequest LaunchWithArguments(size_t words) {
    LaunchRequest launch = Launch(3);
    ArgumentsRequest& arguments = launch.arguments.emplace_back();
    arguments.common.assign(words, 7);
    arguments.per_core = {1, 2};
    arguments.words_per_core = 2;
    arguments.buffers = {{0, 1, 0}};
    return launch;
  }
  // Sends launches, one at a time, until the session wants no more; how many.
  static int Flood(TestClient* client, int most = 100'000) {
    int sent = 0;
    while (sent < most && client->session().WantsInput()) {
      client->Send(Launch(3));
      ++sent;
    }
    return sent;
  }
};

struct Command {
  const char* name;
  std::function<Request(int)> make;
  uint64_t payload;
};

TEST_F(SessionHostMemory, IsCountedAsTheHeapCountsIt) {
  if (HeapBytes() == 0) GTEST_SKIP() << "a sanitizer's heap does not tell how much is in use";
  constexpr int kCommands = 8000;
  const Command kinds[] = {
      {"launch", [](int) { return Launch(3); }, 0},
      {"launch with arguments", [](int) { return LaunchWithArguments(32); }, 0},
      {"write", [](int) { return InlineWrite(1, 0, Pattern(64)); }, 64},
      {"copy",
       [](int) {
         return CopyRequest{1, 0, 1, 2048, 64};
       },
       0},
      {"read", [](int) { return Read(1, 0, 64); }, 0}};
  for (const Command& kind : kinds) {
    Begin();
    auto client = Ready();
    card->hold = true;
    for (int i = 0; i < 300; ++i) client->Send(kind.make(i));  // what goes to the card fills rings
    for (int i = 0; i < 300; ++i) core->RunOnce();
    const uint64_t heap = HeapBytes();
    const uint64_t held = Held(*client);
    for (int i = 0; i < kCommands; ++i) client->Send(kind.make(i));
    const auto grown = static_cast<double>(HeapBytes() - heap - kind.payload * kCommands);
    const auto counted = static_cast<double>(Held(*client) - held);
    EXPECT_GT(counted, 0.85 * grown) << kind.name << ": " << grown / kCommands << " bytes each";
    EXPECT_LT(counted, 1.15 * grown) << kind.name << ": " << grown / kCommands << " bytes each";
    RecordProperty(kind.name, static_cast<int>(grown / kCommands));
    card->hold = false;
    client->Run();
    EXPECT_EQ(Held(*client), 0u) << kind.name;
    client.reset();
    core.reset();
  }
}

TEST_F(SessionHostMemory, OfASessionIsHeldBackAtItsLimitAndWantedAgain) {
  options.limits.command_bytes_in_flight = 64 << 10;
  Begin();
  auto client = Ready();
  auto other = Ready();
  card->hold = true;
  const int sent = Flood(client.get());
  EXPECT_LT(sent, 500);
  EXPECT_GE(Held(*client), 64u << 10);
  EXPECT_LT(Held(*client), 66u << 10) << "a launch more than the limit";
  EXPECT_TRUE(other->session().WantsInput()) << "another session has its own";
  client->Take();
  const int ready = client->ready;
  card->hold = false;
  RunAll();
  EXPECT_GT(client->ready, ready) << "OutputReady says that input is wanted again";
  EXPECT_TRUE(client->session().WantsInput());
  client->Run();
  EXPECT_TRUE(client->errors.empty()) << "held back, not refused";
}

TEST_F(SessionHostMemory, OfAUserLeavesEachSessionAPartOfItsOwn) {
  options.limits.command_bytes_in_flight = 64 << 10;
  options.limits.command_bytes_in_flight_per_user = 64 << 10;
  Begin();
  auto first = Ready();
  auto second = Ready();
  auto stranger = Ready(2000);
  card->hold = true;
  Flood(first.get());
  Flood(second.get());
  EXPECT_GE(Held(*second), 4u << 10);
  EXPECT_LT(Held(*second), 6u << 10);
  EXPECT_EQ(Used("command_bytes_in_flight_per_user", nullptr), Held(*first) + Held(*second));
  Flood(stranger.get());
  EXPECT_GE(Used("command_bytes_in_flight_per_user", nullptr, 2000), 64u << 10)
      << "another user has its own";
  second->Take();
  const int ready = second->ready;
  card->hold = false;
  RunAll();
  EXPECT_GT(second->ready, ready);
  EXPECT_TRUE(second->session().WantsInput());
  for (TestClient* client : {first.get(), second.get(), stranger.get()}) {
    client->Run();
    EXPECT_TRUE(client->errors.empty());
  }
  EXPECT_EQ(Used("command_bytes_in_flight_per_user", nullptr), 0u);
}

TEST_F(SessionHostMemory, WhoseCommandWaitsForItsDataIsReadOnAndRefusedOnlyFarBeyond) {
  options.limits.command_bytes_in_flight = 64 << 10;
  Begin();
  auto client = Ready();
  const uint64_t write = client->Send(StreamedWrite(1, 0, 4096));
  uint64_t last = 0;
  for (int i = 0; i < 2000 && client->ErrorOf(last).code == StatusCode::kOk; ++i) {
    EXPECT_TRUE(client->session().WantsInput()) << "the data may be behind";
    last = client->SendOn(0, {}, Launch(3));
    if (Held(*client) > 4 * (64 << 10)) break;
  }
  EXPECT_GE(Held(*client), 4u * (64 << 10));
  const uint64_t refused = client->Send(Launch(3));
  ASSERT_TRUE(client->Supply(0, write, 0, Pattern(4096)).ok());
  client->Run();
  EXPECT_EQ(client->ErrorOf(write).code, StatusCode::kOk);
  EXPECT_EQ(client->ErrorOf(last).code, StatusCode::kOk);
  const ErrorReply error = client->ErrorOf(refused);
  EXPECT_EQ(error.code, StatusCode::kResourceExhausted) << error.message;
  EXPECT_EQ(error.limit, "command_bytes_in_flight");
  EXPECT_EQ(error.limit_value, 64u << 10);
  EXPECT_GE(error.limit_used, 4u * (64 << 10));
  EXPECT_EQ(Held(*client), 0u);
}

TEST_F(SessionHostMemory, OfARefusedReplayIsNotGivenBackTwice) {
  Begin();
  auto client = Ready();
  RecordTraceRequest record;
  record.handle = 4;
  record.launches = {LaunchWithArguments(4)};
  client->Send(std::move(record));
  ReplayTraceRequest replay;
  replay.trace = 4;
  TracePatchRequest& patch = replay.patches.emplace_back();
  patch.arguments = LaunchWithArguments(4).arguments.front();
  patch.arguments.buffers = {{0, 99, 0}};
  const uint64_t value = client->Send(std::move(replay));
  client->Run();
  EXPECT_EQ(client->ErrorOf(value).code, StatusCode::kNotFound) << client->ErrorOf(value).message;
  EXPECT_EQ(Held(*client), 0u);
  EXPECT_TRUE(client->session().WantsInput());
}

TEST_F(SessionHostMemory, IsGivenBackToTheSystemWhenAFloodIsOverAndNothingElseRuns) {
  int trims = 0;
  options.trim_memory = [&trims] { ++trims; };
  Begin();
  auto small = Ready();
  clock.Advance(milliseconds(2000));
  RunAll();
  EXPECT_EQ(trims, 0) << "not for a few commands";
  auto flooding = Ready();
  for (int i = 0; i < 4000; ++i) flooding->Send(Launch(3));
  flooding->Run();
  card->hold = true;
  small->Send(Launch(3));
  core->RunOnce();
  clock.Advance(milliseconds(1000));
  core->RunOnce();
  EXPECT_EQ(trims, 0) << "not while commands are on their way";
  card->hold = false;
  small->Run();
  clock.Advance(milliseconds(1000));
  RunAll();
  EXPECT_EQ(trims, 1) << "though its session goes on";
  clock.Advance(milliseconds(5000));
  RunAll();
  EXPECT_EQ(trims, 1);
  card->hold = true;
  for (int i = 0; i < 4000; ++i) flooding->Send(Launch(3));
  flooding.reset();
  card->hold = false;
  RunAll();
  clock.Advance(milliseconds(1000));
  RunAll();
  EXPECT_EQ(trims, 2) << "also of one that was abandoned";
}

}  // namespace
}  // namespace ttfd
