// The progress bar.
#include "client/cli/progress_bar.h"

#include <fmt/format.h>
#include <unistd.h>

#include <cstdio>

#include "client/cli/text.h"

namespace ttfd::cli {
namespace {

constexpr std::chrono::milliseconds kQuiet{500};
constexpr std::chrono::milliseconds kRedraw{100};
constexpr uint64_t kWidth = 30;

}  // namespace

bool StderrIsTerminal() { return isatty(STDERR_FILENO) == 1; }

ProgressBar::ProgressBar(std::string title, bool is_terminal, Clock::time_point now)
    : title_(std::move(title)), is_terminal_(is_terminal), started_(now), drawn_(now) {}

ProgressBar::~ProgressBar() {
  if (visible_) {
    std::fputs("\r\033[K", stderr);
  }
}

std::string ProgressBar::Line(const std::string& title, uint64_t done, uint64_t total,
                              Clock::duration elapsed) {
  const uint64_t filled = total == 0 ? kWidth : kWidth * done / total;
  const double seconds = std::chrono::duration<double>(elapsed).count();
  const uint64_t rate =
      seconds > 0 ? static_cast<uint64_t>(static_cast<double>(done) / seconds) : 0;
  return fmt::format("{} [{}{}] {:3}% {} of {}, {}/s", title, std::string(filled, '#'),
                     std::string(kWidth - filled, '.'), total == 0 ? 100 : 100 * done / total,
                     Bytes(done), Bytes(total), Bytes(rate));
}

void ProgressBar::Update(uint64_t done, uint64_t total, Clock::time_point now) {
  if (!is_terminal_ || now - started_ < kQuiet || (now - drawn_ < kRedraw && done != total)) {
    return;
  }
  visible_ = true;
  drawn_ = now;
  std::fprintf(stderr, "\r\033[K%s", Line(title_, done, total, now - started_).c_str());
  std::fflush(stderr);
}

}  // namespace ttfd::cli
