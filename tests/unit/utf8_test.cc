// Text from elsewhere: what of it may go into a message, a line and a JSON string.
#include "runtime/base/utf8.h"

#include <gtest/gtest.h>

#include <utility>
#include <vector>

namespace ttfd::utf8_test {
namespace {

TEST(Utf8, KeepsCharactersAndReplacesEveryOtherByte) {
  const std::vector<std::pair<std::string, std::string>> table = {
      {"plain", "plain"},
      {"\xC3\xA9\xE2\x82\xAC\xF0\x9F\x98\x80", "\xC3\xA9\xE2\x82\xAC\xF0\x9F\x98\x80"},
      {"a\xFFz", "a?z"},
      {"\xC0\x80", "??"},            // overlong
      {"\xE0\x80\xAF", "???"},       // overlong
      {"\xF0\x80\x80\xAF", "????"},  // overlong
      {"\xED\xA0\x80", "???"},       // surrogate
      {"\xF4\x90\x80\x80", "????"},  // above U+10FFFF
      {"\xE2\x82", "??"},            // cut short
      {"\x80", "?"},
  };
  for (const auto& [text, valid] : table) EXPECT_EQ(ValidUtf8(text), valid);
  EXPECT_EQ(ValidUtf8("ab\xE2\x82\xAC", 4), "ab") << "no half characters";
  EXPECT_EQ(ValidUtf8("ab\xE2\x82\xAC", 5), "ab\xE2\x82\xAC");
}

TEST(Utf8, Printable_EscapesWhatControlsTerminals) {
  const std::vector<std::pair<std::string, std::string>> table = {
      {"plain \\n text", "plain \\n text"},
      {"\xC3\xA9 \xE2\x82\xAC \xF0\x9F\x98\x80", "\xC3\xA9 \xE2\x82\xAC \xF0\x9F\x98\x80"},
      {"a\nb\r\tc", "a\\nb\\r\\tc"},
      {"\x1B[2J", "\\u001b[2J"},
      {std::string("\0", 1), "\\u0000"},
      {"\x7F", "\\u007f"},
      {"\xC2\x9B", "\\u009b"},                         // CSI in one character
      {"\xC2\xA0", "\xC2\xA0"},                        // the first printable one above
      {"\xE2\x80\xA8\xE2\x80\xA9", "\\u2028\\u2029"},  // line and paragraph separator
      {"\xE2\x80\xAE", "\\u202e"},                     // right-to-left override
      {"\xE2\x81\xA6", "\\u2066"},                     // an isolate
      {"a\xFFz\x80", "a\\xffz\\x80"},
      {"\xED\xA0\x80", "\\xed\\xa0\\x80"},
  };
  for (const auto& [text, line] : table) {
    EXPECT_EQ(Printable(text), line);
    EXPECT_EQ(Printable(line), line) << "what is printable stays";
  }
}

TEST(Utf8, Printable_CutsBetweenCharacters) {
  EXPECT_EQ(Printable("ab\xE2\x82\xAC", 4), "ab");
  EXPECT_EQ(Printable("ab\xE2\x82\xAC", 5), "ab\xE2\x82\xAC");
  EXPECT_EQ(Printable("ab\n", 3), "ab") << "an escape is not cut either";
  EXPECT_EQ(Printable(std::string(100, '\x1B'), 20), "\\u001b\\u001b\\u001b");
}

TEST(Utf8, JsonString_EscapesWhatPrintableEscapes) {
  EXPECT_EQ(JsonString("a\"b\\c\n\x7F\xC2\x9B\xE2\x80\xAE\xFF"),
            R"("a\"b\\c\u000a\u007f\u009b\u202e?")");
  EXPECT_EQ(Printable(JsonString("\x1B\n")), JsonString("\x1B\n")) << "a line of JSON stays JSON";
}

TEST(Utf8, Printable_EscapesSeparators) {
  EXPECT_EQ(Printable("f;g\n", std::string_view::npos, ";"), "f\\x3bg\\n");
}

}  // namespace
}  // namespace ttfd::utf8_test
