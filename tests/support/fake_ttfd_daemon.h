// A daemon without a card, for tests of clients in any language: the API as pure functions over messages.
// Commands are executed on host memory as soon as they arrive. FakeOptions script what it withholds and
// how its connections fail; FakeSeen is what it has received. gRPC is in fake_ttfd_server.h.
//
// Not thread-safe.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "google/rpc/status.pb.h"
#include "tests/support/fake_ttfd_link.h"
#include "ttfd/v1/ttfd.pb.h"

namespace ttfd::testing {

// Launches with these timeouts mean something to the fake.
inline constexpr uint32_t kLaunchFails = 666;  // ends with DEVICE_FAULT
inline constexpr uint32_t kLaunchHangs = 777;  // never ends
inline constexpr uint32_t kCallBreaks = 888;   // the daemon ends the call with INTERNAL

// What the session that began last has received.
struct FakeSeen {
  std::vector<v1::Hello> hellos;  // of all connections
  std::vector<v1::OpenQueue> open_queues;
  std::vector<v1::Batch> batches;
  std::vector<v1::Cancel> cancels;
  std::vector<uint64_t> sequences;  // of numbered messages, also duplicates
  uint64_t messages = 0;            // accepted
  uint64_t acks = 0;                // messages that are only an ack
  uint64_t largest_message = 0;
  uint64_t largest_chunk = 0;
  uint64_t commands = 0;
  uint64_t payload_bytes = 0;
  uint64_t cost = 0;  // charged to the window
  bool finished = false;
  bool left = false;
  bool ended = false;  // the session is gone
};

// Messages to be written in order, and then, if it is set, the end of the call (code 0: OK). An end with
// UNAVAILABLE and no details is a lost connection.
struct FakeReplies {
  std::vector<v1::ServerMessage> messages;
  std::optional<google::rpc::Status> end;
};

class FakeSession;

class FakeDaemon {
 public:
  explicit FakeDaemon(FakeOptions options);
  ~FakeDaemon();

  // One call of DeviceService.Session.
  class Call {
   public:
    explicit Call(FakeDaemon* daemon) : daemon_(daemon) {}
    // The client's next message.
    FakeReplies Handle(const v1::ClientMessage& message);
    // The client's stream has ended without Finish or Leave.
    void HandleLoss();

   private:
    FakeReplies HandleHello(const v1::ClientMessage& message);
    FakeReplies Resume(const v1::Hello& hello, v1::ServerMessage reply);
    void EndSession();

    FakeDaemon* const daemon_;
    std::shared_ptr<FakeSession> session_;
  };

  const FakeOptions& options() const { return options_; }
  const FakeSeen& seen() const { return seen_; }
  // Of the newest session.
  std::set<uint64_t> handles() const;
  void FillDevices(google::protobuf::RepeatedPtrField<v1::Device>* devices) const;
  void FillLimits(v1::Limits* limits) const;

 private:
  bool Break(const v1::ClientMessage& message, uint64_t* at);

  FakeOptions options_;
  FakeSeen seen_;
  std::map<uint64_t, std::shared_ptr<FakeSession>> sessions_;
  std::shared_ptr<FakeSession> newest_;
  std::map<std::string, std::string> kernels_;  // by hash
  uint64_t next_session_ = 42;
};

}  // namespace ttfd::testing
