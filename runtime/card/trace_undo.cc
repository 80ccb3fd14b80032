// Bytes that the patches of one replay wrote over.
#include "runtime/card/trace_undo.h"

#include <algorithm>

namespace ttfd {

void TraceUndo::Keep(uint64_t offset, uint64_t size) {
  const auto from = segment_.shadow.begin() + static_cast<std::ptrdiff_t>(offset);
  pieces_.push_back({offset, size});
  bytes_.insert(bytes_.end(), from, from + static_cast<std::ptrdiff_t>(size));
}

// Patches of one replay may name the same words twice: the last piece kept is undone first.
void TraceUndo::Restore() const {
  segment_.region = region_;
  segment_.sub_device = sub_device_;
  segment_.boot = boot_;
  auto end = bytes_.end();
  for (auto piece = pieces_.rbegin(); piece != pieces_.rend(); ++piece) {
    const auto begin = end - static_cast<std::ptrdiff_t>(piece->size);
    std::copy(begin, end, segment_.shadow.begin() + static_cast<std::ptrdiff_t>(piece->offset));
    end = begin;
  }
}

}  // namespace ttfd
