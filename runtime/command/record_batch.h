// The records of one command for one hardware queue, encoded in host memory before the card sees any of them: their
// exact size is known before they are given space. Data of kReferencedBytes or more is not copied here but named.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "runtime/abi/prefetch_commands.h"
#include "runtime/abi/rings.h"
#include "runtime/base/bits.h"
#include "runtime/base/bytes.h"

namespace ttfd {

// Size of a RELAY_INLINE record whose dispatch command and data are `payload` bytes long.
constexpr uint32_t InlineRecordBytes(uint32_t payload) {
  return AlignUp(abi::kCommandBytes + payload, abi::kEntryAlignment);
}

class RecordBatch {
 public:
  // Whole records that the prefetcher reads at once, `bytes` long together.
  struct Entry {
    uint32_t first_segment = 0;  // index; its last is before the first of the next entry
    uint32_t bytes = 0;
    bool stall = false;  // nothing behind it is fetched before it is executed
  };
  // Consecutive bytes of an entry.
  struct Segment {
    const std::byte* data = nullptr;  // null: the next bytes of copied()
    uint32_t bytes = 0;
  };
  static constexpr size_t kReferencedBytes = 512;

  // `max_record_bytes`: the largest entry the card's rings take.
  explicit RecordBatch(uint32_t max_record_bytes) : max_record_bytes_(max_record_bytes) {}

  // Memory for `bytes` bytes of prefetch commands behind everything so far, in one entry; the caller fills it before
  // it calls anything else here. `bytes` is a multiple of 64 and at most max_record_bytes().
  MutableByteSpan Append(uint32_t bytes) { return Begin(bytes, bytes); }
  // The same, of which the first `head` bytes are returned; Add supplies the rest.
  MutableByteSpan Begin(uint32_t head, uint32_t bytes);
  // The next bytes of what Begin began, and zeros up to `padded` bytes. `data` outlives the batch if it has
  // kReferencedBytes or more.
  void Add(ByteSpan data, size_t padded);
  // The same of a word, little-endian, again and again.
  void AddWords(uint32_t word, uint32_t bytes);

  // Nothing that follows is fetched before the records so far are executed. REQUIRES !empty().
  void Stall() { entries_.back().stall = true; }
  void Clear();

  bool empty() const { return entries_.empty(); }
  uint32_t max_record_bytes() const { return max_record_bytes_; }
  std::span<const Entry> entries() const { return entries_; }
  // Segments of entry `i`.
  std::span<const Segment> SegmentsOf(size_t i) const {
    const size_t first = entries_[i].first_segment;
    const size_t end = i + 1 < entries_.size() ? entries_[i + 1].first_segment : segments_.size();
    return std::span(segments_).subspan(first, end - first);
  }
  // Bytes that are not named, in the order of their segments. Without Add: all records, one after the other.
  ByteSpan copied() const { return ByteSpan(bytes_).first(used_); }

 private:
  MutableByteSpan Copy(uint32_t bytes);
  void AddZeros(uint32_t bytes);
  void AddSegment(const std::byte* data, uint32_t bytes);

  uint32_t max_record_bytes_;
  std::vector<std::byte> bytes_;  // grows to the most that was needed; used_ of them are in use
  size_t used_ = 0;
  std::vector<Segment> segments_;
  std::vector<Entry> entries_;
};

}  // namespace ttfd
