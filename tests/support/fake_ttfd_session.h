// One session of the fake daemon: carries out commands on host memory. Used by one thread.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>

#include "tests/support/fake_ttfd_server.h"

namespace ttfd::testing {

class FakeSession {
 public:
  FakeSession(const FakeOptions& options, std::map<std::string, std::string>* kernel_cache)
      : options_(options), kernel_cache_(kernel_cache) {}

  // Fills `reply` with what a daemon would answer. False: the call breaks off.
  bool Handle(const v1::ClientMessage& message, v1::ServerMessage* reply);
  void Welcome(v1::Welcome* welcome) const;

  const std::set<uint64_t>& handles() const { return handles_; }

 private:
  struct QueueState {
    uint64_t next = 1;
    uint64_t failed_at = 0;
    bool hung = false;
    uint64_t recording = 0;  // handle of the trace that goes on
  };
  struct Streamed {
    std::string bytes;
    uint64_t size;
    v1::Command command;
  };

  bool HandleBatch(const v1::Batch& batch, v1::ServerMessage* reply);
  void Run(v1::QueuePosition at, const v1::Command& command, v1::ServerMessage* reply);
  void Execute(v1::QueuePosition at, const v1::Command& command, const std::string& streamed,
               v1::ServerMessage* reply);
  void RecordTrace(v1::QueuePosition at, const v1::RecordTrace& record, v1::ServerMessage* reply);
  void HandleData(const v1::Data& data, v1::ServerMessage* reply);
  void Fail(v1::QueuePosition at, int code, const std::string& reason, const std::string& message,
            const std::string& field, v1::ServerMessage* reply);
  void Done(v1::QueuePosition at, v1::ServerMessage* reply);

  const FakeOptions options_;
  std::map<std::string, std::string>* const kernel_cache_;
  std::map<uint32_t, QueueState> queues_;
  std::map<uint64_t, std::string> buffers_;
  std::map<std::pair<uint32_t, uint64_t>, Streamed> streamed_;
  std::set<uint64_t> traces_;
  std::set<uint64_t> handles_;
  bool broken_ = false;
};

}  // namespace ttfd::testing
