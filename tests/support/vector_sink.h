// A RecordSink that keeps every record in its own vector.
#pragma once

#include <vector>

#include "runtime/command/decoder.h"
#include "runtime/command/record_sink.h"

namespace ttfd {

class VectorSink final : public RecordSink {
 public:
  explicit VectorSink(uint32_t max_record_bytes = abi::kMaxEntryBytes) : max_(max_record_bytes) {}

  StatusOr<MutableByteSpan> Append(uint32_t bytes) override {
    if (bytes == 0 || bytes % abi::kEntryAlignment != 0 || bytes > max_) {
      return Internal("record of {} bytes, limit {}", bytes, max_);
    }
    records.emplace_back(bytes, std::byte{0xEE});  // whatever is not written shows
    return MutableByteSpan(records.back());
  }
  uint32_t max_record_bytes() const override { return max_; }

  // All records in order, decoded; the spans point into `records`.
  StatusOr<std::vector<DecodedCommand>> Decode() const {
    std::vector<DecodedCommand> all;
    for (const auto& record : records) {
      ASSIGN_OR_RETURN(auto commands, DecodeEntry(record));
      for (auto& command : commands) all.push_back(std::move(command));
    }
    return all;
  }

  std::vector<std::vector<std::byte>> records;

 private:
  const uint32_t max_;
};

}  // namespace ttfd
