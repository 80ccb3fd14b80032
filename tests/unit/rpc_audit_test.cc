// The audit trail: its lines can be parsed whatever clients put into them, refusals are limited by user, and its file
// survives being moved away.
#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <thread>

#include "daemon/rpc/audit.h"

namespace ttfd::rpc_audit_test {
namespace {

using ::testing::AllOf;
using ::testing::Contains;
using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::SizeIs;
using ::testing::StartsWith;

class Audit : public ::testing::Test {
 protected:
  std::shared_ptr<AuditTrail> Make(const std::string& file = "",
                                   Duration check_every = std::chrono::milliseconds(1)) {
    AuditOptions options;
    options.file = file;
    options.check_every = check_every;
    options.log = [this](const std::string& line) {
      MutexLock lock(&mu_);
      if (log_is_full_) return false;
      lines_.push_back(line);
      return true;
    };
    options.unix_ms = [this] { return unix_ms_.load(); };
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
  static void Refuse(AuditTrail& trail, uint32_t uid) {
    trail.Refused(
        "Drain", Peer(uid), [] { return "{}"; }, Error(StatusCode::kPermissionDenied, "no"));
  }
  // What has been said so far.
  std::vector<std::string> Lines(AuditTrail& trail) {
    EXPECT_TRUE(trail.Flush(std::chrono::seconds(20)));
    MutexLock lock(&mu_);
    return lines_;
  }
  Mutex mu_;
  std::vector<std::string> lines_ ABSL_GUARDED_BY(mu_);
  bool log_is_full_ ABSL_GUARDED_BY(mu_) = false;
  std::atomic<int64_t> unix_ms_ = 1'000'000'000'123;
};

TEST_F(Audit, LineHasEveryKeyInItsOrder) {
  const auto trail = Make();
  const auto action = trail->Describe("TerminateSession", Peer(1000), R"({"session":"3"})");
  trail->Ended(action, OkStatus());
  EXPECT_EQ(Lines(*trail).at(0),
            R"(audit {"time":"2001-09-09T01:46:40.123Z","id":1,"action":"TerminateSession",)"
            R"("outcome":"OK","uid":1000,"user":"user1000","certificate":"","pid":42,)"
            R"("connection":7,"arguments":{"session":"3"},"message":"","suppressed_count":0})");
  PeerIdentity boss = Peer(0xC0000000);
  boss.certificate = "bo\"ss\n{}";
  trail->Ended(trail->Describe("Drain", boss, "{}"), Error(StatusCode::kAborted, "line\nbreak"));
  EXPECT_THAT(Lines(*trail).at(1),
              AllOf(HasSubstr(R"("user":"bo\"ss\u000a{}","certificate":"bo\"ss)"),
                    HasSubstr(R"("outcome":"ABORTED")"),
                    HasSubstr(R"("message":"line\u000abreak")"), Not(HasSubstr("\n"))));
  trail->Refused(
      "Drain", std::nullopt, [] { return "{}"; }, Error(StatusCode::kUnauthenticated, "who?"));
  EXPECT_THAT(Lines(*trail).at(2), HasSubstr(R"("outcome":"UNAUTHENTICATED","uid":null)"));
}

TEST_F(Audit, Messages_AreCut) {
  const auto trail = Make();
  trail->Ended(trail->Describe("TerminateSession", Peer(1), "{}"),
               Error(StatusCode::kInternal, "{}", std::string(100'000, 'm')));
  EXPECT_LT(Lines(*trail).at(0).size(), 1'000u);
  EXPECT_THAT(Lines(*trail).at(0), EndsWith(R"(m","suppressed_count":0})"));
}

TEST_F(Audit, SuppressedRefusals_ConvertNoArguments) {
  const auto trail = Make();
  int converted = 0;
  for (int i = 0; i < 100; ++i) {
    trail->Refused(
        "TerminateSession", Peer(1),
        [&converted] {
          ++converted;
          return R"({"session":"3"})";
        },
        Error(StatusCode::kPermissionDenied, "no"));
  }
  EXPECT_EQ(converted, 5) << "only for attempts that get a line";
  unix_ms_ += 2000;
  const auto until = std::chrono::steady_clock::now() + std::chrono::seconds(20);
  while (Lines(*trail).size() < 6 && std::chrono::steady_clock::now() < until) {
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  EXPECT_THAT(Lines(*trail).at(4), HasSubstr(R"("arguments":{"session":"3"})"));
  EXPECT_THAT(Lines(*trail).at(5),
              AllOf(HasSubstr(R"("arguments":null,)"), EndsWith(R"("suppressed_count":94})")));
}

TEST_F(Audit, FullLog_LosesNoLine) {
  const auto trail = Make();
  {
    MutexLock lock(&mu_);
    log_is_full_ = true;
  }
  trail->Ended(trail->Describe("Drain", Peer(1), "{}"), OkStatus());
  EXPECT_FALSE(trail->Flush(std::chrono::milliseconds(1)));
  {
    MutexLock lock(&mu_);
    log_is_full_ = false;
  }
  EXPECT_THAT(Lines(*trail), SizeIs(1));
}

TEST_F(Audit, RefusedAttemptsAreLimitedByUserAndNoneIsForgotten) {
  // The line of the next attempt counts those before, not one of the writing thread.
  const auto trail = Make("", std::chrono::hours(1));
  for (int i = 0; i < 100; ++i) Refuse(*trail, 1);
  EXPECT_EQ(Lines(*trail).size(), 5u);
  Refuse(*trail, 2);
  EXPECT_EQ(Lines(*trail).size(), 6u) << "one user does not hide another";
  unix_ms_ += 1000;
  Refuse(*trail, 1);
  ASSERT_EQ(Lines(*trail).size(), 7u);
  EXPECT_THAT(Lines(*trail).back(), EndsWith(R"("suppressed_count":95})"));
  trail->Ended(trail->Describe("Drain", Peer(1), "{}"), OkStatus());
  EXPECT_THAT(Lines(*trail).back(), HasSubstr(R"("id":103)"))
      << "attempts are numbered, told or not";
  // However many users there are, memory and lines have an end.
  for (uint32_t uid = 10; uid < 5'000; ++uid) Refuse(*trail, uid);
  EXPECT_LE(Lines(*trail).size(), 8u + 1024u + 5u);
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
    ASSERT_TRUE(trail->Flush(std::chrono::seconds(20)));
    EXPECT_EQ("an earlier line\n" + Lines(*trail).at(0).substr(sizeof("audit")) + "\n", read(path));
    std::filesystem::rename(path, path + ".1");
    act();
    ASSERT_TRUE(trail->Flush(std::chrono::seconds(20)));
    EXPECT_THAT(read(path + ".1"), HasSubstr(R"("id":2)"));
    const mode_t before = umask(0077);  // a service's
    ASSERT_TRUE(trail->Flush(std::chrono::seconds(20)));
    ASSERT_TRUE(trail->Reopen().ok());
    umask(before);
    act();
    ASSERT_TRUE(trail->Flush(std::chrono::seconds(20)));
    EXPECT_THAT(read(path), StartsWith(R"({"time":)"));
    EXPECT_THAT(read(path), HasSubstr(R"("id":3)"));
    struct stat about {};
    ASSERT_EQ(stat(path.c_str(), &about), 0);
    EXPECT_EQ(about.st_mode & 0777u, 0640u);
    std::filesystem::remove_all(folder);
    EXPECT_FALSE(trail->Reopen().ok());
    act();  // into the file that was open
    EXPECT_EQ(Lines(*trail).size(), 4u);
  }
  AuditOptions nowhere;
  nowhere.file = folder + "/none/audit.log";
  EXPECT_THAT(AuditTrail::Create(nowhere).status().ToString(), HasSubstr("audit file"));
}

TEST_F(Audit, RefusedAttemptsWithoutALineAreToldAlsoWhenSilenceFollows) {
  const auto trail = Make();
  for (int i = 0; i < 100; ++i) Refuse(*trail, 1);
  for (int i = 0; i < 6; ++i) Refuse(*trail, 2);
  EXPECT_EQ(Lines(*trail).size(), 10u);
  unix_ms_ += 1000;
  const auto until = std::chrono::steady_clock::now() + std::chrono::seconds(20);
  while (Lines(*trail).size() < 12 && std::chrono::steady_clock::now() < until) {
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  EXPECT_THAT(
      Lines(*trail),
      AllOf(SizeIs(12),
            Contains(AllOf(HasSubstr(R"("id":100,)"), EndsWith(R"("suppressed_count":94})"))),
            Contains(AllOf(HasSubstr(R"("id":106,)"), EndsWith(R"("suppressed_count":0})")))));
}

TEST_F(Audit, WhoFallsSilentIsToldOfThoughOthersGoOnTrying) {
  const auto trail = Make();
  for (int i = 0; i < 7; ++i) Refuse(*trail, 1);
  const auto told = [&] {
    const std::vector<std::string> lines = Lines(*trail);
    return std::count_if(lines.begin(), lines.end(), [](const std::string& line) {
      return line.find(R"("uid":1,)") != std::string::npos;
    });
  };
  EXPECT_EQ(told(), 5);
  const auto until = std::chrono::steady_clock::now() + std::chrono::seconds(20);
  for (int second = 0; told() < 6 && std::chrono::steady_clock::now() < until; ++second) {
    if (second < 3) unix_ms_ += 1000;
    Refuse(*trail, 2);
  }
  EXPECT_EQ(told(), 6);
}

TEST_F(Audit, TheEndOfTheTrailTellsWhatHasNoLineYet) {
  auto trail = Make();
  for (int i = 0; i < 20; ++i) {
    Refuse(*trail, 1);
  }
  trail.reset();
  // Its end waits for half a second at most; the writing thread may need longer.
  const auto until = std::chrono::steady_clock::now() + std::chrono::seconds(20);
  const auto written = [this] {
    MutexLock lock(&mu_);
    return lines_.size();
  };
  while (written() < 6 && std::chrono::steady_clock::now() < until) {
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  MutexLock lock(&mu_);
  ASSERT_EQ(lines_.size(), 6u);
  EXPECT_THAT(lines_.back(), EndsWith(R"("suppressed_count":14})"));
}

// A pipe that nobody reads, in place of a disk that does not answer.
TEST_F(Audit, ADiskThatDoesNotAnswerHoldsUpNobodyAndLetsNothingBeDoneUntold) {
  std::string folder = ::testing::TempDir() + "/audit-XXXXXX";
  folder = mkdtemp(folder.data());
  const std::string path = folder + "/audit.log";
  ASSERT_EQ(mkfifo(path.c_str(), 0600), 0);
  const int reader = open(path.c_str(), O_RDONLY | O_NONBLOCK);
  ASSERT_GE(reader, 0);
  // Full, so that not even the first line finds room.
  const int filler = open(path.c_str(), O_WRONLY | O_NONBLOCK);
  const std::string filling(4096, ' ');
  while (write(filler, filling.data(), filling.size()) > 0) continue;
  close(filler);
  {
    const auto trail = Make(path);
    std::atomic<bool> done{false};
    std::atomic<size_t> acted{0};
    std::thread device([&] {
      while (trail->Ready().ok()) {
        trail->Ended(trail->Describe("Drain", Peer(1), "{}"), OkStatus());
        ++acted;
      }
      for (int i = 0; i < 100; ++i) {
        Refuse(*trail, 2);
      }
      trail->Ended(trail->Describe("ResetDevice", Peer(1), "{}"), OkStatus());
      done = true;
    });
    const auto until = std::chrono::steady_clock::now() + std::chrono::seconds(20);
    while (!done && std::chrono::steady_clock::now() < until) {
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    EXPECT_TRUE(done) << "whoever tells something waits for the disk";
    EXPECT_GE(acted, AuditTrail::kLinesWaiting);
    EXPECT_FALSE(trail->Flush(std::chrono::milliseconds(1)));
    EXPECT_THAT(trail->Ready().ToString(), HasSubstr("wait to be written"));
    // It answers again.
    std::string all;
    char piece[65536];
    while (std::chrono::steady_clock::now() < until &&
           (!done || !trail->Flush(std::chrono::milliseconds(1)))) {
      const ssize_t got = read(reader, piece, sizeof(piece));
      if (got > 0) all.append(piece, static_cast<size_t>(got));
    }
    device.join();
    EXPECT_TRUE(trail->Ready().ok());
    EXPECT_EQ(Lines(*trail).size(), acted + 1) << "none was lost";
    for (ssize_t got = 1; got > 0;) {
      got = read(reader, piece, sizeof(piece));
      if (got > 0) all.append(piece, static_cast<size_t>(got));
    }
    EXPECT_EQ(std::count(all.begin(), all.end(), '\n'), static_cast<ptrdiff_t>(acted + 1));
  }
  close(reader);
  std::filesystem::remove_all(folder);
}

}  // namespace
}  // namespace ttfd::rpc_audit_test
