// What the official simulator (libttsim 1.10.0) printed for the first sequences: a digest of every result
// before the operation that is refused.
#pragma once

#include <cstdint>

namespace ttfd {

inline constexpr uint64_t kGoldenRuns[] = {
    0xdddbebf19504a658, 0xc27b2f8e11fb53b6, 0xa9b7e3139366a956, 0x941952b3db89c8b8,
    0x3ad5c35d0a72ae98, 0x36dbcc4847de1523, 0x35b3ce4bb79ba133, 0xf8994fdc9e27dce9,
};

}  // namespace ttfd
