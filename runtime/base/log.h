// Logging for the code that decides what to do about an error. Libraries return statuses; they do
// not log.
//
// A logging header without spdlog.h: including that costs seconds per file.
#pragma once

#include <fmt/format.h>

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace ttfd {

enum class LogLevel { kDebug, kInfo, kWarning, kError };

// Thread-safe. Writes one line to standard error (journald's place for a service).
void LogLine(LogLevel level, std::string_view text);
// The last lines that were written, the oldest first.
inline constexpr size_t kRememberedLogLines = 200;
std::vector<std::string> LastLogLines();
bool LogEnabled(LogLevel level);
// A line whatever the level is: what was done is told also by a daemon that is told to be quiet.
void LogAlways(std::string_view text);
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
