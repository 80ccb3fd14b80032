// Uses of resources of a program or a launch by a constant index: entries of a section of a kernel's ELF file, which is
// not loaded. The SDK leaves one at each use in a function that the linker keeps; the host refuses a program or launch
// that does not give what they name.
#pragma once

#include <stdint.h>

namespace ttfd::abi {

enum Resource : uint32_t {
  kCircularBuffer = 0,  // indices below kMaxCircularBuffers
  kSemaphore = 1,       // below kMaxSemaphores
  kArgument = 2,        // below kMaxArgumentWords, as the next
  kCommonArgument = 3,
  kCallable = 4,  // callable kernels of the program, below kMaxCallables
};
inline constexpr uint32_t kResources = 5;

#define TTFD_RESOURCE_USE_SECTION ".ttfd.uses"  // the assembler wants a literal

struct ResourceUse {
  uint32_t resource;
  uint32_t index;
  uint32_t address;  // of the code that uses it, in the file
};
static_assert(sizeof(ResourceUse) == 12);

}  // namespace ttfd::abi
