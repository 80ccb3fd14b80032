// Semaphores: counters in L1 that the launch initialises, at the same address on every tile of it.
//
// A local hart waits and sets; any tile adds. Set() and somebody else's Increment() at the same time
// lose one of the two: set while nobody adds.
#pragma once

#include <stdint.h>
#include <ttfd/arguments.h>
#include <ttfd/noc.h>

namespace ttfd::kernel {

class Semaphore {
 public:
  // One that the program does not give is refused (<ttfd/given.h>).
  [[gnu::always_inline]] explicit Semaphore(uint32_t index)
      : address_(internal::ConfigAddress() +
                 internal::MessageHalf(offsetof(abi::LaunchMessage, semaphore_offset)) +
                 index * sizeof(abi::SemaphoreWord)) {
    internal::RequireGiven<abi::kSemaphore>(index);
  }

  uint32_t value() const { return firmware::Load(address_); }
  uint32_t address() const { return address_; }  // in L1

  void Set(uint32_t value) { firmware::Store(address_, value); }

  // Waits until the value has reached `target` (modulo 2^32).
  void WaitAtLeast(uint32_t target) const {
    const uint32_t address = address_;
    firmware::WaitForMemory(abi::kWaypointSemaphore, [address, target] {
      return static_cast<int32_t>(firmware::Load(address) - target) >= 0;
    });
  }

  // Waits for exactly `target`.
  void WaitEqual(uint32_t target) const {
    const uint32_t address = address_;
    firmware::WaitForMemory(abi::kWaypointSemaphore,
                            [address, target] { return firmware::Load(address) == target; });
  }

  // Starts to add to this semaphore on another tile (or this one). Behind earlier writes to it.
  void IncrementOn(Position position, uint32_t increment) const {
    Increment(OnTile(position, address_), increment);
  }

 private:
  uint32_t address_;
};

}  // namespace ttfd::kernel
