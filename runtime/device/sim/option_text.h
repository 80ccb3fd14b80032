// Pieces of option texts such as "board=p150,hazards=noc+stores".
#pragma once

#include <charconv>
#include <string_view>

#include "runtime/base/status.h"

namespace ttfd {

// Cuts the text before `separator`, or all of it, off `rest`.
inline std::string_view TakeUntil(char separator, std::string_view* rest) {
  const size_t end = rest->find(separator);
  const std::string_view head = rest->substr(0, end);
  *rest = end == std::string_view::npos ? std::string_view() : rest->substr(end + 1);
  return head;
}

// All of `text` in decimal digits, within what a T can hold.
template <typename T>
StatusOr<T> ParseNumber(std::string_view text) {
  T value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) {
    return InvalidArgument("\"{}\" is not a number", text);
  }
  return value;
}

}  // namespace ttfd
