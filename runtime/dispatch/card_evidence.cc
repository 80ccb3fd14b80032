// What is known of the commands in flight: by the host's own records, and by the counters of a card that has stopped.
#include <algorithm>
#include <array>
#include <utility>

#include "runtime/abi/control_block.h"
#include "runtime/abi/hart_status.h"
#include "runtime/abi/host_queue.h"
#include "runtime/abi/l1_map.h"
#include "runtime/abi/rings.h"
#include "runtime/base/log.h"
#include "runtime/boot/hart_state.h"
#include "runtime/command/record_text.h"
#include "runtime/dispatch/card_dispatcher.h"
#include "runtime/dispatch/pipeline_report.h"
#include "runtime/dispatch/stall_diagnosis.h"
#include "runtime/hw/stream.h"
#include "runtime/hw/tensix.h"

namespace ttfd {
namespace {

// Entries of one hardware queue that a report decodes, the oldest first: those at work are among them.
constexpr size_t kDecodedEntries = 256;

// Tiles of which a report says that their firmware was overwritten.
constexpr size_t kNamedDamages = 4;

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

std::vector<StreamCount> CardDispatcher::CountStreams() {
  std::vector<StreamCount> counts;
  for (uint32_t number = 0; number < kHardwareQueues; ++number) {
    CardQueue& queue = queues_[number];
    if (queue.link == nullptr) continue;
    for (uint32_t stream = 0; stream < abi::kMaxSubDevices; ++stream) {
      const uint64_t expected = queue.ordering->launched_workers(stream);
      if (expected == 0) continue;
      const auto shows =
          ReadWord(queue.link->dispatch_tile(),
                   hw::StreamRegister(abi::kFirstWorkerStream + stream, hw::kStreamSpaceAvailable));
      if (!shows.ok()) continue;
      seen_[number].streams[stream] = *shows;
      counts.push_back({number, abi::kFirstWorkerStream + stream, expected,
                        queue.ordering->OnWire(stream, expected) & hw::kStreamCounterMask, *shows});
    }
  }
  return counts;
}

void CardDispatcher::SampleDispatchTiles() {
  for (uint32_t number = 0; number < kHardwareQueues; ++number) {
    CardQueue& queue = queues_[number];
    if (queue.link == nullptr) continue;
    Window& tile = queue.link->dispatch_tile();
    constexpr uint32_t kStaging =
        abi::kControlBlockAddress + offsetof(abi::ControlBlock, completion_staging);
    const auto published = ReadWord(tile, kStaging + offsetof(abi::CompletionPointer, last_event));
    if (published.ok()) seen_[number].published_event = *published;
    const StatusOr<TileStatus> status = ReadTileStatus(tile);
    if (!status.ok()) continue;
    const abi::HartStatus& dispatch_s = (*status)[hw::kNcrisc];
    if (dispatch_s.waypoint == abi::kWaypointNotify ||
        dispatch_s.waypoint == abi::kWaypointWorkers) {
      seen_[number].held_go = {dispatch_s.wait_stream, dispatch_s.wait_count};
    }
  }
}

// What the host has received counts where the tile cannot be read. A word that no event explains proves nothing.
bool CardDispatcher::HasPassedEvent(uint32_t hardware_queue, uint32_t event) const {
  const CardQueue& queue = queues_[hardware_queue];
  const uint32_t received = queue.timeline.due() - 1;
  const uint32_t encoded = queue.timeline.next_event() - 1;
  const uint32_t published = seen_[hardware_queue].published_event.value_or(received);
  if (published - received > encoded - received) return true;
  return abi::CounterReached(published, event);
}

// By the last sample of a stopped card, which may have been reset since: that clears the counters.
//
// The dispatcher executes its commands in order, and no go signal is sent without its NOTIFY: what was submitted after
// an event that the dispatcher has not published has not begun, nor has the launch whose go signal dispatch_s holds.
//
// A launch is sent when its predecessors on the stream have completed: the stream's counter shows whether it may have
// begun, and when all its workers have completed that it has ended; no more completions are outstanding than it tells
// apart (TrySubmit). A trace clears the counter. The counter then shows
// nothing of earlier launches, and of the trace itself and of later ones only once an event has shown that it was
// cleared; but a counter below the launch's begin says in both cases that it has not begun.
Standing CardDispatcher::StandingOf(const Ticket& ticket) {
  CardQueue& queue = queues_[ticket.hardware_queue];
  const CardQueue::Pending* const one = queue.Find(ticket.number);
  if (one == nullptr) {
    return queue.IsDone(ticket.number) ? Standing::kEnded : Standing::kUnclear;
  }
  if (!HasPassedEvent(ticket.hardware_queue, one->event_before)) return Standing::kNotBegun;
  const Seen& seen = seen_[ticket.hardware_queue];
  if (!seen.entries) return Standing::kUnclear;
  const uint32_t freed = queue.link->ring().entries_freed();
  if (abi::CounterReached(one->first_entry, freed)) return Standing::kNotBegun;
  if (one->behind == one->before) return Standing::kUnclear;
  const uint64_t base = queue.ordering->base(one->stream);
  const bool cleared = queue.ordering->Cleared(one->stream);
  if (one->before < base || (one->before == base && !cleared)) return Standing::kUnclear;
  const std::optional<uint32_t> shows = seen.streams[one->stream];
  if (!shows.has_value()) return Standing::kUnclear;
  const uint32_t before = queue.ordering->OnWire(one->stream, one->before);
  if (!hw::StreamCounterReached(*shows, before)) return Standing::kNotBegun;
  if (seen.held_go == std::pair(abi::kFirstWorkerStream + one->stream, before)) {
    return Standing::kNotBegun;
  }
  if (!cleared) return Standing::kUnclear;
  const bool ended =
      hw::StreamCounterReached(*shows, queue.ordering->OnWire(one->stream, one->behind));
  return ended ? Standing::kEnded : Standing::kRunning;
}

StallReport CardDispatcher::Diagnose(uint32_t hardware_queue) {
  CardQueue& queue = queues_[hardware_queue];
  StallReport report;
  report.hardware_queue = hardware_queue;
  if (queue.link == nullptr) return report;
  // What the card has taken since nobody asked is not missing.
  seen_[hardware_queue].entries = queue.link->ReadFetched().ok();
  HostView host;
  host.entries_announced = queue.link->ring().entries_closed();
  host.entries_taken = queue.link->ring().entries_freed();
  host.owed = !queue.settled();
  return DiagnoseQueue(device_, plans_[hardware_queue], host);
}

StallReport CardDispatcher::FindStopped() {
  StallReport worst;
  // Where a queue waits for an event of the other, or waits for nothing at all, it is not where it stopped.
  const auto innocence = [](const StallReport& report) {
    if (report.stage == StalledStage::kNone) return 3;
    if (report.waits_for_queue) return 2;
    return report.stage == StalledStage::kHost ? 1 : 0;
  };
  for (uint32_t queue = 0; queue < kHardwareQueues; ++queue) {
    StallReport report = Diagnose(queue);
    if (innocence(report) < innocence(worst)) worst = std::move(report);
  }
  return worst;
}

// Harts of both tiles, with one write each: dispatchers first, which begin launches. Registers and L1 are what they
// were. A card that stands still with a fault takes no writes, and begins nothing either; where one write fails the
// others are tried all the same, and that one once more.
Status CardDispatcher::HaltDispatch() {
  Status result = OkStatus();
  const auto halt = [&result](Window& tile) {
    Status halted = OkStatus();
    for (int tries = 0; tries < 2; ++tries) {
      halted = WriteWord(tile, hw::kSoftReset0, hw::kSoftResetAllHarts);
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

StallReport CardDispatcher::Diagnose() { return Examine(Report()); }

StallReport CardDispatcher::HaltAndDiagnose() {
  std::vector<HartReport> harts = Report();
  const Status halted = HaltDispatch();
  if (!halted.ok() && !device_.fault().has_value()) {
    LogWarning("the dispatch tiles of a lost card cannot be halted: {}", StatusMessage(halted));
  }
  return Examine(std::move(harts));
}

StallReport CardDispatcher::Examine(std::vector<HartReport> harts) {
  // Damage first: to collect may acknowledge, which overwrites it. What is published has ended, whatever counters show.
  std::array<QueueWords, kHardwareQueues> words;
  for (uint32_t i = 0; i < kHardwareQueues; ++i) {
    if (auto* link = queues_[i].link.get()) words[i] = {link->completions().acknowledged()};
  }
  auto damage = FindFirmwareDamage(device_, plans_, words, firmware_, boot_nonce(), kNamedDamages);
  for (CardQueue& queue : queues_) {
    if (queue.link != nullptr) queue.Collect().status().IgnoreError();
  }
  seen_ = {};
  StallReport worst = FindStopped();
  worst.harts = std::move(harts);
  worst.damage = std::move(damage);
  worst.tiles = CountTiles(device_, plans_.front());
  worst.streams = CountStreams();
  SampleDispatchTiles();
  return worst;
}

}  // namespace ttfd
