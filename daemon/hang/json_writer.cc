// JSON as text.
#include "daemon/hang/json_writer.h"

#include <fmt/format.h>

#include <utility>

namespace ttfd {

void JsonWriter::Quote(std::string_view text) {
  text_ += '"';
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (c == '"' || c == '\\') {
      text_ += '\\';
      text_ += c;
    } else if (byte < 0x20 || byte >= 0x7F) {
      // Names of clients may be any bytes: each is told as the character of that number.
      text_ += fmt::format("\\u{:04x}", byte);
    } else {
      text_ += c;
    }
  }
  text_ += '"';
}

void JsonWriter::Key(std::string_view key) {
  if (!std::exchange(first_, false)) text_ += ',';
  if (!open_.empty()) text_ += '\n' + std::string(open_.size(), ' ');
  if (key.empty()) return;
  Quote(key);
  text_ += ": ";
}

JsonWriter& JsonWriter::Begin(std::string_view key, char bracket) {
  Key(key);
  text_ += bracket;
  open_ += bracket == '{' ? '}' : ']';
  first_ = true;
  return *this;
}

JsonWriter& JsonWriter::End() {
  const char bracket = open_.back();
  open_.pop_back();
  if (!first_) text_ += '\n' + std::string(open_.size(), ' ');
  text_ += bracket;
  first_ = false;
  return *this;
}

JsonWriter& JsonWriter::Text(std::string_view key, std::string_view value) {
  Key(key);
  Quote(value);
  return *this;
}

JsonWriter& JsonWriter::Number(std::string_view key, uint64_t value) {
  Key(key);
  text_ += std::to_string(value);
  return *this;
}

JsonWriter& JsonWriter::Real(std::string_view key, double value) {
  Key(key);
  text_ += fmt::format("{:.3f}", value);
  return *this;
}

JsonWriter& JsonWriter::Flag(std::string_view key, bool value) {
  Key(key);
  text_ += value ? "true" : "false";
  return *this;
}

std::string JsonWriter::Take() {
  first_ = true;
  return std::exchange(text_, {}) + '\n';
}

}  // namespace ttfd
