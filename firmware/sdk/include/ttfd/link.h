// Links: segments of up to 34 KiB from a worker of one chip to a worker of a neighbour, in order.
//
//   #include <ttfd/kernel.h>
//   #include <ttfd/link.h>
//   using namespace ttfd::kernel;
//
//   void kernel_main() {                      // forwards a segment from one neighbour to another
//     LinkIn in(0);                           // link ends 0 and 1 of this worker, connected by the host
//     LinkOut out(1);
//     const uint32_t at = CommonArgument(0);  // in this tile's L1, a multiple of 16
//     in.Await();
//     in.Take(at, 4096);                      // sender and receiver agree on the size, or send it in front
//     out.AwaitSpace();
//     out.Send(at, 4096);
//   }
//
// A worker has up to four ends. Each direction of an end has one sender hart and one receiver hart; one hart may be
// both. NCRISC needs fewer instructions a segment than the other harts. Without its receiver a sender
// can send four segments at least and six at most. Those that were not taken when a launch ends are there for the next.
//
// A kernel that opens an end which is not connected stops with a fault.
#pragma once

#include <stdint.h>

#include "firmware/common/link.h"
#include "firmware/common/status.h"
#include "runtime/abi/link.h"

namespace ttfd::kernel {

// Largest segment, bytes.
inline constexpr uint32_t kLinkSegmentBytes = abi::kLinkSlotBytes;

namespace internal {

// Out of line and cold. The caller's address says which kernel it was.
[[noreturn, gnu::noinline, gnu::cold]] inline void FaultNotConnected(uint32_t end) {
  firmware::StopOnFault(
      abi::kFaultLinkNotConnected, end, 0,
      static_cast<uint32_t>(reinterpret_cast<uintptr_t>(__builtin_return_address(0))), 0);
}

// The address of link end `end`.
[[gnu::always_inline]] inline uint32_t ConnectedEnd(uint32_t end) {
  const uint32_t address = abi::LinkEndAddress(end);
  if (end >= abi::kLinkEnds || firmware::Load(address + offsetof(abi::LinkEnd, generation)) == 0)
      [[unlikely]] {
    FaultNotConnected(end);
  }
  return address;
}

}  // namespace internal

class LinkOut : public firmware::LinkSender {
 public:
  [[gnu::always_inline]] explicit LinkOut(uint32_t end) : LinkSender(internal::ConnectedEnd(end)) {}
  [[gnu::always_inline]] ~LinkOut() { AwaitCommands(); }
  LinkOut(const LinkOut&) = delete;
  LinkOut& operator=(const LinkOut&) = delete;
};

class LinkIn : public firmware::LinkReceiver {
 public:
  [[gnu::always_inline]] explicit LinkIn(uint32_t end)
      : LinkReceiver(internal::ConnectedEnd(end)) {}
  [[gnu::always_inline]] ~LinkIn() { AwaitCommands(); }
  LinkIn(const LinkIn&) = delete;
  LinkIn& operator=(const LinkIn&) = delete;
};

}  // namespace ttfd::kernel
