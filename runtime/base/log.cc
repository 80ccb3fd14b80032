#include "runtime/base/log.h"

// Nothing throws here. Where spdlog catches exceptions it reports them on standard error, with a write that may block.
#define SPDLOG_NO_EXCEPTIONS
#include <spdlog/logger.h>
#include <spdlog/pattern_formatter.h>
#include <spdlog/sinks/base_sink.h>
#include <spdlog/sinks/ringbuffer_sink.h>
#include <unistd.h>

#include <cstdlib>
#include <memory>
#include <mutex>

#include "runtime/base/log_writer.h"
#include "runtime/base/utf8.h"

namespace ttfd {
namespace {

using spdlog::details::log_msg;

constexpr spdlog::level::level_enum SpdlogLevel(LogLevel level) {
  return static_cast<spdlog::level::level_enum>(spdlog::level::debug + static_cast<int>(level));
}
static_assert(SpdlogLevel(LogLevel::kError) == spdlog::level::err);

std::unique_ptr<spdlog::formatter> LineFormatter() {
  return std::make_unique<spdlog::pattern_formatter>("%Y-%m-%dT%T.%e %l %v",
                                                     spdlog::pattern_time_type::local, "");
}

// `message`, whose text is printable, as a line with its newline.
std::string Line(const log_msg& message, spdlog::formatter& formatter = *LineFormatter()) {
  spdlog::memory_buf_t line;
  formatter.format(message, line);
  line.push_back('\n');
  return fmt::to_string(line);
}

std::string DroppedText(uint64_t dropped) {
  const std::string text =
      fmt::format("{} log lines were dropped: standard error did not take them in time", dropped);
  return Line(log_msg("", spdlog::level::warn, text));
}

// Passes lines to the writer, which does not wait for standard error.
class WriterSink final : public spdlog::sinks::base_sink<std::mutex> {
 public:
  explicit WriterSink(LogWriter* writer) : writer_(writer) {}

 private:
  void sink_it_(const log_msg& message) override { writer_->Write(Line(message, *formatter_)); }
  void flush_() override {}  // has no deadline: see FlushLog

  LogWriter* const writer_;
};

struct Log {
  Log() {
    logger.set_formatter(LineFormatter());
    std::atexit([] { FlushLog(SteadyClock().Now() + kLogFlushTimeout); });
  }

  LogWriter writer{STDERR_FILENO, {.dropped_text = DroppedText}};
  const std::shared_ptr<spdlog::sinks::ringbuffer_sink_mt> last =
      std::make_shared<spdlog::sinks::ringbuffer_sink_mt>(kRememberedLogLines);
  spdlog::logger logger{"", {last, std::make_shared<WriterSink>(&writer)}};
};

// Leaked on purpose: threads may log while statics are destroyed.
Log& TheLog() {
  static Log& log = *new Log;
  return log;
}

}  // namespace

void LogLine(LogLevel level, std::string_view text) {
  if (LogEnabled(level)) TheLog().logger.log(SpdlogLevel(level), Printable(text, kMaxLogLineBytes));
}

bool LogAlways(std::string_view text, TimePoint deadline) {
  const std::string printable = Printable(text, kMaxLogLineBytes);
  const log_msg message("", spdlog::level::info, printable);
  if (!TheLog().writer.WriteUntil(Line(message), deadline)) return false;
  TheLog().last->log(message);
  return true;
}

bool LogPlain(std::string_view text, TimePoint deadline) {
  return TheLog().writer.WriteUntil(Printable(text, kMaxLogLineBytes) + '\n', deadline);
}

bool FlushLog(TimePoint deadline) { return TheLog().writer.FlushUntil(deadline); }

std::vector<std::string> LastLogLines() { return TheLog().last->last_formatted(); }

bool LogEnabled(LogLevel level) { return TheLog().logger.should_log(SpdlogLevel(level)); }

bool SetLogLevel(std::string_view name) {
  const auto level = spdlog::level::from_str(std::string(name));
  if (level < spdlog::level::debug || level > spdlog::level::err) return false;
  if (spdlog::level::to_string_view(level) != name) return false;  // "warn", "err"
  TheLog().logger.set_level(level);
  return true;
}

}  // namespace ttfd
