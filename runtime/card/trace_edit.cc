// Changes that one command makes in the records of a segment of a trace.
#include "runtime/card/trace_edit.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "runtime/base/bits.h"
#include "runtime/hw/tensix.h"

namespace ttfd {
namespace {

// A write of its own costs about as much as this many bytes more.
constexpr uint64_t kWorthWriting = 128;

// Bytes of memory that are kept from one edit to the next.
constexpr size_t kKeptBytes = 256 << 10;

}  // namespace

void TraceEdit::Begin(std::shared_ptr<Trace> trace, uint32_t segment, bool whole) {
  trace_ = std::move(trace);
  number_ = segment;
  whole_ = whole;
  const TraceSegment& now = trace_->segments[segment];
  region = now.region;
  sub_device = now.sub_device;
  written = now.written;
  boot = now.boot;
  changes_.clear();
  ranges_.clear();
  bytes_.clear();
  if (!whole && bytes_.capacity() > kKeptBytes) bytes_.shrink_to_fit();
  if (whole) bytes_ = now.shadow;
}

void TraceEdit::Patch(const TracePatch& patch) {
  const TraceLaunch& launch = trace_->launches[patch.launch];
  launch.records->ForEachArgument(patch.kernel, patch.arguments,
                                  [&](uint32_t offset, ByteSpan words) {
                                    changes_.push_back({launch.offset + offset, words});
                                  });
}

void TraceEdit::Tag(const TraceLaunch& launch, uint32_t tag) {
  launch.records->ForEachPrintTag([&](uint32_t offset) {
    changes_.push_back({launch.offset + offset, {}, tag});
  });
}

// Ranges of whole 16 bytes around the changes, with what the trace holds there.
void TraceEdit::JoinRanges() {
  struct Extent {
    uint64_t begin = 0;
    uint64_t end = 0;
  };
  std::vector<Extent> extents;
  for (const Change& change : changes_) {
    extents.push_back({change.begin & ~uint64_t{hw::kL1Alignment - 1},
                       AlignUp<uint64_t>(change.begin + change.value().size(), hw::kL1Alignment)});
  }
  std::sort(extents.begin(), extents.end(),
            [](const Extent& a, const Extent& b) { return a.begin < b.begin; });
  size_t joined = 0;
  uint64_t total = 0;
  for (const Extent& extent : extents) {
    if (joined > 0 && extent.begin <= extents[joined - 1].end + kWorthWriting) {
      extents[joined - 1].end = std::max(extents[joined - 1].end, extent.end);
    } else {
      extents[joined++] = extent;
    }
  }
  extents.resize(joined);
  for (const Extent& extent : extents) total += extent.end - extent.begin;
  bytes_.resize(total);
  std::byte* to = bytes_.data();
  for (const Extent& extent : extents) {
    const size_t size = extent.end - extent.begin;
    std::memcpy(to, segment().shadow.data() + extent.begin, size);
    ranges_.push_back({extent.begin, ByteSpan(to, size)});
    to += size;
  }
}

std::span<const TraceEdit::Range> TraceEdit::Ranges() {
  if (whole_) {
    ranges_.push_back({0, bytes_});
  } else {
    JoinRanges();
  }
  for (const Change& change : changes_) {
    const auto behind =
        std::upper_bound(ranges_.begin(), ranges_.end(), change.begin,
                         [](uint64_t begin, const Range& range) { return begin < range.begin; });
    const Range& range = *std::prev(behind);
    const auto at = static_cast<size_t>(range.bytes.data() - bytes_.data()) +
                    static_cast<size_t>(change.begin - range.begin);
    std::memcpy(bytes_.data() + at, change.value().data(), change.value().size());
  }
  return ranges_;
}

std::unique_ptr<TraceUndo> TraceEdit::Commit() {
  const std::shared_ptr<Trace> trace = std::exchange(trace_, nullptr);
  if (trace == nullptr) return nullptr;
  TraceSegment& segment = trace->segments[number_];
  std::unique_ptr<TraceUndo> undo;
  if (whole_) undo = std::make_unique<TraceUndo>(trace, number_);
  for (const Change& change : changes_) {
    if (change.bytes.data() == nullptr) continue;
    if (undo == nullptr) undo = std::make_unique<TraceUndo>(trace, number_);
    undo->Keep(change.begin, change.bytes.size());
  }
  for (const Range& range : ranges_) {
    std::memcpy(segment.shadow.data() + range.begin, range.bytes.data(), range.bytes.size());
  }
  segment.region = region;
  segment.sub_device = sub_device;
  segment.written = written;
  segment.boot = boot;
  return undo;
}

}  // namespace ttfd
