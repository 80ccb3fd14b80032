// Connects workers of two neighbouring chips by a link (runtime/abi/link.h).
#pragma once

#include <cstdint>
#include <string>

#include "runtime/base/clock.h"
#include "runtime/base/status.h"
#include "runtime/device/device.h"

namespace ttfd {

struct LinkPlace {
  Device* device = nullptr;  // the chip
  uint32_t channel = 0;      // its Ethernet channel
  hw::Coordinate worker{};   // translated
  uint32_t end = 0;          // LinkEnd of the worker, below abi::kLinkEnds
  std::string name;          // in errors: "1.9"
};

// Prepares the doorbells of both Ethernet tiles, fires each of them once through the link, and sets up both LinkEnds
// with counters of 0 and a new generation. Both ends are ready when it returns, so neither has to wait for the other.
// Packets that were sent over the channels before have arrived or are discarded.
//
// REQUIRES that no hart uses either end or either channel. A chip that is reset has lost its doorbells: its links are
// connected again before a kernel of a neighbour uses the other end. A worker's end is used with one channel at a time.
//
// INVALID_ARGUMENT: a channel or an end that does not exist. FAILED_PRECONDITION: a channel that is not up, or leads
// elsewhere. UNAVAILABLE: the link does not answer within kLinkDeadline. All name the channels.
Status ConnectLink(const LinkPlace& a, const LinkPlace& b, Clock& clock);

// Undoes it: no doorbell touches a worker any more, and both LinkEnds say that they are not connected. Requirements and
// errors are the same. With an error this is so for a chip that answers, as far as LinkEnds go.
Status DisconnectLink(const LinkPlace& a, const LinkPlace& b, Clock& clock);

}  // namespace ttfd
