#include "client/mesh/src/chip.h"

#include <algorithm>
#include <cstring>
#include <deque>
#include <string>
#include <utility>

#include "client/mesh/src/ring.h"
#include "firmware/mesh/elfs.h"

namespace ttfd::mesh {
namespace {

using client::ComputeKernel;
using client::CoreRange;
using client::DataFormat;
using client::Kernel;
using client::Processor;
using client::ProgramBuilder;
using client::Session;

// Adds kernels to a program.
class Builder {
 public:
  explicit Builder(Session& session) : session_(session) {}

  // Kernels of a lane and scratch on its link worker.
  void AddLinkKernels(uint32_t axis, uint32_t link, uint32_t lane, LaneKernels& made) {
    const std::vector<CoreRange> worker = {CoreRange::Single(LinkWorker(axis, link))};
    const std::string number = std::to_string(lane);
    made.sender =
        Add("ring_sender_" + number, lane == 0 ? Processor::kNcrisc : Processor::kTrisc1, worker);
    made.receiver =
        Add("ring_receiver_" + number, lane == 0 ? Processor::kBrisc : Processor::kTrisc0, worker);
    builder_.AddCircularBuffer(lane, 1, kRingScratchBytes, worker);
    if (lane == 0) AddSemaphores(worker);
  }
  // Kernels of a lane and circular buffers on its adders.
  void AddAdders(const CoreRange& range, bool folds, RingSum sum, LaneKernels& made) {
    const std::vector<CoreRange> adders = {range};
    made.reader = Add(folds ? "fold_reader" : "adder_reader", Processor::kBrisc, adders);
    made.writer = Add("adder_writer", Processor::kNcrisc, adders);
    made.compute = builder_.AddKernels(
        compute_.emplace_back(std::array{Load("adder_compute_trisc0"), Load("adder_compute_trisc1"),
                                         Load("adder_compute_trisc2")}),
        adders);
    const bool narrow = sum == RingSum::kBFloat16;
    const uint32_t tile_bytes = narrow ? kRingSliceBytes / 2 : kRingSliceBytes;
    for (const uint32_t buffer : {kRingReceived, kRingAddend, kRingTotal}) {
      builder_.AddCircularBuffer(buffer, 2 * kRingSliceBytes / tile_bytes, tile_bytes, adders,
                                 narrow ? DataFormat::kFloat16B : DataFormat::kFloat32);
    }
    AddSemaphores(adders);
  }

  Result<client::Program> Create() {
    if (!status_.ok()) return status_;
    return session_.CreateProgram(builder_);
  }

 private:
  uint32_t Add(const std::string& name, Processor processor, const std::vector<CoreRange>& cores) {
    return builder_.AddKernel(kernels_.emplace_back(Load(name)), processor, cores);
  }
  void AddSemaphores(const std::vector<CoreRange>& cores) {
    for (uint32_t i = 0; i < kRingSemaphores; ++i) builder_.AddSemaphore(i, 0, cores);
  }
  // The first error is that of Create().
  Kernel Load(const std::string& name) {
    Result<Kernel> kernel = session_.LoadKernel(MeshElf(name), name);
    if (kernel.ok()) return *std::move(kernel);
    if (status_.ok()) status_ = kernel.status();
    return {};
  }

  Session& session_;
  ProgramBuilder builder_;
  // Until the program has been made.
  std::deque<Kernel> kernels_;
  std::deque<ComputeKernel> compute_;
  Status status_;
};

}  // namespace

Status Chip::AllocateStamps() {
  constexpr uint32_t kPages = StampPage(kMostLinks, kMostLaunches, 0, 0);
  Result<client::Buffer> stamps =
      session_->AllocateDram(kPages * kRingStampBytes, {.page_bytes = kRingStampBytes});
  if (!stamps.ok()) return stamps.status();
  stamps_ = *std::move(stamps);
  return {};
}

Result<ClockSpan> Chip::ReadStamps(uint32_t links, uint32_t launches) {
  std::vector<std::byte> bytes(size_t{StampPage(links, launches, 0, 0)} * kRingStampBytes);
  const Status status = session_->queue().Read(stamps_, 0, bytes);
  if (!status.ok()) return status;
  ClockSpan longest;
  for (uint32_t link = 0; link < links; ++link) {  // workers have clocks of their own
    ClockSpan span{UINT64_MAX, 0};
    for (uint32_t launch = 0; launch < launches; ++launch) {
      for (uint32_t i = 0; i < 2 * kRingLanes; ++i) {
        RingStamp stamp;
        const size_t page = StampPage(links, launch, link, 0) + i;
        std::memcpy(&stamp, bytes.data() + page * kRingStampBytes, sizeof(stamp));
        span.begin = std::min(span.begin, stamp.begin);
        span.end = std::max(span.end, stamp.end);
      }
    }
    if (span.end - span.begin > longest.end - longest.begin) longest = span;
  }
  return longest;
}

Status Chip::AllocateGathered(uint32_t parts) {
  if (gathered_.handle() != 0) return {};
  // Pages of any size take at most their share of a bank and one page more.
  Result<client::Buffer> gathered = session_->AllocateDram(
      (parts + session_->device().dram_banks) * kSmallBytes, {.page_bytes = kSmallBytes});
  if (!gathered.ok()) return gathered.status();
  gathered_ = *std::move(gathered);
  return {};
}

Status Chip::MakeProgram(LaunchKind kind, uint32_t axis, uint32_t links, RingSum sum) {
  RingProgram& program = programs_[axis][IndexOf(kind, sum)];
  if (!program.links.empty()) return {};
  Builder builder(*session_);
  RingProgram made;
  for (uint32_t link = 0; link < links; ++link) {
    auto& lanes = made.links.emplace_back();
    for (uint32_t lane = 0; lane < kRingLanes; ++lane) {
      builder.AddLinkKernels(axis, link, lane, lanes[lane]);
      if (UsesAdders(kind)) {
        builder.AddAdders(Adders(axis, link, lane), kind == LaunchKind::kFold, sum, lanes[lane]);
      }
    }
  }
  Result<client::Program> created = builder.Create();
  if (!created.ok()) return created.status();
  made.program = *std::move(created);
  program = std::move(made);
  return {};
}

}  // namespace ttfd::mesh
