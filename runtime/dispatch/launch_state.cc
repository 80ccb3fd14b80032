// Everything about launches that outlasts one of them.
#include "runtime/dispatch/launch_state.h"

#include <algorithm>

#include "runtime/abi/l1_map.h"

namespace ttfd {

LaunchState::LaunchState(const CardGeometry& card, Ordering& ordering)
    : card_(card),
      ordering_(ordering),
      cache_(abi::kKernelCacheAddress, abi::kKernelCacheBytes),
      config_(abi::kConfigRingAddress, abi::kConfigRingBytes) {}

void LaunchState::Clear() {
  cache_.Clear();
  config_.Clear();
  go_.Clear();
  launches_ = 0;
  slot_busy_workers_.fill(0);
}

Status LaunchState::Launch(const LaunchCommand& command, RecordSink& sink) {
  const Program& program = *command.program;
  const LaunchConfig config = LayOutConfig(program, command.arguments);
  LaunchPlacement placement;
  placement.slot = static_cast<uint32_t>(launches_ % abi::kLaunchSlots);
  uint64_t wait_workers = 0;
  if (slot_busy_workers_[placement.slot] > ordering_.waited_workers()) {
    // The slot's last launch must have ended. Waiting for half of the slots at once makes it one
    // wait in four launches and still leaves four to run while more are placed.
    wait_workers = slot_busy_workers_[(launches_ + abi::kLaunchSlots / 2 - 1) % abi::kLaunchSlots];
  }
  KernelCache::Placement images = cache_.Place(program);
  placement.images = std::move(images.images);
  wait_workers = std::max(wait_workers, images.wait_workers);
  if (config.bytes > 0) {
    const ConfigRing::Block block = config_.Take(config.bytes);
    placement.config_address = block.address;
    wait_workers = std::max(wait_workers, block.wait_workers);
  } else {
    placement.config_address = abi::kConfigRingAddress;
  }
  RETURN_IF_ERROR(ordering_.WaitForWorkers(sink, wait_workers));

  RETURN_IF_ERROR(EncodeImages(program, placement, card_, sink));
  RETURN_IF_ERROR(
      EncodeConfig(program, command.arguments, config, placement.config_address, card_, sink));
  RETURN_IF_ERROR(EncodeLaunchMessages(program, config, placement, card_, sink));

  worker_xy_.clear();
  if (program.workers.size() <= kMaxUnicastGoTargets) {
    for (const uint16_t worker : program.workers) worker_xy_.push_back(card_.WorkerXy(worker));
  } else {
    worker_xy_.resize(program.workers.size());
  }
  const GoPlan go = go_.Plan(worker_xy_);
  RETURN_IF_ERROR(EncodeGo(go, placement.slot, ordering_.launched_workers(), card_, sink));
  ordering_.Launched(go.multicast ? card_.worker_count() : go.count);

  const uint64_t ended = ordering_.launched_workers();
  slot_busy_workers_[placement.slot] = ended;
  cache_.Used(program, ended);
  if (config.bytes > 0) config_.Used(ended);
  ++launches_;
  return OkStatus();
}

}  // namespace ttfd
