// Names the ends of links as the errors do: device.channel.
#include "daemon/drive_links.h"

#include "runtime/fabric/link_end.h"

namespace ttfd {
namespace {

using LinkCall = Status (*)(const LinkPlace& a, const LinkPlace& b, Clock& clock);

LinkDriver::Call Drive(LinkCall call, const OpenedDevices& opened, Clock& clock) {
  return [call, &opened, &clock](const LinkTarget& a, const LinkTarget& b) {
    const auto place = [&opened](const LinkTarget& end) {
      return LinkPlace{opened.devices[end.device].get(), end.channel, end.worker, end.end,
                       fmt::format("{}.{}", end.device, end.channel)};
    };
    return call(place(a), place(b), clock);
  };
}

}  // namespace

LinkDriver DriveLinks(const OpenedDevices& opened, Clock& clock) {
  return {Drive(ConnectLink, opened, clock), Drive(DisconnectLink, opened, clock)};
}

}  // namespace ttfd
