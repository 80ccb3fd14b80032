// UTF-8, and text from elsewhere (clients, kernels, files) in a form that a protobuf string, a JSON document or a
// terminal may be given. Any thread.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace ttfd {

// `text` with every byte that is not UTF-8 replaced by '?', cut at the end of a character to at most `max_bytes`. One
// such byte, for example from the symbol table of a client's ELF, would make receivers refuse a whole protobuf message.
std::string ValidUtf8(std::string_view text, size_t max_bytes = std::string_view::npos);

// `text` as one line of a log, a table or a report: no part of it can begin a new line, control a terminal or reorder
// the text around it. Control characters (C0, DEL and C1), line and paragraph separators and bidirectional controls
// become \n, \r, \t or \uXXXX, bytes that are not UTF-8 become \xXX. Everything else stays, backslashes too, so a JSON
// document on one line stays the same document. The result is cut, between characters, to at most `max_bytes`.
// Each character of `separators` (ASCII) becomes \xXX, for text within a list.
std::string Printable(std::string_view text, size_t max_bytes = std::string_view::npos,
                      std::string_view separators = {});

// Offset in bytes of the first thing that Printable escapes; npos: none.
size_t FindUnprintable(std::string_view text);

// `text` as a JSON string with its quotes, cut to at most `max_bytes` of it. What Printable escapes is escaped here,
// too.
std::string JsonString(std::string_view text, size_t max_bytes = std::string_view::npos);

}  // namespace ttfd
