// What the official simulator (libttsim 1.10.0) printed for the first sequences: a digest of every result
// before the operation that is refused.
#pragma once

#include <cstdint>

namespace ttfd {

inline constexpr uint64_t kGoldenRuns[] = {
    0x1c783b101ac6577d, 0x51ee6acea0031b07, 0x04553b5ece5db93b, 0x941952b3db89c8b8,
    0xa447250a5c89e528, 0x631e55bcddc419f8, 0x2d8c36009accedba, 0x82f2184bfc60e5ed,
};

}  // namespace ttfd
