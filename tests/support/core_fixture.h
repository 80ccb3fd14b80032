// A daemon's core on a fake card, without threads, and clients that speak to it in values.
#pragma once

#include <gtest/gtest.h>

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "daemon/core/daemon.h"
#include "tests/support/fake_card.h"

namespace ttfd {

inline AllocateRequest Allocate(uint64_t handle, uint64_t size, uint32_t page = 1024) {
  AllocateRequest request;
  request.handle = handle;
  request.size_bytes = size;
  request.page_bytes = page;
  request.place = BufferPlace::kDramInterleaved;
  return request;
}
WriteRequest InlineWrite(uint64_t buffer, uint64_t offset, std::string bytes);
WriteRequest StreamedWrite(uint64_t buffer, uint64_t offset, uint64_t size);
inline ReadRequest Read(uint64_t buffer, uint64_t offset, uint64_t size) {
  return {buffer, offset, size};
}
inline FreeRequest Free(std::vector<uint64_t> handles) { return {std::move(handles)}; }
LoadKernelRequest InlineKernel(uint64_t handle, std::string elf = "elf");
CreateProgramRequest OneKernelProgram(uint64_t handle, uint64_t kernel,
                                      CoreRange cores = {0, 0, 0, 0});
inline OpenQueueRequest ComputeQueue(uint32_t queue, std::vector<CoreRange> workers = {}) {
  return {queue, std::nullopt, 1, std::move(workers)};
}
inline OpenQueueRequest TransferQueue(uint32_t queue) { return {queue, std::nullopt, 2, {}}; }
inline LaunchRequest Launch(uint64_t program) {
  LaunchRequest request;
  request.program = program;
  return request;
}
std::string Pattern(size_t size, uint32_t seed = 1);
// What the core of CoreTest loads kernels with, unless a test sets DaemonOptions::load_kernel.
StatusOr<std::shared_ptr<const KernelImage>> LoadFakeKernel(ByteSpan elf, const std::string& name);

// One connection of one session: numbers its commands, collects its output. A new session has queue 0 open, for
// compute; one that waits for its lease once it has that.
class TestClient final : public SessionOutput {
 public:
  explicit TestClient(Daemon& core) : core_(core) {}
  ~TestClient() override;

  Status Open(const HelloRequest& hello, uint32_t uid = 1000);
  void OutputReady() override { ++ready; }

  // Sends commands as one batch; returns the value of the first. Expects no protocol error.
  template <typename... Requests>
  uint64_t Send(Requests... requests) {
    return SendOn(0, {}, std::move(requests)...);
  }
  template <typename... Requests>
  uint64_t SendOn(uint32_t queue, std::vector<QueuePosition> waits, Requests... requests) {
    BatchRequest batch;
    batch.queue = queue;
    batch.waits = std::move(waits);
    (batch.commands.push_back(Request(std::move(requests))), ...);
    return SendBatch(std::move(batch));
  }
  uint64_t SendBatch(BatchRequest batch, uint32_t cost = 0);
  // One command on queue 0 in a message of this cost.
  uint64_t SendOne(uint32_t cost, Request request) {
    BatchRequest batch;
    batch.commands.push_back(std::move(request));
    return SendBatch(std::move(batch), cost);
  }
  // A message of this cost fits the window.
  bool MaySend(uint64_t cost) const { return sent_cost + cost <= window_bytes; }
  void OpenQueue(OpenQueueRequest request);
  // One message. With `cost` of it, all of which its first command or chunk holds.
  Status Accept(MessageRequest message);
  Status Submit(BatchRequest batch, uint32_t cost = 0);
  Status Supply(uint32_t queue, uint64_t value, uint64_t offset, std::string bytes,
                uint32_t cost = 0);
  Status Cancel(QueuePosition from);
  void Finish();
  void Leave();
  // The connection is lost, or ends after a protocol error.
  void Abandon(bool lost = true);

  // Takes what there is, without letting the core run. True: there was something.
  bool Take(uint64_t max_bytes = 1 << 20);
  // Lets the core run until nothing moves, taking output on the way.
  void Run();
  // Everything that was taken has been acknowledged. Lets the core handle input.
  bool Ended(Status* status);

  uint64_t Progress(uint32_t queue = 0) const;
  std::string Data(uint64_t value, uint32_t queue = 0) const;
  // The error of a command; code OK if there is none. Of value 0: of the queue's opening.
  ErrorReply ErrorOf(uint64_t value, uint32_t queue = 0) const;
  // The last notice about its wait for a lease; as constructed: none.
  LeaseWaitReply lease_wait() const {
    return lease_waits.empty() ? LeaseWaitReply() : lease_waits.back();
  }
  uint64_t id() const { return session_->welcome().session; }

  SessionPort& session() { return *session_; }
  std::shared_ptr<SessionPort> session_;
  std::vector<CommandErrorReply> errors;
  std::vector<KernelPrintReply> prints;
  uint64_t window_bytes = 0;  // as it was sent last
  uint64_t sent_cost = 0;     // of all messages
  uint64_t accepted = 0;      // messages
  bool welcomed = false;      // after it waited for its lease
  std::string lease_token;
  std::vector<LeaseWaitReply> lease_waits;  // notices
  int ready = 0;

 private:
  struct Timeline {
    uint64_t sent = 0;
    uint64_t completed = 0;
    std::map<uint64_t, std::string> data;  // by the value of the command
  };
  void Keep(SessionOutputBatch batch);

  Daemon& core_;
  bool abandoned_ = false;
  std::map<uint32_t, Timeline> queues_;
};

class CoreTest : public ::testing::Test {
 protected:
  // Several works on the card at once are what most tests look at.
  CoreTest() { options.card.window = std::chrono::milliseconds(1); }

  // Tests change what they need, then call Start.
  FakeCard::Behaviour behaviour;
  DaemonOptions options;

  void Create();  // `core`, not booted
  void Start();
  std::unique_ptr<TestClient> Connect(uint32_t uid = 1000);
  void RunAll();  // until nothing moves

  MemoryUseReply Memory(MemoryKind kind);

  ManualClock clock;
  Clock* core_clock = &clock;
  std::function<void(bool)> set_in_use = [](bool) {};
  size_t card_count = 1;
  std::function<void(std::vector<ServedCard>*)> change_served = [](std::vector<ServedCard>*) {};
  std::vector<FakeCard*> cards;  // by device
  FakeCard* card = nullptr;      // the first
  std::unique_ptr<Daemon> core;
};

}  // namespace ttfd
