// Connects and disconnects links between rounds of the device thread.
#include "daemon/core/card_links.h"

#include <set>
#include <utility>

#include "runtime/base/log.h"

namespace ttfd {
namespace {

bool Overlap(const LinkEndRequest& a, const LinkEndRequest& b) {
  if (a.device != b.device) return false;
  return a.channel == b.channel || (a.x == b.x && a.y == b.y && a.end == b.end);
}

// Both need the same channel, or the same end of a worker.
bool Overlap(const LinkConnection& a, const LinkConnection& b) {
  return Overlap(a.a, b.a) || Overlap(a.a, b.b) || Overlap(a.b, b.a) || Overlap(a.b, b.b);
}

}  // namespace

void CardLinks::Connect(uint64_t lease, std::vector<LinkConnection> links, Done done) {
  ConnectNext(lease, std::make_shared<const std::vector<LinkConnection>>(std::move(links)), 0,
              std::move(done));
}

void CardLinks::ConnectNext(uint64_t lease,
                            std::shared_ptr<const std::vector<LinkConnection>> links, size_t next,
                            Done done) {
  thread_.Post(
      [this, lease, links = std::move(links), next, done = std::move(done)](const Status& stopped) {
        const Status connected = stopped.ok() ? Connect(lease, (*links)[next]) : stopped;
        if (!connected.ok() || next + 1 == links->size()) return done(connected);
        ConnectNext(lease, links, next + 1, done);
      });
}

Status CardLinks::CheckIdle(uint32_t device) const {
  const DaemonCard& card = cards_.at(device);
  RETURN_IF_ERROR(cards_.CheckWorks(device));
  if (card.health.state() != DeviceState::kReady) {
    return DeviceResetStatus(fmt::format("device {} is being repaired", device));
  }
  if (!card.executor->runs_kernels()) return OkStatus();
  return Error(StatusCode::kFailedPrecondition,
               "kernels run on device {}; links are connected when none does", device);
}

Status CardLinks::Drive(const LinkDriver::Call& call, const LinkConnection& link) const {
  const auto target = [this](const LinkEndRequest& end) {
    const CardGeometry& geometry = cards_.at(end.device).resources.geometry;
    return LinkTarget{end.device, end.channel,
                      geometry.WorkerTile(end.y * geometry.grid().x + end.x), end.end};
  };
  return call(target(link.a), target(link.b));
}

Status CardLinks::Connect(uint64_t lease, const LinkConnection& link) {
  RETURN_IF_ERROR(CheckIdle(link.a.device));
  RETURN_IF_ERROR(CheckIdle(link.b.device));
  std::vector<LinkConnection>& connected = connected_[lease];
  for (auto old = connected.begin(); old != connected.end();) {
    if (!Overlap(*old, link)) {
      ++old;
      continue;
    }
    RETURN_IF_ERROR(Drive(driver_.disconnect, *old));
    old = connected.erase(old);
  }
  connected.push_back(link);
  RETURN_IF_ERROR(Drive(driver_.connect, link));
  thread_.SetLinked(std::vector<uint32_t>{link.a.device, link.b.device}, true);
  return OkStatus();
}

void CardLinks::Release(uint64_t lease) {
  const auto found = connected_.find(lease);
  if (found == connected_.end()) return;
  std::set<uint32_t> devices;
  for (const LinkConnection& link : found->second) {
    devices.insert({link.a.device, link.b.device});
    thread_.Post([this, link](const Status& stopped) {
      if (!stopped.ok()) return;
      const Status disconnected = Drive(driver_.disconnect, link);
      if (disconnected.ok()) return;
      LogWarning("link {}.{} to {}.{} of a lease that has ended: {}", link.a.device, link.a.channel,
                 link.b.device, link.b.channel, StatusMessage(disconnected));
    });
  }
  thread_.SetLinked(std::vector<uint32_t>(devices.begin(), devices.end()), false);
  connected_.erase(found);
}

}  // namespace ttfd
