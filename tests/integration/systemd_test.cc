// The real daemon under a service manager that this test plays: notify protocol, watchdog, signals, socket
// activation, exit codes.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <thread>

#include "tests/support/daemon_process.h"

namespace ttfd {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using ::testing::HasSubstr;
using ::testing::Not;

UniqueFd Connect(const std::string& path) {
  UniqueFd fd(socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  path.copy(address.sun_path, sizeof(address.sun_path) - 1);
  if (connect(fd.get(), reinterpret_cast<sockaddr*>(&address), sizeof(address)) != 0) fd.Reset();
  return fd;
}

TEST(Systemd, ReadyComesAfterTheBootAndStoppingBeforeTheEnd) {
  DaemonProcess daemon;
  EXPECT_THAT(daemon.NextNotification(), HasSubstr("STATUS=booting"));
  EXPECT_THAT(daemon.NextNotification(), HasSubstr("EXTEND_TIMEOUT_USEC="));
  EXPECT_THAT(daemon.NextNotification(), HasSubstr("EXTEND_TIMEOUT_USEC=")) << "for each device";
  const std::string ready = daemon.NextNotification();
  EXPECT_THAT(ready, HasSubstr("READY=1"));
  EXPECT_THAT(ready, HasSubstr("STATUS=serving a model of a p150 (no card) on unix:" +
                               daemon.socket_path()));
  EXPECT_TRUE(Connect(daemon.socket_path()).valid()) << "ready means that clients can connect";
  daemon.Signal(SIGTERM);
  EXPECT_THAT(daemon.NextNotification(), HasSubstr("STOPPING=1"));
  EXPECT_EQ(daemon.WaitForExit(), 0) << daemon.Log();
  EXPECT_FALSE(std::filesystem::exists(daemon.socket_path()));
}

TEST(Systemd, FeedsTheWatchdogWhileTheDeviceThreadLives) {
  DaemonProcess::Setup setup;
  setup.environment = {{"WATCHDOG_USEC", "6000000"}};  // looked at every two seconds
  DaemonProcess daemon(setup);
  ASSERT_TRUE(daemon.WaitUntilReady()) << daemon.Log();
  const auto began = std::chrono::steady_clock::now();
  for (int i = 0; i < 2; ++i) EXPECT_EQ(daemon.NextNotification(seconds(6)), "WATCHDOG=1");
  // Two take four seconds; this process may have begun to look late.
  EXPECT_GE(std::chrono::steady_clock::now() - began, seconds(1))
      << "fed at its pace, not in a loop";
  daemon.Signal(SIGINT);
  EXPECT_EQ(daemon.WaitForExit(), 0);
}

TEST(Systemd, HangupIsNoStop) {
  DaemonProcess daemon;
  ASSERT_TRUE(daemon.WaitUntilReady()) << daemon.Log();
  daemon.Signal(SIGHUP);
  EXPECT_FALSE(daemon.WaitForExit(milliseconds(200)).has_value());
  EXPECT_TRUE(Connect(daemon.socket_path()).valid());
  daemon.Signal(SIGTERM);
  EXPECT_EQ(daemon.WaitForExit(), 0);
  EXPECT_THAT(daemon.Log(), HasSubstr("SIGHUP"));
}

TEST(Systemd, TakesTheSocketThatIsHandedOver) {
  const std::string path =
      ::testing::TempDir() + "/activation-" + std::to_string(getpid()) + ".sock";
  std::filesystem::remove(path);
  UniqueFd listening(socket(AF_UNIX, SOCK_STREAM, 0));
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  path.copy(address.sun_path, sizeof(address.sun_path) - 1);
  ASSERT_EQ(bind(listening.get(), reinterpret_cast<sockaddr*>(&address), sizeof(address)), 0);
  ASSERT_EQ(listen(listening.get(), 16), 0);
  const UniqueFd early = Connect(path);
  ASSERT_TRUE(early.valid()) << "before the daemon starts";
  {
    DaemonProcess::Setup setup;
    setup.listening_socket = listening.get();
    DaemonProcess daemon(setup);
    ASSERT_TRUE(daemon.WaitUntilReady()) << daemon.Log();
    EXPECT_FALSE(std::filesystem::exists(daemon.socket_path())) << "it makes no socket of its own";
    // An HTTP/2 client hears the server's settings.
    ASSERT_GT(
        send(early.get(), "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\0\0\0\4\0\0\0\0\0", 33, MSG_NOSIGNAL),
        0);
    char frame[9];
    const timeval timeout{10, 0};
    setsockopt(early.get(), SOL_SOCKET, SO_RCVTIMEO, &timeout, sizeof(timeout));
    EXPECT_EQ(recv(early.get(), frame, sizeof(frame), MSG_WAITALL), 9);
    daemon.Signal(SIGTERM);
    EXPECT_EQ(daemon.WaitForExit(), 0);
  }
  EXPECT_TRUE(std::filesystem::exists(path)) << "the socket is systemd's";
  std::filesystem::remove(path);
}

TEST(Systemd, ASecondDaemonOnTheSameSocketFails) {
  DaemonProcess first;
  ASSERT_TRUE(first.WaitUntilReady()) << first.Log();
  DaemonProcess::Setup setup;
  setup.default_socket = false;
  setup.arguments = {"--socket", first.socket_path()};
  DaemonProcess second(setup);
  EXPECT_EQ(second.WaitForExit(), 1);
  EXPECT_THAT(second.Log(), HasSubstr("another process listens on"));
  EXPECT_TRUE(Connect(first.socket_path()).valid()) << "the first is unharmed";
}

TEST(Systemd, ReplacesTheSocketOfADaemonThatWasKilled) {
  DaemonProcess first;
  ASSERT_TRUE(first.WaitUntilReady()) << first.Log();
  first.Signal(SIGKILL);
  EXPECT_EQ(first.WaitForExit(), -SIGKILL);
  ASSERT_TRUE(std::filesystem::exists(first.socket_path()));
  DaemonProcess::Setup setup;
  setup.default_socket = false;
  setup.arguments = {"--socket", first.socket_path()};
  DaemonProcess second(setup);
  EXPECT_TRUE(second.WaitUntilReady()) << second.Log();
}

struct BadStart {
  std::vector<std::string> arguments;
  std::string config;
  int exit_code;
  std::string said;
  bool default_socket = false;
};

TEST(Systemd, ExitCodesTellConfigurationFromFailure) {
  const std::vector<BadStart> table = {
      {{"--nonsense"}, "", 2, "--nonsense"},
      {{},
       "[listen]\nadress = \"x\"\n",
       2,
       "ttfd.toml:2: there is no key 'adress' in [listen]; did you mean 'address'?"},
      {{}, "[listen]\n\ngroup = \"no-such-group\"\n", 2, "ttfd.toml:3: listen.group: there is no"},
      {{},
       "[hangs]\nfolder = \"/proc/hangs\"\n",
       2,
       "ttfd.toml:2: hangs.folder: '/proc/hangs' cannot"},
      {{}, "[log]\nlevel = \"loud\"\n", 2, "ttfd.toml:2: log.level: 'loud' is none of"},
      {{},
       "[device]\ndevice = \"card\"\n",
       2,
       "ttfd.toml:2: device.device: 'card' is no device; auto, kmd:"},
      {{"--check-config"},
       "[log]\naudit_file = \"/proc/no/log\"\n",
       2,
       "ttfd.toml:2: log.audit_file"},
      {{"--check-config"}, "[timeouts]\nkernel_ms = 0\n", 2, "timeouts.kernel_ms"},
      {{"--device", "kmd:0"}, "", 2, "--device: '0' is no card: /dev/tenstorrent/0"},
      {{"--device", "kmd:03:00.0"}, "", 2, "'03:00.0' is no card"},
      {{"--device", "kmd:/dev/tenstorrent/77"}, "", 10, "/dev/tenstorrent/77 does not exist", true},
      {{"--device", "kmd:00ff:00:00.0"},
       "",
       10,
       "there is no node for PCI address 00ff:00:00.0",
       true},
      {{"--device", "/dev/tenstorrent/0"}, "", 2, "is no device; auto, kmd:/dev/tenstorrent/0, "},
      {{"--device", "model"}, "", 2, "'model' is no device; auto, kmd:"},
      {{"--device", "sim:board=n150"}, "", 2, "n150"},
      {{"--socket", "localhost:1234"}, "", 2, "unix sockets only"},
      {{"--socket", "/nowhere/at/all/ttfd.sock"}, "", 1, "does not exist"},
      {{"--record", "/nowhere/at/all/records"}, "", 1, "/nowhere/at/all/records", true},
      {{"decode", "/nowhere/at/all/records"}, "", 1, "/nowhere/at/all/records"},
      {{"--check-config"},
       "[device]\ndevice = \"sim:board=p100a\"\n",
       0,
       "ttfd.toml: configuration OK"},
  };
  for (const BadStart& bad : table) {
    DaemonProcess::Setup setup;
    setup.arguments = bad.arguments;
    setup.config = bad.config;
    setup.default_socket = bad.default_socket;
    DaemonProcess daemon(setup);
    EXPECT_EQ(daemon.WaitForExit(), bad.exit_code) << bad.said;
    EXPECT_THAT(daemon.Log(), HasSubstr(bad.said));
    EXPECT_THAT(daemon.NextNotification(milliseconds(0)), Not(HasSubstr("READY=1")));
  }
}

}  // namespace
}  // namespace ttfd
