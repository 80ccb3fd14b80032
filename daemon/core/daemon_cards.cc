// The cards of the daemon.
#include "daemon/core/daemon_cards.h"

#include <algorithm>
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

void DaemonCards::Add(ServedCard card, SchedulerOptions options, const KernelTimes& times,
                      DeviceThread& thread) {
  options.workers = card.card->geometry().worker_count();
  cards_.push_back(std::make_unique<DaemonCard>(static_cast<uint32_t>(cards_.size()), *card.card,
                                                kernels_, times, options));
  DaemonCard& added = *cards_.back();
  resources_.push_back(&added.resources);
  added.executor = &thread.Add(std::move(card), {&added.schedulers[0], &added.schedulers[1]});
}

std::vector<DeviceReply> DaemonCards::Devices() const {
  std::vector<DeviceReply> devices;
  for (const auto& card : cards_) {
    const CardExecutor& executor = *card->executor;
    devices.push_back({executor.device(), executor.device_info(), card->resources.description,
                       executor.behind()});
  }
  return devices;
}

Status DaemonCards::Check(uint32_t device, const char* field) const {
  return device < size() ? OkStatus() : ToStatus(NoDeviceError(field, device, size()));
}

StatusOr<uint32_t> DaemonCards::Choose(const std::optional<uint32_t>& named,
                                       std::span<const size_t> sessions) const {
  const auto failure = [](const DaemonCard& card) {
    if (card.health.state() != DeviceState::kFailed) return OkStatus();
    return DeviceResetStatus(card.health.LastError(card.executor->stats().launches));
  };
  if (named.has_value()) {
    RETURN_IF_ERROR(Check(*named, "hello.device"));
    RETURN_IF_ERROR(failure(*cards_[*named]));
    return *named;
  }
  using Load = std::pair<bool, size_t>;  // leased as a whole; sessions
  std::optional<std::pair<Load, uint32_t>> best;
  for (uint32_t device = 0; device < size(); ++device) {
    if (!failure(*cards_[device]).ok()) continue;
    const std::pair<Load, uint32_t> one{{cards_[device]->gate.whole(), sessions[device]}, device};
    best = best.has_value() ? std::min(*best, one) : one;
  }
  if (!best.has_value()) return failure(*cards_.front());
  return best->second;
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
