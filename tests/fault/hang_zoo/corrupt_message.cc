// Waits until the message of the next launch is in its slot, and has it run code where there is none. BRISC. No
// arguments.
#include <ttfd/kernel.h>

#include "runtime/abi/l1_map.h"
#include "runtime/abi/launch.h"

namespace ttfd::zoo {
namespace {

volatile abi::LaunchMessage& Message(uint32_t slot) {
  return *kernel::L1Pointer<volatile abi::LaunchMessage>(abi::LaunchMessageAddress(slot));
}

// Other than the one this kernel was started with: the only ones in use.
uint32_t NextSlot() {
  const uint32_t own =
      (kernel::internal::Context().launch_message_address - abi::kLaunchRingAddress) /
      abi::kLaunchSlotBytes;
  for (uint32_t slot = 0;; slot = (slot + 1) % abi::kLaunchSlots) {
    firmware::Fence();
    if (slot != own && Message(slot).enables != 0) return slot;
  }
}

}  // namespace
}  // namespace ttfd::zoo

void kernel_main() {
  using namespace ttfd;
  using zoo::Message, zoo::NextSlot;
  auto* const nothing = kernel::L1Pointer<volatile uint32_t>(abi::kCircularBufferAddress);
  for (uint32_t word = 0; word < 64; ++word) nothing[word] = 0;
  Message(NextSlot()).kernel_address[hw::kBrisc] = abi::kCircularBufferAddress;
}
