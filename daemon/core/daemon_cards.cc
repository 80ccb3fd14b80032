// The cards of the daemon.
#include "daemon/core/daemon_cards.h"

#include <algorithm>
#include <tuple>
#include <utility>

#include "daemon/api/errors.h"

namespace ttfd {

DaemonCard::DaemonCard(uint32_t device, const Card& card, KernelStore& kernels,
                       const KernelTimes& times, const SchedulerOptions& options)
    : schedulers{Scheduler(options, &gate), Scheduler(options, &gate)},
      resources{device,
                card.description(),
                card.geometry(),
                times,
                {card.description(), card.device_info().memory_is_zero_after_power_on,
                 card.kernel_bounds()},
                kernels} {}

void DaemonCards::Add(std::vector<ServedCard> cards, SchedulerOptions options,
                      const KernelTimes& times, DeviceThread& thread) {
  std::vector<DeviceReply> devices;
  for (ServedCard& card : cards) {
    const auto number = static_cast<uint32_t>(cards_.size());
    options.workers = card.card->geometry().worker_count();
    cards_.push_back(std::make_unique<DaemonCard>(number, *card.card, kernels_, times, options));
    DaemonCard& added = *cards_.back();
    resources_.push_back(&added.resources);
    devices.push_back({number, card.card->device_info(), card.card->description(), card.behind});
    added.executor = &thread.Add(std::move(card), {&added.schedulers[0], &added.schedulers[1]});
  }
  devices_ = std::make_shared<const std::vector<DeviceReply>>(std::move(devices));
}

Status DaemonCards::Check(uint32_t device, const char* field) const {
  return device < size() ? OkStatus() : ToStatus(NoDeviceError(field, device, size()));
}

StatusOr<uint32_t> DaemonCards::Choose(const std::optional<uint32_t>& named,
                                       std::span<const DeviceLoad> loads) const {
  const auto failure = [](const DaemonCard& card) {
    if (card.health.state() != DeviceState::kFailed) return OkStatus();
    return DeviceResetStatus(card.health.LastError(card.executor->stats().launches));
  };
  if (named.has_value()) {
    RETURN_IF_ERROR(Check(*named, "hello.device"));
    RETURN_IF_ERROR(failure(*cards_[*named]));
    return *named;
  }
  // Whether it is repaired, or leased as a whole; users; sessions; number.
  std::optional<std::tuple<bool, bool, size_t, size_t, uint32_t>> best;
  for (uint32_t device = 0; device < size(); ++device) {
    const DaemonCard& card = *cards_[device];
    if (!failure(card).ok()) continue;
    const std::tuple one{card.health.state() != DeviceState::kReady, card.gate.whole(),
                         loads[device].other_users.size(), loads[device].own, device};
    best = best.has_value() ? std::min(*best, one) : one;
  }
  if (!best.has_value()) return failure(*cards_.front());
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
