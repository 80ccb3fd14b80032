// The audit trail: its lines can be parsed whatever clients put into them, refusals are limited by user, and its file
// survives being moved away.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <stdlib.h>
#include <sys/stat.h>

#include <filesystem>
#include <fstream>
#include <sstream>

#include "daemon/rpc/audit.h"
#include "daemon/rpc/utf8.h"

namespace ttfd {
namespace {

using ::testing::AllOf;
using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

class Audit : public ::testing::Test {
 protected:
  std::shared_ptr<AuditTrail> Make(const std::string& file = "") {
    AuditOptions options;
    options.file = file;
    options.log = [this](const std::string& line) { lines_.push_back(line); };
    options.unix_ms = [this] { return unix_ms_; };
    options.user_name = [](uint32_t uid) { return "user" + std::to_string(uid); };
    auto trail = AuditTrail::Create(std::move(options));
    EXPECT_TRUE(trail.ok()) << trail.status();
    return trail.ok() ? *std::move(trail) : nullptr;
  }
  static PeerIdentity Peer(uint32_t uid) {
    PeerIdentity peer;
    peer.uid = uid;
    peer.pid = 42;
    peer.connection = 7;
    return peer;
  }
  std::vector<std::string> lines_;
  int64_t unix_ms_ = 1'000'000'000'123;
};

TEST_F(Audit, LineHasEveryKeyInItsOrder) {
  const auto trail = Make();
  const auto action = trail->Describe("EndSession", Peer(1000), R"({"session":"3"})");
  trail->Ended(action, OkStatus());
  EXPECT_EQ(lines_.at(0),
            R"(audit {"time":"2001-09-09T01:46:40.123Z","id":1,"action":"EndSession",)"
            R"("outcome":"OK","uid":1000,"user":"user1000","certificate":"","pid":42,)"
            R"("connection":7,"arguments":{"session":"3"},"message":"","untold":0})");
  PeerIdentity boss = Peer(0xC0000000);
  boss.certificate = "bo\"ss\n{}";
  trail->Ended(trail->Describe("Drain", boss, "{}"), Error(StatusCode::kAborted, "line\nbreak"));
  EXPECT_THAT(lines_.at(1),
              AllOf(HasSubstr(R"("user":"bo\"ss\u000a{}","certificate":"bo\"ss)"),
                    HasSubstr(R"("outcome":"ABORTED")"),
                    HasSubstr(R"("message":"line\u000abreak")"), Not(HasSubstr("\n"))));
  trail->Refused(trail->Describe("Drain", std::nullopt, "{}"),
                 Error(StatusCode::kUnauthenticated, "who?"));
  EXPECT_THAT(lines_.at(2), HasSubstr(R"("outcome":"UNAUTHENTICATED","uid":null)"));
}

TEST_F(Audit, ArgumentsThatAreTooLongAreCutAndAreAStringThen) {
  const auto trail = Make();
  const std::string reason(100'000, '"');
  trail->Ended(trail->Describe("EndSession", Peer(1), "{\"reason\":" + JsonString(reason) + "}"),
               Error(StatusCode::kInternal, "{}", std::string(100'000, 'm')));
  EXPECT_LT(lines_.at(0).size(), 8'000u);
  EXPECT_THAT(lines_.at(0), HasSubstr(R"("arguments":"{\"reason\":\"\\\")"));
  EXPECT_THAT(lines_.at(0), EndsWith(R"(m","untold":0})"));
}

TEST_F(Audit, RefusedAttemptsAreLimitedByUserAndNoneIsForgotten) {
  const auto trail = Make();
  const auto refuse = [&](uint32_t uid) {
    trail->Refused(trail->Describe("Drain", Peer(uid), "{}"),
                   Error(StatusCode::kPermissionDenied, "no"));
  };
  for (int i = 0; i < 100; ++i) refuse(1);
  EXPECT_EQ(lines_.size(), 5u);
  refuse(2);
  EXPECT_EQ(lines_.size(), 6u) << "one user does not hide another";
  unix_ms_ += 1000;
  refuse(1);
  ASSERT_EQ(lines_.size(), 7u);
  EXPECT_THAT(lines_.back(), EndsWith(R"("untold":95})"));
  trail->Ended(trail->Describe("Drain", Peer(1), "{}"), OkStatus());
  EXPECT_THAT(lines_.back(), HasSubstr(R"("id":103)")) << "attempts are numbered, told or not";
  // However many users there are, memory and lines have an end.
  for (uint32_t uid = 10; uid < 5'000; ++uid) refuse(uid);
  EXPECT_LE(lines_.size(), 8u + 1024u + 5u);
}

TEST_F(Audit, FileGetsTheSameObjectsAndIsOpenedAgain) {
  std::string folder = ::testing::TempDir() + "/audit-XXXXXX";
  folder = mkdtemp(folder.data());
  const std::string path = folder + "/audit.log";
  const auto read = [](const std::string& from) {
    std::stringstream text;
    text << std::ifstream(from).rdbuf();
    return text.str();
  };
  {
    std::ofstream(path) << "an earlier line\n";
    const auto trail = Make(path);
    const auto act = [&] { trail->Ended(trail->Describe("Drain", Peer(1), "{}"), OkStatus()); };
    act();
    EXPECT_EQ("an earlier line\n" + lines_.at(0).substr(sizeof("audit")) + "\n", read(path));
    std::filesystem::rename(path, path + ".1");
    act();
    EXPECT_THAT(read(path + ".1"), HasSubstr(R"("id":2)"));
    const mode_t before = umask(0077);  // a service's
    ASSERT_TRUE(trail->Reopen().ok());
    umask(before);
    act();
    EXPECT_THAT(read(path), StartsWith(R"({"time":)"));
    EXPECT_THAT(read(path), HasSubstr(R"("id":3)"));
    struct stat about {};
    ASSERT_EQ(stat(path.c_str(), &about), 0);
    EXPECT_EQ(about.st_mode & 0777u, 0640u);
    std::filesystem::remove_all(folder);
    EXPECT_FALSE(trail->Reopen().ok());
    act();  // into the file that was open
    EXPECT_EQ(lines_.size(), 4u);
  }
  AuditOptions nowhere;
  nowhere.file = folder + "/none/audit.log";
  EXPECT_THAT(AuditTrail::Create(nowhere).status().ToString(), HasSubstr("audit file"));
}

}  // namespace
}  // namespace ttfd
