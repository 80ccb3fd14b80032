// Reads a card and says what it shows, with the host's own records of it.
#include "runtime/card/card_inspector.h"

#include <algorithm>
#include <array>
#include <utility>

#include "runtime/abi/kernel_image.h"
#include "runtime/base/log.h"
#include "runtime/card/firmware_check.h"
#include "runtime/card/pipeline_report.h"
#include "runtime/card/stall_diagnosis.h"
#include "runtime/command/record_text.h"
#include "runtime/hw/tensix.h"

namespace ttfd {
namespace {

// Entries of one hardware queue that a report decodes, the oldest first: those at work are among them.
constexpr size_t kDecodedEntries = 256;

// A line for the entry and one for each of its commands.
void AddRecords(uint32_t number, ByteSpan bytes, std::vector<std::string>* lines) {
  lines->push_back(fmt::format("entry {}: {} bytes", number, bytes.size()));
  const auto commands = DecodeEntry(bytes);
  if (!commands.ok()) {
    lines->push_back(fmt::format("  {}", StatusMessage(commands.status())));
    return;
  }
  for (const DecodedCommand& command : *commands) {
    lines->push_back("  " + FormatCommand(command));
  }
}

// The write has arrived when it returns: a read through the same window waits for it.
Status HoldHarts(Window& tile) {
  RETURN_IF_ERROR(WriteWord(tile, hw::kSoftReset0, hw::kSoftResetAllHarts));
  return ReadWord(tile, hw::kSoftReset0).status();
}

}  // namespace

HostQueueRecord CardInspector::HostRecord(uint32_t hardware_queue) {
  CardQueue& queue = parts_.queues[hardware_queue];
  HostQueueRecord record;
  record.submitted = queue.timeline.submitted();
  record.completed = queue.completed();
  if (queue.link == nullptr) return record;
  const IssueRing& ring = queue.link->ring();
  record.entries_announced = ring.entries_closed();
  record.entries_done = queue.entries_done();
  const std::vector<IssueRing::Entry> entries = ring.EntriesFrom(record.entries_done);
  record.entries_lost =
      record.entries_announced - record.entries_done - static_cast<uint32_t>(entries.size());
  const size_t decoded = std::min(entries.size(), kDecodedEntries);
  record.entries_left_out = static_cast<uint32_t>(entries.size() - decoded);
  for (const CardQueue::Pending& launch : queue.pending()) {
    for (const auto& [number, bytes] : launch.records) AddRecords(number, bytes, &record.records);
  }
  for (size_t i = 0; i < decoded; ++i) {
    AddRecords(entries[i].number, entries[i].bytes, &record.records);
  }
  return record;
}

std::array<QueueState, kHardwareQueues> CardInspector::QueueStates() const {
  std::array<QueueState, kHardwareQueues> states;
  for (uint32_t queue = 0; queue < kHardwareQueues; ++queue) {
    if (parts_.queues[queue].link != nullptr) states[queue] = parts_.queues[queue].state();
  }
  return states;
}

StatusOr<uint64_t> CardInspector::LookAt(uint32_t hardware_queue) {
  if (hardware_queue >= kHardwareQueues) {
    return InvalidArgument("hardware queue {}; there are {}", hardware_queue, kHardwareQueues);
  }
  ASSIGN_OR_RETURN(const QueueSnapshot queue,
                   ReadQueue(parts_.device, parts_.plans[hardware_queue]));
  return ProgressFingerprint({&queue, 1});
}

StallReport CardInspector::Diagnose(uint32_t hardware_queue) {
  if (parts_.queues[hardware_queue].link == nullptr) {
    StallReport report;
    report.hardware_queue = hardware_queue;
    return report;
  }
  return DiagnoseQueue(ReadCard(parts_.device, parts_.plans), hardware_queue,
                       parts_.queues[hardware_queue].state());
}

std::vector<HartReport> CardInspector::Harts() {
  return ReportPipeline(ReadCard(parts_.device, parts_.plans), parts_.code);
}

std::vector<ResidentKernel> CardInspector::Kernels() const {
  constexpr uint32_t kHeader = sizeof(abi::KernelImageHeader);
  std::vector<ResidentKernel> kernels;
  for (const KernelCache::HeldImage& held : parts_.launches.kernels()->Images()) {
    const auto bytes = static_cast<uint32_t>(held.image->bytes.size());
    kernels.push_back(
        {held.image->name, held.address + kHeader, bytes - kHeader, held.tiles.count()});
  }
  return kernels;
}

Status CardInspector::StartProfile(const ProfileOptions& options) {
  if (profile_ != nullptr) {
    return Error(StatusCode::kFailedPrecondition, "a profile is being taken; one at a time");
  }
  ASSIGN_OR_RETURN(profile_,
                   Profile::Start(parts_.device, parts_.clock, parts_.plans, parts_.code, options));
  return OkStatus();
}

ProfileResult CardInspector::StopProfile() {
  if (profile_ == nullptr) return {};
  ProfileResult result = profile_->Finish();
  profile_.reset();
  return result;
}

// One write to each tile, dispatchers first, which begin launches. A write that fails is tried again behind the others.
Status CardInspector::HoldDispatchTiles() {
  Status result = OkStatus();
  const auto hold = [&result](Window& tile) {
    Status held = OkStatus();
    for (int tries = 0; tries < 2; ++tries) {
      held = HoldHarts(tile);
      if (held.ok()) return;
    }
    if (result.ok()) result = held;
  };
  for (CardQueue& queue : parts_.queues) {
    if (queue.link != nullptr) hold(queue.link->dispatch_tile());
  }
  for (CardQueue& queue : parts_.queues) {
    if (queue.link != nullptr) hold(queue.link->prefetch_tile());
  }
  return result;
}

CardSnapshot CardInspector::Halt() {
  const CardSnapshot running = ReadCard(parts_.device, parts_.plans);
  const Status held = HoldDispatchTiles();
  if (!held.ok() && !parts_.device.fault().has_value()) {
    LogWarning("the dispatch tiles of a lost card cannot be halted: {}", StatusMessage(held));
  }
  CardSnapshot card = ReadCard(parts_.device, parts_.plans);
  for (size_t queue = 0; queue < std::min(card.queues.size(), running.queues.size()); ++queue) {
    card.queues[queue].prefetch.pc = running.queues[queue].prefetch.pc;
    card.queues[queue].dispatch.pc = running.queues[queue].dispatch.pc;
  }
  return card;
}

// Damage first: to collect may acknowledge, which overwrites it. What is published has ended, whatever counters show.
StallReport CardInspector::Examine(CardSnapshot card, uint32_t boot_nonce, StoppedCard* stopped) {
  card.damage =
      FindFirmwareDamage(parts_.device, parts_.plans, card, QueueStates(), parts_.firmware,
                         boot_nonce, parts_.launches.kernels().now(), parts_.launches.programs());
  for (CardQueue& queue : parts_.queues) {
    if (queue.link != nullptr) queue.Collect().status().IgnoreError();
  }
  const std::array<QueueState, kHardwareQueues> hosts = QueueStates();
  StoppedCard shown = {std::move(card), {hosts.begin(), hosts.end()}};
  StallReport report;
  if (parts_.queues[0].link != nullptr) report = DiagnoseCard(shown.card, shown.hosts);
  report.harts = ReportPipeline(shown.card, parts_.code);
  report.card = SnapshotText(shown);
  if (stopped != nullptr) *stopped = std::move(shown);
  return report;
}

}  // namespace ttfd
