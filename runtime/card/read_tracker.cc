// Which completion records are due, and where their data goes.
#include "runtime/card/read_tracker.h"

#include <algorithm>
#include <utility>

namespace ttfd {

void ReadTracker::Clear() {
  sinks_.clear();
  pieces_.clear();
  next_check_ = due_check_ = 0;
}

void ReadTracker::ExpectRead(Sink sink, std::span<const ReadPiece> pieces) {
  if (pieces.empty()) return;
  sinks_.push_back({std::move(sink), pieces.size()});
  pieces_.insert(pieces_.end(), pieces.begin(), pieces.end());
  next_check_ += static_cast<uint32_t>(pieces.size());
}

Status ReadTracker::CheckTurn(const CompletionQueue::Record& record) {
  if (record.command.check != due_check_) {
    return Internal("the completion ring is out of step: record {} where {} is due",
                    uint32_t{record.command.check}, due_check_);
  }
  ++due_check_;
  return OkStatus();
}

Status ReadTracker::Deliver(const CompletionQueue::Record& record) {
  const size_t length = record.first.size() + record.second.size();
  const uint32_t due = pieces_.empty() ? 0 : pieces_.front().shape.stored_bytes;
  if (pieces_.empty() || due != length) {
    return Internal("the card answered a read with {} bytes; {} were due", length, due);
  }
  const ReadPiece piece = pieces_.front();
  pieces_.pop_front();
  const size_t split = record.first.size();
  const Sink& sink = sinks_.front().sink;
  ForEachStretch(piece.shape, piece.size, [&](uint32_t begin, uint64_t at, uint32_t bytes) {
    const size_t end = size_t{begin} + bytes;
    if (begin < split) sink(at, record.first.subspan(begin, std::min(end, split) - begin));
    if (end > split) {
      const size_t from = std::max<size_t>(begin, split);
      sink(at + (from - begin), record.second.subspan(from - split, end - from));
    }
  });
  Pending& read = sinks_.front();
  if (--read.pieces == 0) sinks_.pop_front();
  return OkStatus();
}

}  // namespace ttfd
