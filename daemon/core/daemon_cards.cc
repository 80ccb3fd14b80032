// The cards of the daemon.
#include "daemon/core/daemon_cards.h"

#include <algorithm>
#include <tuple>
#include <utility>

#include "daemon/api/errors.h"

namespace ttfd {

std::string DevicesText(std::span<const uint32_t> devices) {
  if (devices.size() == 1) return fmt::format("device {}", devices.front());
  return fmt::format("devices {} and {}", fmt::join(devices.first(devices.size() - 1), ", "),
                     devices.back());
}

DaemonCard::DaemonCard(uint32_t device, const ServedCard& served, KernelStore& kernels,
                       const KernelTimes& times, const SchedulerOptions& options)
    : schedulers{Scheduler(options, &gate), Scheduler(options, &gate)},
      resources{
          device,
          served.card->description(),
          served.card->geometry(),
          times,
          {served.card->description(), served.card->device_info().memory_is_zero_after_power_on,
           served.card->kernel_bounds()},
          kernels,
          served.neighbours} {}

void DaemonCards::Add(std::vector<ServedCard> cards, SchedulerOptions options,
                      const KernelTimes& times, DeviceThread& thread) {
  std::vector<DeviceReply> devices;
  for (ServedCard& card : cards) {
    const auto number = static_cast<uint32_t>(cards_.size());
    options.workers = card.card->geometry().worker_count();
    cards_.push_back(std::make_unique<DaemonCard>(number, card, kernels_, times, options));
    DaemonCard& added = *cards_.back();
    resources_.push_back(&added.resources);
    devices.push_back(
        {number, card.card->device_info(), card.card->description(), card.behind, card.neighbours});
    added.executor = &thread.Add(std::move(card), {&added.schedulers[0], &added.schedulers[1]});
  }
  devices_ = std::make_shared<const std::vector<DeviceReply>>(std::move(devices));
}

Status DaemonCards::Check(uint32_t device, const char* field) const {
  return device < size() ? OkStatus() : ToStatus(NoDeviceError(field, device, size()));
}

Status DaemonCards::CheckWorks(uint32_t device) const {
  const DaemonCard& card = *cards_[device];
  if (card.health.state() != DeviceState::kFailed) return OkStatus();
  return DeviceResetStatus(card.health.LastError(card.executor->stats().launches));
}

StatusOr<std::vector<uint32_t>> DaemonCards::LeasedDevices(const LeaseRequest& lease,
                                                           uint32_t device) const {
  if (lease.devices.empty()) return std::vector<uint32_t>{device};
  if (lease.devices.size() > size()) {
    return ToStatus(InvalidError("hello.lease.devices", "{} devices; the daemon serves {}",
                                 lease.devices.size(), size()));
  }
  std::vector<uint32_t> devices = lease.devices;
  std::sort(devices.begin(), devices.end());
  if (std::adjacent_find(devices.begin(), devices.end()) != devices.end()) {
    return ToStatus(InvalidError("hello.lease.devices", "a device is named twice"));
  }
  for (const uint32_t one : devices) {
    RETURN_IF_ERROR(Check(one, "hello.lease.devices"));
    RETURN_IF_ERROR(CheckWorks(one));
  }
  if (!std::binary_search(devices.begin(), devices.end(), device)) {
    return ToStatus(InvalidError("hello.device", "device {}; the lease is of {}", device,
                                 DevicesText(devices)));
  }
  std::vector<uint32_t> reached{devices.front()};
  for (size_t i = 0; i < reached.size(); ++i) {
    for (const Neighbour& link : cards_[reached[i]]->resources.neighbours) {
      const bool leased = std::binary_search(devices.begin(), devices.end(), link.device);
      const bool seen = std::find(reached.begin(), reached.end(), link.device) != reached.end();
      if (leased && !seen && !link.system) reached.push_back(link.device);
    }
  }
  for (const uint32_t one : devices) {
    if (std::find(reached.begin(), reached.end(), one) != reached.end()) continue;
    return ToStatus(MakeError(StatusCode::kFailedPrecondition, reason::kInvalid,
                              "hello.lease.devices",
                              "no links that kernels can use lead from device {} to device {} over "
                              "devices of the lease",
                              devices.front(), one));
  }
  return devices;
}

StatusOr<uint32_t> DaemonCards::Choose(const std::optional<uint32_t>& named,
                                       std::span<const DeviceLoad> loads) const {
  if (named.has_value()) {
    RETURN_IF_ERROR(Check(*named, "hello.device"));
    RETURN_IF_ERROR(CheckWorks(*named));
    return *named;
  }
  // Whether it is repaired, or leased as a whole; users; sessions; number.
  std::optional<std::tuple<bool, bool, size_t, size_t, uint32_t>> best;
  for (uint32_t device = 0; device < size(); ++device) {
    const DaemonCard& card = *cards_[device];
    if (!CheckWorks(device).ok()) continue;
    const std::tuple one{card.health.state() != DeviceState::kReady, card.gate.whole(),
                         loads[device].other_users.size(), loads[device].own, device};
    best = best.has_value() ? std::min(*best, one) : one;
  }
  if (!best.has_value()) return CheckWorks(0);
  return std::get<4>(*best);
}

void DaemonCards::RemoveSession(uint64_t session) {
  for (const auto& card : cards_) {
    for (Scheduler& scheduler : card->schedulers) scheduler.RemoveSession(session);
  }
}

void DaemonCards::Charge(uint64_t session, Duration time) {
  for (const auto& card : cards_) {
    for (Scheduler& scheduler : card->schedulers) scheduler.Charge(session, time);
  }
}

void DaemonCards::NextSliceChanged(SessionQueue& queue) {
  cards_[queue.card->device]->schedulers[queue.route.hardware_queue].NextSliceChanged(queue);
}

}  // namespace ttfd
