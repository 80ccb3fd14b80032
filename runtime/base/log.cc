#include "runtime/base/log.h"

#include <spdlog/sinks/ringbuffer_sink.h>
#include <spdlog/sinks/stdout_sinks.h>
#include <spdlog/spdlog.h>

namespace ttfd {
namespace {

// Leaked on purpose: threads may log while statics are destroyed.
spdlog::sinks::ringbuffer_sink_mt& LastLines() {
  static auto& lines = *new spdlog::sinks::ringbuffer_sink_mt(kRememberedLogLines);
  return lines;
}

spdlog::logger& MakeLogger(const char* pattern) {
  const std::shared_ptr<spdlog::sinks::ringbuffer_sink_mt> lines(
      &LastLines(), [](spdlog::sinks::ringbuffer_sink_mt*) {});
  auto* made =
      new spdlog::logger("ttfd", {std::make_shared<spdlog::sinks::stderr_sink_mt>(), lines});
  made->set_pattern(pattern);
  made->flush_on(spdlog::level::debug);
  return *made;
}

spdlog::logger& Logger() {
  static spdlog::logger& logger = MakeLogger("%Y-%m-%dT%H:%M:%S.%e %^%l%$ %v");
  return logger;
}

spdlog::level::level_enum SpdlogLevel(LogLevel level) {
  switch (level) {
    case LogLevel::kDebug:
      return spdlog::level::debug;
    case LogLevel::kInfo:
      return spdlog::level::info;
    case LogLevel::kWarning:
      return spdlog::level::warn;
    case LogLevel::kError:
      return spdlog::level::err;
  }
  return spdlog::level::err;
}

}  // namespace

void LogLine(LogLevel level, std::string_view text) {
  Logger().log(SpdlogLevel(level), spdlog::string_view_t(text.data(), text.size()));
}

void LogAlways(std::string_view text) {
  // A logger has one level, and this one's is never set.
  static spdlog::logger& logger = MakeLogger("%Y-%m-%dT%H:%M:%S.%e info %v");
  logger.log(spdlog::level::info, spdlog::string_view_t(text.data(), text.size()));
}

std::vector<std::string> LastLogLines() {
  std::vector<std::string> lines = LastLines().last_formatted();
  for (std::string& line : lines) {
    while (!line.empty() && line.back() == '\n') line.pop_back();
  }
  return lines;
}

bool LogEnabled(LogLevel level) { return Logger().should_log(SpdlogLevel(level)); }

bool SetLogLevel(std::string_view name) {
  for (const auto& [known, level] :
       {std::pair<std::string_view, spdlog::level::level_enum>{"debug", spdlog::level::debug},
        {"info", spdlog::level::info},
        {"warning", spdlog::level::warn},
        {"error", spdlog::level::err}}) {
    if (name == known) {
      Logger().set_level(level);
      return true;
    }
  }
  return false;
}

}  // namespace ttfd
