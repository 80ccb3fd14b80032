// Random clients for a while, some killed, some over connections that break: in the end memory, open files and device
// memory are where they began. TTFD_SOAK_SECONDS sets the length. And storms: of deaths and of broken connections.
#include <gtest/gtest.h>

#include <cstdlib>
#include <iostream>

#include "tests/support/cut_relay.h"
#include "tests/support/death_fixture.h"
#include "tests/support/random.h"
#include "tests/support/reconnect_fixture.h"

namespace ttfd::testing {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using std::chrono::steady_clock;

// Of the daemon's memory in the second half: fragments. Some 12 sessions a client make a leak of 4 KiB a session twice
// as much in five minutes.
constexpr uint64_t kMostGrowth = 4 << 20;

struct Use {
  uint64_t files = 0;
  uint64_t bytes = 0;
};

class Soak : public ::testing::Test {
 protected:
  static seconds Length() {
    const char* const text = std::getenv("TTFD_SOAK_SECONDS");
    return seconds(text != nullptr ? std::strtol(text, nullptr, 10) : 60);
  }

  // Eight clients at a time until `end`; every third is killed, every fifth holds a lease, every fourth has a bad line.
  void Run(steady_clock::time_point end) {
    CutRelay relay(daemon_.address());
    relay.CutAfter(CutRelay::kToDaemon, 600'000, /*again=*/true);
    relay.CutAfter(CutRelay::kToClient, 400'000, /*again=*/true);
    struct Slot {
      std::unique_ptr<ClientProcess> client;
      steady_clock::time_point kill_at;
    };
    std::vector<Slot> slots(8);
    while (steady_clock::now() < end) {
      for (Slot& slot : slots) {
        if (slot.client != nullptr && steady_clock::now() < slot.kill_at) {
          const int code = slot.client->Ended();
          if (code < 0) continue;
          EXPECT_EQ(code, 0) << "a client has had a wrong answer";
          finished_ += code == 0 ? 1 : 0;
        } else if (slot.client != nullptr) {
          ++killed_;
        }
        const uint64_t seed = ++started_;
        const bool victim = seed % 3 == 0;
        const std::string address = seed % 4 == 0 ? relay.address() : daemon_.address();
        slot.client = std::make_unique<ClientProcess>(
            address, seed, victim ? 0 : 20 + random_() % 400, seed % 5 == 0);
        slot.kill_at = victim ? steady_clock::now() + milliseconds(random_() % 1000)
                              : steady_clock::now() + seconds(120);
      }
      std::this_thread::sleep_for(milliseconds(5));
    }
    slots.clear();
    cuts_ += relay.cuts();
  }

  Use Rest() {
    EXPECT_EQ(WaitForNothingLeft(daemon_.address()), Leftovers{});
    // Sockets are closed a moment after their sessions.
    Use use{OpenFiles(daemon_.pid()), ResidentBytes(daemon_.pid())};
    for (int i = 0; i < 100; ++i) {
      std::this_thread::sleep_for(milliseconds(20));
      const uint64_t files = OpenFiles(daemon_.pid());
      if (files == use.files && i > 20) break;
      use = {files, ResidentBytes(daemon_.pid())};
    }
    return use;
  }

  ClientDaemon daemon_;
  Random random_{13};
  uint64_t started_ = 0;
  uint64_t finished_ = 0;
  uint64_t killed_ = 0;
  uint64_t cuts_ = 0;
};

// Pools and caches grow until they have met the worst: a leak is what still grows in the second half.
TEST_F(Soak, EndsWhereItBegan) {
  constexpr int kParts = 4;
  std::vector<Use> rests;
  for (int part = 0; part < kParts; ++part) {
    Run(steady_clock::now() + Length() / kParts);
    rests.push_back(Rest());
    std::cout << "soak: " << Length().count() * (part + 1) / kParts << " s, " << started_
              << " clients, " << finished_ << " ended by themselves, " << killed_ << " killed, "
              << cuts_ << " connections cut; at rest " << rests.back().files << " open files, "
              << (rests.back().bytes >> 10) << " KiB resident, nothing on the card\n";
  }
  EXPECT_EQ(rests.back().files, rests.front().files);
  EXPECT_LE(rests.back().bytes, rests[kParts / 2 - 1].bytes + kMostGrowth);
  EXPECT_GT(finished_, 0u);
  EXPECT_GT(killed_, 0u);
  EXPECT_GT(cuts_, 0u);
}

TEST(DeathStorm, OfClients) { KillClients(400); }

TEST(DeathStorm, OfTheDaemon) { KillDaemon(40); }

}  // namespace
}  // namespace ttfd::testing

namespace ttfd::client {
namespace {

TEST_F(ClientReconnect, AtTwoThousandPlacesEachWay) { TryEverywhere(2000); }

}  // namespace
}  // namespace ttfd::client
