// SHA-256 of bytes in memory: what names a kernel.
#pragma once

#include <string>
#include <string_view>

namespace ttfd {

inline constexpr size_t kSha256Bytes = 32;

std::string Sha256(std::string_view bytes);  // kSha256Bytes raw bytes

}  // namespace ttfd
