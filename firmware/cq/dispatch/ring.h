// The dispatcher's ring: 4 KiB pages.
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "firmware/common/boot.h"
#include "firmware/cq/dispatch/niu.h"
#include "firmware/cq/ring_reader.h"
#include "runtime/abi/control_block.h"
#include "runtime/abi/l1_map.h"
#include "runtime/abi/rings.h"
#include "runtime/hw/tensix.h"

namespace ttfd::firmware::dispatch {

struct RingPolicy {
  static constexpr uint32_t kPageShift = 12;
  static constexpr uint32_t kArrived =
      abi::kControlBlockAddress + offsetof(abi::ControlBlock, dispatch_pages_arrived);

  static void Return(uint32_t pages) {
    AtomicIncrement<0, 2>(
        TTFD_BOOT(prefetch_xy),
        abi::kControlBlockAddress + offsetof(abi::ControlBlock, dispatch_pages_returned), pages);
  }
  static bool HaveWritesLeft() { return dispatch::HaveWritesLeft(); }
  static void AwaitWritesLeft() { dispatch::AwaitWritesLeft(); }
};
static_assert(1u << RingPolicy::kPageShift == abi::kDispatchPageBytes);

using Ring = RingReader<RingPolicy>;

// The command at `at` breaks a rule.
[[noreturn, gnu::noinline, gnu::cold]] inline void Refuse(uint32_t at, abi::FaultCode code,
                                                          uint32_t value, uint32_t allowed) {
  Fault(code, Load(at) & 0xFF, value, allowed, at - TTFD_BOOT(dispatch_ring_address));
}

// NoC writes keep the address modulo 16, and data lies on 16 in the ring. Registers, four bytes each, are
// written from anywhere.
inline void RequireAligned(uint32_t at, uint32_t to, uint32_t bytes) {
  if (to % 16 != 0 && (bytes != 4 || to % 4 != 0 || to < hw::kFirstRegisterAddress)) [[unlikely]] {
    Refuse(at, abi::kFaultBadLength, to, 16);
  }
}

// A packet carries at most this many bytes of what has arrived.
inline uint32_t NextPiece(Ring& ring, uint32_t remaining) {
  return ring.Contiguous(remaining < hw::kNocMaxPacketBytes ? remaining : hw::kNocMaxPacketBytes);
}

}  // namespace ttfd::firmware::dispatch
