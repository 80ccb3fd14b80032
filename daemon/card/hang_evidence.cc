// The device thread's record of a card that hangs, before it looks at it: whose slices are on it, and how far it was.
#include "daemon/card/hang_evidence.h"

#include <algorithm>
#include <utility>

#include "daemon/session/session.h"
#include "runtime/base/log.h"
#include "runtime/command/trace_layout.h"

namespace ttfd {
namespace {

std::vector<std::string> KernelNames(const Program& program) {
  constexpr size_t kNamed = 5;  // one a hart
  std::vector<std::string> names;
  for (size_t i = 0; i < std::min(program.images.size(), kNamed); ++i) {
    names.push_back(program.images[i].image->name);
  }
  return names;
}

// "program 7 (vector_add, scale)"
std::string ProgramText(const Program& program) {
  return fmt::format("program {} ({})", program.id, fmt::join(KernelNames(program), ", "));
}

std::string CommandText(const Command& command) {
  struct Text {
    std::string operator()(const WriteCommand& write) const {
      return fmt::format("write of {} bytes at {}", write.data.size(), write.offset);
    }
    std::string operator()(const ReadCommand& read) const {
      return fmt::format("read of {} bytes at {}", read.size, read.offset);
    }
    std::string operator()(const FillCommand& fill) const {
      return fmt::format("fill of {} bytes at {}", fill.size, fill.offset);
    }
    std::string operator()(const CopyCommand& copy) const {
      return fmt::format("copy of {} bytes", copy.size);
    }
    std::string operator()(const LaunchCommand& launch) const {
      return "launch of " + ProgramText(*launch.program);
    }
    std::string operator()(const RecordTraceCommand& record) const {
      return "recording of " + Launches(*record.trace, record.segment);
    }
    std::string operator()(const ReplayTraceCommand& replay) const {
      return "replay of " + Launches(*replay.trace, replay.segment);
    }
    static std::string Launches(const Trace& trace, uint32_t segment) {
      const SegmentExtent extent = TraceSegmentExtent(trace, segment);
      return fmt::format("launches {} to {} of a trace of {}", extent.begin, extent.end - 1,
                         TraceLaunches(trace));
    }
  };
  return std::visit(Text(), command);
}

HangSlice Describe(uint32_t hardware_queue, const Slice& slice) {
  HangSlice record;
  record.hardware_queue = hardware_queue;
  record.client = slice.share().owner->client();
  record.queue = slice.queue->id;
  record.value = slice.value();
  record.command = CommandText(slice.command);
  if (const auto* const launch = std::get_if<LaunchCommand>(&slice.command)) {
    record.kernels = KernelNames(*launch->program);
  }
  if (slice.runs_kernels()) {
    record.timeout_ms = static_cast<uint64_t>(
        std::chrono::duration_cast<std::chrono::milliseconds>(slice.timeout).count());
    record.programs = *slice.programs;
  }
  return record;
}

}  // namespace

HangReport HostEvidence(const Status& why, const HardwareQueues& hardware_queues,
                        const RecentLaunches& ended, CardProbe& probe) {
  HangReport report;
  report.time = std::chrono::system_clock::now();
  report.trigger = std::string(StatusMessage(why));
  for (const HardwareQueue& queue : hardware_queues) {
    for (const SubmittedSlice& entry : queue.in_flight) {
      HangSlice slice = Describe(queue.index, entry.slice);
      slice.ticket = entry.ticket;
      slice.turn = entry.turn;
      slice.after = entry.after;
      report.slices.push_back(std::move(slice));
    }
    if (const Slice* const refused = queue.refused_slice()) {
      report.slices.push_back(Describe(queue.index, *refused));
    }
    report.queues.push_back(probe.HostRecord(queue.index));
  }
  // A slice that waits for space has no turn yet.
  std::stable_sort(report.slices.begin(), report.slices.end(),
                   [](const HangSlice& a, const HangSlice& b) { return a.turn - 1 < b.turn - 1; });
  const auto& recent = ended.launches();
  for (auto slice = recent.rbegin(); slice != recent.rend(); ++slice) {
    HangSlice record;
    record.hardware_queue = slice->hardware_queue;
    record.client.session = slice->session;
    record.queue = slice->queue;
    record.value = slice->value;
    record.programs = *slice->programs;
    report.recent.push_back(std::move(record));
  }
  report.log = LastLogLines();
  return report;
}

// A slice that the plan does not have had ended; one without a ticket was not on the card.
void AddPlan(const RecoveryPlan& plan, const std::vector<StoppedSlice>& stopped,
             HangReport* report) {
  for (size_t i = 0; i < report->slices.size(); ++i) {
    HangSlice& slice = report->slices[i];
    const bool submitted = slice.ticket != 0;
    slice.state = submitted ? ExecutionState::kCompleted : ExecutionState::kNotStarted;
    slice.outcome = submitted ? SliceOutcome::kCompleted : SliceOutcome::kRequeued;
    for (size_t k = 0; k < stopped.size(); ++k) {
      if (stopped[k].entry->turn != slice.turn) continue;
      slice.state = plan.steps[k].state;
      slice.outcome = plan.steps[k].outcome;
      slice.why = plan.steps[k].why;
      if (k == plan.offender) report->offender = i;
      if (k == plan.suspect) report->suspect = i;
    }
  }
}

}  // namespace ttfd
