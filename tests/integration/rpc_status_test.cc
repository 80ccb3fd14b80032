// GetStatus while the device thread does not read the card.
#include <gtest/gtest.h>

#include <vector>

#include "runtime/base/clock.h"
#include "tests/support/rpc_test_server.h"

namespace ttfd::rpc_status_test {
namespace {

// More calls than gRPC has threads: none of them holds one while it waits.
TEST(RpcStatus, IsAnsweredThoughTheCardIsNotRead) {
  RpcTestServer server;
  server.daemon().reads_card = false;
  const auto admin = server.Admin();
  constexpr int kCalls = 300;
  std::vector<grpc::ClientContext> contexts(kCalls);
  std::vector<v1::DaemonStatus> responses(kCalls);
  int answered = 0;
  Mutex mu;
  CondVar changed;
  for (int i = 0; i < kCalls; ++i) {
    contexts[i].set_deadline(std::chrono::system_clock::now() + std::chrono::seconds(20));
    static const v1::GetStatusRequest kRequest;
    admin->async()->GetStatus(&contexts[i], &kRequest, &responses[i], [&](grpc::Status status) {
      MutexLock lock(&mu);
      EXPECT_TRUE(status.ok()) << status.error_message();
      ++answered;
      changed.NotifyAll();
    });
  }
  MutexLock lock(&mu);
  const TimePoint until = SteadyClock().Now() + std::chrono::seconds(30);
  while (answered < kCalls && SteadyClock().Now() < until) changed.WaitUntil(&mu, until);
  ASSERT_EQ(answered, kCalls);
  for (const v1::DaemonStatus& response : responses) {
    EXPECT_EQ(response.state(), v1::DAEMON_STATE_READY);
    EXPECT_FALSE(response.devices(0).has_reading_age_ms());
  }
}

}  // namespace
}  // namespace ttfd::rpc_status_test
