// Who is granted a lease and when: order, tiles, time, tokens.
#include "daemon/core/lease_table.h"

#include <gmock/gmock.h>

#include "daemon/api/status_reason.h"
#include "runtime/base/clock.h"

namespace ttfd::lease_table_test {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

constexpr GridSize kGrid{4, 4};

class Leases : public ::testing::Test {
 protected:
  static TileSet Tiles(uint32_t x0, uint32_t y0, uint32_t x1, uint32_t y1) {
    return TilesOf({x0, y0, x1, y1}, kGrid);
  }
  uint64_t Ask(uint64_t session, const TileSet& tiles = {}, Duration patience = {},
               uint32_t uid = 1000, std::vector<uint32_t> devices = {0}) {
    auto asked =
        table.Ask({session, "client", "user", uid, 77}, {tiles, std::move(devices)}, patience, now);
    EXPECT_TRUE(asked.ok());
    return asked.ok() ? *asked : 0;
  }
  // Looks, grants at once what is to be granted; the leases that were.
  std::vector<uint64_t> Look() {
    std::vector<uint64_t> granted;
    ended.clear();
    for (LeaseTable::Step& step : table.Look(now)) {
      if (step.kind == LeaseTable::Step::Kind::kGrant) {
        EXPECT_TRUE(table.Granted(step.lease, "token" + std::to_string(step.lease), now));
        granted.push_back(step.lease);
      } else {
        ended.push_back(std::move(step));
      }
    }
    return granted;
  }
  LeaseInfoReply Info(uint64_t lease) {
    for (LeaseInfoReply& info : table.List(now, [](uint32_t) { return kGrid; })) {
      if (info.lease == lease) return info;
    }
    return {};
  }

  LeaseTable::Options options;
  LeaseTable table{options};
  TimePoint now{};
  std::vector<LeaseTable::Step> ended;
};

TEST_F(Leases, TheWholeDeviceGoesFromOneToTheNextInTheOrderOfAsking) {
  const uint64_t first = Ask(1);
  EXPECT_THAT(Look(), ElementsAre(first));
  const uint64_t second = Ask(2);
  const uint64_t third = Ask(3);
  EXPECT_THAT(Look(), IsEmpty());
  table.Leave(1, now);
  EXPECT_THAT(Look(), ElementsAre(second));
  EXPECT_THAT(Look(), IsEmpty());
  table.Leave(2, now);
  EXPECT_THAT(Look(), ElementsAre(third));
  table.Leave(3, now);
  EXPECT_TRUE(table.empty());
}

TEST_F(Leases, DisjointTilesAreHeldSideBySide) {
  const uint64_t left = Ask(1, Tiles(0, 0, 1, 3));
  const uint64_t right = Ask(2, Tiles(2, 0, 3, 3));
  const uint64_t middle = Ask(3, Tiles(1, 0, 2, 0));
  EXPECT_THAT(Look(), ElementsAre(left, right));
  table.Leave(1, now);
  EXPECT_THAT(Look(), IsEmpty()) << "it touches the right one, too";
  table.Leave(2, now);
  EXPECT_THAT(Look(), ElementsAre(middle));
}

TEST_F(Leases, NobodyIsOvertakenByWhatWouldMakeHimWaitLonger) {
  const uint64_t corner = Ask(1, Tiles(0, 0, 0, 0));
  EXPECT_THAT(Look(), ElementsAre(corner));
  const uint64_t whole = Ask(2);
  const uint64_t other = Ask(3, Tiles(3, 3, 3, 3));
  EXPECT_THAT(Look(), IsEmpty()) << "the other corner is free, but the whole device is asked for";
  table.Leave(1, now);
  EXPECT_THAT(Look(), ElementsAre(whole));
  table.Leave(2, now);
  EXPECT_THAT(Look(), ElementsAre(other));
}

TEST_F(Leases, AWaiterThatLeavesIsSkipped) {
  Ask(1);
  Look();
  Ask(2);
  const uint64_t third = Ask(3);
  Look();
  EXPECT_EQ(Info(third).position, 2u);
  table.Leave(2, now);
  EXPECT_EQ(Info(third).position, 1u);
  table.Leave(1, now);
  EXPECT_THAT(Look(), ElementsAre(third));
}

TEST_F(Leases, ALeaseThatIsBeingGrantedKeepsOthersOutAndMayBeGivenUp) {
  const uint64_t first = Ask(1);
  const uint64_t second = Ask(2);
  const auto steps = table.Look(now);
  ASSERT_THAT(steps, SizeIs(1));
  EXPECT_EQ(steps[0].lease, first);
  EXPECT_EQ(Info(first).state, LeaseState::kGranting);
  EXPECT_THAT(table.held(), SizeIs(1)) << "nobody else's work starts meanwhile";
  EXPECT_THAT(table.Look(now), IsEmpty()) << "said once";
  table.Leave(1, now);
  EXPECT_FALSE(table.Granted(first, "late", now));
  EXPECT_THAT(Look(), ElementsAre(second));
}

TEST_F(Leases, WhoseTurnItIsIsToldWhatKeepsItAndWaitsNoLongerThanItWants) {
  const uint64_t first = Ask(1, {}, seconds(1));
  table.Look(now);
  EXPECT_THAT(table.waiting(now), IsEmpty()) << "what has begun there mostly ends at once";
  EXPECT_EQ(Info(first).left_ms, 1000u);
  now = table.next_look();
  EXPECT_THAT(table.Look(now), IsEmpty());
  ASSERT_THAT(table.waiting(now), SizeIs(1));
  EXPECT_EQ(table.waiting(now)[0].wait.position, 1u);
  EXPECT_EQ(table.waiting(now)[0].wait.holders, LeaseHolders()) << "operations of others";
  now = table.next_look();
  EXPECT_EQ(now, TimePoint{} + seconds(1));
  const auto steps = table.Look(now);
  ASSERT_THAT(steps, SizeIs(1));
  EXPECT_EQ(steps[0].kind, LeaseTable::Step::Kind::kGiveUp);
  EXPECT_THAT(StatusMessage(steps[0].status), HasSubstr("it is next, but"));
  EXPECT_FALSE(table.Granted(first, "late", now));
  EXPECT_THAT(table.held(), IsEmpty()) << "others may go on there";
}

TEST_F(Leases, SeveralDevicesAreGrantedTogetherInTheOrderOfAsking) {
  const uint64_t of_one = Ask(1, {}, {}, 1000, {1});
  EXPECT_THAT(Look(), ElementsAre(of_one));
  const uint64_t of_both = Ask(2, {}, {}, 1000, {0, 1});
  const uint64_t behind = Ask(3, {}, {}, 1000, {0});
  const uint64_t elsewhere = Ask(4, {}, {}, 1000, {2});
  EXPECT_THAT(Look(), ElementsAre(elsewhere)) << "device 0 is kept for the lease of both";
  EXPECT_EQ(Info(behind).position, 2u);
  EXPECT_EQ(table.Leave(1, now), of_one);
  EXPECT_THAT(Look(), ElementsAre(of_both));
  EXPECT_THAT(Info(of_both).devices, ElementsAre(0, 1));
  EXPECT_EQ(table.Leave(2, now), of_both);
  EXPECT_THAT(Look(), ElementsAre(behind));
}

TEST_F(Leases, OnlyThoseOfTheSameWorkersAreInTheWay) {
  Ask(1, Tiles(0, 0, 1, 3));
  Look();
  EXPECT_THAT(table.BlockingLease(0, {Tiles(1, 1, 2, 2), {0}}, now).holders.Text(),
              HasSubstr("session 1 "));
  EXPECT_THAT(table.BlockingLease(0, {TileSet(), {0}}, now).holders.Text(),
              HasSubstr("session 1 "));
  EXPECT_EQ(table.BlockingLease(0, {Tiles(2, 0, 3, 3), {0}}, now).holders, LeaseHolders());
}

TEST_F(Leases, WhoWaitsKnowsPositionHolderAndTime) {
  Ask(1);
  Look();
  Ask(2);
  Ask(3);
  const auto waiting = table.waiting(now);
  ASSERT_THAT(waiting, SizeIs(2));
  EXPECT_EQ(waiting[0].session, 2u);
  EXPECT_EQ(waiting[0].wait.position, 1u);
  EXPECT_THAT(waiting[0].wait.holders.Text(),
              HasSubstr("session 1 (client 'client', user user, pid 77)"));
  EXPECT_EQ(waiting[1].wait.position, 2u);
  EXPECT_EQ(waiting[1].wait.expected_wait_ms, 2 * waiting[0].wait.expected_wait_ms)
      << "one more lease before it";
}

TEST_F(Leases, TheExpectedWaitComesFromHowLongLeasesWereHeld) {
  Ask(1);
  Look();
  now += seconds(8);
  table.Leave(1, now);
  Ask(2);
  Look();
  now += seconds(3);
  Ask(3);
  Ask(4, Tiles(0, 0, 0, 0));
  auto waiting = table.waiting(now);
  ASSERT_THAT(waiting, SizeIs(2));
  EXPECT_EQ(waiting[0].wait.expected_wait_ms, 5000u) << "8 s are usual, 3 have gone";
  EXPECT_EQ(waiting[1].wait.expected_wait_ms, 13000u);
  now += seconds(20);
  EXPECT_EQ(table.waiting(now)[0].wait.expected_wait_ms, 8000u) << "longer than usual";
}

TEST_F(Leases, AListHasThoseThatAreHeldFirst) {
  const uint64_t left = Ask(1, Tiles(0, 0, 1, 3));
  const uint64_t whole = Ask(2);
  Look();
  now += seconds(2);
  const auto list = table.List(now, [](uint32_t) { return kGrid; });
  ASSERT_THAT(list, SizeIs(2));
  EXPECT_EQ(list[0].lease, left);
  EXPECT_EQ(list[0].state, LeaseState::kHeld);
  ASSERT_THAT(list[0].workers, SizeIs(1));
  EXPECT_EQ(list[0].workers[0].x1, 1u);
  EXPECT_EQ(list[0].since_ms, 2000u);
  EXPECT_EQ(list[0].sessions, 1u);
  EXPECT_EQ(list[1].lease, whole);
  EXPECT_EQ(list[1].state, LeaseState::kWaiting);
  EXPECT_THAT(list[1].workers, IsEmpty());
  EXPECT_EQ(list[1].position, 1u);
  EXPECT_THAT(list[1].holders.Text(), HasSubstr("session 1"));
}

// ---- tokens

TEST_F(Leases, TheTokenLetsTheSameUserIn) {
  const uint64_t lease = Ask(1, Tiles(0, 0, 1, 1));
  EXPECT_FALSE(table.Join("token1", 2, 1000).ok()) << "not granted yet";
  Look();
  const auto joined = table.Join("token1", 2, 1000);
  ASSERT_TRUE(joined.ok());
  EXPECT_EQ(*joined, lease);
  EXPECT_EQ(Info(lease).sessions, 2u);
  EXPECT_THAT(table.SessionsOf(lease), ElementsAre(1, 2));
  EXPECT_EQ(table.PartOf(lease)->tiles, Tiles(0, 0, 1, 1));
}

TEST_F(Leases, NoOtherTokenAndNoOtherUserGetsIn) {
  Ask(1);
  Look();
  const std::vector<std::pair<std::string, uint32_t>> wrong = {
      {"", 1000},        {"token", 1000},  {"token2", 1000}, {"Token1", 1000},
      {"token11", 1000}, {"token1", 1001}, {"token1", 0}};
  for (const auto& [token, uid] : wrong) {
    const auto joined = table.Join(token, 9, uid);
    EXPECT_EQ(joined.status().code(), StatusCode::kNotFound) << token;
    EXPECT_EQ(PayloadOf(joined.status(), kReasonPayload), "LEASE_ENDED");
  }
  table.Leave(1, now);
  EXPECT_FALSE(table.Join("token1", 9, 1000).ok()) << "over";
}

TEST_F(Leases, TheLeaseEndsWithItsHolderAndIsGivenBackByTheLastSession) {
  const uint64_t lease = Ask(1);
  const uint64_t next = Ask(5);
  Look();
  ASSERT_TRUE(table.Join("token1", 2, 1000).ok());
  ASSERT_TRUE(table.Join("token1", 3, 1000).ok());
  table.Leave(3, now);
  EXPECT_THAT(Look(), IsEmpty());
  EXPECT_THAT(ended, IsEmpty()) << "a session that leaves ends nothing";
  table.Leave(1, now);
  EXPECT_THAT(Look(), IsEmpty());
  ASSERT_THAT(ended, SizeIs(1));
  EXPECT_THAT(ended[0].sessions, ElementsAre(2));
  EXPECT_EQ(PayloadOf(ended[0].status, kReasonPayload), "LEASE_ENDED");
  EXPECT_EQ(Info(lease).state, LeaseState::kEnding);
  EXPECT_FALSE(table.Join("token1", 4, 1000).ok());
  Look();
  EXPECT_THAT(ended, IsEmpty()) << "said once";
  table.Leave(2, now);
  EXPECT_THAT(Look(), ElementsAre(next));
}

// ---- limits

class LimitedLeases : public Leases {
 protected:
  LimitedLeases() {
    options.longest = seconds(10);
    options.idle = seconds(4);
    options.longest_wait = seconds(30);
    options.per_user = 3;
    table.~LeaseTable();
    new (&table) LeaseTable(options);
  }
};

TEST_F(LimitedLeases, ALeaseEndsWhenItsTimeIsOver) {
  const uint64_t lease = Ask(1);
  Look();
  EXPECT_EQ(Info(lease).left_ms, 10'000u);
  for (int i = 0; i < 9; ++i) {
    now += seconds(1);
    table.Used(lease, now);
    Look();
    EXPECT_THAT(ended, IsEmpty()) << i;
  }
  EXPECT_EQ(table.next_look(), TimePoint{} + seconds(10));
  now += seconds(1);
  table.Used(lease, now);
  Look();
  ASSERT_THAT(ended, SizeIs(1));
  EXPECT_THAT(ended[0].sessions, ElementsAre(1));
  EXPECT_THAT(std::string(StatusMessage(ended[0].status)), HasSubstr("lease_ms"));
}

TEST_F(LimitedLeases, ALeaseEndsWhenNothingIsDoneUnderIt) {
  const uint64_t lease = Ask(1);
  Look();
  now += seconds(3);
  table.Used(lease, now);
  now += milliseconds(3999);
  Look();
  EXPECT_THAT(ended, IsEmpty());
  EXPECT_EQ(table.next_look(), now + milliseconds(1));
  now += milliseconds(1);
  Look();
  ASSERT_THAT(ended, SizeIs(1));
  EXPECT_THAT(std::string(StatusMessage(ended[0].status)), HasSubstr("lease_idle_ms"));
}

TEST_F(LimitedLeases, PatienceEndsWithANumberAndAHolder) {
  const uint64_t held = Ask(1);
  Look();
  Ask(2, {}, seconds(2));
  const uint64_t third = Ask(3);
  EXPECT_EQ(Info(third).left_ms, 30'000u) << "no more than the limit";
  now += seconds(2);
  table.Used(held, now);
  Look();
  ASSERT_THAT(ended, SizeIs(1));
  EXPECT_EQ(ended[0].kind, LeaseTable::Step::Kind::kGiveUp);
  EXPECT_THAT(ended[0].sessions, ElementsAre(2));
  EXPECT_EQ(ended[0].status.code(), StatusCode::kDeadlineExceeded);
  EXPECT_THAT(std::string(StatusMessage(ended[0].status)),
              ::testing::AllOf(HasSubstr("number 1"), HasSubstr("session 1 (client")));
  EXPECT_EQ(Info(third).position, 1u);
}

TEST_F(LimitedLeases, AUserHasSoManyAndNoMore) {
  Ask(1, Tiles(0, 0, 0, 0));
  Ask(2, Tiles(0, 0, 0, 0));
  Ask(3);
  const auto refused = table.Ask({4, "client", "user", 1000, 1}, {}, {}, now);
  EXPECT_EQ(refused.status().code(), StatusCode::kResourceExhausted);
  EXPECT_THAT(std::string(StatusMessage(refused.status())), HasSubstr("leases_per_user is 3, 3"));
  Ask(5, {}, {}, 1001);
  table.Leave(2, now);
  Ask(6);
}

}  // namespace
}  // namespace ttfd::lease_table_test
