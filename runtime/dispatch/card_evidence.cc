// What is known of the commands in flight: by the host's own records, and by the counters of a card that has stopped.
#include <algorithm>
#include <array>
#include <utility>

#include "runtime/base/log.h"
#include "runtime/command/record_text.h"
#include "runtime/dispatch/card_dispatcher.h"
#include "runtime/dispatch/execution_state.h"
#include "runtime/dispatch/firmware_check.h"
#include "runtime/dispatch/pipeline_report.h"
#include "runtime/dispatch/stall_diagnosis.h"
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

HostQueueRecord CardDispatcher::HostRecord(uint32_t hardware_queue) {
  CardQueue& queue = queues_[hardware_queue];
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

std::array<QueueState, kHardwareQueues> CardDispatcher::QueueStates() const {
  std::array<QueueState, kHardwareQueues> states;
  for (uint32_t queue = 0; queue < kHardwareQueues; ++queue) {
    if (queues_[queue].link != nullptr) states[queue] = queues_[queue].state();
  }
  return states;
}

// By the snapshot of a stopped card, which may have been reset since.
ExecutionState CardDispatcher::StateOf(const Ticket& ticket) {
  const uint32_t number = ticket.hardware_queue;
  if (stopped_.has_value()) {
    const QueueState& host = stopped_->hosts[number];
    const auto found = std::ranges::find(host.in_flight, ticket.number, &CommandState::ticket);
    if (found != host.in_flight.end()) {
      const auto& queues = stopped_->card.queues;
      return ttfd::StateOf(number < queues.size() ? &queues[number] : nullptr, host, *found);
    }
  }
  return queues_[number].IsDone(ticket.number) ? ExecutionState::kCompleted
                                               : ExecutionState::kUnknown;
}

StallReport CardDispatcher::Diagnose(uint32_t hardware_queue) {
  if (queues_[hardware_queue].link == nullptr) {
    StallReport report;
    report.hardware_queue = hardware_queue;
    return report;
  }
  return DiagnoseQueue(ReadCard(device_, plans_), hardware_queue, queues_[hardware_queue].state());
}

StallReport CardDispatcher::Diagnose() { return Examine(ReadCard(device_, plans_)); }

// One write to each tile, dispatchers first, which begin launches. A write that fails is tried again behind the others.
Status CardDispatcher::HaltDispatch() {
  Status result = OkStatus();
  const auto halt = [&result](Window& tile) {
    Status halted = OkStatus();
    for (int tries = 0; tries < 2; ++tries) {
      halted = HoldHarts(tile);
      if (halted.ok()) return;
    }
    if (result.ok()) result = halted;
  };
  for (CardQueue& queue : queues_) {
    if (queue.link != nullptr) halt(queue.link->dispatch_tile());
  }
  for (CardQueue& queue : queues_) {
    if (queue.link != nullptr) halt(queue.link->prefetch_tile());
  }
  return result;
}

StallReport CardDispatcher::HaltAndDiagnose() {
  const CardSnapshot running = ReadCard(device_, plans_);
  const Status halted = HaltDispatch();
  if (!halted.ok() && !device_.fault().has_value()) {
    LogWarning("the dispatch tiles of a lost card cannot be halted: {}", StatusMessage(halted));
  }
  CardSnapshot card = ReadCard(device_, plans_);
  // A hart that is halted has no pc.
  for (size_t queue = 0; queue < std::min(card.queues.size(), running.queues.size()); ++queue) {
    card.queues[queue].prefetch.pc = running.queues[queue].prefetch.pc;
    card.queues[queue].dispatch.pc = running.queues[queue].dispatch.pc;
  }
  return Examine(std::move(card));
}

// Damage first: to collect may acknowledge, which overwrites it. What is published has ended, whatever counters show.
StallReport CardDispatcher::Examine(CardSnapshot card) {
  card.damage = FindFirmwareDamage(device_, plans_, card, QueueStates(), firmware_, boot_nonce(),
                                   launches_.kernels().now(), launches_.programs());
  for (CardQueue& queue : queues_)
    if (queue.link != nullptr) queue.Collect().status().IgnoreError();
  const std::array<QueueState, kHardwareQueues> hosts = QueueStates();
  stopped_ = {std::move(card), {hosts.begin(), hosts.end()}};
  StallReport report;
  if (queues_[0].link != nullptr) report = DiagnoseCard(stopped_->card, stopped_->hosts);
  report.harts = ReportPipeline(stopped_->card, code_);
  report.card = SnapshotText(*stopped_);
  return report;
}

}  // namespace ttfd
