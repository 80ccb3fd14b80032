// Slices and the exchange of packets between them.
#include "runtime/sim/cluster.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "runtime/sim/ethernet_tile.h"
#include "runtime/sim/scheduler.h"

namespace ttfd::sim {

StatusOr<std::unique_ptr<Cluster>> Cluster::Create(const ClusterOptions& options) {
  RETURN_IF_ERROR(Validate(options.topology, options.chip.ethernet_channels));
  if (options.latency == 0 || options.latency > kMostLatency) {
    return InvalidArgument("a link takes 1 to {} clocks, not {}", kMostLatency, options.latency);
  }
  if (options.threads == 0 || options.threads > kMostThreads) {
    return InvalidArgument("{} threads: 1 to {} are possible", options.threads, kMostThreads);
  }
  std::unique_ptr<Cluster> cluster(new Cluster(options));
  for (uint32_t i = 0; i < options.topology.chips; ++i) {
    ChipOptions chip = options.chip;
    chip.serial += i;
    chip.hazards.seed += i;
    ASSIGN_OR_RETURN(std::unique_ptr<Chip> created, Chip::Create(chip));
    cluster->chips_.push_back(std::move(created));
  }
  cluster->owners_.resize(cluster->size());
  for (const ChipLink& link : options.topology.links) cluster->Connect(link);
  if (cluster->threads_ > 1) cluster->StartHelpers();
  return cluster;
}

Cluster::Cluster(const ClusterOptions& options)
    : slice_(options.latency), threads_(std::min(options.threads, options.topology.chips)) {}

Cluster::Cluster(std::unique_ptr<Chip> chip) { chips_.push_back(std::move(chip)); }

Cluster::~Cluster() {
  if (helpers_ == nullptr) return;
  helpers_->stop = true;
  helpers_->start.arrive_and_wait();
  for (std::thread& thread : helpers_->threads) thread.join();
}

void Cluster::StartHelpers() {
  helpers_ = std::make_unique<Helpers>(threads_);
  for (uint32_t thread = 1; thread < threads_; ++thread) {
    helpers_->threads.emplace_back([this, thread] {
      for (;;) {
        helpers_->start.arrive_and_wait();
        if (helpers_->stop) return;
        RunShare(thread);
        helpers_->end.arrive_and_wait();
      }
    });
  }
}

void Cluster::Connect(const ChipLink& link) {
  EthernetTile& a = *chip(link.a.chip).FindEthernet(link.a.channel);
  EthernetTile& b = *chip(link.b.chip).FindEthernet(link.b.channel);
  a.Connect(b, LinkEndText(link.b), slice_);
  b.Connect(a, LinkEndText(link.a), slice_);
}

StatusOr<Chip::Progress> Cluster::Advance(uint32_t index, uint64_t clocks) {
  if (size() == 1) return chips_.front()->Advance(clocks);
  Owner& owner = owners_[index];
  // One who has not called for long has not stopped time: the next call but one runs the cluster.
  owner.clock = std::max(owner.clock, now_ - std::min(now_, clocks + slice_));
  const uint64_t start = owner.clock;
  const uint64_t target = start + std::min(clocks, std::numeric_limits<uint64_t>::max() - start);
  while (now_ < target && owner.fault.ok()) {
    if (running_.empty()) {
      const uint64_t begin = NextSlice();
      // Time passes up to what this owner has asked for, and no further.
      if (begin != kNever && begin >= target) now_ = target;
      if (begin >= target) break;
      BeginSlice(begin);
    }
    if (!RunSlice()) break;
  }
  CatchUp();
  owner.clock = std::max(start, std::min(target, now_));
  if (!owner.fault.ok()) return std::exchange(owner.fault, OkStatus());
  return Chip::Progress{owner.clock - start, IsIdle(), false};
}

uint64_t Cluster::NextSlice() {
  uint64_t next = kNever;
  for (const auto& chip : chips_) Exchange(*chip);
  for (const auto& chip : chips_) next = std::min(next, chip->NextWork());
  return std::max(now_, next);
}

void Cluster::BeginSlice(uint64_t begin) {
  slice_end_ = begin + (HostDrivesLink(begin) ? std::min(slice_, kHostSlice) : slice_);
  for (uint32_t i = 0; i < size(); ++i) {
    if (chips_[i]->NextWork() >= slice_end_) continue;
    running_.push_back(i);
  }
}

bool Cluster::HostDrivesLink(uint64_t clock) const {
  const uint64_t since = clock - std::min(clock, uint64_t{4} * slice_ + kHostPause);
  return std::any_of(chips_.begin(), chips_.end(), [since](const std::unique_ptr<Chip>& chip) {
    return chip->host_link_clock().value_or(0) > since;
  });
}

bool Cluster::RunSlice() {
  if (helpers_ != nullptr && running_.size() > 1) {
    helpers_->start.arrive_and_wait();
    RunShare(0);
    helpers_->end.arrive_and_wait();
  } else {
    for (const uint32_t index : running_) RunChip(index);
  }
  std::erase_if(running_, [this](uint32_t index) {
    return chips_[index]->clock() >= slice_end_ || chips_[index]->NextWork() >= slice_end_;
  });
  if (!running_.empty()) return false;
  now_ = slice_end_;
  return true;
}

void Cluster::RunShare(uint32_t thread) {
  for (size_t i = thread; i < running_.size(); i += threads_) RunChip(running_[i]);
}

void Cluster::RunChip(uint32_t index) {
  Chip& chip = *chips_[index];
  if (chip.clock() < now_) chip.Idle(now_ - chip.clock());
  while (chip.clock() < slice_end_) {
    const uint64_t wanted = slice_end_ - chip.clock();
    const StatusOr<Chip::Progress> progress = chip.Advance(wanted);
    if (!progress.ok()) {
      if (owners_[index].fault.ok()) owners_[index].fault = progress.status();
      continue;
    }
    if (progress->clocks < wanted) return;  // idle, or it has done enough for one call
  }
}

void Cluster::Exchange(Chip& chip) {
  for (EthernetTile& tile : chip.ethernet()) tile.HandOver();
}

bool Cluster::IsIdle() const {
  return running_.empty() &&
         std::all_of(chips_.begin(), chips_.end(), [](const std::unique_ptr<Chip>& chip) {
           return chip->NextWork() == kNever &&
                  std::none_of(chip->ethernet().begin(), chip->ethernet().end(),
                               [](const EthernetTile& tile) { return tile.has_sent(); });
         });
}

void Cluster::CatchUp() {
  for (const auto& chip : chips_) {
    if (chip->clock() < now_) chip->Idle(now_ - chip->clock());
  }
}

Status Cluster::Reset(uint32_t index) {
  for (const auto& chip : chips_) Exchange(*chip);
  RETURN_IF_ERROR(chips_[index]->Reset());
  if (size() == 1) return OkStatus();
  owners_[index].fault = OkStatus();
  std::erase(running_, index);
  CatchUp();
  return OkStatus();
}

}  // namespace ttfd::sim
