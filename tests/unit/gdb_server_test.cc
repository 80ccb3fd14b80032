// The socket of the debugger: who may connect, how many, and what the card's clock does meanwhile.
#include "runtime/debug/gdb_server.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <filesystem>

#include "runtime/device/sim/sim_device.h"
#include "tests/support/rsp_client.h"
#include "tests/support/rv32_asm.h"

namespace ttfd::gdb_server_test {
namespace {

using std::chrono::seconds;
using testing::HasSubstr;
using testing::StartsWith;

class GdbServerTest : public testing::Test {
 protected:
  GdbServerTest() : folder_(testing::TempDir() + "gdb_server_XXXXXX") {
    EXPECT_NE(mkdtemp(folder_.data()), nullptr);
    path_ = folder_ + "/gdb.sock";
  }
  ~GdbServerTest() override {
    device_.reset();
    std::filesystem::remove_all(folder_);
  }

  void Open(const std::string& where) {
    auto options = ParseSimOptions("sim:columns=none,gdb=" + where);
    ASSERT_TRUE(options.ok()) << options.status().ToString();
    debugging_.clock = &clock_;
    auto device = OpenSimDevice(*options, &chip_, &debugging_);
    ASSERT_TRUE(device.ok()) << device.status().ToString();
    device_ = *std::move(device);
    ASSERT_NE(debugging_.server, nullptr);
  }
  bool Attend() {
    return debugging_.server->Attend([this](uint64_t clocks) { return device_->Advance(clocks); });
  }
  // What whoever runs the card does, until the client has a reply.
  std::string Ask(RspClient& client, std::string_view packet) {
    client.Send(packet);
    return Await(client);
  }
  std::string Await(RspClient& client) {
    for (int i = 0; i < 1000; ++i) {
      if (std::optional<std::string> reply = client.Take()) return *reply;
      EXPECT_TRUE(device_->Advance(1000).ok());
    }
    return "no reply";
  }

  std::string folder_;
  std::string path_;
  ManualClock real_;
  StoppableClock clock_{real_};
  Debugging debugging_;
  sim::Chip* chip_ = nullptr;
  std::unique_ptr<Device> device_;
};

TEST_F(GdbServerTest, OnlyTheOwnerReachesItsSocketAndItGoesWithTheDevice) {
  Open(path_);
  struct stat about {};
  ASSERT_EQ(stat(path_.c_str(), &about), 0);
  EXPECT_EQ(about.st_mode & 0777, 0600u);
  EXPECT_EQ(debugging_.server->where(), path_);
  device_.reset();
  EXPECT_FALSE(std::filesystem::exists(path_));
}

TEST_F(GdbServerTest, APathInUseIsRefused) {
  Open(path_);
  auto options = ParseSimOptions("sim:gdb=" + path_);
  ASSERT_TRUE(options.ok());
  EXPECT_THAT(OpenSimDevice(*options).status().ToString(), HasSubstr("another process listens"));
}

TEST_F(GdbServerTest, AcknowledgesUntilToldNotTo) {
  Open(path_);
  RspClient client(path_);
  EXPECT_THAT(Ask(client, "?"), StartsWith("T02"));
  EXPECT_EQ(client.acknowledgements(), 1);
  EXPECT_EQ(Ask(client, "QStartNoAckMode"), "OK");
  EXPECT_EQ(client.acknowledgements(), 2);
  EXPECT_EQ(Ask(client, "qAttached"), "1");
  EXPECT_EQ(client.acknowledgements(), 2);
}

TEST_F(GdbServerTest, ADamagedPacketIsAskedForAgainAndTheLastReplyRepeated) {
  Open(path_);
  RspClient client(path_);
  client.SendRaw("$qAttached#00");
  client.SendRaw(debug::FramePacket("qC"));
  EXPECT_EQ(Await(client), "QC1");
  EXPECT_EQ(client.refusals(), 1);
  client.SendRaw("-");
  EXPECT_EQ(Await(client), "QC1");
}

TEST_F(GdbServerTest, ASecondDebuggerIsTurnedAwayAndTheFirstGoesOn) {
  Open(path_);
  RspClient first(path_);
  EXPECT_EQ(Ask(first, "qAttached"), "1");
  RspClient second(path_);
  EXPECT_EQ(Ask(first, "qC"), "QC1");
  EXPECT_TRUE(second.IsClosed());
  EXPECT_EQ(Ask(first, "qC"), "QC1");
  EXPECT_FALSE(first.IsClosed());
}

TEST_F(GdbServerTest, WhileADebuggerHoldsTheCardItsClockStandsStill) {
  Open(path_);
  const TimePoint start = clock_.Now();
  real_.Advance(seconds(1));
  EXPECT_EQ(clock_.Now() - start, seconds(1));
  {
    RspClient client(path_);
    EXPECT_EQ(Ask(client, "qAttached"), "1");
    EXPECT_TRUE(device_->Advance(1000)->halted);
    real_.Advance(seconds(100));
    EXPECT_EQ(clock_.Now() - start, seconds(1));
    client.Send("c");
    for (int i = 0; i < 10; ++i) ASSERT_TRUE(device_->Advance(1000).ok());
    real_.Advance(seconds(1));
    EXPECT_EQ(clock_.Now() - start, seconds(2));
    client.SendRaw("\x03");
    EXPECT_THAT(Await(client), StartsWith("T02"));
    real_.Advance(seconds(100));
  }
  // It left without a word: the card runs.
  for (int i = 0; i < 10; ++i) ASSERT_TRUE(device_->Advance(1000).ok());
  EXPECT_FALSE(device_->Advance(1000)->halted);
  real_.Advance(seconds(1));
  EXPECT_EQ(clock_.Now() - start, seconds(3));
}

TEST_F(GdbServerTest, AClosedServerSendsItsDebuggerAwayAndLetsTheCardRun) {
  Open(path_);
  RspClient client(path_);
  EXPECT_EQ(Ask(client, "qAttached"), "1");
  debugging_.server->Close();
  EXPECT_EQ(Await(client), "W00");
  EXPECT_FALSE(device_->Advance(1000)->halted);
  EXPECT_TRUE(client.IsClosed());
  RspClient late(path_);
  ASSERT_TRUE(device_->Advance(1000).ok());
  EXPECT_FALSE(device_->Advance(1000)->halted);
}

TEST_F(GdbServerTest, APortIsOneOfThisMachineOnly) {
  const uint16_t port = RspClient::FreePort();
  Open(std::to_string(port));
  EXPECT_EQ(debugging_.server->where(), fmt::format("127.0.0.1:{}", port));
  RspClient client(port);
  EXPECT_EQ(Ask(client, "qAttached"), "1");
}

TEST_F(GdbServerTest, DigitsAreAPortOrRefused) {
  for (const char* const where : {"0", "65536", "70000", "99999999999999999999"}) {
    const Status status = ParseSimOptions(std::string("sim:gdb=") + where).status();
    EXPECT_EQ(status.code(), StatusCode::kInvalidArgument) << where;
  }
}

TEST_F(GdbServerTest, WhoIsNotAdmittedWaits) {
  Open(path_);
  debugging_.server->Admit(false);
  RspClient client(path_);
  client.Send("qAttached");
  for (int i = 0; i < 10; ++i) ASSERT_FALSE(device_->Advance(1000)->halted);
  EXPECT_EQ(client.Take(), std::nullopt);
  debugging_.server->Admit(true);
  EXPECT_EQ(Await(client), "1");
}

TEST_F(GdbServerTest, WithNothingElseToDoTheDeviceThreadStillAttends) {
  Open(path_);
  EXPECT_FALSE(Attend());  // nobody there: it may sleep
  RspClient client(path_);
  client.Send("qAttached");
  std::optional<std::string> reply;
  for (int i = 0; i < 100 && !reply.has_value(); ++i) {
    Attend();
    reply = client.Take();
  }
  EXPECT_EQ(reply, "1");
  EXPECT_TRUE(Attend());  // it is at work: do not sleep
  client.Send("c");
  for (int i = 0; i < 10; ++i) Attend();
  EXPECT_FALSE(Attend());
}

TEST_F(GdbServerTest, WhoSendsSomethingElseIsCutOff) {
  Open(path_);
  RspClient client(path_);
  client.SendRaw("$" + std::string(debug::kMaxPacketBytes + 1, 'a'));
  for (int i = 0; i < 100; ++i) ASSERT_TRUE(device_->Advance(1000).ok());
  EXPECT_TRUE(client.IsClosed());
  EXPECT_FALSE(device_->Advance(1000)->halted);
}

}  // namespace
}  // namespace ttfd::gdb_server_test
