// Files of tensors in the format safetensors, as models are published: a length of 8 bytes, a header in JSON that says
// where each tensor lies, then the elements, little-endian.
//
//   tt::Result<tt::Safetensors> file = tt::Safetensors::Open("model.safetensors");
//   const tt::Safetensors::Entry* entry = file->Find("model.norm.weight");
//   tt::Result<std::vector<float>> weight = file->Read(*entry);
//
// A file may come from anyone: whatever it has, it is read or refused. While its header is read it takes memory of some
// 30 times the header's size. Any thread may use one.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "ttfd/status.h"
#include "ttfd/tensor/spec.h"

namespace ttfd::tensor {

// A handle: copies are the same open file, which is closed with the last one.
class Safetensors {
 public:
  struct Entry {
    std::string name;
    std::string dtype;            // as the format calls it: "BF16", "F32", "I64", ...
    std::vector<uint64_t> shape;  // the outermost extent first; none: a number
    uint64_t elements = 0;
    uint64_t offset = 0;  // of the first byte, in the file
    uint64_t size_bytes = 0;
  };

  static constexpr uint64_t kMaxHeaderBytes = 100'000'000;
  static constexpr size_t kMaxRank = 32;

  // NOT_FOUND, PERMISSION_DENIED, UNAVAILABLE: the file cannot be opened or read. INVALID_ARGUMENT: it is not in the
  // format: the header is cut off, longer than kMaxHeaderBytes or no JSON of it; a type is unknown, or of less than a
  // byte; a shape has more than kMaxRank extents; elements overlap, leave bytes out or do not end with the file.
  static Result<Safetensors> Open(const std::string& path);

  // By name.
  std::span<const Entry> entries() const;
  // Null: there is none of that name. Valid while a copy of the file exists.
  const Entry* Find(std::string_view name) const;

  // The elements of an entry of this file, of F32, F16 or BF16: exactly their values, in Entry::elements numbers of new
  // memory. INVALID_ARGUMENT: another type; UNAVAILABLE: the file cannot be read any more.
  Result<std::vector<float>> Read(const Entry& entry) const;
  // Into an array of Entry::elements numbers. INVALID_ARGUMENT: it has another size.
  Status Read(const Entry& entry, std::span<float> elements) const;

 private:
  class State;
  explicit Safetensors(std::shared_ptr<const State> state) : state_(std::move(state)) {}

  std::shared_ptr<const State> state_;
};

}  // namespace ttfd::tensor
