// Logging for the code that decides what to do about an error. Libraries return statuses; they do
// not log.
//
// Lines go to standard error (journald's place for a service) through a LogWriter: logging does not wait for whoever
// reads it. A line is one line whatever its arguments hold: control characters and bytes that are not UTF-8 are escaped
// (utf8.h), so that text from clients can neither begin a line nor control a terminal. Thread-safe. spdlog filters,
// formats and remembers lines; log.cc alone includes its headers, which take seconds to compile.
#pragma once

#include <fmt/format.h>

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "runtime/base/clock.h"

namespace ttfd {

enum class LogLevel { kDebug, kInfo, kWarning, kError };

// Longest line; the rest is cut.
inline constexpr size_t kMaxLogLineBytes = 16 * 1024;
// How long the end of the process waits for lines that standard error has not taken.
inline constexpr Duration kLogFlushTimeout = std::chrono::seconds(1);

// One line with the time and the level, if the level is enabled. Dropped, and counted in a later line, if standard
// error has not taken the lines before.
void LogLine(LogLevel level, std::string_view text);
// A line of level "info" whatever the level is, never dropped: waits until `deadline` for space. False: there was none.
bool LogAlways(std::string_view text, TimePoint deadline);
// The same without time and level: why a program ends.
bool LogPlain(std::string_view text, TimePoint deadline);
// Waits until every line so far has been written, at most until `deadline`. The end of the process does it, too.
bool FlushLog(TimePoint deadline);

// The last lines, without time zone or newline, the oldest first.
inline constexpr size_t kRememberedLogLines = 200;
std::vector<std::string> LastLogLines();
bool LogEnabled(LogLevel level);
// "debug", "info", "warning" or "error"; false if the name is none of them (the level is then
// unchanged).
bool SetLogLevel(std::string_view name);

template <typename... Args>
void LogDebug(fmt::format_string<Args...> format, Args&&... args) {
  if (LogEnabled(LogLevel::kDebug))
    LogLine(LogLevel::kDebug, fmt::format(format, std::forward<Args>(args)...));
}
template <typename... Args>
void LogInfo(fmt::format_string<Args...> format, Args&&... args) {
  LogLine(LogLevel::kInfo, fmt::format(format, std::forward<Args>(args)...));
}
template <typename... Args>
void LogWarning(fmt::format_string<Args...> format, Args&&... args) {
  LogLine(LogLevel::kWarning, fmt::format(format, std::forward<Args>(args)...));
}
template <typename... Args>
void LogError(fmt::format_string<Args...> format, Args&&... args) {
  LogLine(LogLevel::kError, fmt::format(format, std::forward<Args>(args)...));
}

}  // namespace ttfd
