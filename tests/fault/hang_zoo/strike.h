// The tiles of its hardware queue, as the kernel `strike` takes them for an argument.
#pragma once

#include <stdint.h>

namespace ttfd::zoo {

inline constexpr uint32_t kDispatchTile = 0xFFFF'FFFF;
inline constexpr uint32_t kPrefetchTile = 0xFFFF'FFFE;

}  // namespace ttfd::zoo
