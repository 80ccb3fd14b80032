// Escaping, wrapping and writing.
#include "client/cli/printing.h"

#include <fmt/format.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>

#include "client/cli/table.h"

namespace ttfd::cli {
namespace {

constexpr std::string_view kReplacement = "\xEF\xBF\xBD";  // U+FFFD
constexpr std::string_view kEllipsis = "\xE2\x80\xA6";
constexpr size_t kIndent = 2;  // of the second and later lines of a wrapped line

struct Character {
  size_t bytes = 0;  // 0: no character of UTF-8 begins here
  uint32_t code = 0;
};

// RFC 3629: no overlong forms, no surrogates, nothing above U+10FFFF.
Character Decode(std::string_view text) {
  constexpr uint32_t kSmallest[] = {0, 0, 0x80, 0x800, 0x10000};
  const auto lead = static_cast<uint8_t>(text.front());
  if (lead < 0x80) {
    return {1, lead};
  }
  const size_t bytes = lead >= 0xF0 ? 4 : lead >= 0xE0 ? 3 : 2;
  if (lead < 0xC2 || lead > 0xF4 || text.size() < bytes) {
    return {};
  }
  uint32_t code = lead & (0xFFu >> (bytes + 1));
  for (size_t i = 1; i < bytes; ++i) {
    const auto next = static_cast<uint8_t>(text[i]);
    if ((next & 0xC0) != 0x80) {
      return {};
    }
    code = code << 6 | (next & 0x3F);
  }
  const bool surrogate = code >= 0xD800 && code < 0xE000;
  return code < kSmallest[bytes] || code > 0x10FFFF || surrogate ? Character{}
                                                                 : Character{bytes, code};
}

bool IsControl(uint32_t code) {
  return code < 0x20 || (code >= 0x7F && code < 0xA0) || code == 0x2028 || code == 0x2029 ||
         code == 0x061C || code == 0x200E || code == 0x200F || (code >= 0x202A && code <= 0x202E) ||
         (code >= 0x2066 && code <= 0x2069);
}

std::string Escape(uint32_t code) {
  switch (code) {
    case '\n':
      return "\\n";
    case '\t':
      return "\\t";
    case '\r':
      return "\\r";
    default:
      return fmt::format("\\u{:04x}", code);
  }
}

bool Continues(char byte) { return (static_cast<uint8_t>(byte) & 0xC0) == 0x80; }

// Bytes of the first `columns` characters of valid UTF-8.
size_t BytesOf(std::string_view text, size_t columns) {
  size_t at = 0;
  for (; at < text.size() && columns != 0; --columns) {
    for (++at; at < text.size() && Continues(text[at]); ++at) {
    }
  }
  return at;
}

void Write(std::FILE* to, std::string_view text) { std::fwrite(text.data(), 1, text.size(), to); }

}  // namespace

std::string Printable(std::string_view text, Newlines newlines) {
  std::string printable;
  printable.reserve(text.size());
  while (!text.empty()) {
    const Character character = Decode(text);
    const bool kept =
        newlines == Newlines::kKeep && (character.code == '\n' || character.code == '\t');
    if (character.bytes == 0) {
      printable += kReplacement;
    } else if (IsControl(character.code) && !kept) {
      printable += Escape(character.code);
    } else {
      printable += text.substr(0, character.bytes);
    }
    text.remove_prefix(std::max<size_t>(character.bytes, 1));
  }
  return printable;
}

size_t ColumnsOf(std::string_view text) {
  return static_cast<size_t>(
      std::count_if(text.begin(), text.end(), [](char c) { return !Continues(c); }));
}

std::string Truncate(const std::string& text, size_t columns) {
  if (ColumnsOf(text) <= columns || columns == 0) {
    return text;
  }
  return text.substr(0, BytesOf(text, columns - 1)) + std::string(kEllipsis);
}

std::vector<std::string> WrapWords(const std::string& text, size_t columns) {
  std::vector<std::string> lines;
  std::string_view rest = text;
  while (ColumnsOf(rest) > columns) {
    const size_t fits = BytesOf(rest, columns);
    // The space may be the first character that does not fit.
    const size_t space = rest.substr(0, fits + 1).rfind(' ');
    const bool between_words = space != std::string_view::npos && space != 0;
    lines.emplace_back(rest.substr(0, between_words ? space : fits));
    rest.remove_prefix(between_words ? space + 1 : fits);
  }
  lines.emplace_back(rest);
  return lines;
}

size_t TerminalColumns(int fd) {
  winsize size = {};
  return isatty(fd) == 1 && ioctl(fd, TIOCGWINSZ, &size) == 0 ? size.ws_col : 0;
}

void PrintLine(std::string_view line) {
  const std::string printable = Printable(line);
  const size_t columns = TerminalColumns(STDOUT_FILENO);
  if (columns <= kIndent || ColumnsOf(printable) <= columns) {
    Write(stdout, printable + "\n");
    return;
  }
  std::string indent;
  for (const std::string& part : WrapWords(printable, columns - kIndent)) {
    Write(stdout, indent + part + "\n");
    indent.assign(kIndent, ' ');
  }
}

void PrintMessage(std::string_view text) {
  std::string begin = "ttfdctl: ";
  for (;;) {
    const size_t end = text.find('\n');
    Write(stderr, begin + Printable(text.substr(0, end)) + "\n");
    if (end == text.npos) return;
    text.remove_prefix(end + 1);
    begin.assign(kIndent, ' ');
  }
}

void PrintText(std::string_view text) { Write(stdout, Printable(text, Newlines::kKeep)); }

void PrintTable(const std::vector<std::vector<std::string>>& rows) {
  Write(stdout, Table(rows, TerminalColumns(STDOUT_FILENO)));
}

}  // namespace ttfd::cli
