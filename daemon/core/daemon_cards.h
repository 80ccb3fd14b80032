// The cards of the daemon, each with what orders, shares and describes its work.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "daemon/api/reply.h"
#include "daemon/card/card_executor.h"
#include "daemon/card/device_thread.h"
#include "daemon/card/lease_gate.h"
#include "daemon/card/scheduler.h"
#include "daemon/core/device_health.h"
#include "daemon/session/card_resources.h"
#include "runtime/base/clock.h"

namespace ttfd {

// "device 1" or "devices 0 and 1".
std::string DevicesText(std::span<const uint32_t> devices);

struct DaemonCard {
  DaemonCard(uint32_t device, const ServedCard& served, KernelStore& kernels,
             const KernelTimes& times, const SchedulerOptions& options);

  LeaseGate gate;
  std::array<Scheduler, kHardwareQueues> schedulers;  // device thread
  CardResources resources;
  DeviceHealth health;
  CardExecutor* executor = nullptr;  // of the device thread
};

// Sessions on a device, as those of a user who opens another see them. A user who opens many does not keep others off.
struct DeviceLoad {
  std::set<uint32_t> other_users;
  size_t own = 0;  // sessions
};

// Constant once the daemon is made, but for what is thread-safe by itself or belongs to the device thread.
class DaemonCards {
 public:
  DaemonCards(uint64_t kernel_store_bytes, KernelLoader loader)
      : kernels_(kernel_store_bytes, std::move(loader)) {}

  // Has `thread` run the cards; this outlives the thread. Once.
  void Add(std::vector<ServedCard> cards, SchedulerOptions options, const KernelTimes& times,
           DeviceThread& thread);

  size_t size() const { return cards_.size(); }
  DaemonCard& at(uint32_t device) { return *cards_[device]; }
  const std::vector<std::unique_ptr<DaemonCard>>& all() const { return cards_; }
  std::span<CardResources* const> resources() const { return resources_; }
  // Descriptions for clients.
  const std::shared_ptr<const std::vector<DeviceReply>>& devices() const { return devices_; }
  // The device of a new session: the one that it names, else that with the least load. One that works and is not leased
  // as a whole comes first.
  StatusOr<uint32_t> Choose(const std::optional<uint32_t>& named,
                            std::span<const DeviceLoad> loads) const;
  // UNAVAILABLE: the device is lost.
  Status CheckWorks(uint32_t device) const;
  // The devices of a new lease, ascending; `device`, the session's, is one of them. Those of several are connected by
  // links that kernels can use.
  StatusOr<std::vector<uint32_t>> LeasedDevices(const LeaseRequest& lease, uint32_t device) const;
  // NOT_FOUND, naming the field: there is no such device.
  Status Check(uint32_t device, const char* field) const;

  // ---- Device thread.

  void RemoveSession(uint64_t session);
  // The session has used so much of the device thread's time for its input.
  void Charge(uint64_t session, Duration time);
  void NextSliceChanged(SessionQueue& queue);

 private:
  KernelStore kernels_;
  std::vector<std::unique_ptr<DaemonCard>> cards_;  // by number
  std::vector<CardResources*> resources_;           // of them
  std::shared_ptr<const std::vector<DeviceReply>> devices_;
};

}  // namespace ttfd
