// One connection's rules for messages: numbers, acks, the window, what a first message may be, when output waits and
// when the connection ends.
#include <gmock/gmock.h>

#include <functional>
#include <optional>

#include "daemon/api/status_reason.h"
#include "tests/support/stream_fixture.h"

namespace ttfd::rpc_stream_test {
namespace {

using std::chrono::milliseconds;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

v1::ClientMessage BarrierMessage(uint64_t first_value, int count = 1) {
  v1::ClientMessage message = BatchOf(0, first_value);
  for (int i = 0; i < count; ++i) AddBarrier(&message);
  return message;
}

v1::ClientMessage HelloMessage() {
  v1::ClientMessage message;
  message.mutable_hello()->set_min_revision(1);
  message.mutable_hello()->set_max_revision(1);
  return message;
}

// A stream without a client that keeps the rules.
class RawStream final : public SessionOutput {
 public:
  RawStream(Daemon& core, Clock& clock)
      : core_(core),
        clock_(clock),
        environment_{&core, core.admin().ListDevices().limits},
        stream_(environment_, Peer(), this) {}
  ~RawStream() override {
    if (stream_.open()) stream_.Abandon(/*lost=*/false);
  }
  void OutputReady() override {}
  Status Read(const std::string& bytes) {
    grpc::Slice slice(bytes);
    grpc::ByteBuffer buffer(&slice, 1);
    const Status status = stream_.Read(&buffer, clock_.Now());
    core_.HandleAllInput();
    return status;
  }
  Status Read(const v1::ClientMessage& message) { return Read(message.SerializeAsString()); }
  std::optional<v1::ServerMessage> Next() {
    grpc::ByteBuffer bytes;
    if (!stream_.Next(clock_.Now(), &bytes)) return std::nullopt;
    grpc::Slice slice;
    EXPECT_TRUE(bytes.DumpToSingleSlice(&slice).ok());
    v1::ServerMessage message;
    EXPECT_TRUE(message.ParseFromArray(slice.begin(), static_cast<int>(slice.size())));
    return message;
  }
  SessionStream& stream() { return stream_; }

 private:
  static PeerIdentity Peer() {
    PeerIdentity peer;
    peer.uid = 1000;
    return peer;
  }

  Daemon& core_;
  Clock& clock_;
  SessionStreamEnvironment environment_;
  SessionStream stream_;
};

class RpcStream : public StreamTest {
 protected:
  uint64_t Submitted() {
    const std::vector<SessionInfoReply> sessions = core->admin().ListSessions();
    EXPECT_THAT(sessions, SizeIs(1));
    return sessions[0].submitted.empty() ? 0 : sessions[0].submitted[0].value;
  }
};

// ---- Acks.

TEST_F(RpcStream, Ack_IsSentAfterTwentyMilliseconds) {
  Start();
  auto client = Quiet();
  Send(*client, OpenOf(5));
  EXPECT_EQ(client->stream().ack_due(), clock.Now() + milliseconds(20));
  clock.Advance(milliseconds(19));
  EXPECT_FALSE(client->Take());
  clock.Advance(milliseconds(1));
  EXPECT_TRUE(client->Take());
  EXPECT_FALSE(client->Take()) << "once";
  ASSERT_THAT(client->others, SizeIs(1));
  EXPECT_EQ(client->others[0].ack(), 2u);
  EXPECT_EQ(client->stream().ack_due(), TimePoint::max());
}

TEST_F(RpcStream, Ack_TravelsWithOutput) {
  Start();
  auto client = Quiet();
  Send(*client, BarrierMessage(1));
  EXPECT_TRUE(client->Take());
  ASSERT_THAT(client->messages, SizeIs(1));
  EXPECT_EQ(client->messages[0].ack(), 2u);
  EXPECT_EQ(client->stream().ack_due(), TimePoint::max());
  clock.Advance(milliseconds(20));
  EXPECT_FALSE(client->Take());
}

TEST_F(RpcStream, Ack_IsSentAfterAQuarterOfTheWindow) {
  options.limits.window_bytes = 64 << 10;
  options.limits.chunk_bytes = options.limits.inline_bytes = 8 << 10;
  Start();
  auto client = Quiet();
  card->hold = true;
  v1::ClientMessage write = BatchOf(0, 1);
  AddAllocate(&write, 1, 64 << 10);
  AddStreamedWrite(&write, 1, 64 << 10);
  Send(*client, std::move(write));
  EXPECT_TRUE(client->Take()) << "the buffer is there";
  for (uint64_t i = 0; i < 2; ++i) {
    EXPECT_FALSE(client->Take());
    Send(*client, DataOf(0, 2, i * (8 << 10), Pattern(8 << 10)));
  }
  EXPECT_TRUE(client->Take());
  EXPECT_EQ(client->others.back().ack(), 4u);
}

TEST_F(RpcStream, Duplicate_IsDroppedButItsAckCounts) {
  options.limits.unacknowledged_bytes = 1;
  Start();
  auto client = Quiet();
  client->acks_with_messages = false;
  Send(*client, BarrierMessage(1));
  EXPECT_TRUE(client->Take());
  Send(*client, BarrierMessage(2));
  EXPECT_FALSE(client->Take()) << "the first is not acknowledged";
  EXPECT_TRUE(client->SendBytes(Numbered(BarrierMessage(1), 2)).ok());
  EXPECT_FALSE(client->Take());
  EXPECT_TRUE(client->SendBytes(Numbered(BarrierMessage(1), 2, /*ack=*/1)).ok());
  EXPECT_TRUE(client->Take());
  EXPECT_EQ(client->seen().progress.at(0), 2u);
  EXPECT_EQ(Submitted(), 2u);
}

// What is not charged must cost the daemon little.
TEST_F(RpcStream, Duplicate_IsNotParsed) {
  Start();
  auto client = Quiet();
  v1::ClientMessage message = BatchOf(0, 1);
  message.mutable_batches(0)->add_commands()->mutable_free()->add_handles(300);
  const auto cut = [&](uint64_t sequence) {  // a packed number that does not end
    std::string bytes = Numbered(message, sequence);
    const size_t at = bytes.find("\xAC\x02");
    EXPECT_NE(at, bytes.npos);
    bytes[at + 1] = '\x82';
    return bytes;
  };
  EXPECT_TRUE(client->SendBytes(cut(1)).ok());
  EXPECT_EQ(client->SendBytes(cut(2)).code(), StatusCode::kInvalidArgument);
  client->Lose(/*refused=*/true);
}

TEST_F(RpcStream, BatchWithTooManyCommands_FailsAllOfThem) {
  options.limits.commands_per_batch = 4;
  Start();
  auto client = Quiet();
  Send(*client, BarrierMessage(1, 7));
  Run(*client);
  EXPECT_EQ(client->seen().progress.at(0), 7u);
  v1::ClientMessage next = BarrierMessage(8);
  next.mutable_batches(0)->set_clears_error(1);
  Send(*client, next);
  Run(*client);
  EXPECT_EQ(client->seen().progress.at(0), 8u);
  EXPECT_FALSE(client->seen().errors.contains({0, 8}));
}

// A client that reads slowly, but reads, is not one that is stalled.
TEST_F(RpcStream, AcknowledgedAt_IsWhenAnAckSaidSomethingNew) {
  Start();
  auto client = Quiet();
  client->acks_with_messages = false;
  Send(*client, BarrierMessage(1));
  EXPECT_TRUE(client->Take());
  clock.Advance(milliseconds(500));
  EXPECT_TRUE(client->Acknowledge().ok());
  EXPECT_EQ(client->stream().acknowledged_at(), clock.Now());
  const TimePoint then = clock.Now();
  clock.Advance(milliseconds(500));
  EXPECT_TRUE(client->Acknowledge().ok());
  EXPECT_EQ(client->stream().acknowledged_at(), then);
}

TEST_F(RpcStream, Gap_EndsTheSession) {
  Start();
  auto client = Quiet();
  const Status status = client->SendBytes(Numbered(BarrierMessage(1), 4));
  EXPECT_EQ(PayloadOf(status, kReasonPayload), reason::kSessionLost);
  EXPECT_THAT(StatusMessage(status),
              HasSubstr("message 4 was not expected, message 2 is the next"));
  client->Lose(/*refused=*/true);
  EXPECT_THAT(core->admin().ListSessions(), IsEmpty());
}

TEST_F(RpcStream, ContentWithoutSequence_IsRefused) {
  Start();
  std::vector<v1::ClientMessage> all = {BarrierMessage(1), DataOf(0, 1, 0, "x"), CancelOf(0, 1),
                                        OpenOf(1), FinishMessage()};
  all.emplace_back().mutable_leave();
  for (const v1::ClientMessage& message : all) {
    auto client = Quiet();
    const Status status = client->SendBytes(message.SerializeAsString());
    EXPECT_EQ(status.code(), StatusCode::kInvalidArgument) << message.DebugString();
    EXPECT_EQ(PayloadOf(status, kFieldPayload), "sequence");
    client->Lose(/*refused=*/true);
  }
}

TEST_F(RpcStream, AckOfWhatWasNotSent_IsRefused) {
  Start();
  auto client = Quiet();
  Send(*client, BarrierMessage(1));
  EXPECT_TRUE(client->Take());
  EXPECT_TRUE(client->Acknowledge().ok());
  client->ClaimAck(2);
  const Status status = client->Acknowledge();
  EXPECT_EQ(status.code(), StatusCode::kInvalidArgument);
  EXPECT_EQ(PayloadOf(status, kFieldPayload), "ack");
}

// ---- What is no message.

TEST_F(RpcStream, FirstMessage_IsHelloAlone) {
  Start();
  const std::function<v1::ClientMessage()> refused[] = {
      [] { return v1::ClientMessage(); },
      [] { return BarrierMessage(1); },
      [] {
        v1::ClientMessage message = HelloMessage();
        message.set_sequence(1);
        return message;
      },
      [] {
        v1::ClientMessage message = HelloMessage();
        message.set_ack(1);
        return message;
      },
      [] {
        v1::ClientMessage message = HelloMessage();
        *message.add_open_queues() = OpenOf(0).open_queues(0);
        return message;
      },
      [] {
        v1::ClientMessage message = HelloMessage();
        message.mutable_finish();
        return message;
      }};
  for (const auto& make : refused) {
    RawStream client(*core, clock);
    const Status status = client.Read(make());
    EXPECT_EQ(status.code(), StatusCode::kInvalidArgument) << make().DebugString();
    EXPECT_EQ(PayloadOf(status, kFieldPayload), "hello");
    EXPECT_FALSE(client.stream().open());
  }
  RawStream client(*core, clock);
  ASSERT_TRUE(client.Read(HelloMessage()).ok());
  EXPECT_TRUE(client.Next()->has_welcome());
  EXPECT_EQ(PayloadOf(client.Read(HelloMessage()), kFieldPayload), "hello") << "a second one";
}

TEST_F(RpcStream, BytesThatAreNoMessage_AreRefused) {
  Start();
  v1::ClientMessage name = HelloMessage();
  name.mutable_hello()->set_client_name("no UTF-8: \xC3(");
  const std::string whole = HelloMessage().SerializeAsString();
  for (const std::string& bytes :
       {name.SerializePartialAsString(), whole.substr(0, whole.size() - 1), std::string("\xFF")}) {
    RawStream client(*core, clock);
    EXPECT_EQ(client.Read(bytes).code(), StatusCode::kInvalidArgument);
    EXPECT_FALSE(client.stream().open());
  }
  EXPECT_THAT(core->admin().ListSessions(), IsEmpty());
}

TEST_F(RpcStream, TooManyNestedMessages_AreRefused) {
  options.limits.nested_messages = 100;
  Start();
  auto client = Quiet();
  Send(*client, BarrierMessage(1, 49));  // a batch, 49 commands of 2
  const Status status = client->SendBytes(Numbered(BarrierMessage(50, 50), 3));
  EXPECT_EQ(status.code(), StatusCode::kResourceExhausted);
  EXPECT_EQ(LimitOf(status)->limit, "nested_messages");
  EXPECT_EQ(Submitted(), 49u);
}

// ---- The window.

TEST_F(RpcStream, Window_IsChargedBytesAndCommands) {
  Start();
  auto client = Quiet();
  v1::ClientMessage objects = BatchOf(0, 1);
  AddAllocate(&objects, 1, 4096);
  AddKernel(&objects, 2);
  AddProgram(&objects, 3, 2);
  Send(*client, std::move(objects));
  Run(*client);
  ASSERT_EQ(Held(*client), 0u);
  card->hold = true;
  const uint64_t before = client->charged();
  v1::ClientMessage message = BatchOf(0, 4);
  message.mutable_batches(0)->add_waits()->set_value(3);
  AddLaunch(&message, 3);
  v1::Arguments* const arguments =
      message.mutable_batches(0)->mutable_commands(0)->mutable_launch()->add_arguments();
  for (uint32_t i = 0; i < 300; ++i) arguments->add_common(i * 1000);
  arguments->add_buffers()->set_buffer(1);
  AddWrite(&message, 1, Pattern(512));
  v1::ClientMessage second = BatchOf(0, 6);
  AddStreamedWrite(&second, 1, 64);
  *message.add_batches() = second.batches(0);
  *message.add_data() = DataOf(0, 6, 0, Pattern(32)).data(0);
  const uint64_t held = CostOf(message);
  EXPECT_EQ(held, message.ByteSizeLong() + 3 * kCommandBytes);
  Send(*client, std::move(message));  // with a sequence and an ack
  core->RunOnce();
  EXPECT_EQ(client->charged() - before, held + 4);
  EXPECT_EQ(Held(*client), held) << "nothing of it has ended";
  Send(*client, OpenOf(2));
  Send(*client, CancelOf(2, 9));
  EXPECT_EQ(Held(*client), held) << "which cost nothing";
  card->hold = false;
  Send(*client, DataOf(0, 6, 32, Pattern(32)));
  Run(*client);
  EXPECT_EQ(Held(*client), 0u);
  EXPECT_EQ(client->window_bytes(), client->charged() + options.limits.window_bytes);
}

TEST_F(RpcStream, MoreThanTheWindow_IsRefusedWhole) {
  options.limits.window_bytes = 64 << 10;
  options.limits.chunk_bytes = options.limits.inline_bytes = 8 << 10;
  Start();
  auto client = Quiet();
  card->hold = true;
  const Status status = client->SendBytes(Numbered(BarrierMessage(1, 128), 2));
  EXPECT_EQ(status.code(), StatusCode::kResourceExhausted);
  EXPECT_EQ(LimitOf(status)->limit, "window_bytes");
  EXPECT_EQ(LimitOf(status)->value, 64u << 10);
  EXPECT_EQ(Submitted(), 0u);
  EXPECT_TRUE(client->SendBytes(Numbered(BarrierMessage(1, 126), 2)).ok())
      << "its number was not used up";
}

// ---- Output.

TEST_F(RpcStream, Output_WaitsForAcks) {
  options.limits.unacknowledged_bytes = 200 << 10;
  behaviour.dram_bank_bytes = 16 << 20;
  Start();
  auto client = Quiet();
  client->acks_with_messages = false;
  constexpr uint64_t kSize = 4 << 20;
  v1::ClientMessage message = BatchOf(0, 1);
  AddAllocate(&message, 1, kSize);
  AddRead(&message, 1, 0, kSize);
  Send(*client, std::move(message));
  const auto received = [&] {
    for (bool any = true; any;) {
      any = core->RunOnce();
      while (client->Take()) any = true;
    }
    const auto data = client->seen().data.find({0, 2});
    return data == client->seen().data.end() ? 0 : data->second.size();
  };
  size_t last = received();
  EXPECT_GE(last, 200u << 10);
  EXPECT_LT(last, (1 << 20) + (200 << 10)) << "no more than a message above the limit";
  while (last < kSize) {
    EXPECT_EQ(received(), last) << "without an ack nothing more comes";
    const int ready = client->ready;
    ASSERT_TRUE(client->Acknowledge().ok());
    EXPECT_GT(client->ready, ready) << "the connection is notified";
    const size_t now = received();
    ASSERT_GT(now, last);
    EXPECT_LT(now - last, (1 << 20) + (200 << 10));
    last = now;
  }
}

TEST_F(RpcStream, ClientThatDoesNotAcknowledge_IsTimedFromItsLastAck) {
  options.limits.unacknowledged_bytes = 1;
  Start();
  auto client = Quiet();
  client->acks_with_messages = false;
  EXPECT_EQ(client->stream().awaits_ack_since(), TimePoint::max());
  Send(*client, BarrierMessage(1));
  EXPECT_TRUE(client->Take());
  EXPECT_FALSE(client->Take());
  const TimePoint since = clock.Now();
  EXPECT_EQ(client->stream().awaits_ack_since(), since);
  for (uint64_t value = 2; value < 5; ++value) {
    clock.Advance(milliseconds(100));
    Send(*client, BarrierMessage(value));
    while (client->Take()) continue;  // acks of the daemon
    EXPECT_EQ(client->stream().awaits_ack_since(), since) << "whatever else it sends";
  }
  EXPECT_TRUE(client->Acknowledge().ok());
  EXPECT_TRUE(client->Take());
  EXPECT_FALSE(client->Take());
  EXPECT_EQ(client->stream().awaits_ack_since(), clock.Now()) << "of the next message";
  EXPECT_TRUE(client->Acknowledge().ok());
  EXPECT_FALSE(client->Take());
  EXPECT_EQ(client->stream().awaits_ack_since(), TimePoint::max());
}

// ---- Leases.

TEST_F(RpcStream, SessionThatWaitsForItsLease_ReadsNothing) {
  Start();
  const auto ask = [this] {
    auto client = std::make_unique<RawStream>(*core, clock);
    v1::ClientMessage message = HelloMessage();
    message.mutable_hello()->mutable_lease();
    EXPECT_TRUE(client->Read(message).ok());
    return client;
  };
  auto holder = ask();
  EXPECT_TRUE(holder->stream().waits_for_lease());
  EXPECT_FALSE(holder->Next().has_value());
  RunAll();
  EXPECT_TRUE(holder->Next()->has_welcome());
  EXPECT_FALSE(holder->stream().waits_for_lease());
  auto waiter = ask();
  RunAll();
  const std::optional<v1::ServerMessage> notice = waiter->Next();
  ASSERT_TRUE(notice.has_value());
  EXPECT_EQ(notice->sequence(), 0u);
  EXPECT_EQ(notice->notices(0).waiting().position(), 1u);
  EXPECT_TRUE(waiter->stream().waits_for_lease());
  EXPECT_FALSE(waiter->Read(Numbered(OpenOf(0), 1)).ok());
  holder.reset();
  auto next = ask();
  RunAll();
  while (next->stream().waits_for_lease() && next->Next()) continue;
  waiter.reset();
  RunAll();
  std::optional<v1::ServerMessage> message;
  while (next->stream().waits_for_lease()) {
    message = next->Next();
    ASSERT_TRUE(message.has_value());
  }
  EXPECT_TRUE(message->has_welcome());
  EXPECT_FALSE(message->welcome().lease_token().empty());
  EXPECT_TRUE(next->Read(Numbered(OpenOf(0), 1)).ok());
}

// ---- The end.

TEST_F(RpcStream, Finish_WaitsForTheAckOfAllOutput) {
  Start();
  auto client = Quiet();
  client->acks_with_messages = false;
  Send(*client, BarrierMessage(1));
  Send(*client, FinishMessage());
  EXPECT_TRUE(client->stream().input_finished());
  Status status;
  while (client->Take()) continue;
  EXPECT_EQ(client->CheckEnd(&status), SessionPort::Ending::kUnacknowledged);
  EXPECT_EQ(client->stream().awaits_ack_since(), clock.Now());
  EXPECT_THAT(core->admin().ListSessions(), SizeIs(1));
  const int ready = client->ready;
  EXPECT_TRUE(client->Acknowledge().ok());
  EXPECT_GT(client->ready, ready);
  EXPECT_EQ(client->CheckEnd(&status), SessionPort::Ending::kEnded);
  EXPECT_TRUE(status.ok());
  EXPECT_THAT(core->admin().ListSessions(), IsEmpty());
}

TEST_F(RpcStream, Finish_IsLookedAtBehindAnAckAlone) {
  Start();
  auto client = Quiet();
  Send(*client, BarrierMessage(1));
  while (client->Take()) continue;
  Send(*client, FinishMessage());
  clock.Advance(milliseconds(20));
  EXPECT_TRUE(client->Take());
  ASSERT_THAT(client->others, SizeIs(1));
  EXPECT_TRUE(client->stream().more()) << "the session may have ended, and says so once";
  EXPECT_FALSE(client->Take());
  Status status;
  EXPECT_EQ(client->CheckEnd(&status), SessionPort::Ending::kEnded);
}

TEST_F(RpcStream, FinishWithoutReconnectTimeout_NeedsNoAck) {
  Start();
  auto client = Quiet(/*reconnect_timeout_ms=*/0);
  client->acks_with_messages = false;
  Send(*client, BarrierMessage(1));
  Send(*client, FinishMessage());
  Status status;
  EXPECT_EQ(client->CheckEnd(&status), SessionPort::Ending::kOpen) << "its result is not written";
  while (client->Take()) continue;
  EXPECT_EQ(client->CheckEnd(&status), SessionPort::Ending::kEnded);
  EXPECT_TRUE(status.ok());
  EXPECT_THAT(core->admin().ListSessions(), IsEmpty());
}

TEST_F(RpcStream, LossWithoutFinish_KeepsOrEndsTheSession) {
  Start();
  auto kept = Quiet();
  EXPECT_FALSE(kept->stream().input_finished());
  kept->Lose();
  auto ended = Quiet(/*reconnect_timeout_ms=*/0);
  ended->Lose();
  RunAll();
  ASSERT_THAT(core->admin().ListSessions(), SizeIs(1));
  EXPECT_EQ(core->admin().ListSessions()[0].state, SessionState::kDetached);
  clock.Advance(milliseconds(kTimeoutMs));
  RunAll();
  EXPECT_THAT(core->admin().ListSessions(), IsEmpty());
}

}  // namespace
}  // namespace ttfd::rpc_stream_test
