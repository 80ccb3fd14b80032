// The client's numbering: what is kept, resent, accepted and acknowledged.
#include <gtest/gtest.h>

#include "client/cpp/src/link.h"

namespace ttfd::client::client_link_test {
namespace {

using Accept = Link::Accept;
using std::chrono::milliseconds;

constexpr Link::Instant kStart{};

v1::ServerMessage Numbered(uint64_t sequence, uint64_t ack = 0) {
  v1::ServerMessage message;
  message.set_sequence(sequence);
  message.set_ack(ack);
  message.add_progress()->set_value(sequence);
  return message;
}

uint64_t Send(Link* link) {
  v1::ClientMessage message;
  message.add_cancels();
  link->Stamp(&message);
  link->Commit(message);
  return message.sequence();
}

TEST(ClientLink, Stamp_NumbersFromOneOnCommit) {
  Link link;
  v1::ClientMessage message;
  link.Stamp(&message);
  EXPECT_EQ(message.sequence(), 1u);
  link.Stamp(&message);
  EXPECT_EQ(message.sequence(), 1u) << "nothing was written yet";
  link.Commit(message);
  link.Stamp(&message);
  EXPECT_EQ(message.sequence(), 2u);
}

TEST(ClientLink, Receive_AcceptsEachSequenceOnce) {
  Link link;
  EXPECT_EQ(link.Receive(Numbered(1), 10, kStart), Accept::kNew);
  EXPECT_EQ(link.Receive(Numbered(1), 10, kStart), Accept::kDuplicate);
  EXPECT_EQ(link.Receive(Numbered(2), 10, kStart), Accept::kNew);
  EXPECT_EQ(link.Receive(Numbered(4), 10, kStart), Accept::kGap);
  EXPECT_EQ(link.received(), 2u);
}

TEST(ClientLink, Receive_UsesAckOfDuplicate) {
  Link link;
  Send(&link);
  ASSERT_EQ(link.Receive(Numbered(1), 10, kStart), Accept::kNew);
  EXPECT_EQ(link.Receive(Numbered(1, 1), 10, kStart), Accept::kDuplicate);
  EXPECT_EQ(link.peer_received(), 1u);
}

TEST(ClientLink, Receive_RefusesAckOfUnsentMessage) {
  Link link;
  Send(&link);
  EXPECT_EQ(link.Receive(Numbered(1, 2), 10, kStart), Accept::kBadAck);
}

TEST(ClientLink, Receive_IgnoresSmallerAck) {
  Link link;
  Send(&link);
  Send(&link);
  ASSERT_EQ(link.Receive(Numbered(1, 2), 10, kStart), Accept::kNew);
  ASSERT_EQ(link.Receive(Numbered(2, 1), 10, kStart), Accept::kNew);
  EXPECT_EQ(link.peer_received(), 2u);
}

TEST(ClientLink, Ack_IsDueAfterDelay) {
  Link link;
  EXPECT_EQ(link.ack_deadline(), Link::Instant::max());
  link.Receive(Numbered(1), 10, kStart);
  link.Receive(Numbered(2), 10, kStart + milliseconds(15));
  EXPECT_FALSE(link.AckDue(kStart + milliseconds(19)));
  EXPECT_TRUE(link.AckDue(kStart + milliseconds(20))) << "counted from the first message";
  link.CommitAck();
  EXPECT_FALSE(link.AckDue(kStart + milliseconds(100)));
}

TEST(ClientLink, Ack_IsDueAfterQuarterOfLimit) {
  Link link;
  link.SetUnacknowledgedLimit(400);
  link.Receive(Numbered(1), 99, kStart);
  EXPECT_FALSE(link.AckDue(kStart));
  link.Receive(Numbered(2), 1, kStart);
  EXPECT_TRUE(link.AckDue(kStart));
}

TEST(ClientLink, Ack_TravelsWithNextMessage) {
  Link link;
  link.Receive(Numbered(1), 10, kStart);
  v1::ClientMessage message;
  link.Stamp(&message);
  EXPECT_EQ(message.ack(), 1u);
  EXPECT_TRUE(link.HasPendingAck());
  link.Commit(message);
  EXPECT_FALSE(link.HasPendingAck());
}

TEST(ClientLink, Resume_ResendsUnacknowledgedInOrder) {
  Link link;
  std::vector<size_t> sizes;
  for (int i = 1; i <= 4; ++i) {
    v1::ClientMessage message;
    message.add_data()->set_payload(std::string(static_cast<size_t>(100 * i), 'x'));
    link.Stamp(&message);
    sizes.push_back(link.Commit(message).bytes);
  }
  EXPECT_FALSE(link.resending());
  link.Receive(Numbered(1, 1), 10, kStart);
  ASSERT_TRUE(link.Resume(2));
  ASSERT_TRUE(link.resending());
  EXPECT_EQ(link.NextResend()->bytes, sizes[2]);
  EXPECT_EQ(link.NextResend()->bytes, sizes[3]);
  EXPECT_EQ(link.NextResend(), nullptr);
}

TEST(ClientLink, Resume_AgainResendsFromStart) {
  Link link;
  for (int i = 0; i < 3; ++i) {
    Send(&link);
  }
  ASSERT_TRUE(link.Resume(0));
  ASSERT_NE(link.NextResend(), nullptr);
  link.Receive(Numbered(1, 1), 10, kStart);
  ASSERT_TRUE(link.Resume(1));
  EXPECT_NE(link.NextResend(), nullptr);
  EXPECT_NE(link.NextResend(), nullptr);
  EXPECT_EQ(link.NextResend(), nullptr);
}

TEST(ClientLink, Resume_KeepsAcksDuringResend) {
  Link link;
  for (int i = 0; i < 3; ++i) {
    Send(&link);
  }
  ASSERT_TRUE(link.Resume(0));
  ASSERT_NE(link.NextResend(), nullptr);
  ASSERT_NE(link.NextResend(), nullptr);
  link.Receive(Numbered(1, 2), 10, kStart);  // both arrived
  ASSERT_NE(link.NextResend(), nullptr) << "the third one";
  EXPECT_FALSE(link.resending());
}

TEST(ClientLink, Resume_RefusesImpossiblePosition) {
  Link link;
  Send(&link);
  Send(&link);
  link.Receive(Numbered(1, 1), 10, kStart);
  EXPECT_FALSE(link.Resume(0)) << "it has acknowledged message 1";
  EXPECT_FALSE(link.Resume(3)) << "it was not sent";
  EXPECT_TRUE(link.Resume(2));
}

TEST(ClientLink, Resume_ClearsPendingAck) {
  Link link;
  link.Receive(Numbered(1), 10, kStart);
  ASSERT_TRUE(link.Resume(0));
  EXPECT_FALSE(link.HasPendingAck()) << "Hello.resume has carried it";
}

TEST(ClientLink, CanKeep_EndsAtLimit) {
  Link link;
  v1::ClientMessage message;
  message.add_data()->set_payload(std::string(16 << 20, 'x'));
  for (int i = 0; i < 4; ++i) {
    EXPECT_TRUE(link.CanKeep());
    link.Stamp(&message);
    link.Commit(message);
  }
  EXPECT_FALSE(link.CanKeep());
  link.Receive(Numbered(1, 1), 10, kStart);
  EXPECT_TRUE(link.CanKeep());
}

}  // namespace
}  // namespace ttfd::client::client_link_test
