// The numbered messages of a session: accepted once and in order, kept until acknowledged, sent again after a resume.
#include <gmock/gmock.h>

#include <deque>
#include <string>
#include <vector>

#include "daemon/api/status_reason.h"
#include "daemon/rpc/link.h"
#include "tests/support/random.h"

namespace ttfd::rpc_link_test {
namespace {

using std::chrono::milliseconds;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

constexpr TimePoint kNow{};

grpc::ByteBuffer Encoded(const std::string& text) {
  grpc::Slice slice(text);
  return grpc::ByteBuffer(&slice, 1);
}

std::string Text(const grpc::ByteBuffer& message) {
  std::vector<grpc::Slice> slices;
  EXPECT_TRUE(message.Dump(&slices).ok());
  std::string text;
  for (const grpc::Slice& slice : slices) {
    text.append(reinterpret_cast<const char*>(slice.begin()), slice.size());
  }
  return text;
}

// What the connection would write now.
std::vector<std::string> Written(Link& link) {
  std::vector<std::string> texts;
  grpc::ByteBuffer message;
  while (link.Next(&message)) texts.push_back(Text(message));
  return texts;
}

TEST(Link, Classify_FindsNewDuplicateAndGap) {
  Link link({});
  EXPECT_EQ(link.Classify(1), Link::Accept::kNew);
  EXPECT_EQ(link.Classify(2), Link::Accept::kGap);
  link.CountAccepted(10, kNow);
  EXPECT_EQ(link.Classify(1), Link::Accept::kDuplicate);
  EXPECT_EQ(link.Classify(2), Link::Accept::kNew);
  EXPECT_EQ(link.Classify(3), Link::Accept::kGap);
  EXPECT_EQ(link.received(), 1u);
}

TEST(Link, Keep_NumbersFromOneWithoutGaps) {
  Link link({});
  EXPECT_EQ(link.next_sequence(), 1u);
  link.Keep(Encoded("a"));
  EXPECT_EQ(link.next_sequence(), 2u);
  ASSERT_TRUE(link.Acknowledge(1).ok());
  EXPECT_EQ(link.next_sequence(), 2u) << "an acknowledged number is not used again";
}

TEST(Link, Resume_ResendsUnacknowledgedMessagesFirst) {
  Link link({});
  for (const char* text : {"a", "b", "c", "d"}) link.Keep(Encoded(text));
  EXPECT_THAT(Written(link), ElementsAre("a", "b", "c", "d"));
  ASSERT_TRUE(link.Acknowledge(1).ok());
  ASSERT_TRUE(link.Resume(2).ok());
  link.Keep(Encoded("e"));
  EXPECT_THAT(Written(link), ElementsAre("c", "d", "e"));
  ASSERT_TRUE(link.Resume(2).ok()) << "it may lose that connection, too";
  EXPECT_THAT(Written(link), ElementsAre("c", "d", "e"));
  ASSERT_TRUE(link.Acknowledge(5).ok());
  EXPECT_TRUE(link.all_acknowledged());
  EXPECT_THAT(Written(link), IsEmpty());
}

TEST(Link, Acknowledge_RefusesWhatWasNotSent) {
  Link link({});
  link.Keep(Encoded("a"));
  const Status status = link.Acknowledge(2);
  EXPECT_EQ(status.code(), StatusCode::kInvalidArgument);
  EXPECT_EQ(PayloadOf(status, kFieldPayload), "ack");
  EXPECT_THAT(StatusMessage(status), HasSubstr("message 2 is acknowledged; 1 were sent"));
  EXPECT_FALSE(link.all_acknowledged()) << "nothing was dropped";
  EXPECT_EQ(PayloadOf(link.Resume(2), kFieldPayload), "hello.resume.received");
}

TEST(Link, Acknowledge_IgnoresSmallerAcks) {
  Link link({});
  for (const char* text : {"a", "b", "c"}) link.Keep(Encoded(text));
  ASSERT_TRUE(link.Acknowledge(3).ok());
  EXPECT_TRUE(link.Acknowledge(1).ok());
  EXPECT_TRUE(link.all_acknowledged());
}

TEST(Link, Resume_RefusesLessThanWasAcknowledged) {
  Link link({});
  for (const char* text : {"a", "b", "c"}) link.Keep(Encoded(text));
  ASSERT_TRUE(link.Acknowledge(2).ok());
  EXPECT_EQ(link.Resume(1).code(), StatusCode::kInvalidArgument);
  EXPECT_TRUE(link.Resume(2).ok());
}

TEST(Link, Full_CountsBytesAndMessages) {
  LinkOptions options;
  options.unacknowledged_bytes = 10 * Link::kMessageOverheadBytes;
  Link link(options);
  link.Keep(Encoded(std::string(8 * Link::kMessageOverheadBytes, 'x')));
  EXPECT_FALSE(link.full());
  link.Keep(Encoded(std::string(Link::kMessageOverheadBytes, 'x')));
  EXPECT_TRUE(link.full());
  ASSERT_TRUE(link.Acknowledge(1).ok());
  EXPECT_FALSE(link.full());
  for (int i = 0; i < 7; ++i) link.Keep(Encoded(""));
  EXPECT_FALSE(link.full());
  link.Keep(Encoded(""));
  EXPECT_TRUE(link.full()) << "small messages count, too";
}

TEST(Link, Ack_IsDueAfterTheDelay) {
  Link link({});
  EXPECT_EQ(link.ack_due(), TimePoint::max());
  link.CountAccepted(10, kNow);
  link.CountAccepted(10, kNow + milliseconds(15));
  EXPECT_EQ(link.ack_due(), kNow + milliseconds(20)) << "20 ms after the first";
  EXPECT_EQ(link.TakeAck(), 2u);
  EXPECT_EQ(link.ack_due(), TimePoint::max());
  link.CountAccepted(10, kNow + milliseconds(30));
  EXPECT_EQ(link.ack_due(), kNow + milliseconds(50));
}

TEST(Link, Ack_IsDueAtOnceAfterManyBytes) {
  LinkOptions options;
  options.ack_bytes = 100;
  Link link(options);
  link.CountAccepted(60, kNow);
  EXPECT_GT(link.ack_due(), kNow + milliseconds(1));
  link.CountAccepted(40, kNow + milliseconds(1));
  EXPECT_EQ(link.ack_due(), kNow + milliseconds(1));
  EXPECT_EQ(link.TakeAck(), 2u);
  link.CountAccepted(60, kNow + milliseconds(2));
  EXPECT_EQ(link.ack_due(), kNow + milliseconds(22)) << "it counts anew";
}

// ---- Against a reference that keeps everything: each side has every message of the other once, in order, whatever is
// lost with a connection.

struct InFlight {
  uint64_t sequence = 0;  // 0: an ack alone
  uint64_t ack = 0;
  std::string text;
};

// The client's end, as simple as can be: keeps all it ever sent, and sends again from what the daemon has.
class NaiveClient {
 public:
  std::vector<std::string> sent;
  std::vector<std::string> received;
  size_t next = 0;  // of `sent`, on this connection

  void Receive(const InFlight& message) {
    EXPECT_LE(message.ack, sent.size());
    if (message.sequence == 0 || message.sequence <= received.size()) return;
    ASSERT_EQ(message.sequence, received.size() + 1) << "a gap";
    received.push_back(message.text);
  }
};

class LinkUnderCuts {
 public:
  LinkUnderCuts(uint32_t seed, const LinkOptions& options) : random_(seed), link_(options) {}

  void Step() {
    switch (random_() % 8) {
      case 0:
        client_.sent.push_back("c" + std::to_string(client_.sent.size() + 1));
        break;
      case 1:
        if (!link_.full()) KeepNext();
        break;
      case 2:
        ClientWrites();
        break;
      case 3:
        DaemonWrites();
        break;
      case 4:
      case 5:
        DaemonReads();
        break;
      case 6:
        ClientReads();
        break;
      default:
        if (random_() % 16 == 0) Cut();
    }
    ASSERT_LE(unacknowledged(), limit_ + Link::kMessageOverheadBytes + kLongest);
  }

  void Finish() {
    Cut();
    for (int i = 0; i < 10'000; ++i) {
      ClientWrites();
      DaemonWrites();
      DaemonReads();
      ClientReads();
    }
    EXPECT_EQ(accepted_, client_.sent);
    EXPECT_EQ(client_.received, made_);
    EXPECT_TRUE(link_.all_acknowledged());
    EXPECT_GT(duplicates_, 0) << "some was sent twice";
  }
  void set_limit(uint64_t limit) { limit_ = limit; }

 private:
  static constexpr size_t kLongest = 40;

  uint64_t unacknowledged() const {
    uint64_t bytes = 0;
    for (size_t i = acknowledged_; i < made_.size(); ++i) {
      bytes += made_[i].size() + Link::kMessageOverheadBytes;
    }
    return bytes;
  }
  void KeepNext() {
    ASSERT_EQ(link_.next_sequence(), made_.size() + 1);
    made_.push_back("d" + std::to_string(made_.size() + 1) + std::string(random_() % 30, '.'));
    link_.Keep(Encoded(made_.back()));
  }
  void ClientWrites() {
    if (client_.next == client_.sent.size()) {
      to_daemon_.push_back({0, client_.received.size(), ""});
      return;
    }
    const std::string& text = client_.sent[client_.next++];
    to_daemon_.push_back({client_.next, client_.received.size(), text});
  }
  void DaemonWrites() {
    grpc::ByteBuffer message;
    if (!link_.Next(&message)) {
      to_client_.push_back({0, link_.TakeAck(), ""});
      return;
    }
    const std::string text = Text(message);
    const uint64_t sequence = std::stoull(text.substr(1));
    to_client_.push_back({sequence, link_.TakeAck(), text});
  }
  void DaemonReads() {
    if (to_daemon_.empty()) return;
    const InFlight message = to_daemon_.front();
    to_daemon_.pop_front();
    ASSERT_TRUE(link_.Acknowledge(message.ack).ok());
    acknowledged_ = std::max<size_t>(acknowledged_, message.ack);
    if (message.sequence == 0) return;
    switch (link_.Classify(message.sequence)) {
      case Link::Accept::kNew:
        link_.CountAccepted(message.text.size(), kNow);
        accepted_.push_back(message.text);
        EXPECT_LT(link_.ack_due(), TimePoint::max());
        break;
      case Link::Accept::kDuplicate:
        ++duplicates_;
        break;
      case Link::Accept::kGap:
        FAIL() << "a gap at " << message.sequence;
    }
  }
  void ClientReads() {
    if (to_client_.empty()) return;
    const InFlight message = to_client_.front();
    to_client_.pop_front();
    client_.Receive(message);
  }
  // A part of what is under way still arrives, then nothing. The client resumes, and sends again more than it must.
  void Cut() {
    for (size_t i = random_() % (to_daemon_.size() + 1); i > 0; --i) DaemonReads();
    for (size_t i = random_() % (to_client_.size() + 1); i > 0; --i) ClientReads();
    to_daemon_.clear();
    to_client_.clear();
    ASSERT_TRUE(link_.Resume(client_.received.size()).ok());
    acknowledged_ = std::max(acknowledged_, client_.received.size());
    const size_t received = link_.received();
    client_.next = received - std::min<size_t>(received, random_() % 3);
  }

  Random random_;
  Link link_;
  uint64_t limit_ = ~uint64_t{0} / 2;
  NaiveClient client_;
  std::deque<InFlight> to_daemon_;
  std::deque<InFlight> to_client_;
  std::vector<std::string> made_;      // by the daemon
  std::vector<std::string> accepted_;  // by the daemon
  size_t acknowledged_ = 0;
  int duplicates_ = 0;
};

TEST(Link, RandomCuts_DeliverEverythingOnceInOrder) {
  for (uint32_t seed = 1; seed <= 50; ++seed) {
    SCOPED_TRACE(seed);
    LinkOptions options;
    options.unacknowledged_bytes = 8 * Link::kMessageOverheadBytes;
    LinkUnderCuts run(seed, options);
    run.set_limit(options.unacknowledged_bytes);
    for (int i = 0; i < 4000; ++i) run.Step();
    run.Finish();
    if (::testing::Test::HasFailure()) return;
  }
}

}  // namespace
}  // namespace ttfd::rpc_link_test
