#include "runtime/base/log.h"

#include <fmt/chrono.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cstdlib>
#include <deque>

#include "runtime/base/log_writer.h"
#include "runtime/base/mutex.h"
#include "runtime/base/utf8.h"

namespace ttfd {
namespace {

constexpr std::array<std::string_view, 4> kLevelNames = {"debug", "info", "warning", "error"};

std::string Line(LogLevel level, std::string_view text) {
  const auto now = std::chrono::system_clock::now();
  const auto since = now.time_since_epoch();
  const auto ms = std::chrono::duration_cast<std::chrono::milliseconds>(since).count() % 1000;
  std::string line = fmt::format("{:%Y-%m-%dT%H:%M:%S}.{:03} {} ",
                                 fmt::localtime(std::chrono::system_clock::to_time_t(now)), ms,
                                 kLevelNames[static_cast<size_t>(level)]);
  return line += Printable(text, kMaxLogLineBytes);
}

LogWriterOptions WriterOptions() {
  LogWriterOptions options;
  options.dropped_text = [](uint64_t dropped) {
    return Line(LogLevel::kWarning,
                fmt::format("{} log lines were dropped: standard error did not take them in time",
                            dropped)) +
           '\n';
  };
  return options;
}

struct Log {
  Log() : writer(STDERR_FILENO, WriterOptions()) {
    std::atexit([] { FlushLog(SteadyClock().Now() + kLogFlushTimeout); });
  }

  void Remember(const std::string& line) ABSL_LOCKS_EXCLUDED(mu) {
    MutexLock lock(&mu);
    last.push_back(line);
    if (last.size() > kRememberedLogLines) last.pop_front();
  }

  std::atomic<LogLevel> level{LogLevel::kInfo};
  Mutex mu;
  std::deque<std::string> last ABSL_GUARDED_BY(mu);
  LogWriter writer;
};

// Leaked on purpose: threads may log while statics are destroyed.
Log& TheLog() {
  static Log& log = *new Log;
  return log;
}

}  // namespace

void LogLine(LogLevel level, std::string_view text) {
  if (!LogEnabled(level)) return;
  const std::string line = Line(level, text);
  TheLog().Remember(line);
  TheLog().writer.Write(line + '\n');
}

bool LogAlways(std::string_view text, TimePoint deadline) {
  const std::string line = Line(LogLevel::kInfo, text);
  if (!TheLog().writer.WriteUntil(line + '\n', deadline)) return false;
  TheLog().Remember(line);
  return true;
}

bool LogPlain(std::string_view text, TimePoint deadline) {
  return TheLog().writer.WriteUntil(Printable(text, kMaxLogLineBytes) + '\n', deadline);
}

bool FlushLog(TimePoint deadline) { return TheLog().writer.FlushUntil(deadline); }

std::vector<std::string> LastLogLines() {
  MutexLock lock(&TheLog().mu);
  return {TheLog().last.begin(), TheLog().last.end()};
}

bool LogEnabled(LogLevel level) { return level >= TheLog().level.load(std::memory_order_relaxed); }

bool SetLogLevel(std::string_view name) {
  for (size_t i = 0; i < kLevelNames.size(); ++i) {
    if (name != kLevelNames[i]) continue;
    TheLog().level.store(static_cast<LogLevel>(i), std::memory_order_relaxed);
    return true;
  }
  return false;
}

}  // namespace ttfd
