// What the patches of one replay wrote over in the host's copy of its trace: a replay that never began is taken back.
#pragma once

#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "runtime/command/trace_layout.h"

namespace ttfd {

class TraceUndo {
 public:
  explicit TraceUndo(std::shared_ptr<Trace> trace) : trace_(std::move(trace)) {}

  // Before these bytes of the copy change.
  void Keep(uint64_t offset, uint64_t size);
  // REQUIRES: what later replays changed has been restored. The copy alone: the trace is put on the card again.
  void Restore() const;

 private:
  struct Piece {
    uint64_t offset = 0;
    uint64_t size = 0;
  };
  const std::shared_ptr<Trace> trace_;
  std::vector<Piece> pieces_;
  std::vector<std::byte> bytes_;  // of all pieces, one after the other
};

}  // namespace ttfd
