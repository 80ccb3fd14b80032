// Writes JSON, one value after another, indented by two spaces. The caller keeps to the grammar: a
// key before each value of an object.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace ttfd::cli {

class JsonWriter {
 public:
  JsonWriter& BeginObject() { return Begin('{'); }
  JsonWriter& EndObject() { return End('}'); }
  JsonWriter& BeginArray() { return Begin('['); }
  JsonWriter& EndArray() { return End(']'); }
  JsonWriter& Key(std::string_view key);
  JsonWriter& String(std::string_view value);
  JsonWriter& Number(uint64_t value);
  JsonWriter& Real(double value);
  JsonWriter& Bool(bool value);

  JsonWriter& Field(std::string_view key, std::string_view value) { return Key(key).String(value); }
  JsonWriter& Field(std::string_view key, const char* value) { return Key(key).String(value); }
  JsonWriter& Field(std::string_view key, uint64_t value) { return Key(key).Number(value); }
  JsonWriter& Field(std::string_view key, uint32_t value) { return Key(key).Number(value); }
  JsonWriter& Field(std::string_view key, bool value) { return Key(key).Bool(value); }

  const std::string& text() const { return text_; }

 private:
  JsonWriter& Begin(char bracket);
  JsonWriter& End(char bracket);
  void BeforeValue();
  void NewLine();

  std::string text_;
  std::vector<bool> has_values_;  // of the objects and arrays that are open
  bool after_key_ = false;
};

}  // namespace ttfd::cli
