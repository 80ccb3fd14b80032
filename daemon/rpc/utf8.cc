// UTF-8 as RFC 3629 has it: no overlong forms, no surrogates, nothing above U+10FFFF.
#include "daemon/rpc/utf8.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>

namespace ttfd {
namespace {

// Bytes of the character at the start of `text`; 0 if there is none.
size_t CharacterLength(std::string_view text) {
  const auto byte = [&text](size_t i) { return static_cast<uint8_t>(text[i]); };
  const uint8_t lead = byte(0);
  if (lead < 0x80) return 1;
  const size_t length = lead >= 0xF0 ? 4 : lead >= 0xE0 ? 3 : 2;
  if (lead < 0xC2 || lead > 0xF4 || text.size() < length) return 0;
  for (size_t i = 1; i < length; ++i) {
    if ((byte(i) & 0xC0) != 0x80) return 0;
  }
  // The second byte decides about overlong forms, surrogates and the end of the code space.
  if (lead == 0xE0 && byte(1) < 0xA0) return 0;
  if (lead == 0xED && byte(1) > 0x9F) return 0;
  if (lead == 0xF0 && byte(1) < 0x90) return 0;
  if (lead == 0xF4 && byte(1) > 0x8F) return 0;
  return length;
}

}  // namespace

std::string ValidUtf8(std::string_view text, size_t max_bytes) {
  std::string valid;
  valid.reserve(std::min(text.size(), max_bytes));
  while (!text.empty()) {
    const size_t length = CharacterLength(text);
    const size_t taken = std::max<size_t>(length, 1);
    if (valid.size() + taken > max_bytes) break;
    if (length == 0) {
      valid += '?';
    } else {
      valid.append(text.substr(0, length));
    }
    text.remove_prefix(taken);
  }
  return valid;
}

std::string JsonString(std::string_view text, size_t max_bytes) {
  std::string quoted = "\"";
  for (const char c : ValidUtf8(text, max_bytes)) {
    // DEL too: a log is looked at on a terminal.
    if (c == '"' || c == '\\') {
      quoted += '\\';
      quoted += c;
    } else if (static_cast<uint8_t>(c) < 0x20 || c == 0x7F) {
      quoted += fmt::format("\\u{:04x}", static_cast<uint8_t>(c));
    } else {
      quoted += c;
    }
  }
  return quoted + '"';
}

}  // namespace ttfd
