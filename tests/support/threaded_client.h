// A client of a daemon whose threads run: sends, and waits for its timeline.
#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "daemon/api/session_port.h"
#include "runtime/base/clock.h"
#include "runtime/base/mutex.h"
#include "tests/support/plain_transport.h"

namespace ttfd {

// A connection as daemon/rpc drives it: one thread sends, one takes. Queue 0 is open, for compute.
class ThreadedClient final : public SessionOutput {
 public:
  explicit ThreadedClient(DaemonService& core, const PeerIdentity& peer = {}) {
    HelloRequest hello;
    hello.min_revision = hello.max_revision = 1;
    hello.client_name = "threaded";
    auto session = core.Open(peer, hello, this, std::make_shared<PlainTransport>());
    EXPECT_TRUE(session.ok());
    session_ = *std::move(session);
    OpenQueue({});
  }

  ~ThreadedClient() override {
    if (!abandoned_) Abandon();
  }

  void Abandon() {
    abandoned_ = true;
    session_->Abandon(/*lost=*/true);
  }

  void OutputReady() override {
    MutexLock lock(&mu_);
    ready_ = true;
    changed_.NotifyAll();
  }

  // Returns the value of the first.
  uint64_t Send(std::vector<Request> commands, uint64_t clears_error = 0) {
    BatchRequest batch;
    batch.clears_error = clears_error;
    batch.first_value = sent_ + 1;
    const uint64_t first = batch.first_value;
    sent_ += commands.size();
    batch.commands = std::move(commands);
    Submit(std::move(batch));
    return first;
  }
  void Submit(BatchRequest batch, uint64_t cost = 0) {
    MessageRequest message;
    message.cost = cost;
    message.batches.push_back(std::move(batch));
    Accept(std::move(message));
  }
  void OpenQueue(OpenQueueRequest request) {
    MessageRequest message;
    message.open_queues.push_back(std::move(request));
    Accept(std::move(message));
  }
  void Supply(DataChunk chunk) {
    MessageRequest message;
    message.data.push_back(std::move(chunk));
    Accept(std::move(message));
  }
  void Cancel(QueuePosition from) {
    MessageRequest message;
    message.cancels.push_back(from);
    Accept(std::move(message));
  }
  void Finish() {
    MessageRequest message;
    message.finish = true;
    Accept(std::move(message));
  }
  void Accept(MessageRequest message) {
    const Status status = session_->Accept(std::move(message), [] {});
    // Aborted: an administrator has ended the session, which tests with one expect.
    EXPECT_TRUE(status.ok() || status.code() == StatusCode::kAborted) << StatusMessage(status);
  }
  bool Ended(Status* status) {
    return session_->CheckEnd(true, status) == SessionPort::Ending::kEnded;
  }
  // Waits for it, after Finish.
  bool Ends(Status* status) {
    const TimePoint deadline = SteadyClock().Now() + std::chrono::seconds(20);
    while (!Ended(status)) {
      if (SteadyClock().Now() >= deadline) return false;
      if (session_->TakeOutput(1 << 20).empty() && !Ended(status)) WaitForOutput(deadline);
    }
    return true;
  }

  // Takes output until the timeline reaches `value`; returns the data of the last read.
  std::string WaitFor(uint64_t value) {
    const TimePoint deadline = SteadyClock().Now() + std::chrono::seconds(20);
    while (progress_ < value && SteadyClock().Now() < deadline) {
      SessionOutputBatch batch = session_->TakeOutput(1 << 20);
      for (DataChunk& chunk : batch.data) {
        if (chunk.offset == 0) data_.clear();
        data_ += chunk.payload;
      }
      for (CommandErrorReply& error : batch.errors) errors_.push_back(std::move(error));
      for (const QueuePosition& position : batch.progress) progress_ = position.value;
      if (!batch.empty()) continue;
      Status status;
      if (Ended(&status)) return data_;  // ended by an administrator
      WaitForOutput(deadline);
    }
    EXPECT_GE(progress_, value) << "no progress in 20 s";
    return data_;
  }

  SessionPort& session() { return *session_; }
  uint64_t sent() const { return sent_; }
  const std::vector<CommandErrorReply>& errors() const { return errors_; }

 private:
  void WaitForOutput(TimePoint deadline) {
    MutexLock lock(&mu_);
    while (!ready_ && changed_.WaitUntil(&mu_, deadline)) continue;
    ready_ = false;
  }

  std::shared_ptr<SessionPort> session_;
  bool abandoned_ = false;
  uint64_t sent_ = 0;
  uint64_t progress_ = 0;
  std::vector<CommandErrorReply> errors_;
  std::string data_;
  Mutex mu_;
  CondVar changed_;
  bool ready_ ABSL_GUARDED_BY(mu_) = false;
};

}  // namespace ttfd
