// The host's side of the completion ring.
#include "runtime/queue/completion_queue.h"

#include <algorithm>
#include <cstddef>
#include <cstring>

#include "runtime/abi/control_block.h"
#include "runtime/abi/l1_map.h"
#include "runtime/abi/rings.h"
#include "runtime/base/bits.h"

namespace ttfd {
namespace {

// A word that the card writes while we read.
uint32_t LoadShared(const std::byte* from) {
  return __atomic_load_n(reinterpret_cast<const uint32_t*>(from), __ATOMIC_ACQUIRE);
}

}  // namespace

CompletionQueue::CompletionQueue(ByteSpan pointer, MutableByteSpan ring, Window& dispatch_tile)
    : pointer_(pointer), ring_(ring), window_(dispatch_tile) {}

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

void CompletionQueue::Pop(const Record& record) { read_ += record.pages; }

void CompletionQueue::Clear() {
  const uint32_t dirty = std::min(read_ - cleared_, pages());
  const uint32_t first = (read_ - dirty) % pages();
  const uint32_t before_end = std::min(dirty, pages() - first);
  std::memset(ring_.data() + size_t{first} * abi::kCompletionPageBytes, 0,
              size_t{before_end} * abi::kCompletionPageBytes);
  std::memset(ring_.data(), 0, size_t{dirty - before_end} * abi::kCompletionPageBytes);
  cleared_ = read_;
}

Status CompletionQueue::Acknowledge(bool all) {
  const uint32_t threshold = all ? 1 : std::max(pages() / 4, 1u);
  if (unacknowledged() < threshold) return OkStatus();
  constexpr uint64_t kPagesRead =
      abi::kControlBlockAddress + offsetof(abi::ControlBlock, completion_pages_read);
  if (all) {
    ASSIGN_OR_RETURN(const uint32_t known, ReadWord(window_, kPagesRead));
    if (known != acknowledged_) {
      return Error(StatusCode::kDeadlineExceeded,
                   "the card was told that {} pages of the completion ring are free again, and "
                   "knows of {}: somebody wrote over it",
                   acknowledged_, known);
    }
  }
  acknowledged_ = read_;
  return WriteWord(window_, kPagesRead, acknowledged_);
}

}  // namespace ttfd
