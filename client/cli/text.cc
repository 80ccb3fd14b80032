// Text for people, and the notations of the command line.
#include "client/cli/text.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <limits>

namespace ttfd::cli {
namespace {

std::optional<uint64_t> ParseNumber(std::string_view text) {
  const bool hex = text.starts_with("0x") || text.starts_with("0X");
  if (hex) {
    text.remove_prefix(2);
  }
  uint64_t value = 0;
  const auto [end, error] =
      std::from_chars(text.data(), text.data() + text.size(), value, hex ? 16 : 10);
  if (text.empty() || error != std::errc() || end != text.data() + text.size()) {
    return std::nullopt;
  }
  return value;
}

std::vector<std::string_view> Split(std::string_view text, char separator) {
  std::vector<std::string_view> parts;
  for (;;) {
    const size_t at = text.find(separator);
    parts.push_back(text.substr(0, at));
    if (at == std::string_view::npos) {
      return parts;
    }
    text.remove_prefix(at + 1);
  }
}

std::optional<client::Core> ParseCore(std::string_view text) {
  const std::vector<std::string_view> parts = Split(text, ',');
  if (parts.size() != 2) {
    return std::nullopt;
  }
  const std::optional<uint64_t> x = ParseNumber(parts[0]);
  const std::optional<uint64_t> y = ParseNumber(parts[1]);
  constexpr uint64_t kMax = std::numeric_limits<uint32_t>::max();
  if (!x || !y || *x > kMax || *y > kMax) {
    return std::nullopt;
  }
  return client::Core{static_cast<uint32_t>(*x), static_cast<uint32_t>(*y)};
}

}  // namespace

std::string Bytes(uint64_t bytes) {
  static constexpr std::array<const char*, 5> kUnits = {"B", "KiB", "MiB", "GiB", "TiB"};
  double value = static_cast<double>(bytes);
  size_t unit = 0;
  while (value >= 1024 && unit + 1 < kUnits.size()) {
    value /= 1024;
    ++unit;
  }
  return unit == 0 ? fmt::format("{} B", bytes) : fmt::format("{:.1f} {}", value, kUnits[unit]);
}

std::string Duration(uint64_t ms) {
  constexpr uint64_t kMinute = 60'000;
  constexpr uint64_t kHour = 60 * kMinute;
  if (ms >= kHour) {
    return fmt::format("{} h {} min", ms / kHour, ms % kHour / kMinute);
  }
  if (ms >= kMinute) {
    return fmt::format("{} min {} s", ms / kMinute, ms % kMinute / 1000);
  }
  return fmt::format("{}.{:03} s", ms / 1000, ms % 1000);
}

std::optional<uint64_t> ParseSize(std::string_view text) {
  uint64_t unit = 1;
  if (!text.empty()) {
    switch (text.back()) {
      case 'K':
      case 'k':
        unit = uint64_t{1} << 10;
        break;
      case 'M':
      case 'm':
        unit = uint64_t{1} << 20;
        break;
      case 'G':
      case 'g':
        unit = uint64_t{1} << 30;
        break;
      default:
        break;
    }
  }
  if (unit != 1) {
    text.remove_suffix(1);
  }
  const std::optional<uint64_t> value = ParseNumber(text);
  if (!value || *value > std::numeric_limits<uint64_t>::max() / unit) {
    return std::nullopt;
  }
  return *value * unit;
}

std::optional<uint32_t> ParseWord(std::string_view text) {
  const bool negative = text.starts_with('-');
  if (negative) {
    text.remove_prefix(1);
  }
  const std::optional<uint64_t> value = ParseNumber(text);
  constexpr uint64_t kMax = std::numeric_limits<uint32_t>::max();
  constexpr uint64_t kMostNegative = uint64_t{1} << 31;
  if (!value || *value > (negative ? kMostNegative : kMax)) {
    return std::nullopt;
  }
  return static_cast<uint32_t>(negative ? uint64_t{0} - *value : *value);
}

std::optional<client::CoreRange> ParseCores(std::string_view text, uint32_t grid_x,
                                            uint32_t grid_y) {
  if (text == "all") {
    return client::CoreRange{0, 0, grid_x - 1, grid_y - 1};
  }
  const std::vector<std::string_view> corners = Split(text, '-');
  const std::optional<client::Core> first = ParseCore(corners[0]);
  if (!first || corners.size() > 2) {
    return std::nullopt;
  }
  const std::optional<client::Core> last = corners.size() == 2 ? ParseCore(corners[1]) : first;
  if (!last) {
    return std::nullopt;
  }
  return client::CoreRange{first->x, first->y, last->x, last->y};
}

std::optional<std::vector<uint64_t>> ParseTuple(std::string_view text, size_t count) {
  const std::vector<std::string_view> parts = Split(text, ':');
  if (parts.size() != count) {
    return std::nullopt;
  }
  std::vector<uint64_t> numbers;
  for (const std::string_view part : parts) {
    const std::optional<uint64_t> number = ParseSize(part);
    if (!number || *number > std::numeric_limits<uint32_t>::max()) {
      return std::nullopt;
    }
    numbers.push_back(*number);
  }
  return numbers;
}

std::optional<client::Processor> ParseProcessor(std::string_view text) {
  using client::Processor;
  for (const Processor processor : {Processor::kBrisc, Processor::kNcrisc, Processor::kTrisc0,
                                    Processor::kTrisc1, Processor::kTrisc2}) {
    if (text == client::ProcessorName(processor)) {
      return processor;
    }
  }
  return std::nullopt;
}

}  // namespace ttfd::cli
