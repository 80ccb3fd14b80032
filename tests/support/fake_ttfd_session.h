// One session of the fake daemon: executes commands on host memory, as soon as they arrive.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <utility>

#include "tests/support/fake_ttfd_daemon.h"
#include "tests/support/fake_ttfd_link.h"

namespace ttfd::testing {

class FakeSession {
 public:
  FakeSession(const FakeOptions& options, std::map<std::string, std::string>* kernel_cache,
              uint64_t id, bool resumable)
      : options_(options),
        kernel_cache_(kernel_cache),
        id_(id),
        resumable_(resumable),
        link_(options) {}

  // The contents of a message; answers go to the link. False: the call breaks off.
  bool Handle(const v1::ClientMessage& message);
  // Session, a new token, window.
  void FillWelcome(v1::Welcome* welcome);
  void Record(const v1::ClientMessage& message, FakeSeen* seen) const;
  // Finish has come, nothing is left to do, and the answers have arrived.
  bool finished() const;

  uint64_t id() const { return id_; }
  bool resumable() const { return resumable_; }
  const std::string& token() const { return token_; }
  FakeLink& link() { return link_; }
  const std::set<uint64_t>& handles() const { return handles_; }

 private:
  struct QueueState {
    uint64_t next = 1;
    uint64_t failed_at = 0;
    bool open_failed = false;
    bool hung = false;
    uint64_t recording = 0;  // handle of the trace that is continued
  };
  struct Streamed {
    std::string bytes;
    uint64_t size;
    v1::Command command;
  };

  void OpenQueue(const v1::OpenQueue& open);
  bool HandleBatch(const v1::Batch& batch);
  void Run(v1::QueuePosition at, const v1::Command& command);
  void Execute(v1::QueuePosition at, const v1::Command& command, const std::string& streamed);
  void RecordTrace(v1::QueuePosition at, const v1::RecordTrace& record);
  void Cancel(const v1::Cancel& cancel);
  void HandleData(const v1::Data& data);
  void Fail(v1::QueuePosition at, int code, const std::string& reason, const std::string& message,
            const std::string& field);
  void AddError(v1::QueuePosition at, google::rpc::Status status, v1::ExecutionState state);
  void Done(v1::QueuePosition at);

  const FakeOptions options_;
  std::map<std::string, std::string>* const kernel_cache_;
  const uint64_t id_;
  const bool resumable_;
  std::string token_;
  FakeLink link_;
  v1::ServerMessage reply_;  // errors and progress of the message that is handled
  std::map<uint32_t, QueueState> queues_;
  std::map<uint64_t, std::string> buffers_;
  std::map<std::pair<uint32_t, uint64_t>, Streamed> streamed_;
  std::set<uint64_t> traces_;
  std::set<uint64_t> handles_;
  bool finishing_ = false;
  bool broken_ = false;
};

}  // namespace ttfd::testing
