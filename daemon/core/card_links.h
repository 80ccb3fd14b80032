// Links between workers of the cards, connected by sessions and disconnected when their lease ends.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <utility>
#include <vector>

#include "daemon/api/request.h"
#include "daemon/card/device_thread.h"
#include "daemon/core/daemon_cards.h"
#include "runtime/hw/grid.h"

namespace ttfd {

// One end of a link, with the translated coordinates of its worker.
struct LinkTarget {
  uint32_t device = 0;
  uint32_t channel = 0;
  hw::Coordinate worker;
  uint32_t end = 0;
};
// Drives the Ethernet tiles of both ends. Called on the device thread, which may take a second for each step that the
// link does not answer.
struct LinkDriver {
  using Call = std::function<Status(const LinkTarget&, const LinkTarget&)>;
  Call connect;
  Call disconnect;
};

// Device thread.
class CardLinks {
 public:
  // Both outlive it.
  CardLinks(DaemonCards& cards, DeviceThread& thread, LinkDriver driver)
      : cards_(cards), thread_(thread), driver_(std::move(driver)) {}

  // Connects them in rounds to come, each in one of its own, until one fails, then calls `done`. REQUIRES ends and
  // channels of cards of the lease. FAILED_PRECONDITION: kernels run on one of the cards. UNAVAILABLE: one does not
  // work, or the link does not answer.
  void Connect(uint64_t lease, std::vector<LinkConnection> links,
               std::function<void(const Status&)> done);
  // The card is reset, or lost: its links are disconnected at once, but for those to a card that still runs kernels;
  // these last until a reset of either card, or the end of the lease. REQUIRES that no kernels run on the card.
  void CardIsReset(uint32_t device);
  // Disconnects all links of the lease in rounds to come, before those of later calls are connected. 0: none.
  void Release(uint64_t lease);

 private:
  using Done = std::function<void(const Status&)>;
  struct Connecting {
    uint64_t lease = 0;
    std::vector<LinkConnection> links;
    size_t next = 0;
    uint64_t lost = 0;  // of the lease, when the first was connected
    Done done;
  };
  void ConnectNext(std::shared_ptr<Connecting> all);
  Status ConnectOneOf(Connecting& all);
  Status Connect(uint64_t lease, const LinkConnection& link);
  Status CheckIdle(uint32_t device) const;
  Status Drive(const LinkDriver::Call& call, const LinkConnection& link) const;
  void Disconnect(const LinkConnection& link, const char* why) const;

  DaemonCards& cards_;
  DeviceThread& thread_;
  const LinkDriver driver_;
  struct LeaseLinks {
    std::vector<LinkConnection> connected;
    std::set<uint32_t> devices;  // that had links
    uint64_t lost = 0;           // links, by resets
  };
  std::map<uint64_t, LeaseLinks> leases_;
};

}  // namespace ttfd
