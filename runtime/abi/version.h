// The stamp host and firmware compare at boot. Any change of bytes in this folder changes it.
#pragma once

#include <stdint.h>

namespace ttfd::abi {

inline constexpr uint32_t kProtocolVersion =
    0x00010007;                                 // major 31:16, minor 15:0; both must be equal
inline constexpr uint32_t kMagic = 0x44465454;  // "TTFD"

}  // namespace ttfd::abi
