// Callable kernels: kernels of the program that are placed and not started (KernelUse.callable). A started kernel calls
// those that the program placed on its tile and for its hart, any number of times and in any order.
//
//   Caller tasks(2, 6);               // own common arguments 2 to 7 are those of the called kernel
//   tasks.SetArgument(0, 42);
//   tasks.Call(1);                    // the program's second callable kernel
//
// A called kernel is an ordinary kernel, unchanged: it finds .bss zero and .data as linked, has the circular buffers
// and semaphores of the tile, sees its caller's choice as Argument(i), and has no common arguments. Call() returns when
// it has, after its writes have landed. To call a kernel that the program placed on other tiles or for another hart
// only is an error that nothing finds.
//
// CallWith() gives a kernel a launch message of the caller's: with circular buffers and common arguments of its own, as
// a launch would. The daemon takes a kernel with such needs as callable if the program says that it is configured
// (KernelUse.configured). The counts of the circular buffers are the caller's to clear.
#pragma once

#include <stddef.h>
#include <stdint.h>
#include <ttfd/arguments.h>

#include "firmware/common/kernel_image.h"

namespace ttfd::kernel {

class Caller {
 public:
  // The called kernels' arguments lie where `count` of this kernel's common arguments do, at least one, from number
  // `first` on. They are what the launch gave until SetArgument.
  [[gnu::always_inline]] Caller(uint32_t first, uint32_t count)
      : Caller(internal::CommonArgumentsAddress() + 4 * first, count, internal::ConfigAddress()) {
    internal::RequireGiven<abi::kCommonArgument>(first + count - 1);
  }
  // The same with common arguments of the kernel that the program started on another hart of this tile: several harts
  // call kernels with the same arguments. That kernel must have common arguments up to `first` + `count` - 1.
  [[gnu::always_inline]] static Caller WithArgumentsOf(uint32_t hart, uint32_t first,
                                                       uint32_t count) {
    return Caller(internal::CommonArgumentsAddress(hart) + 4 * first, count,
                  internal::ConfigAddress());
  }

  // Sets argument `index`, below `count`, of the kernels called from now on.
  void SetArgument(uint32_t index, uint32_t word) { firmware::Store(arguments_ + 4 * index, word); }
  // L1 address of argument 0 of the kernels called from now on.
  uint32_t arguments() const { return arguments_; }

  // Runs callable kernel `index` of the program. One that the program does not have is refused (<ttfd/given.h>).
  [[gnu::always_inline]] void Call(uint32_t index) {
    // The called kernel finds its arguments where this one does, in the launch message.
    firmware::Store(message_ + kOffsets, called_offsets_);
    firmware::Store(message_ + kCounts, called_counts_);
    Run(index, message_);
    firmware::Store(message_ + kOffsets, offsets_);
    firmware::Store(message_ + kCounts, counts_);
  }
  // The same with the abi::LaunchMessage at an L1 address, of which the kernel reads its own arguments, the
  // configuration and what the counts say; it does not see SetArgument.
  [[gnu::always_inline]] void CallWith(uint32_t index, uint32_t message) {
    Run(index, message);
    const_cast<abi::KernelContext&>(internal::Context()).launch_message_address = message_;
  }

 private:
  [[gnu::always_inline]] void Run(uint32_t index, uint32_t message) {
    internal::RequireGiven<abi::kCallable>(index);
    const uint32_t header = firmware::Load(callables_ + 4 * index);
    firmware::RestoreData(header);
    firmware::CallKernel(firmware::EntryOf(header), message,
                         const_cast<abi::KernelContext&>(internal::Context()));
  }

  // This hart's LaunchArguments: offsets of the common and of the other arguments, then how many there are.
  static constexpr uint32_t kOffsets =
      offsetof(abi::LaunchMessage, arguments) + kHart * sizeof(abi::LaunchArguments);
  static constexpr uint32_t kCounts = kOffsets + offsetof(abi::LaunchArguments, common_count);

  [[gnu::always_inline]] Caller(uint32_t arguments, uint32_t count, uint32_t config)
      : message_(internal::Context().launch_message_address),
        offsets_(firmware::Load(message_ + kOffsets)),
        counts_(firmware::Load(message_ + kCounts)),
        called_offsets_((offsets_ & 0xFFFF) | (arguments - config) << 16),
        called_counts_(count << 16),
        arguments_(arguments),
        callables_(config + internal::MessageHalf(offsetof(abi::LaunchMessage, callable_offset))) {}

  const uint32_t message_;  // L1 address of the launch message
  const uint32_t offsets_;
  const uint32_t counts_;
  const uint32_t called_offsets_;
  const uint32_t called_counts_;
  const uint32_t arguments_;  // L1 address
  const uint32_t callables_;  // L1 address
};

}  // namespace ttfd::kernel
