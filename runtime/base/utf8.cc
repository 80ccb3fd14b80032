// UTF-8 as RFC 3629 has it: no overlong forms, no surrogates, nothing above U+10FFFF.
#include "runtime/base/utf8.h"

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

// Code point of one character.
uint32_t CodePoint(std::string_view character) {
  const auto lead = static_cast<uint8_t>(character[0]);
  if (character.size() == 1) return lead;
  uint32_t point = lead & (0x7Fu >> character.size());
  for (const char next : character.substr(1)) {
    point = point << 6 | (static_cast<uint8_t>(next) & 0x3F);
  }
  return point;
}

// Ends a line, controls a terminal, or changes the order in which the text around it is shown.
bool IsControl(uint32_t point) {
  if (point < 0x20 || (point >= 0x7F && point < 0xA0)) return true;
  return point == 0x061C || point == 0x200E || point == 0x200F ||
         (point >= 0x2028 && point <= 0x202E) || (point >= 0x2066 && point <= 0x2069);
}

// The next character of `text`, which is not empty. Empty: its first byte is not UTF-8.
std::string_view NextCharacter(std::string_view text) {
  return text.substr(0, CharacterLength(text));
}

std::string Unicode(uint32_t point) { return fmt::format("\\u{:04x}", point); }

// Text that `Printable` puts in place of a control character.
std::string Escaped(uint32_t point) {
  switch (point) {
    case '\n':
      return "\\n";
    case '\r':
      return "\\r";
    case '\t':
      return "\\t";
    default:
      return Unicode(point);
  }
}

}  // namespace

std::string ValidUtf8(std::string_view text, size_t max_bytes) {
  std::string valid;
  valid.reserve(std::min(text.size(), max_bytes));
  while (!text.empty()) {
    const std::string_view character = NextCharacter(text);
    const size_t taken = std::max<size_t>(character.size(), 1);
    if (valid.size() + taken > max_bytes) break;
    if (character.empty()) {
      valid += '?';
    } else {
      valid.append(character);
    }
    text.remove_prefix(taken);
  }
  return valid;
}

size_t FindUnprintable(std::string_view text) {
  for (size_t at = 0; at < text.size();) {
    const std::string_view character = NextCharacter(text.substr(at));
    if (character.empty() || IsControl(CodePoint(character))) return at;
    at += character.size();
  }
  return std::string_view::npos;
}

std::string Printable(std::string_view text, size_t max_bytes, std::string_view separators) {
  std::string line;
  line.reserve(std::min(text.size(), max_bytes));
  while (!text.empty()) {
    std::string_view character = NextCharacter(text);
    const size_t taken = std::max<size_t>(character.size(), 1);
    std::string escape;
    if (character.empty() || separators.find(character) != separators.npos) {
      escape = fmt::format("\\x{:02x}", static_cast<uint8_t>(text[0]));
    } else if (const uint32_t point = CodePoint(character); IsControl(point)) {
      escape = Escaped(point);
    }
    if (!escape.empty()) character = escape;
    if (line.size() + character.size() > max_bytes) break;
    line.append(character);
    text.remove_prefix(taken);
  }
  return line;
}

std::string JsonString(std::string_view text, size_t max_bytes) {
  const std::string valid = ValidUtf8(text, max_bytes);
  std::string quoted = "\"";
  for (std::string_view left = valid; !left.empty();) {
    const std::string_view character = NextCharacter(left);
    const uint32_t point = CodePoint(character);
    if (point == '"' || point == '\\') {
      quoted += '\\';
      quoted += character;
    } else if (IsControl(point)) {
      quoted += Unicode(point);
    } else {
      quoted += character;
    }
    left.remove_prefix(character.size());
  }
  return quoted + '"';
}

}  // namespace ttfd
