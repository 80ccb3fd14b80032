// Where KernelBounds find buffers, and the program of a worker, on a card with our firmware.
#pragma once

#include "runtime/boot/boot_plan.h"
#include "runtime/card/card.h"
#include "runtime/device/kernel_bounds.h"

namespace ttfd {

KernelBounds::Layout BoundsOf(const BootPlan& plan, const CardDescription& card);

}  // namespace ttfd
