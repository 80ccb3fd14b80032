// One end of a link as the host drives it: memory, registers and transmit queues of an Ethernet tile.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "absl/functional/function_ref.h"
#include "runtime/base/clock.h"
#include "runtime/base/status.h"
#include "runtime/device/device.h"
#include "runtime/device/wait.h"

namespace ttfd {

// For a command of a transmit queue to be taken, or an answer to arrive.
inline constexpr Duration kLinkDeadline = std::chrono::seconds(1);

// Not thread-safe: one thread at a time drives a chip.
class EthernetEnd {
 public:
  // `name` is for errors: "1.9", channel 9 of chip 1. The device and the clock outlive the result. INVALID_ARGUMENT:
  // the chip has no such channel.
  static StatusOr<EthernetEnd> Open(Device& device, uint32_t channel, std::string name,
                                    Clock& clock);

  const std::string& name() const { return name_; }
  uint32_t xy() const { return xy_; }  // NocXy of the tile, translated
  const Device& device() const { return *device_; }
  // Accesses of the tile. A read is behind the writes before it.
  Window& window() const { return *window_; }
  StatusOr<uint32_t> Read(uint32_t address) const { return ReadWord(*window_, address); }
  Status Write(uint32_t address, uint32_t value) const {
    return WriteWord(*window_, address, value);
  }

  // Commands of queue 0 or 1, given when the queue takes one. A register that holds a command's value already is not
  // written again.
  //
  // Sends bytes of this tile's L1 to the peer's. All three are multiples of 16.
  Status SendBytes(uint32_t queue, uint32_t from, uint32_t to, uint32_t bytes);
  // Writes a register of the peer.
  Status SendRegister(uint32_t queue, uint32_t address, uint32_t value);
  // Has every register written again: others may have used the queues, or the chip was reset.
  void DiscardQueueState() { queues_ = {}; }

  // Lets the chips run, `clocks` between two looks, until `done`. UNAVAILABLE: not within kLinkDeadline, or nothing can
  // happen any more; says how the end is.
  // A fault of a hart of this chip is left for the next caller of Device::Advance.
  Status Await(uint64_t clocks, absl::FunctionRef<StatusOr<bool>()> done) const;
  // Lets time pass in which commands that were given before end, or never do.
  Status Settle() const;

 private:
  // Contents of the registers of a queue; none: unknown.
  struct Queue {
    std::optional<uint32_t> start, size, destination, data;
  };

  EthernetEnd(Device& device, uint32_t xy, std::string name, Clock& clock)
      : device_(&device), clock_(&clock), name_(std::move(name)), xy_(xy) {}
  Status Set(uint32_t queue, uint32_t offset, std::optional<uint32_t> Queue::*holds,
             uint32_t value);
  Status AwaitQueue(uint32_t queue) const;  // until it takes a command
  StatusOr<Waited> Wait(uint64_t clocks, absl::FunctionRef<StatusOr<bool>()> done) const;
  // "port status 1, 0 retrains, queue 1 is busy"
  std::string Describe() const;

  Device* device_;
  Clock* clock_;
  std::string name_;
  uint32_t xy_;
  std::unique_ptr<Window> window_;
  std::array<Queue, 2> queues_;
};

}  // namespace ttfd
