// What the patches of one replay wrote over.
#include "runtime/dispatch/trace_undo.h"

#include <algorithm>

namespace ttfd {

void TraceUndo::Keep(uint64_t offset, uint64_t size) {
  const auto from = trace_->shadow.begin() + static_cast<std::ptrdiff_t>(offset);
  pieces_.push_back({offset, size});
  bytes_.insert(bytes_.end(), from, from + static_cast<std::ptrdiff_t>(size));
}

// Patches of one replay may name the same words twice: the last piece kept is undone first.
void TraceUndo::Restore() const {
  trace_->region = region_;
  trace_->sub_device = sub_device_;
  trace_->boot = boot_;
  auto end = bytes_.end();
  for (auto piece = pieces_.rbegin(); piece != pieces_.rend(); ++piece) {
    const auto begin = end - static_cast<std::ptrdiff_t>(piece->size);
    std::copy(begin, end, trace_->shadow.begin() + static_cast<std::ptrdiff_t>(piece->offset));
    end = begin;
  }
}

}  // namespace ttfd
