// The records of one command for one hardware queue, in host memory.
#include "runtime/command/record_batch.h"

#include <algorithm>
#include <array>
#include <cassert>
#include <cstring>

namespace ttfd {

MutableByteSpan RecordBatch::Copy(uint32_t bytes) {
  if (used_ + bytes > bytes_.size()) bytes_.resize(std::max(used_ + bytes, 2 * bytes_.size()));
  const MutableByteSpan copy = MutableByteSpan(bytes_).subspan(used_, bytes);
  used_ += bytes;
  AddSegment(nullptr, bytes);
  return copy;
}

void RecordBatch::AddSegment(const std::byte* data, uint32_t bytes) {
  // Copied bytes extend the copied segment before them.
  if (data == nullptr && segments_.size() > entries_.back().first_segment &&
      segments_.back().data == nullptr) {
    segments_.back().bytes += bytes;
  } else {
    segments_.push_back({data, bytes});
  }
}

MutableByteSpan RecordBatch::Begin(uint32_t head, uint32_t bytes) {
  assert(bytes > 0 && bytes % abi::kEntryAlignment == 0 && bytes <= max_record_bytes_);
  if (entries_.empty() || entries_.back().stall ||
      entries_.back().bytes + bytes > max_record_bytes_) {
    entries_.push_back({static_cast<uint32_t>(segments_.size()), 0, false});
  }
  entries_.back().bytes += bytes;
  return Copy(head);
}

void RecordBatch::Add(ByteSpan data, size_t padded) {
  const auto bytes = static_cast<uint32_t>(data.size());
  if (bytes >= kReferencedBytes) {
    AddSegment(data.data(), bytes);
  } else if (bytes > 0) {
    std::memcpy(Copy(bytes).data(), data.data(), bytes);
  }
  AddZeros(static_cast<uint32_t>(padded - bytes));
}

void RecordBatch::AddZeros(uint32_t bytes) {
  static constexpr std::array<std::byte, 4096> kZeros{};
  for (; bytes >= kReferencedBytes; bytes -= segments_.back().bytes) {
    AddSegment(kZeros.data(), std::min(bytes, uint32_t{kZeros.size()}));
  }
  if (bytes > 0) std::memset(Copy(bytes).data(), 0, bytes);
}

void RecordBatch::AddWords(uint32_t word, uint32_t bytes) {
  const MutableByteSpan to = Copy(bytes);
  size_t at = 0;
  for (; at + sizeof(word) <= to.size(); at += sizeof(word)) StoreAt(to.data() + at, word);
  std::memcpy(to.data() + at, &word, to.size() - at);
}

void RecordBatch::Clear() {
  used_ = 0;
  segments_.clear();
  entries_.clear();
}

}  // namespace ttfd
