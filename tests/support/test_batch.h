// A RecordBatch whose records are looked at.
#pragma once

#include <cstring>
#include <utility>
#include <vector>

#include "runtime/command/decoder.h"
#include "runtime/command/record_batch.h"

namespace ttfd {

class TestBatch final : public RecordBatch {
 public:
  explicit TestBatch(uint32_t max_record_bytes = abi::kMaxEntryBytes)
      : RecordBatch(max_record_bytes) {}

  // The entries as the ring would hold them.
  std::vector<std::vector<std::byte>> Bytes() const {
    std::vector<std::vector<std::byte>> all;
    const std::byte* copied_at = copied().data();
    for (size_t i = 0; i < entries().size(); ++i) {
      std::vector<std::byte>& entry = all.emplace_back();
      for (const Segment& segment : SegmentsOf(i)) {
        const std::byte* from = segment.data;
        if (from == nullptr) from = std::exchange(copied_at, copied_at + segment.bytes);
        entry.insert(entry.end(), from, from + segment.bytes);
      }
    }
    return all;
  }
  size_t total_bytes() const {
    size_t bytes = 0;
    for (const Entry& entry : entries()) bytes += entry.bytes;
    return bytes;
  }

  // All commands in order, decoded; the spans are good until the next call.
  StatusOr<std::vector<DecodedCommand>> Decode() {
    decoded_ = Bytes();
    std::vector<DecodedCommand> all;
    for (size_t i = 0; i < decoded_.size(); ++i) {
      const std::vector<std::byte>& entry = decoded_[i];
      if (entry.size() != entries()[i].bytes || entry.size() > max_record_bytes()) {
        return Internal("entry of {} bytes, {} were said, limit {}", entry.size(),
                        entries()[i].bytes, max_record_bytes());
      }
      ASSIGN_OR_RETURN(auto commands, DecodeEntry(entry));
      for (auto& command : commands) all.push_back(std::move(command));
    }
    return all;
  }

 private:
  std::vector<std::vector<std::byte>> decoded_;
};

}  // namespace ttfd
