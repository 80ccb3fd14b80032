// What the official simulator (libttsim 1.10.0) printed for the first sequences: a digest of every result
// before the operation that is refused.
#pragma once

#include <cstdint>

namespace ttfd {

inline constexpr uint64_t kGoldenRuns[] = {
    0x3a2d5f28e07511ca, 0xc197e0ce5cb08fd8, 0xc1ee232f90f78148, 0xe466e1c60ffd7582,
    0xd2920a07a092dc02, 0x160f8fe2fab5ebc2, 0x4fd6bce6864558ac, 0x2299c23c5f306e67,
};

}  // namespace ttfd
