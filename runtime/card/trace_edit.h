// Changes that one command makes in the records of a segment of a trace: patches, tags of prints, places after a boot.
// The segment itself changes when the command is committed.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "runtime/base/bytes.h"
#include "runtime/card/trace_undo.h"
#include "runtime/command/trace_layout.h"

namespace ttfd {

class TraceEdit {
 public:
  // Bytes of the segment that are sent, [begin, begin + bytes.size()); kept until the next Begin.
  struct Range {
    uint64_t begin = 0;
    ByteSpan bytes;
  };

  // Starts without changes. `whole`: all of the segment is sent.
  void Begin(std::shared_ptr<Trace> trace, uint32_t segment, bool whole);
  const std::shared_ptr<Trace>& trace() const { return trace_; }
  const TraceSegment& segment() const { return trace_->segments[number_]; }
  bool whole() const { return whole_; }
  // REQUIRES whole: its records, to be changed in place.
  MutableByteSpan records() { return bytes_; }

  // REQUIRES CheckTracePatch. The patch outlives the edit. Of two patches of one word the later one counts.
  void Patch(const TracePatch& patch);
  // The launch prints with this tag.
  void Tag(const TraceLaunch& launch, uint32_t tag);

  // No more changes: what is to be sent.
  std::span<const Range> Ranges();

  // The changes happen. What they wrote over, or null if they were tags alone or none.
  std::unique_ptr<TraceUndo> Commit();
  void Drop() { trace_ = nullptr; }

  // Fields of the segment, to be set by the caller that places or sends it.
  Region region;
  uint32_t sub_device = 0;
  uint64_t written = 0;
  uint32_t boot = 0;

 private:
  struct Change {
    uint64_t begin = 0;
    ByteSpan bytes;  // null data: `tag`
    uint32_t tag = 0;
    ByteSpan value() const { return bytes.data() != nullptr ? bytes : BytesOf(tag); }
  };
  void JoinRanges();

  std::shared_ptr<Trace> trace_;
  uint32_t number_ = 0;  // of the segment
  bool whole_ = false;
  std::vector<Change> changes_;
  std::vector<Range> ranges_;     // ascending, disjoint
  std::vector<std::byte> bytes_;  // of the ranges, one after the other
};

}  // namespace ttfd
