// Text that may go into a protobuf string. One byte that is no UTF-8, say from the symbol table of a client's ELF,
// would make receivers refuse the whole message.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace ttfd {

// `text` with every byte that is no UTF-8 replaced by '?', cut at a character's end to at most `max_bytes`.
std::string ValidUtf8(std::string_view text, size_t max_bytes = std::string_view::npos);

// `text` as a JSON string, quotes included, cut to at most `max_bytes` of it.
std::string JsonString(std::string_view text, size_t max_bytes = std::string_view::npos);

}  // namespace ttfd
