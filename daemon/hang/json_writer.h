// JSON as text, written front to back: commas and indentation are seen to, strings are escaped.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace ttfd {

class JsonWriter {
 public:
  // `key` is empty inside lists.
  JsonWriter& Begin(std::string_view key, char bracket);  // '{' or '['
  JsonWriter& End();
  JsonWriter& Text(std::string_view key, std::string_view value);
  JsonWriter& Number(std::string_view key, uint64_t value);
  JsonWriter& Real(std::string_view key, double value);
  JsonWriter& Flag(std::string_view key, bool value);

  // REQUIRES everything ended.
  std::string Take();

 private:
  void Key(std::string_view key);
  void Quote(std::string_view text);

  std::string text_;
  std::string open_;  // closing brackets that are due
  bool first_ = true;
};

}  // namespace ttfd
