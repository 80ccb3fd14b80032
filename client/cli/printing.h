// Output of ttfdctl to stdout and stderr. Names of clients, kernels and users, reports and messages of the daemon
// contain text that other users chose: everything printed passes Printable, so that it can neither control a terminal
// nor imitate a line of its own.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace ttfd::cli {

enum class Newlines { kEscape, kKeep };

// `text` as valid UTF-8 without control characters: C0, DEL and C1 controls, line separators and the controls of
// bidirectional text become "\n", "\t", "\r" or "\u001b" and the like, which JSON reads back; bytes that are not UTF-8
// become U+FFFD. kKeep, for text of several lines, leaves newlines and tabs.
std::string Printable(std::string_view text, Newlines newlines = Newlines::kEscape);

// Columns that printable `text` takes on a terminal, each character counted as one.
size_t ColumnsOf(std::string_view text);

// At most `columns` wide; what is cut off shows as "…".
std::string Truncate(const std::string& text, size_t columns);

// `text` as lines of at most `columns`, broken between words; a longer word is cut.
std::vector<std::string> WrapWords(const std::string& text, size_t columns);

// Columns of the terminal that file descriptor `fd` is; 0: it is none.
size_t TerminalColumns(int fd);

// One line to stdout: newlines in it are escaped. Wrapped between words where stdout is a terminal.
void PrintLine(std::string_view line);
// "ttfdctl: " and lines to stderr, those behind the first indented.
void PrintMessage(std::string_view text);
// Text of several lines to stdout, as it is but for control characters.
void PrintText(std::string_view text);
// Rows of equal length, the first one the heading, to stdout, fitted to its terminal.
void PrintTable(const std::vector<std::vector<std::string>>& rows);

}  // namespace ttfd::cli
