// Reads numbers and strings out of bytes that somebody else made. Past the end it reads zeros and says so.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string_view>

#include "runtime/base/bytes.h"

namespace ttfd {

class ByteReader {
 public:
  explicit ByteReader(ByteSpan bytes, uint64_t at = 0) : bytes_(bytes) { Seek(at); }

  bool ok() const { return ok_; }
  bool at_end() const { return at_ >= bytes_.size(); }
  uint64_t position() const { return at_; }

  void Seek(uint64_t at) {
    if (at > bytes_.size()) ok_ = false;
    at_ = std::min<uint64_t>(at, bytes_.size());
  }
  void Skip(uint64_t count) { Seek(count > bytes_.size() - at_ ? bytes_.size() + 1 : at_ + count); }

  uint8_t U8() { return Fixed<uint8_t>(); }
  uint16_t U16() { return Fixed<uint16_t>(); }
  uint32_t U32() { return Fixed<uint32_t>(); }
  uint64_t U64() { return Fixed<uint64_t>(); }

  // Numbers of more than 64 bits lose their top.
  uint64_t Uleb() {
    uint64_t value = 0;
    for (uint32_t shift = 0; ok_; shift += 7) {
      const uint8_t byte = U8();
      if (shift < 64) value |= uint64_t{byte & 0x7Fu} << shift;
      if ((byte & 0x80) == 0) break;
    }
    return value;
  }
  int64_t Sleb() {
    uint64_t value = 0;
    for (uint32_t shift = 0; ok_;) {
      const uint8_t byte = U8();
      if (shift < 64) value |= uint64_t{byte & 0x7Fu} << shift;
      shift += 7;
      if ((byte & 0x80) != 0) continue;
      if (shift < 64 && (byte & 0x40) != 0) value |= ~uint64_t{0} << shift;
      break;
    }
    return static_cast<int64_t>(value);
  }

  // Up to the next zero byte, which is passed; the result has no more than `most` characters.
  std::string_view String(size_t most) {
    const ByteSpan rest = bytes_.subspan(at_);
    const auto end = std::find(rest.begin(), rest.end(), std::byte{0});
    if (end == rest.end()) ok_ = false;
    const auto size = static_cast<size_t>(end - rest.begin());
    at_ += std::min(size + 1, rest.size());
    return {reinterpret_cast<const char*>(rest.data()), std::min(size, most)};
  }

 private:
  template <typename T>
  T Fixed() {
    if (bytes_.size() - at_ < sizeof(T)) {
      ok_ = false;
      at_ = bytes_.size();
      return 0;
    }
    const T value = LoadAt<T>(bytes_.data() + at_);
    at_ += sizeof(T);
    return value;
  }

  ByteSpan bytes_;
  uint64_t at_ = 0;
  bool ok_ = true;
};

// The string at `offset` of a string table, no longer than `most`; empty where there is none.
inline std::string_view StringIn(ByteSpan table, uint64_t offset, size_t most) {
  if (offset >= table.size()) return {};
  const ByteSpan rest = table.subspan(offset, std::min<size_t>(table.size() - offset, most));
  const auto end = std::find(rest.begin(), rest.end(), std::byte{0});
  return {reinterpret_cast<const char*>(rest.data()), static_cast<size_t>(end - rest.begin())};
}

}  // namespace ttfd
