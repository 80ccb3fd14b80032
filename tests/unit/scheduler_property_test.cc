// The scheduler against a simple model of its rules, in made-up time: random sessions with random weights, priorities,
// arrivals and works. It does what the model does, nobody waits longer than the bound, and what is shared is time.
#include <gtest/gtest.h>

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include "daemon/scheduler/scheduler.h"
#include "tests/support/random.h"

namespace ttfd {
namespace {

using std::chrono::microseconds;

constexpr double kMicrosecond = 1000;
constexpr double kLongestWork = 400 * kMicrosecond;

// The rules as they are written down, one round at a time, looking at everybody each time.
class Model {
 public:
  Model(size_t flows, double quantum, uint64_t aging_rounds)
      : quantum_(quantum), aging_rounds_(aging_rounds), per_share_(quantum / 8), flows_(flows) {}

  struct Flow {
    uint32_t uid = 0;
    bool known = false;
    double share = 1;
    Priority priority = Priority::kNormal;
    double balance = 0;
    bool light = true;
    uint64_t place = 0;
    uint64_t round = 0;
    uint64_t due = 0;
    size_t works = 0;
  };

  void Push(size_t index, uint32_t uid, double share, Priority priority) {
    Flow& flow = flows_[index];
    if (!flow.known) {
      flow = {uid,  true,      share,  priority, std::min(per_share_ * share, quantum_),
              true, ++places_, round_, 0,        0};
      TakeOver(flow);
    }
    if (flow.works++ > 0) return;
    if (flow.round != round_) {
      flow.light = flow.balance > 0 || round_ - flow.round > 1;
      Grant(flow, static_cast<double>(round_ - flow.round));
    }
    flow.due = round_ + aging_rounds_;
  }

  std::optional<size_t> Next() {
    const bool any =
        std::any_of(flows_.begin(), flows_.end(), [](const Flow& flow) { return flow.works > 0; });
    if (!any) return std::nullopt;
    while (true) {
      std::optional<size_t> best;
      for (size_t i = 0; i < flows_.size(); ++i) {
        if (flows_[i].works == 0 || flows_[i].balance <= 0) continue;
        if (!best || GoesBefore(flows_[i], flows_[*best])) best = i;
      }
      if (best) return best;
      ++round_;
      double largest = 0;
      for (const Flow& flow : flows_) {
        if (flow.works > 0) largest = std::max(largest, flow.share);
      }
      per_share_ = quantum_ / largest;
      for (Flow& flow : flows_) {
        if (flow.works == 0) continue;
        flow.light = flow.balance > 0;
        Grant(flow, 1);
        if (flow.balance <= 0 && round_ >= flow.due) flow.balance = 1;
      }
    }
  }

  void Popped(size_t index, double cost) {
    Flow& flow = flows_[index];
    --flow.works;
    flow.due = round_ + aging_rounds_;
    Add(flow, -cost);
  }
  void Used(size_t index, double cost, double used) { Add(flows_[index], cost - used); }

  // The session has ended; whoever comes next under this index is another.
  void Forget(size_t index) { gone_.push_back(std::exchange(flows_[index], Flow())); }

  const Flow& flow(size_t index) const { return flows_[index]; }
  uint64_t round() const { return round_; }

 private:
  void Add(Flow& flow, double amount) {
    const bool had = flow.balance > 0;
    flow.balance = std::min(flow.balance + amount, std::min(per_share_ * flow.share, quantum_));
    if (had && flow.balance <= 0) flow.place = ++places_;
  }
  // As if the one of the user's that has the most had stayed, unless it stood no worse than a newcomer by now.
  void TakeOver(Flow& flow) {
    const auto rounds = [&](const Flow& gone) { return static_cast<double>(round_ - gone.round); };
    std::erase_if(gone_, [&](const Flow& gone) {
      const double grant = std::min(per_share_ * gone.share, quantum_);
      return rounds(gone) > 1 && gone.balance + rounds(gone) * grant >= grant;
    });
    const double grant = std::min(per_share_ * flow.share, quantum_);
    const Flow* most = nullptr;
    for (const Flow& gone : gone_) {
      if (gone.uid != flow.uid) continue;
      const double had = gone.balance + rounds(gone) * grant;
      if (most == nullptr || had < most->balance + rounds(*most) * grant) most = &gone;
    }
    if (most == nullptr) return;
    flow.balance = std::min(most->balance, grant);
    flow.round = most->round;
    flow.light = most->light;
    flow.place = most->place;
    gone_.erase(gone_.begin() + (most - gone_.data()));
  }
  void Grant(Flow& flow, double rounds) {
    const double grant = std::min(per_share_ * flow.share, quantum_);
    flow.balance = std::min(flow.balance + rounds * grant, grant);
    flow.round = round_;
  }
  static bool GoesBefore(const Flow& a, const Flow& b) {
    if (a.priority != b.priority) return a.priority > b.priority;
    if (a.light != b.light) return a.light;
    if (a.light && a.balance / a.share != b.balance / b.share) {
      return a.balance / a.share > b.balance / b.share;
    }
    return a.place < b.place;
  }

  const double quantum_;
  const uint64_t aging_rounds_;
  double per_share_;
  uint64_t round_ = 0;
  uint64_t places_ = 0;
  std::vector<Flow> flows_;
  std::vector<Flow> gone_;
};

double Nanoseconds(Duration duration) {
  return std::chrono::duration<double, std::nano>(duration).count();
}

struct Session {
  uint32_t uid = 0;
  uint64_t number = 0;       // of those that had this place, one after the other
  bool comes_again = false;  // as another session, whenever it has nothing to do
  uint32_t weight = 1;
  Priority priority = Priority::kNormal;
  uint32_t patience = 0;  // of 100: how often it sends something when it may
  double work = 0;        // nanoseconds that its works take, about
  size_t waiting = 0;
  double head_since = 0;  // its first work waits for others since then
  bool had_turn = false;  // when that wait began
  double used = 0;
};

// A card that does one work at a time, and sessions that send to it.
class Scenario {
 public:
  explicit Scenario(uint32_t seed, uint64_t aging_rounds, bool flood)
      : random_(seed),
        flood_(flood),
        model_(2 + seed % 9, Quantum(), aging_rounds),
        scheduler_(Options(aging_rounds)),
        sessions_(2 + seed % 9) {
    for (Session& session : sessions_) {
      session.weight = 1 + random_() % 10;
      session.priority = static_cast<Priority>(random_() % 3);
      session.uid = random_() % 3;
      session.comes_again = random_() % 2 == 0;
      session.patience = flood ? 100 : 1 + random_() % 100;
      session.work = (5 + random_() % 195) * kMicrosecond;
    }
  }

  // One work through the card. False: nobody had one.
  bool Step() {
    Arrivals();
    const std::optional<size_t> expected = model_.Next();
    Work work;
    const bool popped = scheduler_.Pop(&work);
    EXPECT_EQ(popped, expected.has_value());
    if (!popped || !expected) {
      now_ += 20 * kMicrosecond;
      return false;
    }
    const size_t index = work.flow % kPlaces;
    EXPECT_EQ(index, *expected) << "at " << now_ << " in round " << model_.round();
    Session& session = sessions_[index];
    const double waited = now_ - session.head_since;
    if (session.had_turn) longest_wait_with_turn_ = std::max(longest_wait_with_turn_, waited);
    longest_wait_ = std::max(longest_wait_, waited);
    const double cost = Nanoseconds(work.cost);
    model_.Popped(index, cost);
    --session.waiting;
    // What it takes is not what was expected.
    const double takes = session.work * (0.5 + 1.5 * (random_() % 1000) / 1000.0);
    now_ += takes;
    session.used += takes;
    const Duration measured(static_cast<Duration::rep>(takes));
    scheduler_.Used(work, measured);
    model_.Used(index, cost, std::max(Nanoseconds(measured), 2 * kMicrosecond));
    HeadOf(index);
    if (session.comes_again && session.waiting == 0) {
      scheduler_.Forget(work.flow);
      model_.Forget(index);
      ++session.number;
      ++ended_;
    }
    return true;
  }

  static double Quantum() { return 1000 * kMicrosecond; }
  double others() const { return static_cast<double>(sessions_.size() - 1); }
  double longest_wait() const { return longest_wait_; }
  double longest_wait_with_turn() const { return longest_wait_with_turn_; }
  const std::vector<Session>& sessions() const { return sessions_; }

  uint64_t ended() const { return ended_; }

 private:
  static constexpr size_t kPlaces = 16;

  static SchedulerOptions Options(uint64_t aging_rounds) {
    SchedulerOptions options;
    options.quantum = std::chrono::duration_cast<Duration>(microseconds(1000));
    options.aging_rounds = static_cast<uint32_t>(aging_rounds);
    return options;
  }

  void Arrivals() {
    for (size_t i = 0; i < sessions_.size(); ++i) {
      Session& session = sessions_[i];
      size_t count = 0;
      if (flood_) {
        count = session.waiting < 50 ? 50 : 0;
      } else if (random_() % 100 < session.patience && session.waiting < 40) {
        count = 1 + random_() % 3;
      }
      for (; count > 0; --count) {
        Work work;
        work.flow = session.number * kPlaces + i;
        work.uid = session.uid;
        work.weight = session.weight;
        work.priority = session.priority;
        work.bytes = 64 << 10;
        work.command = FillCommand{};
        scheduler_.Push(std::move(work));
        model_.Push(i, session.uid, static_cast<double>(ShareOf(session.weight, session.priority)),
                    session.priority);
        if (session.waiting++ == 0) HeadOf(i);
      }
    }
  }

  void HeadOf(size_t index) {
    Session& session = sessions_[index];
    session.head_since = now_;
    session.had_turn = model_.flow(index).balance > 0;
  }

  Random random_;
  const bool flood_;
  Model model_;
  Scheduler scheduler_;
  std::vector<Session> sessions_;
  double now_ = 0;
  double longest_wait_ = 0;
  double longest_wait_with_turn_ = 0;
  uint64_t ended_ = 0;
};

TEST(SchedulerProperty, DoesWhatTheSimpleModelDoesAndNobodyWaitsLongerThanTheBound) {
  constexpr uint64_t kAgingRounds = 12;
  uint64_t works = 0;
  uint64_t ended = 0;
  for (uint32_t seed = 0; seed < 300; ++seed) {
    Scenario scenario(seed, kAgingRounds, false);
    for (int i = 0; i < 2000; ++i) works += scenario.Step() ? 1 : 0;
    // One turn of each other session: its grant and the work that overruns it.
    const double round = scenario.others() * (Scenario::Quantum() + kLongestWork);
    EXPECT_LE(scenario.longest_wait_with_turn(), round) << "seed " << seed;
    EXPECT_LE(scenario.longest_wait(), (kAgingRounds + 1) * round) << "seed " << seed;
    ended += scenario.ended();
    if (::testing::Test::HasFailure()) return;
  }
  EXPECT_GT(works, 200'000u) << "mostly idle: nothing was tried";
  EXPECT_GT(ended, 10'000u) << "sessions that came again as others";
}

TEST(SchedulerProperty, NobodyIsStarvedByThoseWhoNeverStop) {
  constexpr uint64_t kAgingRounds = 20;
  double longest = 0;
  for (uint32_t seed = 0; seed < 100; ++seed) {
    Scenario scenario(seed, kAgingRounds, true);
    for (int i = 0; i < 3000; ++i) scenario.Step();
    const double round = scenario.others() * (Scenario::Quantum() + kLongestWork);
    EXPECT_LE(scenario.longest_wait(), (kAgingRounds + 1) * round) << "seed " << seed;
    longest = std::max(longest, scenario.longest_wait() / round);
    if (::testing::Test::HasFailure()) return;
  }
  EXPECT_GT(longest, 1.0) << "nobody with a small share was there";
}

TEST(SchedulerProperty, DeviceTimeIsSharedByWeightAndPriority) {
  for (uint32_t seed = 0; seed < 100; ++seed) {
    Scenario scenario(seed, 1'000'000, true);
    for (int i = 0; i < 4000; ++i) scenario.Step();
    const auto share = [](const Session& session) {
      return static_cast<double>(ShareOf(session.weight, session.priority));
    };
    const std::vector<Session>& sessions = scenario.sessions();
    const Session& largest =
        *std::max_element(sessions.begin(), sessions.end(),
                          [&](const Session& a, const Session& b) { return share(a) < share(b); });
    for (const Session& session : sessions) {
      const double fair = largest.used * share(session) / share(largest);
      // The turn that one or the other is in, and the first, when the shares were not known yet.
      EXPECT_NEAR(session.used, fair, 2 * (Scenario::Quantum() + kLongestWork)) << "seed " << seed;
    }
    if (::testing::Test::HasFailure()) return;
  }
}

// A client that opens a new session for each of its works has its share like
// one that stays, and no more; so it is with several of them side by side.
TEST(SchedulerProperty, NobodyWinsByComingAgainAsAnotherSession) {
  constexpr uint32_t kStays = 1;
  constexpr uint32_t kComesAgain = 2;
  for (uint32_t seed = 0; seed < 60; ++seed) {
    Random random(seed);
    const size_t side_by_side = 1 + seed % 4;
    SchedulerOptions options;
    options.quantum = std::chrono::duration_cast<Duration>(microseconds(1000));
    Scheduler scheduler(options);
    uint64_t flows = 100;
    const auto push = [&](uint64_t flow, uint32_t uid) {
      Work work;
      work.flow = flow;
      work.uid = uid;
      work.bytes = 64 << 10;
      work.command = FillCommand{};
      scheduler.Push(std::move(work));
    };
    for (uint64_t flow = 0; flow < side_by_side; ++flow) {
      for (int i = 0; i < 5; ++i) push(flow, kStays);
      push(++flows, kComesAgain);
    }
    double used[3] = {};
    for (int i = 0; i < 4000; ++i) {
      Work work;
      ASSERT_TRUE(scheduler.Pop(&work));
      const double takes = (5 + random() % 395) * kMicrosecond;
      scheduler.Used(work, Duration(static_cast<Duration::rep>(takes)));
      used[work.uid] += takes;
      if (work.uid == kStays) {
        push(work.flow, kStays);
      } else {
        scheduler.Forget(work.flow);
        push(++flows, kComesAgain);
      }
    }
    EXPECT_NEAR(used[kStays], used[kComesAgain],
                static_cast<double>(side_by_side) * 2 * (1000 * kMicrosecond + kLongestWork))
        << "seed " << seed;
    EXPECT_LE(scheduler.gone(), side_by_side);
    EXPECT_EQ(scheduler.flows(), 2 * side_by_side);
    if (::testing::Test::HasFailure()) return;
  }
}

// What is remembered of those that are gone has an end, and is not asked of
// others.
TEST(SchedulerProperty, WhatWentBeforeIsAUsersOwnAndBounded) {
  Scheduler scheduler{SchedulerOptions()};
  for (uint64_t flow = 1; flow <= 10'000; ++flow) {
    Work work;
    work.flow = flow;
    work.uid = static_cast<uint32_t>(flow);
    work.bytes = 64 << 10;
    work.command = FillCommand{};
    scheduler.Push(std::move(work));
    Work popped;
    ASSERT_TRUE(scheduler.Pop(&popped));
    EXPECT_EQ(scheduler.rounds(), 0u) << "each has a grant of its own";
    scheduler.Used(popped, std::chrono::milliseconds(5));
    scheduler.Forget(flow);
  }
  EXPECT_EQ(scheduler.flows(), 0u);
  EXPECT_LE(scheduler.gone(), 4096u);
}

// Whatever the others send, and whatever their works take: who stays under its share has the card next.
TEST(SchedulerProperty, WhoUsedLessThanItsShareGoesFirst) {
  constexpr uint64_t kLight = 100;
  uint64_t served = 0;
  for (uint32_t seed = 0; seed < 100; ++seed) {
    Random random(seed);
    const size_t others = 1 + seed % 9;
    SchedulerOptions options;
    options.quantum = std::chrono::duration_cast<Duration>(microseconds(1000));
    Scheduler scheduler(options);
    const auto push = [&](uint64_t flow) {
      Work work;
      work.flow = flow;
      work.bytes = flow == kLight ? 4096 : 1 + random() % (256 << 10);
      work.command = FillCommand{};
      scheduler.Push(std::move(work));
    };
    std::vector<size_t> waiting(others);
    double pause = 0;  // until the light one sends its next
    bool wants = false;
    for (int i = 0; i < 4000; ++i) {
      for (size_t flow = 0; flow < others; ++flow) {
        for (; waiting[flow] < 20; ++waiting[flow]) push(flow);
      }
      if (!wants && pause <= 0) {
        push(kLight);
        wants = true;
      }
      Work work;
      ASSERT_TRUE(scheduler.Pop(&work));
      // In the first round nobody has had anything yet.
      if (scheduler.rounds() >= 2) {
        ASSERT_EQ(work.flow == kLight, wants) << "seed " << seed << ", work " << i;
      }
      const double longest = work.flow == kLight ? 100 : 400;
      const double takes = (5 + random() % 1000 * longest / 1000) * kMicrosecond;
      scheduler.Used(work, Duration(static_cast<Duration::rep>(takes)));
      if (work.flow == kLight) {
        wants = false;
        // Twice as long as would be its share.
        pause = 2 * static_cast<double>(others) * takes;
        ++served;
      } else {
        --waiting[work.flow];
        pause -= takes;
      }
    }
  }
  EXPECT_GT(served, 10'000u);
}

}  // namespace
}  // namespace ttfd
