#include "daemon/toml_nesting.h"

#include <algorithm>
#include <cstdint>

namespace ttfd {
namespace {

// The end of the string that begins at `at`: behind its closing quotes, or at the newline or the end of the text that
// cuts it off, which the parser reports.
size_t EndOfString(std::string_view text, size_t at) {
  const char quote = text[at];
  const std::string closing(3, quote);
  const bool is_multi_line = text.substr(at, 3) == closing;
  at += is_multi_line ? 3 : 1;
  while (at < text.size()) {
    if (quote == '"' && text[at] == '\\') {
      at += 2;
    } else if (is_multi_line) {
      if (text.substr(at, 3) == closing) return at + 3;
      ++at;
    } else {
      if (text[at] == '\n') return at;
      if (text[at++] == quote) return at;
    }
  }
  return text.size();
}

Status TooDeep(const std::string& name, int64_t line, const char* what, int most) {
  return InvalidArgument("{}:{}: more than {} {}: this is no ttfd.toml", name, line, most, what);
}

}  // namespace

Status CheckTomlNesting(std::string_view text, const std::string& name) {
  int64_t line = 1;
  int dots = 0;
  int brackets = 0;
  for (size_t i = 0; i < text.size();) {
    size_t next = i + 1;
    switch (text[i]) {
      case '#':
        next = std::min(text.find('\n', i), text.size());
        break;
      case '"':
      case '\'':
        next = EndOfString(text, i);
        line += std::count(text.begin() + static_cast<ptrdiff_t>(i),
                           text.begin() + static_cast<ptrdiff_t>(next), '\n');
        break;
      case '.':
        if (++dots > kMaxTomlDots) return TooDeep(name, line, "dots in a line", kMaxTomlDots);
        break;
      case '[':
      case '{':
        if (++brackets > kMaxTomlBrackets) {
          return TooDeep(name, line, "brackets within each other", kMaxTomlBrackets);
        }
        break;
      case ']':
      case '}':
        brackets = std::max(brackets - 1, 0);
        break;
      case '\n':
        ++line;
        dots = 0;
        break;
      default:
        break;
    }
    i = next;
  }
  return OkStatus();
}

}  // namespace ttfd
