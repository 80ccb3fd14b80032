// The service manager's side of the notify protocol, the watchdog's rule, and signals.
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <string>

#include "daemon/system/service_manager.h"
#include "daemon/system/signals.h"
#include "daemon/system/watchdog.h"

namespace ttfd {
namespace {

using std::chrono::seconds;

class NotifySocket {
 public:
  NotifySocket() : path_(::testing::TempDir() + "/notify-" + std::to_string(getpid())) {
    fd_ = UniqueFd(socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0));
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    path_.copy(address.sun_path, sizeof(address.sun_path) - 1);
    unlink(path_.c_str());
    EXPECT_EQ(bind(fd_.get(), reinterpret_cast<sockaddr*>(&address), sizeof(address)), 0);
    setenv("NOTIFY_SOCKET", path_.c_str(), 1);
  }
  ~NotifySocket() {
    unsetenv("NOTIFY_SOCKET");
    unlink(path_.c_str());
  }
  std::string Receive() {
    char text[1024];
    const ssize_t size = recv(fd_.get(), text, sizeof(text), MSG_DONTWAIT);
    return size < 0 ? "" : std::string(text, static_cast<size_t>(size));
  }

 private:
  std::string path_;
  UniqueFd fd_;
};

TEST(ServiceManager, SendsEachStateInOneDatagram) {
  NotifySocket socket;
  ServiceManager manager;
  manager.ExtendTimeout(seconds(3));
  EXPECT_EQ(socket.Receive(), "EXTEND_TIMEOUT_USEC=3000000");
  manager.Ready("serving\non a socket");
  EXPECT_EQ(socket.Receive(), "READY=1\nSTATUS=serving on a socket");
  manager.SetStatus("3 sessions");
  EXPECT_EQ(socket.Receive(), "STATUS=3 sessions");
  manager.FeedWatchdog();
  EXPECT_EQ(socket.Receive(), "WATCHDOG=1");
  manager.Stopping("draining");
  EXPECT_EQ(socket.Receive(), "STOPPING=1\nSTATUS=draining");
}

TEST(ServiceManager, IsSilentWithoutAManager) {
  unsetenv("NOTIFY_SOCKET");
  unsetenv("WATCHDOG_USEC");
  unsetenv("LISTEN_FDS");
  ServiceManager manager;
  manager.Ready("nobody hears this");
  EXPECT_FALSE(manager.watchdog_period().has_value());
  const auto socket = manager.TakeListeningSocket();
  ASSERT_TRUE(socket.ok());
  EXPECT_FALSE(socket->valid());
}

TEST(ServiceManager, ReadsTheWatchdogPeriodMeantForThisProcess) {
  ServiceManager manager;
  setenv("WATCHDOG_USEC", "30000000", 1);
  setenv("WATCHDOG_PID", std::to_string(getpid()).c_str(), 1);
  EXPECT_EQ(manager.watchdog_period(), Duration(seconds(30)));
  setenv("WATCHDOG_PID", "1", 1);
  EXPECT_FALSE(manager.watchdog_period().has_value());
  unsetenv("WATCHDOG_USEC");
  unsetenv("WATCHDOG_PID");
}

TEST(Watchdog, FeedsOnlyAHeartThatBeats) {
  TimePoint now{};
  Watchdog watchdog(seconds(30), 5, now);
  EXPECT_EQ(watchdog.next_look(), now + seconds(10));
  EXPECT_FALSE(watchdog.Look(6, now + seconds(9))) << "too early";
  EXPECT_TRUE(watchdog.Look(6, now + seconds(10)));
  EXPECT_FALSE(watchdog.Look(6, now + seconds(20))) << "no beat since";
  EXPECT_FALSE(watchdog.Look(6, now + seconds(30)));
  EXPECT_TRUE(watchdog.Look(7, now + seconds(40)));
}

TEST(Signals, AreWaitedForInOrderAndTimeOut) {
  auto signals = Signals::Block();
  ASSERT_TRUE(signals.ok());
  EXPECT_FALSE(signals->Wait(Duration::zero()).has_value());
  raise(SIGTERM);
  EXPECT_EQ(signals->Wait(seconds(10)), SIGTERM);
  raise(SIGHUP);
  EXPECT_EQ(signals->Wait(seconds(10)), SIGHUP);
  EXPECT_FALSE(signals->Wait(std::chrono::milliseconds(1)).has_value());
}

}  // namespace
}  // namespace ttfd
