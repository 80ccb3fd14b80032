// Which hart this translation unit is compiled for. One image is one hart, so that everything that
// depends on the hart - status address, NIU, command buffers - is a constant.
#pragma once

#include <stdint.h>

#include "runtime/hw/tensix.h"

#ifndef TTFD_HART
#error "compile with -DTTFD_HART=<runtime/hw/tensix.h Hart>"
#endif

namespace ttfd::firmware {

inline constexpr uint32_t kThisHart = TTFD_HART;
static_assert(kThisHart < hw::kHarts);

// The NIU a hart uses. NCRISC has NIU 1 to itself; the others share NIU 0, one command buffer each.
inline constexpr uint32_t kThisNiu = kThisHart == hw::kNcrisc ? 1 : 0;
inline constexpr uint32_t kThisBuffer =
    kThisHart == hw::kBrisc || kThisHart == hw::kNcrisc ? 0 : kThisHart - hw::kTrisc0 + 1;

}  // namespace ttfd::firmware
