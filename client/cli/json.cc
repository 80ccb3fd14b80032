// Writes JSON.
#include "client/cli/json.h"

#include <fmt/format.h>

namespace ttfd::cli {

void JsonWriter::NewLine() {
  text_ += '\n';
  text_.append(2 * has_values_.size(), ' ');
}

void JsonWriter::BeforeValue() {
  if (after_key_) {
    after_key_ = false;
    return;
  }
  if (!has_values_.empty()) {
    if (has_values_.back()) {
      text_ += ',';
    }
    has_values_.back() = true;
    NewLine();
  }
}

JsonWriter& JsonWriter::Begin(char bracket) {
  BeforeValue();
  text_ += bracket;
  has_values_.push_back(false);
  return *this;
}

JsonWriter& JsonWriter::End(char bracket) {
  const bool had_values = has_values_.back();
  has_values_.pop_back();
  if (had_values) {
    NewLine();
  }
  text_ += bracket;
  return *this;
}

JsonWriter& JsonWriter::Key(std::string_view key) {
  String(key);
  text_ += ": ";
  after_key_ = true;
  return *this;
}

JsonWriter& JsonWriter::String(std::string_view value) {
  BeforeValue();
  text_ += '"';
  for (const char c : value) {
    if (c == '"' || c == '\\') {
      text_ += '\\';
      text_ += c;
    } else if (static_cast<unsigned char>(c) < 0x20) {
      text_ += fmt::format("\\u{:04x}", static_cast<unsigned>(c));
    } else {
      text_ += c;
    }
  }
  text_ += '"';
  return *this;
}

JsonWriter& JsonWriter::Number(uint64_t value) {
  BeforeValue();
  text_ += std::to_string(value);
  return *this;
}

JsonWriter& JsonWriter::Real(double value) {
  BeforeValue();
  text_ += fmt::format("{:.3f}", value);
  return *this;
}

JsonWriter& JsonWriter::Bool(bool value) {
  BeforeValue();
  text_ += value ? "true" : "false";
  return *this;
}

}  // namespace ttfd::cli
