// libttfd's admin client: values out, errors whole.
#include <gtest/gtest.h>

#include "tests/support/fake_ttfd_server.h"
#include "ttfd/admin.h"

namespace ttfd::client {
namespace {

using ttfd::testing::FakeTtfdServer;

TEST(ClientAdmin, ReadsStatusDevicesAndHealth) {
  FakeTtfdServer server;
  Admin admin = Admin::Connect(server.address());
  const Result<DaemonStatus> status = admin.GetStatus();
  ASSERT_TRUE(status.ok()) << status.status().ToString();
  EXPECT_EQ(status->state, "ready");
  ASSERT_EQ(status->devices.size(), 1u);
  EXPECT_EQ(status->devices[0].grid_x, 13u);
  ASSERT_EQ(status->hardware_queues.size(), 1u);
  EXPECT_EQ(status->hardware_queues[0].index, 1u);
  EXPECT_EQ(status->hardware_queues[0].in_flight, 2u);
  EXPECT_EQ(status->hardware_queues[0].completed, 3u);
  Limits limits;
  const Result<std::vector<DeviceInfo>> devices = admin.ListDevices(&limits);
  ASSERT_TRUE(devices.ok());
  EXPECT_EQ(limits.message_bytes, 4u << 20);
  const Result<std::string> health = admin.Health();
  ASSERT_TRUE(health.ok()) << health.status().ToString();
  EXPECT_EQ(*health, "SERVING");
  EXPECT_EQ(admin.Health("no.such.Service").status().code(), Code::kNotFound);
}

TEST(ClientAdmin, TrailersBecomeErrors) {
  FakeTtfdServer server;
  Admin admin = Admin::Connect(server.address());
  const Status status = admin.EndSession(9, "test");
  EXPECT_EQ(status.code(), Code::kNotFound);
  EXPECT_EQ(status.reason(), "UNKNOWN_HANDLE");
  EXPECT_EQ(status.error().field, "session");
}

TEST(ClientAdmin, CallsTheDaemonDoesNotServeSayUnimplemented) {
  FakeTtfdServer server;
  Admin admin = Admin::Connect(server.address());
  EXPECT_EQ(admin.SetLogLevel("debug").code(), Code::kUnimplemented);
  EXPECT_EQ(admin.ResetDevice(0, nullptr).code(), Code::kUnimplemented);
}

TEST(ClientAdmin, NobodyAtTheAddressIsUnavailable) {
  Admin admin = Admin::Connect("/nonexistent/ttfd.sock");
  EXPECT_EQ(admin.GetStatus().status().code(), Code::kUnavailable);
  EXPECT_EQ(admin.GetStatus().status().reason(), "UNREACHABLE");
}

}  // namespace
}  // namespace ttfd::client
