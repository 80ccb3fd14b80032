// A card that a daemon is given to serve.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "daemon/api/device_state.h"
#include "runtime/card/card.h"
#include "runtime/device/link_status.h"

namespace ttfd {

struct ServedCard {
  std::unique_ptr<Card> card;
  // Device through whose link the card is reached; none: it has a port. It is served before this one.
  std::optional<uint32_t> behind = {};
  // Its links to other cards of the daemon.
  std::vector<Neighbour> neighbours = {};
  // All are called on the device thread.
  // There are sessions from now on, or none (Device::SetInUse).
  std::function<void(bool in_use)> set_in_use = [](bool) {};
  // Device::Settle, before the chip that the card is behind is reset.
  std::function<Status()> settle = [] { return OkStatus(); };
  std::function<DeviceReading()> read_device = [] { return DeviceReading{}; };
};

}  // namespace ttfd
