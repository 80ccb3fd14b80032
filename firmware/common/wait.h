// Waits of firmware and kernels. Base firmware on BRISC has a loop of its own for the next go word (brisc.cc).
//
// A wait has no counter: the host's deadline bounds it, and a loop whose registers repeat is what
// the simulator can park. The fence in each trip makes a poll of L1 right with the L0 data cache on.
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "firmware/common/io.h"
#include "firmware/common/status.h"
#include "runtime/abi/hart_status.h"

namespace ttfd::firmware {

// Returns once `done()`. A condition that already holds costs nothing but its evaluation; otherwise
// the hart shows `waypoint` until it holds, and kRunningWaypoint again after that.
template <typename Done>
[[gnu::always_inline]] inline void WaitUntil(uint32_t waypoint, Done done) {
  if (done()) [[likely]] {
    return;
  }
  SetWaypoint(waypoint);
  do {
    Fence();
  } while (!done());
  SetWaypoint(kRunningWaypoint);
}

// The same for a word in L1 that announces others: what its writer wrote before it may be read
// afterwards.
template <typename Done>
[[gnu::always_inline]] inline void WaitForMemory(uint32_t waypoint, Done done) {
  WaitUntil(waypoint, done);
  Fence();
}

// Waits until the word at t1 reads zero; returns to t0 and changes t2, nothing else. A call by a
// convention of our own: waits for the NIU are many and nearly always over at once, and an ordinary call
// behind each would cost every path around it the registers a call may change.
[[gnu::naked, gnu::noinline, gnu::cold, maybe_unused]] static void AwaitZeroFromT1() {
  asm volatile(
      "li t2, %0\n"
      "sw t2, %2(x0)\n"
      "1: fence\n"
      "lw t2, 0(t1)\n"
      "bnez t2, 1b\n"
      "li t2, %1\n"
      "sw t2, %2(x0)\n"
      "jr t0\n" ::"i"(abi::kWaypointNoc),
      "i"(kRunningWaypoint), "i"(kStatus + offsetof(abi::HartStatus, waypoint)));
}

// Returns once the word at `address`, a register, reads zero.
[[gnu::always_inline]] inline void AwaitZero(uint32_t address) {
  if (Load(address) != 0) [[unlikely]] {
    register uint32_t t1 asm("t1") = address;
    asm volatile("jal t0, %1" : "+r"(t1) : "i"(&AwaitZeroFromT1) : "t0", "t2", "memory");
  }
}

// The same when the address is `kAddress`: nothing is put into a register before it is needed. `value` is
// what it read.
template <uint32_t kAddress>
[[gnu::always_inline]] inline void AwaitZeroAt(uint32_t value) {
  if (value != 0) [[unlikely]] {
    asm volatile("li t1, %0\njal t0, %1" ::"i"(kAddress), "i"(&AwaitZeroFromT1)
                 : "t0", "t1", "t2", "memory");
  }
}

}  // namespace ttfd::firmware
