// Answers that clients do not read or acknowledge: the sessions of a user keep a bounded amount, a session whose client
// reads makes progress all the same, and other users notice nothing.
#include <gtest/gtest.h>

#include "tests/support/stream_fixture.h"

namespace ttfd {
namespace {

using std::chrono::milliseconds;

constexpr uint64_t kKiB = 1024;
constexpr uint64_t kMiB = kKiB * kKiB;
constexpr uint64_t kSize = 4 * kMiB;  // of a read
constexpr uint64_t kOfSession = kMiB;
constexpr uint64_t kOfUser = 8 * kMiB;
constexpr uint32_t kAnn = 1000, kBob = 2000;

class UnreadAnswers : public StreamTest {
 protected:
  void SetUp() override {
    options.limits.unacknowledged_bytes = kOfSession;
    options.limits.unacknowledged_bytes_per_user = kOfUser;
    behaviour.dram_bank_bytes = 64 * kMiB;
    Start();
  }

  // Reads kSize bytes with its value 2, and acknowledges nothing by itself.
  std::unique_ptr<StreamClient> Reader(uint32_t uid = kAnn) {
    auto client = std::make_unique<StreamClient>(*core, clock, kTimeoutMs);
    EXPECT_TRUE(client->Open(uid).ok());
    client->acks_with_messages = false;
    Send(*client, OpenOf(0));
    v1::ClientMessage message = BatchOf(0, 1);
    AddAllocate(&message, 1, kSize);
    AddRead(&message, 1, 0, kSize);
    Send(*client, std::move(message));
    return client;
  }
  std::vector<std::unique_ptr<StreamClient>> Readers(size_t count) {
    std::vector<std::unique_ptr<StreamClient>> clients(count);
    for (auto& client : clients) client = Reader();
    return clients;
  }
  // Until nothing moves; these clients take what there is.
  void RunAndTake(const std::vector<std::unique_ptr<StreamClient>>& clients) {
    for (bool any = true; any;) {
      any = core->RunOnce();
      for (const auto& client : clients) {
        while (client->Take()) any = true;
      }
    }
  }
  static uint64_t Received(const StreamClient& client) {
    const auto data = client.seen().data.find({0, 2});
    return data == client.seen().data.end() ? 0 : data->second.size();
  }
  // By what the daemon counts for all sessions of the user.
  uint64_t KeptFor(uint32_t uid) {
    for (const LimitUsageReply& usage : core->admin().GetLimits().usage) {
      if (usage.scope != LimitScope::kUser || usage.uid != uid) continue;
      for (const LimitUseReply& use : usage.uses) {
        if (use.name == "unacknowledged_bytes_per_user") return use.used;
      }
    }
    return 0;
  }
  uint64_t Least() const { return LeastOutput(options.limits); }
};

TEST_F(UnreadAnswers, OfAllSessionsOfAUser_AreBounded) {
  constexpr size_t kClients = 20;
  const auto taking = Readers(kClients);  // take all they get and acknowledge nothing
  const auto silent = Readers(kClients);  // do not even take it
  RunAndTake(taking);
  EXPECT_GE(KeptFor(kAnn), kOfUser) << "the limit is met";
  // Each session keeps its part twice, waiting and sent; one more session passed the limit with all it may have.
  EXPECT_LE(KeptFor(kAnn), kOfUser + 2 * kClients * 2 * Least() + 3 * kMiB);
  uint64_t received = 0;
  for (const auto& client : taking) received += Received(*client);
  EXPECT_LE(received, KeptFor(kAnn)) << "all of it is kept";
}

TEST_F(UnreadAnswers, OfOthers_LeaveAReaderItsPart) {
  const auto unread = Readers(30);
  RunAndTake(unread);
  ASSERT_GE(KeptFor(kAnn), kOfUser);
  const uint64_t before = KeptFor(kAnn);
  auto reader = Reader();
  core->RunOnce();
  while (reader->Take()) core->RunOnce();
  EXPECT_LE(Received(*reader), 3 * Least()) << "ahead of its ack";
  while (Received(*reader) < kSize) {
    const uint64_t last = Received(*reader);
    ASSERT_TRUE(reader->Acknowledge().ok());
    while (core->RunOnce() || reader->Take()) continue;
    ASSERT_GT(Received(*reader), last);
  }
  ASSERT_TRUE(reader->Acknowledge().ok());
  EXPECT_EQ(reader->seen().progress.at(0), 2u);
  EXPECT_EQ(KeptFor(kAnn), before) << "of the reader nothing is kept";
}

TEST_F(UnreadAnswers, OfAUser_CostOtherUsersNothing) {
  const auto unread = Readers(30);
  RunAndTake(unread);
  ASSERT_GE(KeptFor(kAnn), kOfUser);
  auto stranger = Reader(kBob);
  while (core->RunOnce() || stranger->Take()) continue;
  EXPECT_GE(Received(*stranger), kOfSession) << "as much as without them";
}

TEST_F(UnreadAnswers, Limit_IsOpenAgainOnceOthersEnd) {
  auto unread = Readers(30);
  RunAndTake(unread);
  auto reader = Reader();
  while (core->RunOnce() || reader->Take()) continue;
  ASSERT_LE(Received(*reader), 3 * Least());
  unread.clear();
  RunAll();
  ASSERT_TRUE(reader->Acknowledge().ok());
  const uint64_t last = Received(*reader);
  while (core->RunOnce() || reader->Take()) continue;
  EXPECT_GE(Received(*reader) - last, kOfSession);
  reader.reset();
  auto idle = Client();
  EXPECT_EQ(KeptFor(kAnn), 0u) << "everything is counted once and released";
}

TEST_F(UnreadAnswers, DetachedSessions_Count) {
  auto unread = Readers(30);
  RunAndTake(unread);
  const uint64_t before = KeptFor(kAnn);
  ASSERT_GE(before, kOfUser);
  for (const auto& client : unread) client->Lose();
  RunAll();
  EXPECT_GE(KeptFor(kAnn), kOfUser) << "kept for their clients";
  clock.Advance(milliseconds(kTimeoutMs));
  RunAll();
  auto idle = Client();
  EXPECT_EQ(KeptFor(kAnn), 0u);
}

}  // namespace
}  // namespace ttfd
