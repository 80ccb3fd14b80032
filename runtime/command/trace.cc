// Lays out the launches of a trace.
#include "runtime/command/trace.h"

#include <algorithm>
#include <cstring>
#include <map>
#include <utility>

#include "runtime/abi/dispatch_commands.h"
#include "runtime/command/command.h"
#include "runtime/command/launch_check.h"
#include "runtime/command/launch_encoder.h"
#include "runtime/command/launch_ring.h"
#include "runtime/command/ordering.h"
#include "runtime/command/record_batch.h"
#include "runtime/command/record_writer.h"
#include "runtime/command/trace_layout.h"

namespace ttfd {
namespace {

constexpr uint32_t kMinPageBytes = 1024;
constexpr uint32_t kMaxPageBytes = 4096;

// The largest page that wastes no more than the smallest would.
uint32_t PageBytesFor(size_t bytes) {
  uint32_t page = kMaxPageBytes;
  while (page > kMinPageBytes &&
         AlignUp<uint64_t>(bytes, page) != AlignUp<uint64_t>(bytes, kMinPageBytes)) {
    page /= 2;
  }
  return page;
}

class TraceBuilder {
 public:
  TraceBuilder(const CardGeometry& card, const Route& route)
      : card_(card), trace_(std::make_shared<Trace>()), batch_(card.max_record_bytes()) {
    trace_->route = route;
    set_size_ = route.workers.none() ? card.worker_count() : route.workers.count();
  }

  Status Add(const LaunchCommand& launch) {
    const Program& program = *launch.program;
    TraceLaunch placed;
    placed.program = launch.program;
    const GoPlan go = PlanGo(trace_->go_table, program, card_);
    const uint64_t receivers = go.multicast ? set_size_ : go.count;
    if (ordering_.outstanding(0) + receivers > kMaxTraceCompletions) {
      return InvalidArgument(
          "with it a replay has {} worker completions (launches x workers); at most {} are "
          "allowed: record the launches as several traces",
          ordering_.outstanding(0) + receivers, kMaxTraceCompletions);
    }
    placed.go_first = go.first;
    placed.records = RecordsFor(launch, go.multicast);
    const LaunchRing::Place place =
        ring_.Take(placed.records->config_bytes(), ordering_.waited_workers(0));
    placed.slot = place.slot;
    placed.config_address = place.config_address;
    if (place.wait_workers > ordering_.waited_workers(0)) {
      trace_->waits.push_back(Position() + abi::kCommandBytes);
      ordering_.WaitForWorkers(batch_, 0, place.wait_workers);
    }
    if (!go.new_table.empty()) trace_->sends_go_table = true;
    EncodeGoTable(go, batch_);
    TakeBatch();
    placed.offset = Position();
    placed.wait_workers = ordering_.OnWire(0, ordering_.launched_workers(0));
    const MutableByteSpan records = Extend(placed.records->bytes());
    placed.records->CopyTo(records);
    for (uint32_t i = 0; i < launch.arguments.size(); ++i) {
      placed.records->PatchArguments(i, launch.arguments[i], records);
    }
    ordering_.Launched(0, receivers);
    ring_.Used(ordering_.launched_workers(0));
    trace_->launches.push_back(std::move(placed));
    if (Position() > kMaxTraceBytes) {
      return Error(StatusCode::kResourceExhausted,
                   "the trace is too large: {} launches take more than {} bytes",
                   trace_->launches.size(), kMaxTraceBytes);
    }
    return OkStatus();
  }

  StatusOr<std::shared_ptr<Trace>> Finish() {
    RecordWriter(Extend(InlineRecordBytes(sizeof(abi::BareDispatch)))).ExecBufEnd();
    trace_->page_bytes = PageBytesFor(Position());
    trace_->shadow.resize(AlignUp<uint64_t>(Position(), trace_->page_bytes));
    trace_->workers = ordering_.launched_workers(0);
    return std::move(trace_);
  }

 private:
  uint32_t Position() const { return static_cast<uint32_t>(trace_->shadow.size()); }

  MutableByteSpan Extend(size_t bytes) {
    std::vector<std::byte>& records = trace_->shadow;
    records.resize(records.size() + bytes);
    return MutableByteSpan(records).last(bytes);
  }

  void TakeBatch() {
    const ByteSpan records = batch_.copied();
    if (!records.empty())
      std::memcpy(Extend(records.size()).data(), records.data(), records.size());
    batch_.Clear();
  }

  std::shared_ptr<const LaunchRecords> RecordsFor(const LaunchCommand& launch, bool multicast) {
    std::vector<std::shared_ptr<const LaunchRecords>>& known = known_[launch.program.get()];
    if (known.empty()) {
      trace_->programs.push_back(launch.program);
      trace_->prints |= launch.program->printing.any();
    }
    for (const auto& records : known) {
      if (records->multicast_go() == multicast && records->Fits(launch.arguments)) return records;
    }
    known.push_back(
        std::make_shared<const LaunchRecords>(*launch.program, launch.arguments, multicast, card_));
    return known.back();
  }

  const CardGeometry& card_;
  std::shared_ptr<Trace> trace_;
  RecordBatch batch_;  // between launches
  uint64_t set_size_ = 0;
  // Counts from the start of the trace, on a stream that is named when the trace is recorded.
  Ordering ordering_;
  LaunchRing ring_;
  std::map<const Program*, std::vector<std::shared_ptr<const LaunchRecords>>> known_;
};

}  // namespace

StatusOr<std::shared_ptr<Trace>> BuildTrace(const CardGeometry& card, const Route& route,
                                            const std::vector<LaunchCommand>& launches) {
  if (launches.empty()) return InvalidArgument("a trace needs at least one launch");
  if (launches.size() > kMaxTraceLaunches) {
    return Error(StatusCode::kResourceExhausted, "a trace of {} launches; at most {} are allowed",
                 launches.size(), kMaxTraceLaunches);
  }
  TraceBuilder builder(card, route);
  for (size_t i = 0; i < launches.size(); ++i) {
    Status added = CheckLaunch(route, launches[i], card);
    if (added.ok()) added = builder.Add(launches[i]);
    if (!added.ok()) return Annotate(added, fmt::format("launch {}", i));
  }
  return builder.Finish();
}

uint64_t TraceBytes(const Trace& trace) { return trace.shadow.size(); }
uint32_t TracePageBytes(const Trace& trace) { return trace.page_bytes; }
uint32_t TraceLaunches(const Trace& trace) { return static_cast<uint32_t>(trace.launches.size()); }

Status CheckTracePatch(const Trace& trace, const TracePatch& patch) {
  if (patch.launch >= trace.launches.size()) {
    return InvalidArgument("launch {} of a trace of {}", patch.launch, trace.launches.size());
  }
  const TraceLaunch& launch = trace.launches[patch.launch];
  if (patch.kernel >= launch.program->kernels.size()) {
    return InvalidArgument("kernel {} of a program of {}", patch.kernel,
                           launch.program->kernels.size());
  }
  if (!launch.records->FitsKernel(patch.kernel, patch.arguments)) {
    return InvalidArgument(
        "launch {} was recorded with other numbers of argument words for kernel {}; a patch has as "
        "many",
        patch.launch, patch.kernel);
  }
  const uint64_t words = uint64_t{patch.arguments.words_per_core} *
                         launch.program->kernels[patch.kernel].workers.size();
  if (patch.arguments.per_core.size() != words) {
    return InvalidArgument("kernel {} gets {} per-core words; {} are needed", patch.kernel,
                           patch.arguments.per_core.size(), words);
  }
  return OkStatus();
}

}  // namespace ttfd
