// Checks that a program or launch gives what its kernel uses: circular buffers, semaphores, arguments.
//
// A constant index goes into the kernel's file, and the daemon refuses the program or the launch that does not give it.
// Every other index, and those of Optional(), are checked against a count in the launch message when they are used, by
// two instructions; a kernel that uses what is not there stops with a fault that names it. A kernel compiled with
// -DTTFD_UNCHECKED has neither.
#pragma once

#include <stddef.h>
#include <stdint.h>
#include <ttfd/tile.h>

#include "firmware/common/status.h"
#include "runtime/abi/resource_use.h"

namespace ttfd::kernel {

// Hides that `index` is a constant: of a circular buffer, semaphore or argument that need not be given, because the
// kernel uses it under a condition. It is checked when it is used.
[[gnu::always_inline]] inline uint32_t Optional(uint32_t index) {
  asm("" : "+r"(index));
  return index;
}

namespace internal {

inline uint32_t MessageWord(uint32_t offset) {
  return firmware::Load(Context().launch_message_address + offset);
}
inline uint32_t MessageHalf(uint32_t offset) {
  return firmware::LoadHalf(Context().launch_message_address + offset);
}
inline uint32_t ConfigAddress() {
  return MessageWord(offsetof(abi::LaunchMessage, config_address));
}

// Where the launch message has the number of circular buffers, of semaphores, or of this hart's arguments.
constexpr uint32_t CountOffset(abi::Resource resource) {
  constexpr uint32_t kArguments =
      offsetof(abi::LaunchMessage, arguments) + kHart * sizeof(abi::LaunchArguments);
  switch (resource) {
    case abi::kCircularBuffer:
      return offsetof(abi::LaunchMessage, circular_buffer_count);
    case abi::kSemaphore:
      return offsetof(abi::LaunchMessage, semaphore_count);
    case abi::kArgument:
      return kArguments + offsetof(abi::LaunchArguments, per_core_count);
    case abi::kCommonArgument:
      return kArguments + offsetof(abi::LaunchArguments, common_count);
    case abi::kCallable:
      return offsetof(abi::LaunchMessage, callable_count);
  }
  __builtin_unreachable();
}

// Out of line and cold. The caller's address says where the index was used.
template <abi::Resource kResource>
[[noreturn, gnu::noinline, gnu::cold]] inline void FaultNotGiven(uint32_t index) {
  firmware::StopOnFault(
      abi::kFaultNotGiven, index, kResource << 16 | MessageHalf(CountOffset(kResource)),
      static_cast<uint32_t>(reinterpret_cast<uintptr_t>(__builtin_return_address(0))), 0);
}

// Leaves an entry in the kernel's file where `index` is a constant. The section is linked to that of the code, and goes
// with it if the linker drops the function.
template <abi::Resource kResource>
[[gnu::always_inline]] inline void NoteUse([[maybe_unused]] uint32_t index) {
#ifndef TTFD_UNCHECKED
  if (__builtin_constant_p(index)) {
    asm volatile(
        ".Lttfd_use%=:\n"
        ".pushsection " TTFD_RESOURCE_USE_SECTION
        ",\"o\",@progbits,.Lttfd_use%=\n"
        ".word %0, %1, .Lttfd_use%=\n"
        ".popsection" ::"i"(kResource),
        "i"(index));
  }
#endif
}

// Checks an index that is not a constant.
template <abi::Resource kResource>
[[gnu::always_inline]] inline void CheckGiven([[maybe_unused]] uint32_t index) {
#ifndef TTFD_UNCHECKED
  if (!__builtin_constant_p(index) && index >= MessageHalf(CountOffset(kResource))) [[unlikely]] {
    FaultNotGiven<kResource>(index);
  }
#endif
}

template <abi::Resource kResource>
[[gnu::always_inline]] inline void RequireGiven(uint32_t index) {
  NoteUse<kResource>(index);
  CheckGiven<kResource>(index);
}

// Returns `index`.
template <abi::Resource kResource>
[[gnu::always_inline]] inline uint32_t Given(uint32_t index) {
  RequireGiven<kResource>(index);
  return index;
}

// Checks that a circular buffer below the count is one: indices may have gaps.
[[gnu::always_inline]] inline void CheckPages([[maybe_unused]] uint32_t pages,
                                              [[maybe_unused]] uint32_t index) {
#ifndef TTFD_UNCHECKED
  if (pages == 0) [[unlikely]] {
    FaultNotGiven<abi::kCircularBuffer>(index);
  }
#endif
}

}  // namespace internal

}  // namespace ttfd::kernel
