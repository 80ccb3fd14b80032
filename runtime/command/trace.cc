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

class TraceBuilder {
 public:
  TraceBuilder(const CardGeometry& card, const Route& route, const SegmentTime& time)
      : card_(card),
        time_(time),
        trace_(std::make_shared<Trace>()),
        batch_(card.max_record_bytes()),
        workers_(route.workers.any()
                     ? route.workers
                     : TilesOf({0, 0, card.grid().x - 1, card.grid().y - 1}, card.grid())) {
    trace_->route = route;
  }

  Status Add(const LaunchCommand& launch) {
    const Program& program = *launch.program;
    const bool multicast = program.workers.size() > kMaxUnicastGoTargets;
    const uint64_t receivers = multicast ? workers_.count() : program.workers.size();
    const std::shared_ptr<const LaunchRecords> records = RecordsFor(launch, multicast);
    const size_t index = trace_->launches.size();
    const Duration expected = time_.launches.empty() ? Duration() : time_.launches[index];
    const uint64_t images = ImageBytes(program);
    bool adds = index == 0 || !HasProgram(launch.program);
    if (index == 0 || !Takes(receivers, records->bytes(), adds ? images : 0, expected)) {
      BeginSegment();
      adds = true;
    }
    if (adds) AddProgram(launch.program, images);
    expected_ += expected;
    Append(launch, records, receivers);
    const uint64_t bytes = bytes_before_ + segment().shadow.size();
    if (bytes > kMaxTraceBytes) {
      return Error(StatusCode::kResourceExhausted,
                   "the trace is too large: {} launches take more than {} bytes",
                   trace_->launches.size(), kMaxTraceBytes);
    }
    return OkStatus();
  }

  std::shared_ptr<Trace> Finish() {
    EndSegment();
    PlaceSegments();
    return std::move(trace_);
  }

 private:
  TraceSegment& segment() { return trace_->segments.back(); }

  // May the current segment have a launch more?
  bool Takes(uint64_t receivers, uint32_t bytes, uint64_t images, Duration expected) const {
    if (ordering_.launched_workers(0) + receivers > kMaxSegmentCompletions) return false;
    if (trace_->segments.back().shadow.size() + bytes > kMaxSegmentBytes) return false;
    if (image_bytes_ + images > kMaxSegmentImageBytes) return false;
    return time_.launches.empty() || expected_ + expected <= time_.most;
  }

  void BeginSegment() {
    if (!trace_->segments.empty()) EndSegment();
    trace_->segments.emplace_back().first_launch = static_cast<uint32_t>(trace_->launches.size());
    ordering_ = Ordering();
    ring_.Clear();
    image_bytes_ = 0;
    expected_ = {};
  }

  void EndSegment() {
    RecordWriter(Extend(InlineRecordBytes(sizeof(abi::BareDispatch)))).ExecBufEnd();
    segment().workers = ordering_.launched_workers(0);
    bytes_before_ += segment().shadow.size();
  }

  void Append(const LaunchCommand& launch, const std::shared_ptr<const LaunchRecords>& records,
              uint64_t receivers) {
    TraceLaunch placed;
    placed.program = launch.program;
    placed.records = records;
    const GoPlan go = PlanGo(segment().go_table, *launch.program, card_);
    placed.go_first = go.first;
    const LaunchRing::Place place =
        ring_.Take(records->config_bytes(), ordering_.waited_workers(0));
    placed.slot = place.slot;
    placed.config_address = place.config_address;
    if (place.wait_workers > ordering_.waited_workers(0)) {
      segment().waits.push_back(Position() + abi::kCommandBytes);
      ordering_.WaitForWorkers(batch_, 0, place.wait_workers);
    }
    if (!go.new_table.empty()) segment().sends_go_table = true;
    EncodeGoTable(go, batch_);
    TakeBatch();
    placed.offset = Position();
    placed.wait_workers = ordering_.OnWire(0, ordering_.launched_workers(0));
    const MutableByteSpan bytes = Extend(records->bytes());
    records->CopyTo(bytes);
    for (uint32_t i = 0; i < launch.arguments.size(); ++i) {
      records->PatchArguments(i, launch.arguments[i], bytes);
    }
    ordering_.Launched(0, receivers);
    ring_.Used(ordering_.launched_workers(0));
    ++segment().launches;
    trace_->launches.push_back(std::move(placed));
  }

  bool HasProgram(const std::shared_ptr<const Program>& program) {
    const auto& programs = segment().programs;
    return std::find(programs.begin(), programs.end(), program) != programs.end();
  }

  void AddProgram(const std::shared_ptr<const Program>& program, uint64_t images) {
    segment().programs.push_back(program);
    segment().prints |= program->printing.any();
    image_bytes_ += images;
  }

  // Bytes written before a launch of the program if none of its images is resident.
  uint64_t ImageBytes(const Program& program) {
    const auto [known, is_new] = image_bytes_of_.try_emplace(&program, 0);
    if (!is_new) return known->second;
    for (const ProgramImage& used : program.images) {
      const size_t rectangles = ImageRectangles(used.tiles, workers_, program.grid).size();
      known->second += used.image->bytes.size() * rectangles;
    }
    return known->second;
  }

  // Bytes of a segment in the device memory: it begins at the first bank, because EXEC_BUF does.
  uint64_t WholeRows(const TraceSegment& one, uint32_t page_bytes) const {
    const uint64_t row = uint64_t{page_bytes} * card_.Banks(MemoryKind::kDram);
    return DivideRoundUp<uint64_t>(one.shadow.size(), row) * row;
  }
  uint64_t WholeRows(uint32_t page_bytes) const {
    uint64_t bytes = 0;
    for (const TraceSegment& one : trace_->segments) bytes += WholeRows(one, page_bytes);
    return bytes;
  }

  // With the largest page that takes little more memory than the smallest would.
  void PlaceSegments() {
    const uint64_t least = WholeRows(kMinPageBytes);
    uint32_t page = kMaxPageBytes;
    while (page > kMinPageBytes && WholeRows(page) > least + least / 8) page /= 2;
    trace_->page_bytes = page;
    uint64_t offset = 0;
    for (TraceSegment& one : trace_->segments) {
      one.offset = offset;
      offset += WholeRows(one, page);
      one.shadow.resize(AlignUp<uint64_t>(one.shadow.size(), page));
    }
  }

  uint32_t Position() { return static_cast<uint32_t>(segment().shadow.size()); }

  MutableByteSpan Extend(size_t bytes) {
    std::vector<std::byte>& records = segment().shadow;
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
    for (const auto& records : known) {
      if (records->Fits(launch.arguments)) return records;
    }
    known.push_back(
        std::make_shared<const LaunchRecords>(*launch.program, launch.arguments, multicast, card_));
    return known.back();
  }

  const CardGeometry& card_;
  const SegmentTime& time_;
  std::shared_ptr<Trace> trace_;
  RecordBatch batch_;  // between launches
  const TileSet workers_;
  std::map<const Program*, std::vector<std::shared_ptr<const LaunchRecords>>> known_;
  std::map<const Program*, uint64_t> image_bytes_of_;
  uint64_t bytes_before_ = 0;  // of the segments that are complete

  // State of the current segment. Counts are from its start, on a stream that is named when it is recorded.
  Ordering ordering_;
  LaunchRing ring_;
  uint64_t image_bytes_ = 0;
  Duration expected_{};
};

}  // namespace

StatusOr<std::shared_ptr<Trace>> BuildTrace(const CardGeometry& card, const Route& route,
                                            const std::vector<LaunchCommand>& launches,
                                            const SegmentTime& time) {
  if (launches.empty()) return InvalidArgument("a trace needs at least one launch");
  if (launches.size() > kMaxTraceLaunches) {
    return Error(StatusCode::kResourceExhausted, "a trace of {} launches; at most {} are allowed",
                 launches.size(), kMaxTraceLaunches);
  }
  TraceBuilder builder(card, route, time);
  for (size_t i = 0; i < launches.size(); ++i) {
    Status added = CheckLaunch(route, launches[i], card);
    if (added.ok()) added = builder.Add(launches[i]);
    if (!added.ok()) return Annotate(added, fmt::format("launch {}", i));
  }
  return builder.Finish();
}

uint64_t TraceBytes(const Trace& trace) {
  return trace.segments.back().offset + trace.segments.back().shadow.size();
}
uint64_t TraceRecordBytes(const Trace& trace) {
  uint64_t bytes = 0;
  for (const TraceSegment& segment : trace.segments) bytes += segment.shadow.size();
  return bytes;
}
uint32_t TracePageBytes(const Trace& trace) { return trace.page_bytes; }
uint32_t TraceLaunches(const Trace& trace) { return static_cast<uint32_t>(trace.launches.size()); }
uint32_t TraceSegments(const Trace& trace) { return static_cast<uint32_t>(trace.segments.size()); }
SegmentExtent TraceSegmentExtent(const Trace& trace, uint32_t segment) {
  const TraceSegment& one = trace.segments[segment];
  return {one.first_launch, one.first_launch + one.launches, one.shadow.size()};
}

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
