// Connects and disconnects links between rounds of the device thread.
#include "daemon/core/card_links.h"

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
  ConnectNext(
      std::make_shared<Connecting>(Connecting{lease, std::move(links), 0, 0, std::move(done)}));
}

void CardLinks::ConnectNext(std::shared_ptr<Connecting> all) {
  thread_.Post([this, all = std::move(all)](const Status& stopped) {
    const Status connected = stopped.ok() ? ConnectOneOf(*all) : stopped;
    if (!connected.ok() || all->next == all->links.size()) return all->done(connected);
    ConnectNext(all);
  });
}

Status CardLinks::ConnectOneOf(Connecting& all) {
  const uint64_t lost = leases_[all.lease].lost;
  if (all.next == 0) all.lost = lost;
  if (lost != all.lost) {
    return DeviceResetStatus("a device was reset while its links were connected");
  }
  return Connect(all.lease, all.links[all.next++]);
}

Status CardLinks::CheckIdle(uint32_t device) const {
  const DaemonCard& card = cards_.at(device);
  RETURN_IF_ERROR(cards_.CheckWorks(device));
  if (card.health.state() != DeviceState::kReady || card.executor->stopped()) {
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
  LeaseLinks& links = leases_[lease];
  std::vector<LinkConnection>& connected = links.connected;
  for (auto old = connected.begin(); old != connected.end();) {
    if (!Overlap(*old, link)) {
      ++old;
      continue;
    }
    RETURN_IF_ERROR(Drive(driver_.disconnect, *old));
    old = connected.erase(old);
  }
  connected.push_back(link);
  links.devices.insert({link.a.device, link.b.device});
  RETURN_IF_ERROR(Drive(driver_.connect, link));
  thread_.SetLinked(std::vector<uint32_t>{link.a.device, link.b.device}, true);
  return OkStatus();
}

void CardLinks::Disconnect(const LinkConnection& link, const char* why) const {
  const Status disconnected = Drive(driver_.disconnect, link);
  if (disconnected.ok()) return;
  LogWarning("link {}.{} to {}.{} {}: {}", link.a.device, link.a.channel, link.b.device,
             link.b.channel, why, StatusMessage(disconnected));
}

void CardLinks::CardIsReset(uint32_t device) {
  const auto runs = [this](uint32_t other) {
    CardExecutor& executor = *cards_.at(other).executor;
    return executor.runs_kernels() && !executor.stopped();
  };
  for (auto& [lease, links] : leases_) {
    links.lost += std::erase_if(links.connected, [&](const LinkConnection& link) {
      if (link.a.device != device && link.b.device != device) return false;
      if (runs(link.a.device == device ? link.b.device : link.a.device)) return false;
      Disconnect(link, "of a card that is reset");
      return true;
    });
  }
}

void CardLinks::Release(uint64_t lease) {
  const auto found = leases_.find(lease);
  if (found == leases_.end()) return;
  for (const LinkConnection& link : found->second.connected) {
    thread_.Post([this, link](const Status& stopped) {
      if (stopped.ok()) Disconnect(link, "of a lease that has ended");
    });
  }
  const std::set<uint32_t>& devices = found->second.devices;
  thread_.SetLinked(std::vector<uint32_t>(devices.begin(), devices.end()), false);
  leases_.erase(found);
}

}  // namespace ttfd
