// libttfd's admin client: values, pages, watches and whole errors.
#include <gtest/gtest.h>

#include "tests/support/fake_ttfd_server.h"
#include "ttfd/admin.h"

namespace ttfd::client::client_admin_test {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using ttfd::testing::FakeTtfdServer;

TEST(ClientAdmin, ReadsStatusDevicesAndHealth) {
  FakeTtfdServer server;
  Admin admin = Admin::Connect(server.address());
  const Result<DaemonStatus> status = admin.GetStatus();
  ASSERT_TRUE(status.ok()) << status.status().ToString();
  EXPECT_EQ(status->state, DaemonState::kReady);
  ASSERT_EQ(status->devices.size(), 1u);
  EXPECT_EQ(status->devices[0].device.grid_x, 13u);
  EXPECT_EQ(status->devices[0].device.backend, Backend::kEmbedded);
  ASSERT_EQ(status->devices[0].hardware_queues.size(), 1u);
  EXPECT_EQ(status->devices[0].hardware_queues[0].index, 1u);
  EXPECT_EQ(status->devices[0].hardware_queues[0].in_flight, 2u);
  EXPECT_EQ(status->devices[0].hardware_queues[0].completed, 3u);
  Limits limits;
  const Result<std::vector<DeviceInfo>> devices = admin.ListDevices(&limits);
  ASSERT_TRUE(devices.ok());
  EXPECT_EQ(limits.message_bytes, 4u << 20);
  EXPECT_EQ(limits.command_bytes, 512u);
  EXPECT_EQ(limits.idle_ms, std::nullopt);
  const Result<std::string> health = admin.Health();
  ASSERT_TRUE(health.ok()) << health.status().ToString();
  EXPECT_EQ(*health, "SERVING");
  EXPECT_EQ(admin.Health("no.such.Service").status().code(), Code::kNotFound);
}

TEST(ClientAdmin, Lists_FetchAllPages) {
  FakeTtfdServer server;
  server.SetList(25, 10);
  Admin admin = Admin::Connect(server.address());
  const Result<std::vector<SessionInfo>> sessions = admin.ListSessions();
  ASSERT_TRUE(sessions.ok()) << sessions.status().ToString();
  ASSERT_EQ(sessions->size(), 25u);
  EXPECT_EQ(sessions->back().session, 25u);
  EXPECT_EQ(server.pages_served(), 3u);
  EXPECT_EQ((*sessions)[0].state, SessionState::kDetached);
  EXPECT_EQ((*sessions)[0].priority, Priority::kHigh);
  EXPECT_EQ((*sessions)[0].pid, 100u);
  EXPECT_EQ((*sessions)[0].lease, 0u);
  EXPECT_EQ((*sessions)[1].pid, std::nullopt);
  EXPECT_EQ((*sessions)[1].lease, std::nullopt);
  const Result<LimitsReport> limits = admin.GetLimits();
  ASSERT_TRUE(limits.ok());
  EXPECT_EQ(limits->limits.size(), 1u);
  EXPECT_EQ(limits->limits[0].scope, LimitScope::kSession);
  EXPECT_EQ(limits->usage.size(), 25u);
}

TEST(ClientAdmin, Lists_AreBounded) {
  FakeTtfdServer server;
  server.SetList(1'000'000, 1);
  Admin admin = Admin::Connect(server.address(), seconds(300));
  const Result<std::vector<SessionInfo>> sessions = admin.ListSessions();
  EXPECT_EQ(sessions.status().code(), Code::kResourceExhausted);
  EXPECT_EQ(server.pages_served(), 1000u);
}

TEST(ClientAdmin, Timeouts_KeepUnsetFields) {
  FakeTtfdServer server;
  Admin admin = Admin::Connect(server.address());
  Timeouts timeouts;
  timeouts.start_ms = 7;
  const Result<Timeouts> set = admin.SetTimeouts(timeouts);
  ASSERT_TRUE(set.ok());
  EXPECT_EQ(set->start_ms, 7u);
  EXPECT_EQ(set->kernel_ms, std::nullopt);
  EXPECT_EQ(admin.GetTimeouts()->kernel_ms, std::nullopt);
  EXPECT_EQ(admin.GetTimeouts(3)->kernel_ms, 3u) << "of session 3";
}

TEST(ClientAdmin, WatchStatus_CallsUntilFalse) {
  FakeTtfdServer server;
  server.SetStates({v1::DAEMON_STATE_BOOTING, v1::DAEMON_STATE_READY, v1::DAEMON_STATE_DRAINING});
  Admin admin = Admin::Connect(server.address());
  std::vector<DaemonState> states;
  const Status status =
      admin.WatchStatus(milliseconds(250), seconds(60), [&](const DaemonStatus& now) {
        states.push_back(now.state);
        return now.state != DaemonState::kReady;
      });
  EXPECT_TRUE(status.ok()) << status.ToString();
  EXPECT_EQ(states, (std::vector<DaemonState>{DaemonState::kBooting, DaemonState::kReady}));
  EXPECT_EQ(server.admin_calls(), (std::vector<std::string>{"watch every 250 ms"}));
}

TEST(ClientAdmin, WatchStatus_EndsWithItsDuration) {
  FakeTtfdServer server;
  Admin admin = Admin::Connect(server.address());
  ASSERT_TRUE(admin.GetStatus().ok());  // its two seconds are not for the connection
  int calls = 0;
  const Status status = admin.WatchStatus(seconds(1), seconds(2), [&](const DaemonStatus&) {
    ++calls;
    return true;
  });
  EXPECT_TRUE(status.ok()) << status.ToString();
  EXPECT_EQ(calls, 1);
}

TEST(ClientAdmin, WatchStatus_ReportsLostDaemon) {
  FakeTtfdServer server;
  Admin admin = Admin::Connect(server.address());
  const Status status = admin.WatchStatus(seconds(1), seconds(60), [&](const DaemonStatus&) {
    server.Kill();
    return true;
  });
  EXPECT_FALSE(status.ok());
}

TEST(ClientAdmin, UndrainAndRelease_AreCalled) {
  FakeTtfdServer server;
  Admin admin = Admin::Connect(server.address());
  EXPECT_TRUE(admin.Undrain().ok());
  EXPECT_TRUE(admin.ReleaseSession(5).ok());
  EXPECT_EQ(server.admin_calls(), (std::vector<std::string>{"undrain", "release 5"}));
}

TEST(ClientAdmin, StatusDetails_BecomeErrors) {
  FakeTtfdServer server;
  Admin admin = Admin::Connect(server.address());
  const Status status = admin.TerminateSession(9, "test");
  EXPECT_EQ(status.code(), Code::kNotFound);
  EXPECT_EQ(status.reason(), "UNKNOWN_HANDLE");
  EXPECT_EQ(status.error().field, "session");
}

TEST(ClientAdmin, CallsTheDaemonDoesNotServeSayUnimplemented) {
  FakeTtfdServer server;
  Admin admin = Admin::Connect(server.address());
  EXPECT_EQ(admin.SetLogLevel(LogLevel::kDebug).code(), Code::kUnimplemented);
  EXPECT_EQ(admin.ResetDevice(0, nullptr).code(), Code::kUnimplemented);
}

TEST(ClientAdmin, NobodyAtTheAddressIsUnavailable) {
  Admin admin = Admin::Connect("/nonexistent/ttfd.sock");
  EXPECT_EQ(admin.GetStatus().status().code(), Code::kUnavailable);
  EXPECT_EQ(admin.GetStatus().status().reason(), "UNREACHABLE");
  EXPECT_EQ(admin.GetStatus().status().message(),
            "no ttfd daemon answers at unix:/nonexistent/ttfd.sock: there is no such socket; is "
            "the daemon running?");
}

TEST(ClientNames, EveryEnumeratorHasOne) {
  EXPECT_STREQ(DaemonStateName(DaemonState::kRecovering), "recovering");
  EXPECT_STREQ(SessionStateName(SessionState::kQuarantined), "quarantined");
  EXPECT_STREQ(SessionWaitName(SessionWait::kOutput), "output");
  EXPECT_STREQ(LeaseStateName(LeaseState::kHeld), "held");
  EXPECT_STREQ(LimitScopeName(LimitScope::kDaemon), "daemon");
  EXPECT_STREQ(LogLevelName(LogLevel::kWarning), "warning");
  EXPECT_STREQ(MemoryKindName(MemoryKind::kL1), "l1");
  EXPECT_STREQ(BackendName(Backend::kKmd), "kmd");
  EXPECT_STREQ(PriorityName(Priority::kLow), "low");
  EXPECT_STREQ(ProcessorName(Processor::kTrisc2), "trisc2");
  EXPECT_STREQ(ExecutionStateName(ExecutionState::kNotStarted), "not started");
  EXPECT_STREQ(SessionStateName(static_cast<SessionState>(99)), "unknown");
}

}  // namespace
}  // namespace ttfd::client::client_admin_test
