// A client of a daemon whose threads run: sends, and waits for its timeline.
#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "daemon/session/service.h"
#include "runtime/base/clock.h"
#include "runtime/base/mutex.h"

namespace ttfd {

// A call as daemon/rpc drives it: one thread sends, one takes.
class ThreadedClient final : public SessionOutput {
 public:
  explicit ThreadedClient(DaemonService& core) {
    HelloRequest hello;
    hello.min_revision = hello.max_revision = 1;
    hello.client_name = "threaded";
    auto session = core.Open({}, hello, this);
    EXPECT_TRUE(session.ok());
    session_ = *std::move(session);
  }

  ~ThreadedClient() override { session_->Abandon(); }

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
    const Status status = session_->Submit(std::move(batch));
    // Aborted: an administrator has ended the session, which tests with one expect.
    EXPECT_TRUE(status.ok() || status.code() == StatusCode::kAborted) << StatusMessage(status);
    return first;
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
      if (session_->finished(&status)) return data_;  // ended by an administrator
      MutexLock lock(&mu_);
      while (!ready_ && changed_.WaitUntil(&mu_, deadline)) continue;
      ready_ = false;
    }
    EXPECT_GE(progress_, value) << "no progress in 20 s";
    return data_;
  }

  ClientSession& session() { return *session_; }
  uint64_t sent() const { return sent_; }
  const std::vector<CommandErrorReply>& errors() const { return errors_; }

 private:
  std::shared_ptr<ClientSession> session_;
  uint64_t sent_ = 0;
  uint64_t progress_ = 0;
  std::vector<CommandErrorReply> errors_;
  std::string data_;
  Mutex mu_;
  CondVar changed_;
  bool ready_ ABSL_GUARDED_BY(mu_) = false;
};

}  // namespace ttfd
