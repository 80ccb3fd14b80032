// What sessions feel of each other, through the whole core in made-up time: a session that floods is held at its
// credits and others go on at once, equal sessions get equal time, and nobody waits longer than docs/reliability.md
// says.
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <memory>
#include <utility>
#include <vector>

#include "tests/support/core_fixture.h"
#include "tests/support/random.h"

namespace ttfd {
namespace {

using std::chrono::microseconds;

constexpr uint64_t kUploadBytes = 1 << 10;
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
    options.engine = EngineOptions();
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
    for (const SessionInfoReply& info : core->ListSessions()) {
      if (info.session == client.session().welcome().session) return info;
    }
    ADD_FAILURE() << "the session is gone";
    return {};
  }

  // As its call does: sends until the session wants no more. Returns how many commands that were.
  static uint64_t FloodLaunches(TestClient& client) {
    uint64_t sent = 0;
    for (; client.session().WantsInput(); ++sent) client.Send(Launch(3));
    return sent;
  }
  static uint64_t FloodUploads(TestClient& client) {
    uint64_t sent = 0;
    for (; client.session().WantsInput(); ++sent) {
      client.Send(InlineWrite(1, 0, std::string(kUploadBytes, 'u')));
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

// ---- credits

TEST_F(SessionSharing, AFloodOfLaunchesIsHeldAtItsCreditsWhileAnothersWorkGoesOnAtOnce) {
  constexpr auto kLaunch = microseconds(50);
  options.windows.commands = 500;
  Prepare([&](const Command& command) { return LaunchesTake(command, kLaunch); });
  auto flood = Client();
  auto other = Client();
  card->hold = true;
  EXPECT_EQ(FloodLaunches(*flood), 500u);
  for (int i = 0; i < 10; ++i) core->RunOnce();
  EXPECT_EQ(FloodLaunches(*flood), 0u) << "nothing has ended, so there is no more credit";
  EXPECT_TRUE(other->session().WantsInput()) << "whose credits are its own";
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
  EXPECT_EQ(more, flood->Progress() - 3) << "as much again as has ended, no more";
  EXPECT_LT(more, 30u);
}

TEST_F(SessionSharing, AFloodOfDataIsHeldAtItsCreditsWhileAnothersWorkGoesOnAtOnce) {
  constexpr auto kUpload = microseconds(100);
  options.windows.payload_bytes = 64 * kUploadBytes;
  Prepare([&](const Command& command) {
    return std::holds_alternative<WriteCommand>(command) ? Duration(kUpload)
                                                         : Duration(microseconds(10));
  });
  auto flood = Client();
  auto other = Client();
  card->hold = true;
  EXPECT_EQ(FloodUploads(*flood), 64u);
  for (int i = 0; i < 10; ++i) core->RunOnce();
  EXPECT_EQ(FloodUploads(*flood), 0u) << "nothing has been written, so there is no more credit";
  EXPECT_TRUE(other->session().WantsInput()) << "whose credits are its own";
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

TEST_F(SessionSharing, CreditComesBackAsWorkEndsAndIsToldWithoutBeingAskedFor) {
  options.windows.commands = 100;
  Prepare([](const Command&) { return Duration(microseconds(10)); });
  auto client = Client();
  FloodLaunches(*client);
  uint64_t sent = 103;
  for (int i = 0; i < 2000; ++i) {
    Step();
    client->Take();
    // A client that believes what it is told and does not ask the session.
    while (sent < client->credit.commands) {
      client->Send(Launch(3));
      ++sent;
    }
    ASSERT_LE(sent - client->Progress(), 100u + 25) << "progress may be told later than credit";
  }
  EXPECT_GT(sent, 1000u) << "the credit dried up";
}

TEST(SessionWindows, ATurnToUploadHoldsAWholeMessageHoweverSmallTheWindow) {
  constexpr uint64_t kMiB = 1 << 20;
  SessionWindows windows;
  for (const auto& [window, turn] :
       {std::pair(kMiB / 4, kMiB / 4), {4 * kMiB, kMiB}, {8 * kMiB, kMiB}, {64 * kMiB, 8 * kMiB}}) {
    windows.payload_bytes = window;
    EXPECT_EQ(windows.turn_bytes(), turn) << window;
  }
}

// A client that believes what it is told of credit, and looks at nothing before it is told to.
struct Uploader {
  std::unique_ptr<TestClient> client;
  uint64_t window;
  uint64_t told = window;
  uint64_t sent = 3;      // the kernel's ELF
  uint64_t messages = 1;  // sent at once, when there is credit for all of them
  int looked = 0;

  bool MaySend() {
    if (std::exchange(looked, client->ready) != client->ready) {
      while (client->Take()) {
      }
    }
    told = std::max(told, client->credit.bytes);
    EXPECT_LE(told, sent + window) << "more than the daemon keeps";
    return sent + messages * kUploadBytes <= told;
  }
  void Send() {
    for (uint64_t i = 0; i < messages; ++i) {
      client->Send(InlineWrite(1, 0, std::string(kUploadBytes, 'u')));
    }
    sent += messages * kUploadBytes;
  }
};

class SessionUploads : public SessionSharing {
 protected:
  static constexpr uint64_t kWindow = 64 * kUploadBytes;

  void SetUp() override {
    options.windows.payload_bytes = kWindow;
    options.windows.least_turn_bytes = kUploadBytes;
    options.upload_turns.at_once = 2;
  }
  std::vector<Uploader> Uploaders(size_t number) {
    Prepare([](const Command&) { return Duration(microseconds(1)); });
    std::vector<Uploader> uploaders;
    for (size_t i = 0; i < number; ++i) {
      uploaders.push_back({Client(), options.windows.payload_bytes});
    }
    return uploaders;
  }
};

// Each sends half a turn between two looks of the daemon, if it was told that it may.
TEST_F(SessionUploads, WhereManyDoAFewAreToldToAtATimeAndAllComeToTheirTurn) {
  constexpr size_t kClients = 7;
  std::vector<Uploader> uploaders = Uploaders(kClients);
  size_t most_may_send = 0;
  for (int round = 0; round < 600; ++round) {
    size_t may_send = 0;
    // Nobody is always the first of those that have a turn at once.
    std::rotate(uploaders.begin(), uploaders.begin() + 1, uploaders.end());
    for (Uploader& uploader : uploaders) {
      may_send += uploader.MaySend() ? 1 : 0;
      for (int i = 0; i < 4 && uploader.MaySend(); ++i) uploader.Send();
    }
    // By then the windows that they began with are used up.
    if (round >= 100) most_may_send = std::max(most_may_send, may_send);
    for (int i = 0; i < 40; ++i) Step();
  }
  EXPECT_GT(most_may_send, 1u);
  EXPECT_LE(most_may_send, 4u) << "two, and two that have begun to send";
  const auto [least, most] =
      std::minmax_element(uploaders.begin(), uploaders.end(),
                          [](const Uploader& a, const Uploader& b) { return a.sent < b.sent; });
  EXPECT_GT(least->sent, 500 * kUploadBytes) << "the credit dried up";
  EXPECT_LE(most->sent - least->sent, kWindow) << "all had as many turns";

  // Alone again, one has its whole window.
  Uploader& last = uploaders.front();
  for (size_t i = 1; i < kClients; ++i) uploaders[i].client.reset();
  for (int round = 0; round < 200; ++round) {
    if (last.MaySend()) last.Send();
    for (int i = 0; i < 20; ++i) Step();
  }
  last.client->Run();
  last.MaySend();
  EXPECT_GE(last.told - last.sent, kWindow * 3 / 4);
}

TEST_F(SessionUploads, NobodyIsToldOfMoreThanItsWindowHowSmallItMayBe) {
  options.windows.payload_bytes = options.windows.least_turn_bytes = 8 * kUploadBytes;
  options.upload_turns.at_once = 1;
  std::vector<Uploader> uploaders = Uploaders(3);
  for (int round = 0; round < 600; ++round) {
    for (Uploader& uploader : uploaders) {
      if (uploader.MaySend()) uploader.Send();
    }
    for (int i = 0; i < 20; ++i) Step();
  }
  for (const Uploader& uploader : uploaders) EXPECT_GT(uploader.sent, 100 * kUploadBytes);
}

TEST_F(SessionUploads, WhoEndsLeavesItsTurnToTheNext) {
  options.upload_turns.at_once = 1;
  options.upload_turns.longest = std::chrono::hours(1);
  std::vector<Uploader> uploaders = Uploaders(2);
  for (Uploader& uploader : uploaders) {
    while (uploader.MaySend()) uploader.Send();
    uploader.client->Run();
  }
  EXPECT_TRUE(uploaders[0].MaySend());
  EXPECT_FALSE(uploaders[1].MaySend()) << "the other has its turn, and does not send";
  ClientSession& first = uploaders[0].client->session();
  first.FinishInput();
  uploaders[0].client->Run();
  Status status;
  EXPECT_TRUE(first.finished(&status));
  for (int i = 0; i < 20; ++i) Step();
  EXPECT_TRUE(uploaders[1].MaySend());
}

TEST_F(SessionUploads, WhoWaitsForMoreThanATurnGetsItToo) {
  std::vector<Uploader> uploaders = Uploaders(5);
  ASSERT_GT(40 * kUploadBytes, 4 * options.windows.turn_bytes());
  uploaders.back().messages = 40;
  for (int round = 0; round < 4'000; ++round) {
    for (Uploader& uploader : uploaders) {
      if (uploader.MaySend()) uploader.Send();
    }
    for (int i = 0; i < 4; ++i) Step();
  }
  EXPECT_GT(uploaders.back().sent, 3 * kWindow) << "it waits for ever";

  // The others stop to send while it waits: what they do not use is no reason either.
  const uint64_t before = uploaders.back().sent;
  for (int round = 0; round < 4'000; ++round) {
    if (uploaders.back().MaySend()) uploaders.back().Send();
    for (int i = 0; i < 4; ++i) Step();
  }
  EXPECT_GT(uploaders.back().sent - before, 3 * kWindow);
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
  options.windows.commands = 400;
  options.windows.payload_bytes = 400 * kUploadBytes;
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
}  // namespace ttfd
