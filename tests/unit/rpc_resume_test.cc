// A session over connections that break: what a client sees in the end is the same as without, whatever was lost, and
// every message is accepted once, wholly or not at all.
#include <gmock/gmock.h>

#include <atomic>
#include <thread>

#include "daemon/api/status_reason.h"
#include "tests/support/stream_fixture.h"

namespace ttfd::rpc_resume_test {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

constexpr uint64_t kChunk = 48 << 10;
constexpr uint64_t kLarge = 2 * kChunk + (40 << 10);

class RpcResume : public StreamTest {
 protected:
  void Prepare() {
    options.limits.read_bytes = 260 << 10;  // a little more than one slice of a read
    Start();
    card->completes_per_poll = 1;
    card->on_launch = [this](const LaunchCommand&) {
      KernelPrint line;
      line.kernel_name = "kernel";
      line.text = "launch " + std::to_string(++launches_);
      card->Print({0, card->completed(0) + 1}, line);
      return OkStatus();
    };
  }

  int launches_ = 0;
};

using Messages = std::vector<v1::ClientMessage>;

v1::ClientMessage* AddBatch(Messages& all, uint32_t queue, uint64_t first) {
  return &all.emplace_back(BatchOf(queue, first));
}

// Data in both directions; a kernel, a program and launches; a second queue that waits for the first.
void AddTransfersAndLaunches(Messages& all) {
  const std::string bytes = Pattern(kLarge);
  v1::ClientMessage* next = AddBatch(all, 0, 1);
  AddAllocate(next, 1, kLarge);
  AddKernel(next, 2);
  AddStreamedWrite(next, 1, kLarge);
  all.push_back(DataOf(0, 3, 0, bytes.substr(0, kChunk)));
  all.push_back(DataOf(0, 3, kChunk, bytes.substr(kChunk, kChunk)));
  next = AddBatch(all, 0, 4);
  AddRead(next, 1, 0, kLarge);
  v1::LoadKernel* const load = AddTo(next)->mutable_load_kernel();
  load->set_handle(4);
  load->set_size(9);
  load->set_streamed(true);
  AddProgram(next, 5, 4);
  all.push_back(DataOf(0, 3, 2 * kChunk, bytes.substr(2 * kChunk)));
  all.push_back(DataOf(0, 5, 0, "elf "));
  all.push_back(DataOf(0, 5, 4, "again"));
  next = AddBatch(all, 0, 7);
  AddLaunch(next, 5);
  AddBarrier(next);
  AddLaunch(next, 5);
  *next->add_open_queues() = OpenOf(1, v1::QUEUE_KIND_TRANSFER).open_queues(0);
  next = AddBatch(all, 1, 1);
  next->mutable_batches(0)->add_waits()->set_value(9);
  v1::Fill* const fill = AddTo(next)->mutable_fill();
  fill->set_buffer(1);
  fill->set_size(4096);
  fill->set_word(0x01020304);
  AddRead(next, 1, 0, 4096);
}

// An error with what follows from it; a trace; a cancellation.
void AddErrorsAndTrace(Messages& all) {
  v1::ClientMessage* next = AddBatch(all, 0, 10);
  AddRead(next, 99, 0, 16);
  AddLaunch(next, 5);
  AddAllocate(next, 7, 64);
  next = AddBatch(all, 0, 13);
  AddBarrier(next);
  AddFree(next, 99);
  next = AddBatch(all, 0, 15);
  next->mutable_batches(0)->set_clears_error(10);
  v1::RecordTrace* const trace = AddTo(next)->mutable_record_trace();
  trace->set_handle(6);
  trace->add_launches()->set_program(5);
  trace->add_launches()->set_program(5);
  AddTo(next)->mutable_replay_trace()->set_trace(6);
  AddRead(next, 1, 1024, 3000);
  next = AddBatch(all, 1, 3);
  AddStreamedWrite(next, 1, 64);
  AddBarrier(next);
  all.push_back(CancelOf(1, 3));
  next = AddBatch(all, 1, 5);
  next->mutable_batches(0)->set_clears_error(3);
  AddRead(next, 1, 0, 64);
}

// Every kind of command.
Messages Scenario() {
  Messages all;
  AddTransfersAndLaunches(all);
  AddErrorsAndTrace(all);
  v1::ClientMessage* next = AddBatch(all, 0, 18);
  for (const uint64_t handle : {1, 2, 5}) AddFree(next, handle);
  next = AddBatch(all, 0, 21);
  AddAllocate(next, 1, 2048);
  AddWrite(next, 1, Pattern(2048, 9));
  AddRead(next, 1, 0, 2048);
  AddBarrier(next);
  all.push_back(FinishMessage());
  return all;
}

TEST_F(RpcResume, CutAfterAnyMessage_ChangesNothing) {
  // How the connection ends at event `cut`: the message did not arrive, or arrived and nothing after it; and the daemon
  // goes on meanwhile, or not.
  Prepare();
  const auto play = [this](size_t cut, bool lost, bool meanwhile, size_t* events) {
    launches_ = 0;
    auto client = Client();
    size_t event = 0;
    const auto after = [&] {
      if (event++ != cut) return;
      client->Lose();
      if (meanwhile) RunAll();
      const Status status = client->Open();
      EXPECT_TRUE(status.ok()) << StatusMessage(status);
    };
    for (v1::ClientMessage& message : Scenario()) {
      if (event == cut && lost) client->Lose();
      Send(*client, std::move(message));
      after();
      for (bool any = true; any;) {
        any = core->RunOnce();
        while (client->Take(event == cut && lost)) {
          any = true;
          after();
        }
        EXPECT_TRUE(client->Acknowledge().ok());
      }
    }
    Run(*client);
    *events = event;
    Status end;
    EXPECT_EQ(client->CheckEnd(&end), SessionPort::Ending::kEnded);
    EXPECT_TRUE(end.ok()) << StatusMessage(end);
    EXPECT_THAT(core->admin().ListSessions(), IsEmpty());
    return client->seen();
  };
  size_t events = 0;
  const StreamClient::Seen whole = play(~size_t{0}, false, false, &events);
  EXPECT_EQ(whole.progress.at(0), 24u);
  EXPECT_EQ(whole.data.at({0, 4}), Pattern(kLarge));
  EXPECT_EQ(whole.data.at({0, 23}), Pattern(2048, 9));
  EXPECT_EQ(whole.errors.at({0, 10}), "UNKNOWN_HANDLE");
  EXPECT_EQ(whole.errors.at({0, 11}), "CAUSED_BY 0:10");
  EXPECT_EQ(whole.errors.at({1, 3}), "CANCELLED");
  EXPECT_THAT(whole.prints, SizeIs(4));
  EXPECT_GE(events, 30u);
  size_t points = 0;
  for (size_t cut = 0; cut < events; ++cut) {
    for (const bool lost : {false, true}) {
      const bool meanwhile = ++points % 4 < 2;
      SCOPED_TRACE(
          fmt::format("cut at {} of {}, lost {}, meanwhile {}", cut, events, lost, meanwhile));
      size_t ignored = 0;
      EXPECT_TRUE(play(cut, lost, meanwhile, &ignored) == whole);
      EXPECT_EQ(Memory(MemoryKind::kDram).used_bytes, 0u);
      if (HasFailure()) return;
    }
  }
  RecordProperty("points", static_cast<int>(points));
}

TEST_F(RpcResume, Welcome_SaysWhatWasAccepted) {
  Prepare();
  auto client = Client();
  v1::ClientMessage first = BatchOf(0, 1);
  AddBarrier(&first);
  Send(*client, first);
  client->Lose();
  v1::ClientMessage second = BatchOf(0, 2);
  AddBarrier(&second);
  Send(*client, second);  // lost
  ASSERT_TRUE(client->Open().ok());
  EXPECT_EQ(client->welcome().received(), 2u) << "opening the queue, and the first batch";
  Run(*client);
  EXPECT_EQ(client->seen().progress.at(0), 2u);
  EXPECT_EQ(client->unacknowledged(), 0u);
}

TEST_F(RpcResume, Resume_ResendsInOrderBeforeAnythingNew) {
  Prepare();
  auto client = Client();
  client->acks_with_messages = false;
  for (uint64_t value = 1; value <= 3; ++value) {
    v1::ClientMessage message = BatchOf(0, value);
    AddBarrier(&message);
    Send(*client, std::move(message));
    EXPECT_TRUE(client->Take(/*lost=*/true));
  }
  client->Lose();
  RunAll();
  ASSERT_TRUE(client->Open().ok());
  v1::ClientMessage message = BatchOf(0, 4);
  AddBarrier(&message);
  Send(*client, std::move(message));
  while (client->Take()) continue;
  ASSERT_THAT(client->messages, SizeIs(4));
  for (uint64_t value = 1; value <= 4; ++value) {
    const v1::ServerMessage& one = client->messages[value - 1];
    EXPECT_EQ(one.sequence(), value);
    EXPECT_EQ(one.progress(0).value(), value);
  }
}

TEST_F(RpcResume, ResumeOfWhatWasNotSent_EndsTheSession) {
  Prepare();
  auto client = Client();
  Run(*client);
  v1::ClientMessage message;
  message.mutable_hello()->set_min_revision(1);
  message.mutable_hello()->set_max_revision(1);
  v1::Resume* const resume = message.mutable_hello()->mutable_resume();
  resume->set_session(client->welcome().session());
  resume->set_token(client->welcome().token());
  resume->set_received(77);
  client->Lose();
  const SessionStreamEnvironment environment{core.get(), core->admin().ListDevices().limits};
  PeerIdentity peer;
  peer.uid = 1000;
  SessionStream stream(environment, peer, client.get());
  const std::string bytes = message.SerializeAsString();
  grpc::Slice slice(bytes);
  grpc::ByteBuffer buffer(&slice, 1);
  const Status status = stream.Read(&buffer, clock.Now());
  EXPECT_EQ(PayloadOf(status, kFieldPayload), "hello.resume.received");
  ASSERT_TRUE(stream.open());
  stream.Abandon(/*lost=*/false);
  core->HandleAllInput();
  EXPECT_THAT(core->admin().ListSessions(), IsEmpty());
}

TEST_F(RpcResume, ReplacedConnection_NeitherReadsNorWrites) {
  Prepare();
  auto client = Client();
  auto other = Client();  // to compare with
  Run(*client);
  const std::string token = client->welcome().token();
  // Another connection of the same client resumes, while this one is still there.
  StreamClient second = StreamClient(*core, clock, kTimeoutMs);
  second.Adopt(*client);
  ASSERT_TRUE(second.Open().ok());
  v1::ClientMessage message = BatchOf(0, 1);
  AddBarrier(&message);
  const Status status = client->Send(message);
  EXPECT_EQ(status.code(), StatusCode::kAborted);
  EXPECT_FALSE(client->Take());
  Status end;
  EXPECT_EQ(client->CheckEnd(&end), SessionPort::Ending::kEnded);
  EXPECT_THAT(StatusMessage(end), HasSubstr("resumed on another connection"));
  client->Lose();
  Send(second, message);
  Run(second);
  EXPECT_EQ(second.seen().progress.at(0), 1u);
}

// One thread sends on a connection while another resumes the session: Welcome.received is exactly what was accepted.
TEST_F(RpcResume, Acceptance_IsAtomicAgainstAResume) {
  Start();
  for (int round = 0; round < 200; ++round) {
    auto client = Client();
    while (client->Take()) continue;
    std::atomic<bool> go{false};
    std::thread sender([&] {
      go = true;
      for (uint64_t value = 1; value <= 200; ++value) {
        v1::ClientMessage message = BatchOf(0, value);
        for (int i = 0; i < 1; ++i) AddBarrier(&message);
        message.set_sequence(value + 1);
        if (!client->PostBytes(message.SerializeAsString()).ok()) break;
      }
    });
    while (!go) continue;
    StreamClient second(*core, clock, kTimeoutMs);
    second.Adopt(*client);
    const Status status = second.Open();
    sender.join();
    ASSERT_TRUE(status.ok()) << StatusMessage(status);
    core->HandleAllInput();
    const std::vector<SessionInfoReply> sessions = core->admin().ListSessions();
    ASSERT_THAT(sessions, SizeIs(1));
    ASSERT_EQ(sessions[0].submitted.at(0).value + 1, second.welcome().received());
    client->Lose();
    second.Lose(/*refused=*/true);
    RunAll();
  }
}

}  // namespace
}  // namespace ttfd::rpc_resume_test
