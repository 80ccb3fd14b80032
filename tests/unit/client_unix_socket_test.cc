// The status of libttfd for a unix socket that cannot be reached. A child process that is not root tries permissions.
#include <grp.h>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <string>

#include "client/cpp/src/unix_socket.h"
#include "tests/support/temporary_folder.h"

namespace ttfd::client::client_unix_socket_test {
namespace {

constexpr uid_t kNobody = 65534;  // in Debian's user database: nobody, of group nogroup, 65534
constexpr gid_t kGames = 60;

class ClientUnixSocket : public ::testing::Test {
 protected:
  ClientUnixSocket() : path_(folder_.path() + "/s") {
    sockaddr_un name = {};
    name.sun_family = AF_UNIX;
    std::strncpy(name.sun_path, path_.c_str(), sizeof(name.sun_path) - 1);
    fd_ = socket(AF_UNIX, SOCK_STREAM, 0);
    EXPECT_EQ(bind(fd_, reinterpret_cast<const sockaddr*>(&name), sizeof(name)), 0);
    chmod(folder_.path().c_str(), 0755);
  }
  ~ClientUnixSocket() override { close(fd_); }

  void BelongsTo(gid_t group, mode_t mode) {
    ASSERT_EQ(chown(path_.c_str(), 0, group), 0);
    ASSERT_EQ(chmod(path_.c_str(), mode), 0);
  }

  // ConnectFailure's status as user nobody with this group alone.
  std::string AsNobody(gid_t group) {
    int pipes[2] = {};
    EXPECT_EQ(pipe(pipes), 0);
    const pid_t child = fork();
    if (child == 0) {
      const bool changed = setgroups(0, nullptr) == 0 && setresgid(group, group, group) == 0 &&
                           setresuid(kNobody, kNobody, kNobody) == 0;
      const std::string text =
          changed ? ConnectFailure("unix:" + path_, "detail").ToString() : "cannot be nobody";
      _exit(write(pipes[1], text.data(), text.size()) < 0 ? 1 : 0);
    }
    close(pipes[1]);
    std::string text(4096, ' ');
    const ssize_t bytes = read(pipes[0], text.data(), text.size());
    close(pipes[0]);
    waitpid(child, nullptr, 0);
    return text.substr(0, static_cast<size_t>(std::max<ssize_t>(bytes, 0)));
  }

  TemporaryFolder folder_;
  std::string path_;
  int fd_ = -1;
};

TEST_F(ClientUnixSocket, NothingListening_IsRetryable) {
  const Status status = ConnectFailure("unix:" + path_, "detail");
  EXPECT_EQ(status.code(), Code::kUnavailable);
  EXPECT_TRUE(status.retryable());
  EXPECT_NE(status.message().find("nothing listens on the socket"), std::string::npos);
}

TEST_F(ClientUnixSocket, Listening_KeepsTheDetail) {
  ASSERT_EQ(listen(fd_, 1), 0);
  for (const std::string& address : {"unix:" + path_, "unix://" + path_, std::string("host:1")}) {
    const Status status = ConnectFailure(address, "detail");
    EXPECT_EQ(status.message(), "no ttfd daemon answers at " + address + ": detail");
    EXPECT_EQ(status.reason(), "UNREACHABLE");
  }
}

TEST_F(ClientUnixSocket, Denied_NamesGroupAndUser) {
  if (geteuid() != 0) GTEST_SKIP() << "only root can become another user";
  BelongsTo(kGames, 0660);
  EXPECT_EQ(AsNobody(kNobody), "PERMISSION_DENIED: " + path_ +
                                   " belongs to group games, of which you are not a member "
                                   "(adduser nobody games) [UNREACHABLE]");
}

TEST_F(ClientUnixSocket, Denied_AsksNewMembersToLogIn) {
  if (geteuid() != 0) GTEST_SKIP() << "only root can become another user";
  BelongsTo(kNobody, 0660);
  EXPECT_EQ(AsNobody(kGames), "PERMISSION_DENIED: " + path_ +
                                  " belongs to group nogroup, of which nobody is a member, but not "
                                  "since this login: log in again [UNREACHABLE]");
}

TEST_F(ClientUnixSocket, Denied_NamesTheFolderInTheWay) {
  if (geteuid() != 0) GTEST_SKIP() << "only root can become another user";
  BelongsTo(kGames, 0666);
  ASSERT_EQ(chown(folder_.path().c_str(), 0, kGames), 0);
  ASSERT_EQ(chmod(folder_.path().c_str(), 0750), 0);
  EXPECT_NE(AsNobody(kNobody).find(folder_.path() + " belongs to group games"), std::string::npos);
  ASSERT_EQ(chmod(folder_.path().c_str(), 0700), 0);
  EXPECT_NE(AsNobody(kNobody).find(folder_.path() + " is not open to this user"),
            std::string::npos);
}

}  // namespace
}  // namespace ttfd::client::client_unix_socket_test
