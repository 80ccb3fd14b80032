// Callable kernels: kernels of the program that are placed on this tile and not started (KernelUse.callable), for this
// hart. A started kernel calls them, any number of times and in any order.
//
//   Caller tasks(2, 6);               // own common arguments 2 to 7 are those of the called kernel
//   tasks.SetArgument(0, 42);
//   tasks.Call(1);                    // the program's second callable kernel
//
// A called kernel is an ordinary kernel, unchanged: it finds .bss zero and .data as linked, has the circular buffers
// and semaphores of the tile, sees its caller's choice as Argument(i), and has no common arguments. Call() returns when
// it has, after its writes have landed. The caller may have reads and writes under way; they are waited for, too.
#pragma once

#include <stddef.h>
#include <stdint.h>
#include <ttfd/arguments.h>

#include "firmware/common/kernel_image.h"

namespace ttfd::kernel {

class Caller {
 public:
  // The called kernels' arguments lie where `count` of this kernel's common arguments do, from number `first` on. They
  // are what the launch gave until SetArgument.
  Caller(uint32_t first, uint32_t count)
      : own_(&internal::Context()),
        context_(*own_),
        message_(*L1Pointer<const abi::LaunchMessage>(own_->launch_message_address)) {
    internal::CheckGiven<abi::kCommonArgument>(first + count - 1);
    abi::LaunchArguments& words = message_.arguments[kHart];
    words.per_core_offset = static_cast<uint16_t>(words.common_offset + 4 * first);
    words.per_core_count = static_cast<uint16_t>(count);
    words.common_count = 0;
    arguments_ = message_.config_address + words.per_core_offset;
    callables_ = message_.config_address + message_.callable_offset;
  }

  // Sets argument `index`, below `count`, of the kernels called from now on.
  void SetArgument(uint32_t index, uint32_t word) { firmware::Store(arguments_ + 4 * index, word); }

  // L1 address of argument 0 of the kernels called from now on.
  uint32_t arguments() const { return arguments_; }

  // Runs callable kernel `index` of the program. One that the program does not have is refused (<ttfd/given.h>).
  [[gnu::always_inline]] void Call(uint32_t index) {
    internal::RequireGiven<abi::kCallable>(index);
    const uint32_t header = firmware::Load(callables_ + 4 * index);
    firmware::RestoreData(header);
    firmware::CallKernel(firmware::EntryOf(header), L1AddressOf(&message_), context_);
    asm volatile("mv tp, %0" ::"r"(own_) : "memory");  // the called kernel's entry has set its own
  }

 private:
  const abi::KernelContext* const own_;
  abi::KernelContext context_;
  abi::LaunchMessage message_;
  uint32_t arguments_;  // L1 address
  uint32_t callables_;  // L1 address
};

}  // namespace ttfd::kernel
