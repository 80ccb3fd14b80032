// What sessions feel of each other, through the whole core in made-up time: a session that floods is held at its
// window and others go on at once, equal sessions get equal time, and nobody waits longer than docs/reliability.md
// says.
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <memory>
#include <utility>
#include <vector>

#include "tests/support/core_fixture.h"
#include "tests/support/random.h"

namespace ttfd::session_sharing_test {
namespace {

using std::chrono::microseconds;

constexpr uint64_t kUploadBytes = 1 << 10;
constexpr uint32_t kLaunchCost = 400;
constexpr uint32_t kUploadCost = kUploadBytes + 400;
constexpr microseconds kLeastUpload{5};

uint64_t Nanoseconds(Duration duration) {
  return static_cast<uint64_t>(
      std::chrono::duration_cast<std::chrono::nanoseconds>(duration).count());
}

class SessionSharing : public CoreTest {
 protected:
  using Sender = std::function<void(TestClient&)>;

  // A card that does one command at a time, each in the time that `cost` says.
  void Prepare(std::function<Duration(const Command&)> cost) {
    options.card = CardExecutorOptions();
    Start();
    card->clock = &clock;
    card->cost = std::move(cost);
    card->completes_per_poll = 1;
    card->keep_log = false;
  }

  // Has a buffer 1 and a program 3.
  std::unique_ptr<TestClient> Client(uint32_t weight = 1, Priority priority = Priority::kNormal) {
    auto client = std::make_unique<TestClient>(*core);
    HelloRequest hello;
    hello.min_revision = hello.max_revision = 1;
    hello.client_name = "test";
    hello.weight = weight;
    hello.priority = priority;
    EXPECT_TRUE(client->Open(hello).ok());
    EXPECT_EQ(client->Send(Allocate(1, kUploadBytes), InlineKernel(2), OneKernelProgram(3, 2)), 1u);
    client->Run();
    return client;
  }

  SessionInfoReply InfoOf(TestClient& client) {
    for (const SessionInfoReply& info : core->admin().ListSessions()) {
      if (info.session == client.id()) return info;
    }
    ADD_FAILURE() << "the session is gone";
    return {};
  }

  // As a client does: sends while its window allows. Returns how many commands that were.
  static uint64_t FloodLaunches(TestClient& client) {
    uint64_t sent = 0;
    for (; client.MaySend(kLaunchCost); ++sent) client.SendOne(kLaunchCost, Launch(3));
    return sent;
  }
  static uint64_t FloodUploads(TestClient& client) {
    uint64_t sent = 0;
    for (; client.MaySend(kUploadCost); ++sent) {
      client.SendOne(kUploadCost, InlineWrite(1, 0, std::string(kUploadBytes, 'u')));
    }
    return sent;
  }

  // The card does a little; idle time passes.
  void Step() {
    if (!core->RunOnce()) clock.Advance(microseconds(20));
  }
};

Duration LaunchesTake(const Command& command, Duration launch) {
  return std::holds_alternative<LaunchCommand>(command) ? launch : Duration(microseconds(10));
}

// ---- windows

TEST_F(SessionSharing, FloodOfLaunches_StaysWithinItsWindow) {
  constexpr auto kLaunch = microseconds(50);
  options.limits.window_bytes = 500 * kLaunchCost;
  Prepare([&](const Command& command) { return LaunchesTake(command, kLaunch); });
  auto flood = Client();
  auto other = Client();
  card->hold = true;
  EXPECT_EQ(FloodLaunches(*flood), 500u);
  for (int i = 0; i < 10; ++i) core->RunOnce();
  flood->Take();
  EXPECT_EQ(FloodLaunches(*flood), 0u) << "nothing has ended, so the window is full";
  EXPECT_TRUE(other->MaySend(kLaunchCost)) << "whose window is its own";
  card->hold = false;

  const TimePoint sent = clock.Now();
  const uint64_t value = other->Send(Launch(3));
  uint64_t more = 0;
  while (other->Progress() < value && clock.Now() < sent + std::chrono::seconds(1)) {
    Step();
    other->Take();
    flood->Take();
    more += FloodLaunches(*flood);
  }
  EXPECT_EQ(other->Progress(), value);
  const Duration bound = options.scheduler.quantum + 2 * kLaunch;
  EXPECT_LE(clock.Now() - sent, bound) << "25 ms of launches were there before it";
  EXPECT_LE(more, flood->Progress() - 3) << "as much again as has ended, no more";
  EXPECT_LT(more, 30u);
}

TEST_F(SessionSharing, FloodOfData_StaysWithinItsWindow) {
  constexpr auto kUpload = microseconds(100);
  options.limits.window_bytes = 64 * kUploadCost;
  Prepare([&](const Command& command) {
    return std::holds_alternative<WriteCommand>(command) ? Duration(kUpload)
                                                         : Duration(microseconds(10));
  });
  auto flood = Client();
  auto other = Client();
  card->hold = true;
  EXPECT_EQ(FloodUploads(*flood), 64u);
  for (int i = 0; i < 10; ++i) core->RunOnce();
  flood->Take();
  EXPECT_EQ(FloodUploads(*flood), 0u) << "nothing has been written, so the window is full";
  EXPECT_TRUE(other->MaySend(kLaunchCost)) << "whose window is its own";
  card->hold = false;

  const TimePoint sent = clock.Now();
  const uint64_t value = other->Send(Launch(3));
  while (other->Progress() < value && clock.Now() < sent + std::chrono::seconds(1)) {
    Step();
    other->Take();
    flood->Take();
    FloodUploads(*flood);
    const SessionInfoReply info = InfoOf(*flood);
    ASSERT_LE(info.submitted[0].value - info.completed[0].value, 65u)
        << "as much again as was written, no more";
  }
  EXPECT_EQ(other->Progress(), value);
  // How long such writes take has to be learned: at first as much is given to the card as would be right for faster
  // ones, so that the 64 that were there may be before it.
  EXPECT_LE(clock.Now() - sent, 65 * kUpload);
  const TimePoint later = clock.Now();
  const uint64_t next = other->Send(Launch(3));
  while (other->Progress() < next && clock.Now() < later + std::chrono::seconds(1)) {
    Step();
    other->Take();
    flood->Take();
    FloodUploads(*flood);
  }
  EXPECT_LE(clock.Now() - later, options.scheduler.quantum + 2 * kUpload);
}

TEST_F(SessionSharing, Window_AdvancesAsWorkEnds) {
  options.limits.window_bytes = 100 * kLaunchCost;
  Prepare([](const Command&) { return Duration(microseconds(10)); });
  auto client = Client();
  uint64_t sent = 3;
  for (int i = 0; i < 2000; ++i) {
    Step();
    client->Take();
    sent += FloodLaunches(*client);
    ASSERT_LE(sent - client->Progress(), 100u);
  }
  EXPECT_GT(sent, 1000u) << "the window closed for good";
}

// ---- many sessions at once

// A session that floods, or one that sends one launch after the other with pauses.
struct Neighbour {
  std::unique_ptr<TestClient> client;
  bool light = false;
  bool uploads = false;
  uint64_t value = 3;
  TimePoint next;
};

class SessionNeighbours : public SessionSharing {
 protected:
  void Drive(Neighbour& neighbour, Random& random) {
    TestClient& client = *neighbour.client;
    client.Take();
    if (!neighbour.light) {
      neighbour.uploads ? FloodUploads(client) : FloodLaunches(client);
    } else if (client.Progress() == neighbour.value && clock.Now() >= neighbour.next) {
      neighbour.value = client.Send(Launch(3));
      neighbour.next = clock.Now() + pause_ / 2 + random() % 1000 * pause_ / 1000;
    }
  }
  void DriveAll(std::vector<Neighbour>& neighbours, Random& random, Duration time) {
    const TimePoint end = clock.Now() + time;
    while (clock.Now() < end) {
      for (Neighbour& neighbour : neighbours) Drive(neighbour, random);
      Step();
    }
  }

  Duration pause_{};  // of light sessions, about
};

TEST_F(SessionNeighbours, ALightSessionWaitsForAQuantumAndACommandWhateverOthersFlood) {
  options.limits.window_bytes = 400 * kLaunchCost;
  for (uint32_t seed = 1; seed <= 6; ++seed) {
    Random random(seed);
    // Half the seeds have launches that are all alike, the others such that differ by a factor of ten.
    const uint32_t least = 20 + random() % 100;
    const uint32_t spread = seed % 2 == 0 ? 1 : 9 * least;
    core.reset();
    Prepare([&, least, spread](const Command& command) {
      const auto launch = microseconds(least + random() % spread);
      return std::holds_alternative<LaunchCommand>(command) ? launch : launch / 20 + kLeastUpload;
    });
    // A twentieth of the card, where a share is an eighth.
    pause_ = 20 * microseconds(least + spread / 2);
    std::vector<Neighbour> neighbours(8);
    for (size_t i = 0; i < neighbours.size(); ++i) {
      neighbours[i].client = Client();
      neighbours[i].light = i == 0;
      neighbours[i].uploads = seed % 3 == 0 || (seed % 3 == 1 && i % 2 == 0);
    }
    DriveAll(neighbours, random, 200 * pause_);
    const SessionInfoReply light = InfoOf(*neighbours[0].client);
    uint64_t longest = 0;
    for (size_t i = 1; i < neighbours.size(); ++i) {
      longest = std::max(longest, InfoOf(*neighbours[i].client).longest_work_ns);
    }
    const uint64_t quantum = Nanoseconds(options.scheduler.quantum);
    EXPECT_GT(light.waits.count, 120u) << "seed " << seed;
    EXPECT_LE(light.waits.p99_ns, quantum + longest) << "seed " << seed;
    EXPECT_LE(light.waits.max_ns, 7 * (quantum + longest)) << "seed " << seed;
    neighbours.clear();
  }
}

TEST_F(SessionNeighbours, EightSessionsThatWantEverythingGetEqualTime) {
  for (uint32_t seed = 1; seed <= 4; ++seed) {
    Random random(seed);
    core.reset();
    Prepare([&](const Command& command) {
      const auto launch = microseconds(10 + random() % 200);
      return std::holds_alternative<LaunchCommand>(command) ? launch : launch / 20 + kLeastUpload;
    });
    std::vector<Neighbour> neighbours(8);
    for (size_t i = 0; i < neighbours.size(); ++i) {
      neighbours[i].client = Client();
      neighbours[i].uploads = i >= 4;
    }
    DriveAll(neighbours, random, std::chrono::milliseconds(800));
    double sum = 0;
    double squares = 0;
    for (Neighbour& neighbour : neighbours) {
      const auto had = static_cast<double>(InfoOf(*neighbour.client).device_ns);
      sum += had;
      squares += had * had;
    }
    EXPECT_GE(sum * sum / (8 * squares), 0.99) << "Jain's index, seed " << seed;
    EXPECT_GT(sum, 0.9 * 800e6) << "the card was at work";
    neighbours.clear();
  }
}

TEST_F(SessionNeighbours, TimeGoesByWeightAndPriorityAndTheLowAreNotStarved) {
  options.limits.priority = Priority::kHigh;
  options.limits.weight = 4;
  Random random(1);
  Prepare([&](const Command&) { return Duration(microseconds(20 + random() % 60)); });
  std::vector<Neighbour> neighbours(4);
  neighbours[0].client = Client(1, Priority::kLow);
  neighbours[1].client = Client(1);
  neighbours[2].client = Client(4);
  neighbours[3].client = Client(1, Priority::kHigh);
  DriveAll(neighbours, random, std::chrono::seconds(2));
  const auto had = [&](size_t i) {
    return static_cast<double>(InfoOf(*neighbours[i].client).device_ns);
  };
  EXPECT_NEAR(had(2) / had(1), 4, 0.6);
  EXPECT_NEAR(had(3) / had(1), 8, 1);
  EXPECT_NEAR(had(1) / had(0), 8, 2);
  EXPECT_GT(had(0), 0.5 / 105 * 2e9) << "an eighth of a share";
}

}  // namespace
}  // namespace ttfd::session_sharing_test
