// Sessions on a fake card that ask for, hold and join leases.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "tests/support/core_fixture.h"

namespace ttfd {

inline HelloRequest Hello(AttachKind attach) {
  HelloRequest hello;
  hello.min_revision = hello.max_revision = 1;
  hello.client_name = "test";
  hello.attach = attach;
  return hello;
}

class LeaseTest : public CoreTest {
 protected:
  LeaseTest() {
    options.random_bytes = [this](size_t bytes) {
      std::string random(bytes, 'r');
      random[0] = static_cast<char>(++randoms_);
      return random;
    };
  }
  std::unique_ptr<TestClient> AskFor(std::vector<CoreRange> workers = {},
                                     std::optional<uint32_t> wait_ms = {}, uint32_t uid = 1000) {
    auto client = std::make_unique<TestClient>(*core);
    HelloRequest hello = Hello(AttachKind::kLease);
    hello.lease.workers = std::move(workers);
    hello.lease.wait_ms = wait_ms;
    const Status status = client->Open(hello, uid);
    EXPECT_TRUE(status.ok()) << StatusMessage(status);
    return client;
  }
  Status Join(TestClient* client, const std::string& token, uint32_t uid = 1000) {
    HelloRequest hello = Hello(AttachKind::kLeaseToken);
    hello.lease_token = token;
    return client->Open(hello, uid);
  }
  // One program on (0,0) as handle 3, ready to be launched.
  static void Prepare(TestClient* client, CoreRange cores = {0, 0, 0, 0}) {
    client->Send(Allocate(1, 4096), InlineKernel(2), OneKernelProgram(3, 2, cores));
    client->Run();
  }
  // While something is held on the card, which never rests.
  void RunSome() {
    for (int i = 0; i < 10; ++i) core->RunOnce();
  }
  static Status EndOf(TestClient* client) {
    Status status;
    EXPECT_TRUE(client->Ended(&status));
    return status;
  }
  // Nothing: the session is gone.
  std::optional<SessionState> StateOf(TestClient* client) {
    for (const SessionInfoReply& info : core->admin().ListSessions()) {
      if (info.session == client->id()) return info.state;
    }
    return std::nullopt;
  }

 private:
  int randoms_ = 0;
};

}  // namespace ttfd
