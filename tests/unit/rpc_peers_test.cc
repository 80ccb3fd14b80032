// Connections: numbers that are not reused soon, who is behind them, how many there may be; the
// listening socket; roles.
#include <fcntl.h>
#include <gmock/gmock.h>
#include <grp.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <array>
#include <filesystem>
#include <fstream>
#include <future>
#include <map>
#include <set>

#include "daemon/rpc/certificate_numbers.h"
#include "daemon/rpc/peer_table.h"
#include "daemon/rpc/roles.h"
#include "daemon/rpc/tcp_listener.h"
#include "daemon/rpc/unix_listener.h"

namespace ttfd::rpc_peers_test {
namespace {

using ::testing::HasSubstr;

std::array<UniqueFd, 2> SocketPair() {
  int fds[2];
  EXPECT_EQ(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fds), 0);
  return {UniqueFd(fds[0]), UniqueFd(fds[1])};
}

UniqueFd Null() { return UniqueFd(open("/dev/null", O_RDONLY | O_CLOEXEC)); }

TEST(DescriptorNumbers, GrowAndWrapAndSkipWhatIsTaken) {
  DescriptorNumbers numbers(300, 304);
  std::vector<int> seen;
  for (int i = 0; i < 5; ++i) {
    auto moved = numbers.Move(Null());
    ASSERT_TRUE(moved.ok());
    seen.push_back(moved->get());
  }
  EXPECT_EQ(seen, (std::vector<int>{300, 301, 302, 303, 300}));
  auto held = numbers.Move(Null());
  ASSERT_EQ(held->get(), 301);
  DescriptorNumbers again(301, 304);
  EXPECT_EQ(again.Move(Null())->get(), 302);
}

TEST(DescriptorNumbers, SayWhenAllAreTaken) {
  DescriptorNumbers numbers(300, 302);
  auto first = numbers.Move(Null());
  auto second = numbers.Move(Null());
  ASSERT_TRUE(first.ok() && second.ok());
  EXPECT_EQ(numbers.Move(Null()).status().code(), StatusCode::kResourceExhausted);
  first->Reset();
  EXPECT_EQ(numbers.Move(Null())->get(), 300);
}

TEST(PeerIdentity, IsThatOfThisProcessWithAllItsGroups) {
  const auto pair = SocketPair();
  const auto peer = ReadPeerIdentity(pair[0].get());
  ASSERT_TRUE(peer.ok()) << peer.status();
  EXPECT_EQ(peer->uid, geteuid());
  EXPECT_EQ(peer->gid, getegid());
  EXPECT_EQ(peer->pid, static_cast<uint32_t>(getpid()));
  std::vector<gid_t> groups(static_cast<size_t>(getgroups(0, nullptr)));
  getgroups(static_cast<int>(groups.size()), groups.data());
  EXPECT_EQ(std::set<uint32_t>(peer->groups.begin(), peer->groups.end()),
            std::set<uint32_t>(groups.begin(), groups.end()));
  EXPECT_FALSE(ReadPeerIdentity(Null().get()).ok());
}

TEST(PeerTable, FindsByGrpcsNameAndForgetsWhatWasClosed) {
  PeerTable table({});
  auto pair = SocketPair();
  PeerIdentity peer;
  peer.uid = 7;
  ASSERT_TRUE(table.Add(pair[0].get(), peer).ok());
  const std::string name = "fd:" + std::to_string(pair[0].get());
  ASSERT_TRUE(table.Find(name).has_value());
  EXPECT_EQ(table.Find(name)->uid, 7u);
  EXPECT_EQ(table.Find(name)->connection, 1u);
  for (const char* unknown : {"", "fd:", "fd:x", "fd:99999", "ipv4:1.2.3.4:5", "fd:5x"}) {
    EXPECT_FALSE(table.Find(unknown).has_value()) << unknown;
  }
  EXPECT_EQ(table.CountOpen(), 1u);
  const int number = pair[0].get();
  pair[0].Reset();
  const UniqueFd reuser = Null();
  ASSERT_EQ(reuser.get(), number) << "another file took the number";
  EXPECT_EQ(table.CountOpen(), 0u);
  EXPECT_FALSE(table.Find(name).has_value());
}

TEST(PeerTable, CountsPerUserAndInAllAndClosedOnesDoNotCount) {
  PeerTable table({.connections = 4, .connections_per_user = 2});
  std::vector<std::array<UniqueFd, 2>> pairs;
  const auto add = [&](uint32_t uid) {
    pairs.push_back(SocketPair());
    PeerIdentity peer;
    peer.uid = uid;
    return table.Add(pairs.back()[0].get(), peer);
  };
  ASSERT_TRUE(add(1).ok());
  ASSERT_TRUE(add(1).ok());
  EXPECT_EQ(add(1).code(), StatusCode::kResourceExhausted);
  ASSERT_TRUE(add(2).ok());
  ASSERT_TRUE(add(3).ok());
  EXPECT_THAT(add(4).ToString(), HasSubstr("all 4"));
  pairs[0][0].Reset();
  EXPECT_TRUE(add(1).ok());
  EXPECT_EQ(table.CountOpen(), 4u);
}

TEST(PeerTable, DoesNotGrowWithConnectionsThatCameAndWent) {
  PeerTable table({});
  for (int i = 0; i < 2000; ++i) {
    const auto pair = SocketPair();
    const UniqueFd moved(fcntl(pair[0].get(), F_DUPFD_CLOEXEC, 100 + i % 500));
    ASSERT_TRUE(table.Add(moved.get(), {}).ok());
  }
  EXPECT_EQ(table.CountOpen(), 0u);
}

// The ends of a TCP connection over loopback: the listener's side first.
std::array<UniqueFd, 2> TcpPair(TcpListener& listener) {
  const auto parsed = ParseTcpAddress(listener.address());
  EXPECT_TRUE(parsed.ok());
  UniqueFd client(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  EXPECT_EQ(
      connect(client.get(), reinterpret_cast<const sockaddr*>(&parsed->first), parsed->second), 0);
  std::promise<UniqueFd> accepted;
  EXPECT_TRUE(listener.Start([&](UniqueFd fd) { accepted.set_value(std::move(fd)); }).ok());
  return {accepted.get_future().get(), std::move(client)};
}

TEST(TcpListener, TakesNumbersAndNoNames) {
  for (const char* wrong : {"", "localhost:1", "127.0.0.1", "127.0.0.1:", "127.0.0.1:65536", ":1",
                            "127.0.0.1:1x", "[::1:1", "::1:1", "[127.0.0.1]:1", "1.2.3:4"}) {
    EXPECT_FALSE(ParseTcpAddress(wrong).ok()) << wrong;
  }
  EXPECT_EQ(ParseTcpAddress("[::1]:80")->first.ss_family, AF_INET6);
  const auto listener = TcpListener::Create("127.0.0.1:0");
  ASSERT_TRUE(listener.ok()) << listener.status();
  EXPECT_THAT(TcpListener::Create((*listener)->address()).status().ToString(),
              HasSubstr("cannot listen on 127.0.0.1:"));
}

TEST(PeerTable, KnowsTcpByItsOtherEndAndCountsItForTheHostUntilTheCertificateIsKnown) {
  PeerTable table({.connections = 10, .connections_per_user = 1});
  const auto listener = TcpListener::Create("127.0.0.1:0");
  ASSERT_TRUE(listener.ok()) << listener.status();
  auto first = TcpPair(**listener);
  const auto second_listener = TcpListener::Create("127.0.0.1:0");
  auto second = TcpPair(**second_listener);
  ASSERT_TRUE(table.AddTcp(first[0].get()).ok());
  EXPECT_EQ(table.AddTcp(second[0].get()).code(), StatusCode::kResourceExhausted);
  sockaddr_in own{};
  socklen_t length = sizeof(own);
  ASSERT_EQ(getsockname(first[1].get(), reinterpret_cast<sockaddr*>(&own), &length), 0);
  const std::string name = "ipv4:127.0.0.1:" + std::to_string(ntohs(own.sin_port));
  EXPECT_FALSE(table.Find("fd:" + std::to_string(first[0].get())).has_value())
      << "a TCP connection has no peer that the kernel vouches for";
  const auto alice = table.FindTcp(name, "alice", 0xC0000001);
  ASSERT_TRUE(alice.ok()) << alice.status();
  EXPECT_EQ(alice->certificate, "alice");
  EXPECT_EQ(alice->uid, 0xC0000001u);
  EXPECT_EQ(alice->connection, 1u);
  EXPECT_FALSE(table.FindTcp(name, "bob", 0xC0000002).ok()) << "one connection, one certificate";
  EXPECT_TRUE(table.AddTcp(second[0].get()).ok()) << "the host has its share back";
  ASSERT_EQ(getsockname(second[1].get(), reinterpret_cast<sockaddr*>(&own), &length), 0);
  const std::string other = "ipv4:127.0.0.1:" + std::to_string(ntohs(own.sin_port));
  EXPECT_EQ(table.FindTcp(other, "alice", 0xC0000001).status().code(),
            StatusCode::kResourceExhausted);
  EXPECT_TRUE(table.FindTcp(other, "bob", 0xC0000002).ok());
  first[0].Reset();
  EXPECT_EQ(table.CountOpen(), 1u);
  EXPECT_FALSE(table.FindTcp(name, "alice", 0xC0000001).ok()) << "closed";
}

class Listener : public ::testing::Test {
 protected:
  void SetUp() override {
    std::string folder = ::testing::TempDir() + "/listener-XXXXXX";
    folder_ = mkdtemp(folder.data());
    options_.path = folder_ + "/l.sock";
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }
  UniqueFd Connect() {
    UniqueFd fd(socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    options_.path.copy(address.sun_path, sizeof(address.sun_path) - 1);
    if (connect(fd.get(), reinterpret_cast<sockaddr*>(&address), sizeof(address)) != 0) fd.Reset();
    return fd;
  }
  std::string folder_;
  UnixListener::Options options_;
};

TEST_F(Listener, MakesTheSocketWithItsModeAcceptsAndRemovesIt) {
  options_.mode = 0620;
  {
    auto listener = UnixListener::Create(options_);
    ASSERT_TRUE(listener.ok()) << listener.status();
    struct stat about {};
    ASSERT_EQ(stat(options_.path.c_str(), &about), 0);
    EXPECT_EQ(about.st_mode & 0777u, 0620u);
    const UniqueFd early = Connect();
    EXPECT_TRUE(early.valid()) << "connections queue up before Start";
    int pipe_fds[2];
    ASSERT_EQ(pipe(pipe_fds), 0);
    const UniqueFd read_end(pipe_fds[0]);
    const UniqueFd write_end(pipe_fds[1]);
    ASSERT_TRUE((*listener)
                    ->Start([&](UniqueFd connection) {
                      const char flags =
                          (fcntl(connection.get(), F_GETFL) & O_NONBLOCK) != 0 ? 'n' : 'b';
                      EXPECT_EQ(write(write_end.get(), &flags, 1), 1);
                    })
                    .ok());
    const UniqueFd late = Connect();
    std::string seen(2, ' ');
    EXPECT_EQ(read(read_end.get(), seen.data(), 1), 1);
    EXPECT_EQ(read(read_end.get(), seen.data() + 1, 1), 1);
    EXPECT_EQ(seen, "nn");
  }
  EXPECT_FALSE(std::filesystem::exists(options_.path));
}

TEST_F(Listener, ReplacesAStaleSocketButNothingElse) {
  {
    const UniqueFd stale(socket(AF_UNIX, SOCK_STREAM, 0));
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    options_.path.copy(address.sun_path, sizeof(address.sun_path) - 1);
    ASSERT_EQ(bind(stale.get(), reinterpret_cast<sockaddr*>(&address), sizeof(address)), 0);
  }
  auto first = UnixListener::Create(options_);
  ASSERT_TRUE(first.ok()) << first.status();
  const auto second = UnixListener::Create(options_);
  EXPECT_THAT(second.status().ToString(), HasSubstr("another process listens"));
  first->reset();
  std::ofstream(options_.path) << "a file";
  EXPECT_THAT(UnixListener::Create(options_).status().ToString(), HasSubstr("not a socket"));
  options_.path = folder_ + "/missing/l.sock";
  EXPECT_THAT(UnixListener::Create(options_).status().ToString(), HasSubstr("does not exist"));
  options_.path = folder_ + "/l2.sock";
  options_.group = "no-such-group-here";
  EXPECT_THAT(UnixListener::Create(options_).status().ToString(), HasSubstr("no-such-group-here"));
  EXPECT_FALSE(std::filesystem::exists(options_.path)) << "a failed start leaves nothing behind";
}

TEST_F(Listener, LeavesTheSocketOfANewerDaemonAlone) {
  auto listener = UnixListener::Create(options_);
  ASSERT_TRUE(listener.ok());
  std::filesystem::remove(options_.path);
  std::ofstream(options_.path) << "somebody else's";
  listener->reset();
  EXPECT_TRUE(std::filesystem::exists(options_.path));
}

TEST_F(Listener, AdoptsOnlyAListeningUnixSocket) {
  auto pair = SocketPair();
  EXPECT_FALSE(UnixListener::Adopt(std::move(pair[0])).ok());
  EXPECT_FALSE(UnixListener::Adopt(Null()).ok());
  UniqueFd listening(socket(AF_UNIX, SOCK_STREAM, 0));
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  options_.path.copy(address.sun_path, sizeof(address.sun_path) - 1);
  ASSERT_EQ(bind(listening.get(), reinterpret_cast<sockaddr*>(&address), sizeof(address)), 0);
  ASSERT_EQ(listen(listening.get(), 4), 0);
  auto adopted = UnixListener::Adopt(std::move(listening));
  ASSERT_TRUE(adopted.ok()) << adopted.status();
  adopted->reset();
  EXPECT_TRUE(std::filesystem::exists(options_.path)) << "the socket file belongs to who made it";
}

TEST(Roles, GoByUserPrimaryGroupAndSupplementaryGroups) {
  group* const known = getgrgid(0);
  ASSERT_NE(known, nullptr);
  std::vector<std::string> unknown;
  const Roles roles = Roles::Create(
      {.observe_groups = {"no-such-group-here"}, .admin_groups = {known->gr_name}}, 1234, &unknown);
  EXPECT_EQ(unknown, std::vector<std::string>{"no-such-group-here"});
  PeerIdentity peer;
  peer.uid = 5000;
  peer.gid = 5000;
  EXPECT_EQ(roles.Check(Role::kObserve, peer).code(), StatusCode::kPermissionDenied);
  EXPECT_THAT(
      roles.Check(Role::kObserve, peer).ToString(),
      HasSubstr(fmt::format("members of group no-such-group-here or {} have it", known->gr_name)));
  peer.groups = {6000, known->gr_gid};
  EXPECT_TRUE(roles.Check(Role::kAdmin, peer).ok()) << "supplementary groups count";
  EXPECT_TRUE(roles.Check(Role::kObserve, peer).ok()) << "admin may observe";
  peer.groups = {};
  peer.gid = known->gr_gid;
  EXPECT_TRUE(roles.Check(Role::kAdmin, peer).ok());
  peer.gid = 5000;
  peer.uid = 1234;
  EXPECT_TRUE(roles.Check(Role::kAdmin, peer).ok()) << "the daemon's own user";
  peer.uid = 0;
  EXPECT_TRUE(roles.Check(Role::kAdmin, peer).ok());
  std::vector<std::string> none;
  const Roles observers = Roles::Create({.observe_groups = {known->gr_name}}, 1234, &none);
  peer.uid = 5000;
  peer.gid = known->gr_gid;
  EXPECT_TRUE(observers.Check(Role::kObserve, peer).ok());
  EXPECT_FALSE(observers.Check(Role::kAdmin, peer).ok()) << "observe is not admin";
  EXPECT_TRUE(observers.Check(Role::kSubmit, peer).ok()) << "no group is asked for";
}

TEST(Roles, SubmitIsForItsGroupsOnceThereAreSome) {
  group* const known = getgrgid(0);
  ASSERT_NE(known, nullptr);
  std::vector<std::string> unknown;
  const Roles roles = Roles::Create({.submit_groups = {known->gr_name}}, 1234, &unknown);
  PeerIdentity peer;
  peer.uid = 5000;
  peer.gid = 5000;
  EXPECT_THAT(roles.Check(Role::kSubmit, peer).ToString(), HasSubstr("needs role submit"));
  peer.groups = {known->gr_gid};
  EXPECT_TRUE(roles.Check(Role::kSubmit, peer).ok());
  EXPECT_FALSE(roles.Check(Role::kObserve, peer).ok()) << "submit is not observe";
  // A group that this machine does not have must not open the door to everybody.
  const Roles misspelt = Roles::Create({.submit_groups = {"no-such-group-here"}}, 1234, &unknown);
  EXPECT_FALSE(misspelt.Check(Role::kSubmit, peer).ok());
  const Roles admins = Roles::Create(
      {.submit_groups = {"no-such-group-here"}, .admin_groups = {known->gr_name}}, 1234, &unknown);
  EXPECT_TRUE(admins.Check(Role::kSubmit, peer).ok()) << "admin may submit";
}

TEST(Roles, Observe_IsForAdministratorsByDefault) {
  group* const known = getgrgid(0);
  ASSERT_NE(known, nullptr);
  std::vector<std::string> unknown;
  const Roles roles = Roles::Create({.admin_groups = {known->gr_name}}, 1234, &unknown);
  PeerIdentity peer;
  peer.uid = peer.gid = 5000;
  EXPECT_TRUE(roles.Check(Role::kSubmit, peer).ok());
  EXPECT_EQ(StatusMessage(roles.Check(Role::kObserve, peer)),
            fmt::format("this call needs role observe, which user 5000 does not have; root, the "
                        "daemon's user and members of group {} have it (ttfd.toml: [roles])",
                        known->gr_name));
  peer.groups = {known->gr_gid};
  EXPECT_TRUE(roles.Check(Role::kObserve, peer).ok());
  const Roles closed = Roles::Create({}, 1234, &unknown);
  EXPECT_THAT(closed.Check(Role::kObserve, peer).ToString(),
              HasSubstr("root, the daemon's user have it"));
}

TEST(Roles, GoByTheNameOfACertificateAndByNothingElseOfIt) {
  std::vector<std::string> unknown;
  const Roles roles = Roles::Create({.submit_certificates = {"*"},
                                     .observe_certificates = {"watcher"},
                                     .admin_certificates = {"boss"}},
                                    1234, &unknown);
  PeerIdentity peer;
  peer.uid = 0;  // would be root on the socket
  const auto may = [&](const char* name, Role role) {
    peer.certificate = name;
    return roles.Check(role, peer).ok();
  };
  EXPECT_TRUE(may("anybody", Role::kSubmit));
  EXPECT_FALSE(may("anybody", Role::kObserve));
  EXPECT_FALSE(may("anybody", Role::kAdmin));
  EXPECT_TRUE(may("watcher", Role::kObserve));
  EXPECT_FALSE(may("watcher", Role::kAdmin));
  EXPECT_TRUE(may("boss", Role::kAdmin));
  EXPECT_TRUE(may("boss", Role::kObserve));
  const Roles closed = Roles::Create({.observe_certificates = {"watcher"}}, 1234, &unknown);
  peer.certificate = "anybody";
  EXPECT_THAT(closed.Check(Role::kSubmit, peer).ToString(), HasSubstr("certificate 'anybody'"))
      << "without a list no certificate may submit";
}

TEST(CertificateNumbers, ANameKeepsItsNumberAndNoNumberIsGivenTwice) {
  std::set<std::string> connected;
  CertificateNumbers numbers([&] { return connected; }, 4);
  std::map<std::string, uint32_t> given;
  std::set<uint32_t> all;
  for (const char* name : {"a", "b", "c", "d"}) {
    given[name] = *numbers.Of(name);
    EXPECT_TRUE(all.insert(given[name]).second);
    EXPECT_GE(given[name], 0x8000'0000u) << "no user of the system has it";
  }
  EXPECT_EQ(*numbers.Of("a"), given["a"]);
  connected = {"b", "d"};
  // Of those without a connection the one not heard of for longest is forgotten: c, then a.
  EXPECT_TRUE(all.insert(*numbers.Of("e")).second);
  EXPECT_EQ(*numbers.Of("a"), given["a"]);
  EXPECT_EQ(*numbers.Of("b"), given["b"]);
  EXPECT_EQ(*numbers.Of("d"), given["d"]);
  EXPECT_TRUE(all.insert(*numbers.Of("c")).second) << "a new user now, in place of e";
  EXPECT_EQ(*numbers.Of("a"), given["a"]);
  EXPECT_EQ(numbers.size(), 4u);
}

TEST(CertificateNumbers, NamesDoNotGrowForEverNorIsOneWithAConnectionForgotten) {
  std::set<std::string> connected = {"kept"};
  CertificateNumbers numbers([&] { return connected; }, 100);
  const uint32_t kept = *numbers.Of("kept");
  for (int i = 0; i < 5'000; ++i) ASSERT_TRUE(numbers.Of("name " + std::to_string(i)).ok());
  EXPECT_EQ(numbers.size(), 100u);
  EXPECT_EQ(*numbers.Of("kept"), kept);
  CertificateNumbers full([] { return std::set<std::string>{"x", "y"}; }, 2);
  ASSERT_TRUE(full.Of("x").ok() && full.Of("y").ok());
  EXPECT_EQ(full.Of("z").status().code(), StatusCode::kResourceExhausted);
}

}  // namespace
}  // namespace ttfd::rpc_peers_test
