// The log: one line a call, and a writer that holds nobody up.
#include "runtime/base/log.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <limits.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <ctime>
#include <fstream>
#include <functional>
#include <sstream>
#include <thread>

#include "runtime/base/log_writer.h"
#include "runtime/base/unique_fd.h"
#include "tests/support/temporary_folder.h"

namespace ttfd::log_test {
namespace {

using ::testing::AllOf;
using ::testing::Each;
using ::testing::EndsWith;
using ::testing::Ge;
using ::testing::HasSubstr;
using ::testing::Le;
using ::testing::MatchesRegex;
using ::testing::Not;

// A local time that is not UTC, from the first line on: the log computes the local time once a second.
[[maybe_unused]] const int kZone = setenv("TZ", "TST-3", 1);

TimePoint Soon() { return SteadyClock().Now() + std::chrono::seconds(20); }
TimePoint Now() { return SteadyClock().Now(); }

// Returns the lines that standard error receives from `log_lines`, without lines of other tests.
std::string Logged(const std::function<void()>& log_lines) {
  EXPECT_TRUE(FlushLog(Soon()));
  ::testing::internal::CaptureStderr();
  log_lines();
  EXPECT_TRUE(FlushLog(Soon()));
  return ::testing::internal::GetCapturedStderr();
}

constexpr char kForgery[] =
    "x\n2026-11-22T16:00:00.000 info audit {\"id\":99,\"outcome\":\"OK\"}\n\x1B[2J\xFF\xC2\x9B";
constexpr char kEscaped[] =
    R"(x\n2026-11-22T16:00:00.000 info audit {"id":99,"outcome":"OK"}\n\u001b[2J\xff\u009b)";

TEST(Log, LogLine_CannotBeForgedByArguments) {
  const std::string log = Logged([] {
    LogError("device lost: client '{}'", kForgery);
    EXPECT_TRUE(LogAlways(std::string("audit ") + kForgery, Soon()));
    EXPECT_TRUE(LogPlain(std::string("ttfd: ") + kForgery, Soon()));
  });
  EXPECT_EQ(std::count(log.begin(), log.end(), '\n'), 3) << log;
  EXPECT_THAT(log, HasSubstr(std::string(" error device lost: client '") + kEscaped + "'\n"));
  EXPECT_THAT(log, HasSubstr(std::string(" info audit ") + kEscaped + "\n"));
  EXPECT_THAT(log, EndsWith(std::string("\nttfd: ") + kEscaped + "\n"));
  EXPECT_THAT(LastLogLines(), Not(::testing::Contains(HasSubstr("\n"))));
  EXPECT_THAT(LastLogLines().back(), EndsWith(kEscaped));
}

TEST(Log, LogLine_CutsLongLines) {
  LogError("{}", std::string(1'000'000, 'x'));
  EXPECT_LE(LastLogLines().back().size(), kMaxLogLineBytes + 64);
}

TEST(Log, Level_HidesWhatIsBelow) {
  for (const char* name : {"loud", "", "trace", "warn", "err", "critical", "off"}) {
    EXPECT_FALSE(SetLogLevel(name)) << name;
  }
  ASSERT_TRUE(SetLogLevel("error"));
  LogWarning("hidden");
  EXPECT_TRUE(LogAlways("shown", Soon()));
  EXPECT_THAT(LastLogLines().back(), EndsWith(" info shown"));
  ASSERT_TRUE(SetLogLevel("info"));
  LogWarning("seen");
  EXPECT_THAT(LastLogLines().back(), EndsWith(" warning seen"));
  LogDebug("hidden");
  EXPECT_THAT(LastLogLines().back(), EndsWith(" warning seen"));
  ASSERT_TRUE(SetLogLevel("debug"));
  LogDebug("seen");
  EXPECT_THAT(LastLogLines().back(), EndsWith(" debug seen"));
}

TEST(Log, LogLine_BeginsWithLocalTimeAndLevel) {
  // std::time() may lag behind the clock that the log reads.
  const auto now = [] {
    return std::chrono::system_clock::to_time_t(std::chrono::system_clock::now());
  };
  const std::time_t before = now();
  const std::string log = Logged([] { LogInfo("text"); });
  EXPECT_THAT(log, MatchesRegex("[-0-9]+T[:0-9]+\\.[0-9]{3} info text\n"));
  EXPECT_EQ(log, LastLogLines().back() + '\n');
  std::tm time{};
  ASSERT_NE(strptime(log.c_str(), "%Y-%m-%dT%H:%M:%S", &time), nullptr);
  EXPECT_THAT(std::mktime(&time), AllOf(Ge(before), Le(now())));
}

TEST(Log, LastLogLines_AreTheNewestInOrder) {
  for (size_t i = 0; i <= kRememberedLogLines; ++i) LogInfo("line {}", i);
  const std::vector<std::string> lines = LastLogLines();
  ASSERT_EQ(lines.size(), kRememberedLogLines);
  for (size_t i = 0; i < lines.size(); ++i) {
    EXPECT_THAT(lines[i], EndsWith(fmt::format(" line {}", i + 1)));
  }
}

TEST(Log, Threads_LogWholeLinesConcurrently) {
  constexpr int kThreads = 4;
  const auto log_lines = [] {
    for (size_t i = 0; i < kRememberedLogLines; ++i) LogInfo("whole line");
  };
  std::istringstream log(Logged([&] {
    log_lines();  // no other test's line is remembered
    std::vector<std::thread> threads;
    for (int thread = 0; thread < kThreads; ++thread) threads.emplace_back(log_lines);
    for (int i = 0; i < 200; ++i) {
      EXPECT_TRUE(SetLogLevel(i % 2 == 0 ? "debug" : "info"));
      EXPECT_THAT(LastLogLines(), Each(EndsWith(" info whole line")));
    }
    for (std::thread& thread : threads) thread.join();
  }));
  size_t lines = 0;
  for (std::string line; std::getline(log, line); ++lines) {
    EXPECT_THAT(line, MatchesRegex("[-0-9]+T[:0-9.]+ info whole line"));
  }
  EXPECT_EQ(lines, (1 + kThreads) * kRememberedLogLines);
}

// A pipe that is full: not one byte more fits before somebody reads.
class Pipe {
 public:
  Pipe() {
    int ends[2];
    EXPECT_EQ(pipe2(ends, O_CLOEXEC), 0);
    read_ = UniqueFd(ends[0]);
    write_ = UniqueFd(ends[1]);
    size_ = static_cast<size_t>(fcntl(write_.get(), F_SETPIPE_SZ, 4096));
    const std::string filling(size_, ' ');
    EXPECT_EQ(write(write_.get(), filling.data(), size_), static_cast<ssize_t>(size_));
  }
  int fd() const { return write_.get(); }
  void CloseReader() { read_.Reset(); }
  // What was written after the filling, or since the last call, up to and with `end`.
  std::string ReadUntil(const std::string& end) {
    std::string text;
    while (!text.ends_with(end)) {
      char byte = 0;
      if (read(read_.get(), &byte, 1) != 1) break;
      if (size_ > 0) {
        --size_;
      } else {
        text += byte;
      }
    }
    return text;
  }

 private:
  UniqueFd read_, write_;
  size_t size_ = 0;  // of the filling, as far as it has not been read
};

LogWriterOptions Options(size_t lines) {
  LogWriterOptions options;
  options.lines = lines;
  options.dropped_text = [](uint64_t dropped) { return fmt::format("({} dropped)\n", dropped); };
  return options;
}

TEST(LogWriter, FullPipe_DropsAndCountsLines) {
  Pipe pipe;
  LogWriter writer(pipe.fd(), Options(4));
  for (int i = 0; i < 10; ++i) writer.Write(fmt::format("line {}\n", i));
  EXPECT_FALSE(writer.FlushUntil(Now()));
  EXPECT_EQ(pipe.ReadUntil("dropped)\n"), "line 0\nline 1\nline 2\nline 3\n(6 dropped)\n");
  writer.Write("after\n");
  EXPECT_EQ(pipe.ReadUntil("\n"), "after\n");
  EXPECT_TRUE(writer.FlushUntil(Soon()));
}

TEST(LogWriter, FullPipe_BoundsBytes) {
  Pipe pipe;
  LogWriterOptions options = Options(1000);
  options.bytes = 64;
  LogWriter writer(pipe.fd(), options);
  writer.Write(std::string(63, 'a') + "\n");
  writer.Write("b\n");
  EXPECT_EQ(pipe.ReadUntil("dropped)\n"), std::string(63, 'a') + "\n(1 dropped)\n");
}

TEST(LogWriter, WriteUntil_WaitsForSpace) {
  Pipe pipe;
  LogWriter writer(pipe.fd(), Options(1));
  writer.Write("first\n");
  EXPECT_FALSE(writer.WriteUntil("late\n", Now() + std::chrono::milliseconds(1)));
  bool taken = false;
  std::thread audit([&] { taken = writer.WriteUntil("audit\n", Soon()); });
  EXPECT_EQ(pipe.ReadUntil("audit\n"), "first\naudit\n");
  audit.join();
  EXPECT_TRUE(taken);
}

TEST(LogWriter, End_DoesNotWaitForReaders) {
  Pipe pipe;
  const TimePoint before = Now();
  {
    LogWriter writer(pipe.fd(), Options(4));
    writer.Write("never read\n");
  }
  EXPECT_LT(Now() - before, std::chrono::seconds(10));
}

TEST(LogWriter, LongLine_ArrivesWhole) {
  Pipe pipe;
  LogWriter writer(pipe.fd(), Options(4));
  std::string line;
  for (int i = 0; line.size() < 5 * PIPE_BUF; ++i) line += std::to_string(i);
  writer.Write(line + "\n");
  EXPECT_EQ(pipe.ReadUntil("\n"), line + "\n");
}

TEST(LogWriter, ClosedReader_LosesLinesAlone) {
  Pipe pipe;
  LogWriter writer(pipe.fd(), Options(4));
  pipe.CloseReader();
  writer.Write("lost\n");
  EXPECT_TRUE(writer.FlushUntil(Soon()));
  writer.Write("lost, too\n");
  EXPECT_TRUE(writer.FlushUntil(Soon()));
}

TEST(LogWriter, FullDisk_NextLineBeginsAnew) {
  const TemporaryFolder folder;
  const std::string path = folder.path() + "/log";
  const UniqueFd file(open(path.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600));
  const auto old_handler = std::signal(SIGXFSZ, SIG_IGN);
  rlimit before{};
  ASSERT_EQ(getrlimit(RLIMIT_FSIZE, &before), 0);
  {
    LogWriter writer(file.get(), Options(4));
    writer.Write("one\n");
    ASSERT_TRUE(writer.FlushUntil(Soon()));
    rlimit full = before;
    full.rlim_cur = 7;
    ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &full), 0);
    writer.Write("torn in the middle\n");
    ASSERT_TRUE(writer.FlushUntil(Soon()));
    ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &before), 0);
    writer.Write("two\n");
    ASSERT_TRUE(writer.FlushUntil(Soon()));
  }
  std::signal(SIGXFSZ, old_handler);
  std::stringstream text;
  text << std::ifstream(path).rdbuf();
  EXPECT_EQ(text.str(), "one\ntor\n(1 dropped)\ntwo\n");
}

}  // namespace
}  // namespace ttfd::log_test
