// Checks that programs and launches give what their kernels need.
#pragma once

#include <string>
#include <string_view>

#include "runtime/base/status.h"
#include "runtime/command/program.h"

namespace ttfd {

// "circular buffer", "semaphore", "argument", "common argument",
// "callable kernel".
std::string_view ResourceName(abi::Resource resource);

// INVALID_ARGUMENT: "kernel 'scale' uses circular buffer 0 at scale.cc:7, which it is not given" and, on a second
// line, what is given.
Status NotGiven(const KernelImage& image, const KernelNeed& need, std::string_view given);

// Whether these arguments are all that kernel `kernel` of the program needs of a launch: of a callable kernel nothing.
// INVALID_ARGUMENT otherwise.
Status CheckArgumentNeeds(const Program& program, uint32_t kernel,
                          const KernelArguments& arguments);

}  // namespace ttfd
