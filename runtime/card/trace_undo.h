// Bytes that one command wrote over in the host's copy of a segment of a trace: a command that never began is undone.
#pragma once

#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "runtime/command/trace_layout.h"

namespace ttfd {

class TraceUndo {
 public:
  // Keeps where the segment is.
  TraceUndo(std::shared_ptr<Trace> trace, uint32_t segment)
      : trace_(std::move(trace)),
        segment_(trace_->segments[segment]),
        region_(segment_.region),
        sub_device_(segment_.sub_device),
        boot_(segment_.boot) {}

  // Before these bytes of the copy change.
  void Keep(uint64_t offset, uint64_t size);
  // REQUIRES: what later commands changed has been restored. The copy alone: the segment is put on the card again.
  void Restore() const;

 private:
  struct Piece {
    uint64_t offset = 0;
    uint64_t size = 0;
  };
  const std::shared_ptr<Trace> trace_;
  TraceSegment& segment_;
  const Region region_;
  const uint32_t sub_device_;
  const uint32_t boot_;
  std::vector<Piece> pieces_;
  std::vector<std::byte> bytes_;  // of all pieces, one after the other
};

}  // namespace ttfd
