// The progress bar.
#include "client/cli/progress_bar.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>

#include "client/cli/printing.h"
#include "client/cli/text.h"

namespace ttfd::cli {
namespace {

constexpr std::chrono::milliseconds kQuiet{500};
constexpr std::chrono::milliseconds kRedraw{100};
constexpr size_t kWidth = 30;
constexpr size_t kShortestBar = 5;  // a shorter bar shows nothing

}  // namespace

ProgressBar::ProgressBar(std::string title, size_t columns, Clock::time_point now)
    : title_(Printable(title)), columns_(columns), started_(now), drawn_(now) {}

ProgressBar::~ProgressBar() {
  if (visible_) {
    std::fputs("\r\033[K", stderr);
  }
}

std::string ProgressBar::Line(const std::string& title, uint64_t done, uint64_t total,
                              Clock::duration elapsed, size_t columns) {
  const double seconds = std::chrono::duration<double>(elapsed).count();
  const uint64_t rate =
      seconds > 0 ? static_cast<uint64_t>(static_cast<double>(done) / seconds) : 0;
  const std::string numbers =
      fmt::format("{:3}% {} of {}, {}/s", total == 0 ? 100 : 100 * done / total, Bytes(done),
                  Bytes(total), Bytes(rate));
  const size_t taken = ColumnsOf(title) + std::string_view(" [] ").size() + numbers.size();
  const size_t width = std::min(kWidth, columns > taken + 1 ? columns - taken - 1 : 0);
  if (width < kShortestBar) {
    return Truncate(title + " " + numbers, columns - 1);
  }
  const size_t filled = total == 0 ? width : width * done / total;
  return fmt::format("{} [{}{}] {}", title, std::string(filled, '#'),
                     std::string(width - filled, '.'), numbers);
}

void ProgressBar::Update(uint64_t done, uint64_t total, Clock::time_point now) {
  if (columns_ == 0 || now - started_ < kQuiet || (now - drawn_ < kRedraw && done != total)) {
    return;
  }
  visible_ = true;
  drawn_ = now;
  std::fprintf(stderr, "\r\033[K%s", Line(title_, done, total, now - started_, columns_).c_str());
  std::fflush(stderr);
}

}  // namespace ttfd::cli
