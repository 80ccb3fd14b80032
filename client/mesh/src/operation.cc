#include "client/mesh/src/operation.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <numeric>
#include <utility>

#include "client/mesh/src/error.h"
#include "client/mesh/src/mesh_buffer.h"

namespace ttfd::mesh {
namespace {

using client::Buffer;
using client::LaunchRequest;

// Buffers of a chip, and where chunk 0 would begin in them.
struct Buffers {
  const Buffer& own;
  uint32_t own_page;
  const Buffer& result;
  uint32_t result_page;
};

uint32_t PagesOf(const MeshBuffer& buffer) {
  return static_cast<uint32_t>(buffer.padded_bytes() / buffer.page_bytes());
}

bool IsSmall(const Operation& operation) {
  constexpr uint64_t kAlignment = 64;  // of pages in DRAM
  const uint64_t page = (operation.from.page_bytes() + kAlignment - 1) / kAlignment * kAlignment;
  return PagesOf(operation.from) * page < kSmallBytes;
}

// How a launch cuts buffers into chunks: one for each chip of a line of `length`.
Chunks ChunksOf(const Operation& operation, uint32_t length) {
  const uint32_t pages = std::min(PagesOf(operation.from), PagesOf(operation.to));
  const uint32_t page_bytes = operation.from.page_bytes();
  if (operation.collective == Collective::kAllReduce && !IsSmall(operation)) {
    return {static_cast<uint32_t>((uint64_t{pages} + length - 1) / length), pages, page_bytes};
  }
  // A fold reads every chunk, and its result is like the first one.
  return {pages, pages * length, page_bytes};
}

// The launch of a pass: its words, for every kernel.
LaunchRequest MakeLaunch(const Operation& operation, LaunchKind kind, bool halves, const Pass& pass,
                         const Chunks& chunks, const Buffers& buffers, const Chip& chip,
                         uint32_t number) {
  const RingProgram& program = chip.program(kind, operation.axis, operation.sum);
  const auto links = static_cast<uint32_t>(program.links.size());
  LaunchRequest launch(program.program);
  const auto set = [&](uint32_t kernel, const std::vector<uint32_t>& words) {
    const auto word = [](size_t offset) {
      return static_cast<uint32_t>(offset / sizeof(uint32_t));
    };
    launch.Common(kernel, words);
    launch.Address(kernel, word(offsetof(RingWords, buffers.own)), buffers.own);
    launch.Address(kernel, word(offsetof(RingWords, buffers.result)), buffers.result);
    launch.Address(kernel, word(offsetof(RingWords, buffers.stamps)), chip.stamps());
  };
  for (uint32_t link = 0; link < links; ++link) {
    for (uint32_t lane = 0; lane < kRingLanes; ++lane) {
      RingWords words = pass[lane];
      words.adders.sum = UsesAdders(kind) ? operation.sum : RingSum::kNone;
      SetChunks(words, chunks, halves ? link * kRingLanes + lane : link,
                halves ? links * kRingLanes : links);
      words.buffers.own_page = buffers.own_page;
      words.buffers.result_page = buffers.result_page;
      if (buffers.own.handle() == buffers.result.handle()) words.buffers.copies_own = 0;
      const client::Core worker = LinkWorker(operation.axis, link);
      const client::CoreRange adders = Adders(operation.axis, link, lane);
      words.adders.worker_x = worker.x, words.adders.worker_y = worker.y;
      words.adders.adder_x = adders.x0, words.adders.adder_y = adders.y0;
      words.adders.done = RingDone(lane);
      words.buffers.stamp_page = StampPage(links, number, link, lane);
      std::vector<uint32_t> common(sizeof(words) / sizeof(uint32_t));
      std::memcpy(common.data(), &words, sizeof(words));
      const LaneKernels& kernels = program.links[link][lane];
      set(kernels.sender, common);
      set(kernels.receiver, common);
      if (!UsesAdders(kind)) continue;
      std::vector<uint32_t> numbers(kRingAdders);
      std::iota(numbers.begin(), numbers.end(), 0u);
      for (const uint32_t kernel : {kernels.reader, kernels.writer}) {
        set(kernel, common);
        launch.PerCore(kernel, 1, numbers);
      }
      launch.Common(kernels.compute, common);
      launch.PerCore(kernels.compute, 1, numbers);
    }
  }
  return launch;
}

}  // namespace

Status Check(const Operation& operation, uint32_t length, size_t chips) {
  const MeshBuffer& from = operation.from;
  const MeshBuffer& to = operation.to;
  for (const auto& [buffer, name] : {std::pair(&from, "from"), std::pair(&to, "to")}) {
    Status status = CheckBuffer(*buffer, chips, name);
    if (!status.ok()) return status;
  }
  // The larger buffer has `times` as many parts.
  const uint32_t times = operation.collective == Collective::kAllReduce ? 1 : length;
  const bool scatters = operation.collective == Collective::kReduceScatter;
  const MeshBuffer& fewer = scatters ? to : from;
  const MeshBuffer& more = scatters ? from : to;
  if (more.parts != uint64_t{fewer.parts} * times || to.part_bytes != from.part_bytes ||
      to.page_bytes() != from.page_bytes()) {
    return Invalid(
        "to",
        fmt::format("{} parts of {} bytes in pages of {}, where {} parts of {} bytes in pages of "
                    "{} are given: along axis {}, of {} chips, parts and pages are equal, and "
                    "`{}` has {} times the parts of `{}`",
                    to.parts, to.part_bytes, to.page_bytes(), from.parts, from.part_bytes,
                    from.page_bytes(), operation.axis, length, scatters ? "from" : "to", times,
                    scatters ? "to" : "from"));
  }
  const uint32_t element = operation.sum == RingSum::kNone       ? 1
                           : operation.sum == RingSum::kBFloat16 ? 2
                                                                 : 4;
  if (from.part_bytes % element != 0 || from.page_bytes() % element != 0) {
    return Invalid("from", fmt::format("parts of {} bytes in pages of {} are not whole elements of "
                                       "{} bytes",
                                       from.part_bytes, from.page_bytes(), element));
  }
  for (size_t chip = 0; chip < chips && operation.collective != Collective::kAllReduce; ++chip) {
    if (from.buffers[chip].handle() == to.buffers[chip].handle()) {
      return Invalid("to", fmt::format("chip {} has the same buffer in both", chip));
    }
  }
  return {};
}

std::vector<LaunchKind> LaunchKindsOf(const Operation& operation) {
  switch (operation.collective) {
    case Collective::kAllGather:
      return {LaunchKind::kGather};
    case Collective::kReduceScatter:
      return {LaunchKind::kReduce};
    case Collective::kAllReduce:
      break;
  }
  if (IsSmall(operation)) return {LaunchKind::kGather, LaunchKind::kFold};
  return {LaunchKind::kReduce, LaunchKind::kGather};
}

std::vector<LaunchRequest> LaunchesOf(const Operation& operation, const Line& line, uint32_t index,
                                      const Chip& chip) {
  const auto length = static_cast<uint32_t>(line.chips.size());
  const Chunks chunks = ChunksOf(operation, length);
  const Buffer& from = operation.from.buffers[line.chips[index]];
  const Buffer& to = operation.to.buffers[line.chips[index]];
  // Page of chunk 0 in a buffer that has the chip's chunk alone.
  const uint32_t single = 0u - index * chunks.pages;
  const bool all = operation.collective == Collective::kAllReduce;
  std::vector<LaunchRequest> launches;
  for (const LaunchKind kind : LaunchKindsOf(operation)) {
    const auto add = [&](const Pass& pass, bool halves, const Buffers& buffers) {
      launches.push_back(MakeLaunch(operation, kind, halves, pass, chunks, buffers, chip,
                                    static_cast<uint32_t>(launches.size())));
    };
    const Pass gather = GatherPass(length, line.closed, index);
    if (kind == LaunchKind::kFold) {
      add(FoldPass(length), true, {chip.gathered(), 0, to, 0});
    } else if (kind == LaunchKind::kReduce) {
      add(ReducePass(length, line.closed, index), line.closed, {from, 0, to, all ? 0 : single});
    } else if (!all) {
      add(gather, line.closed, {from, single, to, 0});
    } else if (IsSmall(operation)) {
      add(gather, line.closed, {from, single, chip.gathered(), 0});
    } else {
      add(gather, line.closed, {to, 0, to, 0});
    }
  }
  return launches;
}

}  // namespace ttfd::mesh
