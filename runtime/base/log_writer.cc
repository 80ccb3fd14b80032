#include "runtime/base/log_writer.h"

#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <climits>
#include <deque>
#include <string_view>
#include <utility>

#include "runtime/base/mutex.h"

namespace ttfd {
namespace {

// How often a writer whose descriptor takes nothing checks whether it is to end.
constexpr int kPollMs = 100;
// How long the destructor waits for a descriptor that takes nothing.
constexpr Duration kEndTimeout = std::chrono::milliseconds(250);

}  // namespace

// Also the thread's, which may outlive the writer.
struct LogWriter::Shared {
  Shared(int its_fd, LogWriterOptions its_options) : fd(its_fd), options(std::move(its_options)) {}

  struct Line {
    std::string text;
    uint64_t dropped = 0;  // lines dropped between the line before and this one
  };

  bool HasSpaceFor(const std::string& line) const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu) {
    return lines.size() < options.lines && bytes + line.size() <= options.bytes;
  }
  void Append(std::string line) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu) {
    bytes += line.size();
    lines.push_back({std::move(line), std::exchange(dropped, 0)});
    ++taken;
    changed.NotifyAll();
  }
  bool GivesUp() {
    MutexLock lock(&mu);
    return stop && SteadyClock().Now() >= end;
  }
  // False: the descriptor failed, or the writer gives up; the text, or the end of it, is lost.
  bool WriteWhole(std::string text) ABSL_LOCKS_EXCLUDED(mu);
  void Main() ABSL_LOCKS_EXCLUDED(mu);

  const int fd;
  const LogWriterOptions options;
  Mutex mu;
  CondVar changed;
  std::deque<Line> lines ABSL_GUARDED_BY(mu);  // the first one is being written
  size_t bytes ABSL_GUARDED_BY(mu) = 0;        // of all of them
  uint64_t dropped ABSL_GUARDED_BY(mu) = 0;    // since the last line that was taken
  uint64_t waiting ABSL_GUARDED_BY(mu) = 0;    // callers of WriteUntil
  uint64_t taken ABSL_GUARDED_BY(mu) = 0;
  uint64_t written ABSL_GUARDED_BY(mu) = 0;
  bool stop ABSL_GUARDED_BY(mu) = false;
  TimePoint end ABSL_GUARDED_BY(mu) = TimePoint::max();  // of the last writes, once `stop`

  // The thread's own.
  uint64_t lost = 0;  // lines that the descriptor failed to take, reported before the next one
  bool torn = false;  // the last text ended within a line (a full disk)
};

LogWriter::LogWriter(int fd, LogWriterOptions options)
    : shared_(std::make_shared<Shared>(fd, std::move(options))),
      thread_([shared = shared_] { shared->Main(); }) {}

LogWriter::~LogWriter() {
  const TimePoint end = SteadyClock().Now() + kEndTimeout;
  {
    MutexLock lock(&shared_->mu);
    shared_->stop = true;
    shared_->end = end;
    shared_->changed.NotifyAll();
  }
  thread_.JoinUntil(end + 2 * std::chrono::milliseconds(kPollMs));
}

void LogWriter::Write(std::string line) {
  MutexLock lock(&shared_->mu);
  if (shared_->waiting > 0 || !shared_->HasSpaceFor(line)) {
    ++shared_->dropped;
    shared_->changed.NotifyAll();
    return;
  }
  shared_->Append(std::move(line));
}

bool LogWriter::WriteUntil(std::string line, TimePoint deadline) {
  MutexLock lock(&shared_->mu);
  ++shared_->waiting;
  while (!shared_->HasSpaceFor(line) && shared_->changed.WaitUntil(&shared_->mu, deadline))
    continue;
  --shared_->waiting;
  if (!shared_->HasSpaceFor(line)) return false;
  shared_->Append(std::move(line));
  return true;
}

bool LogWriter::FlushUntil(TimePoint deadline) {
  MutexLock lock(&shared_->mu);
  const uint64_t target = shared_->taken;
  while (shared_->written < target && shared_->changed.WaitUntil(&shared_->mu, deadline)) continue;
  return shared_->written >= target;
}

bool LogWriter::Shared::WriteWhole(std::string text) {
  if (torn) text.insert(0, 1, '\n');
  for (std::string_view left = text; !left.empty();) {
    pollfd ready{fd, POLLOUT, 0};
    const int count = poll(&ready, 1, kPollMs);
    if (count == 0 || (count < 0 && errno == EINTR)) {
      if (GivesUp()) return false;
      continue;
    }
    const ssize_t wrote =
        count < 0 ? -1 : write(fd, left.data(), std::min<size_t>(left.size(), PIPE_BUF));
    if (wrote < 0 && errno != EINTR && errno != EAGAIN) return false;
    if (wrote > 0) torn = true;
    left.remove_prefix(static_cast<size_t>(std::max<ssize_t>(wrote, 0)));
  }
  torn = false;
  return true;
}

void LogWriter::Shared::Main() {
  MutexLock lock(&mu);
  while (true) {
    if (lines.empty() && dropped == 0) {
      if (stop) return;
      changed.WaitUntil(&mu, SteadyClock().Now() + kIdleWait);
      continue;
    }
    if (stop && SteadyClock().Now() >= end) return;
    // Dropped lines are reported in their place, or at once where no line follows them.
    const bool has_line = !lines.empty();
    const uint64_t missing = lost + std::exchange(has_line ? lines.front().dropped : dropped, 0);
    std::string text = has_line ? lines.front().text : "";
    mu.Unlock();
    if (missing > 0) lost = WriteWhole(options.dropped_text(missing)) ? 0 : missing;
    if (has_line && !WriteWhole(std::move(text))) ++lost;
    mu.Lock();
    if (!has_line) continue;
    bytes -= lines.front().text.size();
    lines.pop_front();
    ++written;
    changed.NotifyAll();
  }
}

}  // namespace ttfd
