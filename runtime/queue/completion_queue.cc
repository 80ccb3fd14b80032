// The host's side of the completion ring.
#include "runtime/queue/completion_queue.h"

#include <algorithm>
#include <cstddef>
#include <cstring>

#include "runtime/abi/control_block.h"
#include "runtime/abi/l1_map.h"
#include "runtime/abi/rings.h"
#include "runtime/base/bits.h"
#include "runtime/queue/shared_word.h"

namespace ttfd {
namespace {

constexpr uint64_t kPagesRead =
    abi::kControlBlockAddress + offsetof(abi::ControlBlock, completion_pages_read);

}  // namespace

CompletionQueue::CompletionQueue(ByteSpan pointer, MutableByteSpan ring, Window& dispatch_tile)
    : pointer_(pointer), ring_(ring), window_(dispatch_tile), dirty_(pages()) {}

uint32_t CompletionQueue::pages() const {
  return static_cast<uint32_t>(ring_.size() / abi::kCompletionPageBytes);
}

abi::CompletionPointer CompletionQueue::pointer() const {
  abi::CompletionPointer value{};
  value.pages_written =
      LoadShared(pointer_.data() + offsetof(abi::CompletionPointer, pages_written));
  value.progress = LoadShared(pointer_.data() + offsetof(abi::CompletionPointer, progress));
  value.last_event = LoadShared(pointer_.data() + offsetof(abi::CompletionPointer, last_event));
  return value;
}

StatusOr<std::optional<CompletionQueue::Record>> CompletionQueue::Next() {
  const uint32_t written =
      LoadShared(pointer_.data() + offsetof(abi::CompletionPointer, pages_written));
  const uint32_t there = written - read_;
  if (there == 0) return std::optional<Record>();
  if (there > pages()) {
    return Internal("the completion ring has {} pages, but {} are said to be written and unread",
                    pages(), there);
  }
  const size_t begin = size_t{read_ % pages()} * abi::kCompletionPageBytes;
  Record record;
  record.command = LoadAt<abi::WriteLinearHHost>(ring_.data() + begin);
  const uint64_t length = record.command.length;
  if (record.command.id != abi::DispatchId::kWriteLinearHHost || length < sizeof(record.command) ||
      length > uint64_t{there} * abi::kCompletionPageBytes) {
    return Internal(
        "page {} of the completion ring holds no record: command {}, length {}, {} "
        "pages published",
        read_, static_cast<uint32_t>(record.command.id), length, there);
  }
  record.pages = static_cast<uint32_t>(DivideRoundUp<uint64_t>(length, abi::kCompletionPageBytes));
  const size_t data_begin = begin + sizeof(record.command);
  const size_t data = static_cast<size_t>(length) - sizeof(record.command);
  const size_t before_end = std::min(data, ring_.size() - data_begin);
  record.first = ByteSpan(ring_).subspan(data_begin, before_end);
  record.second = ByteSpan(ring_).first(data - before_end);
  return std::optional<Record>(record);
}

void CompletionQueue::Pop(const Record& record) {
  const size_t bytes = sizeof(record.command) + record.first.size() + record.second.size();
  // The card writes whole 64 bytes.
  size_t left = AlignUp<size_t>(bytes, abi::kEntryAlignment);
  for (uint32_t i = 0; i < record.pages; ++i) {
    uint16_t& dirty = dirty_[(read_ + i) % pages()];
    dirty_pages_ += dirty == 0 ? 1 : 0;
    const auto here = static_cast<uint16_t>(std::min<size_t>(left, abi::kCompletionPageBytes));
    dirty = std::max(dirty, here);
    left -= here;
  }
  read_ += record.pages;
}

void CompletionQueue::ClearPage(uint32_t page) {
  uint16_t& dirty = dirty_[page % pages()];
  if (dirty == 0) return;
  std::memset(ring_.data() + size_t{page % pages()} * abi::kCompletionPageBytes, 0, dirty);
  dirty = 0;
  --dirty_pages_;
}

// The card writes no page before it is told that it is free.
void CompletionQueue::Clear(uint32_t most_bytes) {
  if (abi::CounterReached(acknowledged_, cleared_)) cleared_ = acknowledged_;
  for (uint32_t done = 0; cleared_ != read_ && done < most_bytes; ++cleared_) {
    done += dirty_[cleared_ % pages()];
    ClearPage(cleared_);
  }
}

void CompletionQueue::ClearAll() {
  // Pages that Clear left come last: there are none but after the ring was used faster than it was cleared.
  for (uint32_t i = 0; i < pages() && dirty_pages_ > 0; ++i) ClearPage(cleared_ + i);
  cleared_ = read_;
}

Status CompletionQueue::Acknowledge(bool all) {
  const uint32_t threshold = all ? 1 : std::max(pages() / 4, 1u);
  if (unacknowledged() < threshold) return OkStatus();
  acknowledged_ = read_;
  return WriteWord(window_, kPagesRead, acknowledged_);
}

StatusOr<bool> CompletionQueue::AcknowledgeRest() {
  if (unacknowledged() == 0) return false;
  ASSIGN_OR_RETURN(const uint32_t found, ReadWord(window_, kPagesRead));
  if (found != acknowledged_) {
    return Error(StatusCode::kDeadlineExceeded,
                 "the dispatch tile's count of acknowledged completion pages was overwritten: {} "
                 "instead of {}",
                 found, acknowledged_);
  }
  RETURN_IF_ERROR(Acknowledge(true));
  return true;
}

}  // namespace ttfd
