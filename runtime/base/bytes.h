// Bytes in memory: span aliases and unaligned little-endian loads and stores (host and device are
// both little-endian).
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <type_traits>

namespace ttfd {

static_assert(std::endian::native == std::endian::little, "records are built in host byte order");

using ByteSpan = std::span<const std::byte>;
using MutableByteSpan = std::span<std::byte>;

template <typename T>
T LoadAt(const void* from) {
  static_assert(std::is_trivially_copyable_v<T>);
  T value;
  std::memcpy(&value, from, sizeof(T));
  return value;
}

template <typename T>
void StoreAt(void* to, const T& value) {
  static_assert(std::is_trivially_copyable_v<T>);
  std::memcpy(to, &value, sizeof(T));
}

template <typename T>
ByteSpan BytesOf(const T& value) {
  static_assert(std::is_trivially_copyable_v<T>);
  return {reinterpret_cast<const std::byte*>(&value), sizeof(T)};
}

template <typename T>
MutableByteSpan MutableBytesOf(T& value) {
  static_assert(std::is_trivially_copyable_v<T>);
  return {reinterpret_cast<std::byte*>(&value), sizeof(T)};
}

}  // namespace ttfd
