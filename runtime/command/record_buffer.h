// Records in host memory: laid out here first, sent or kept later.
#pragma once

#include <cstdint>
#include <vector>

#include "runtime/command/record_sink.h"

namespace ttfd {

class RecordBuffer final : public RecordSink {
 public:
  explicit RecordBuffer(uint32_t max_record_bytes) : max_record_bytes_(max_record_bytes) {}

  StatusOr<MutableByteSpan> Append(uint32_t bytes) override {
    const size_t begin = bytes_.size();
    bytes_.resize(begin + bytes);
    ends_.push_back(static_cast<uint32_t>(bytes_.size()));
    return MutableByteSpan(bytes_).subspan(begin);
  }
  uint32_t max_record_bytes() const override { return max_record_bytes_; }

  std::vector<std::byte>& bytes() { return bytes_; }
  // Where each appended piece ends.
  std::vector<uint32_t>& ends() { return ends_; }

 private:
  const uint32_t max_record_bytes_;
  std::vector<std::byte> bytes_;
  std::vector<uint32_t> ends_;
};

}  // namespace ttfd
