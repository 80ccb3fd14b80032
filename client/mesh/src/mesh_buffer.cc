#include "client/mesh/src/mesh_buffer.h"

#include <fmt/format.h>

#include <cstring>
#include <vector>

#include "client/mesh/src/error.h"
#include "firmware/mesh/ring_words.h"

namespace ttfd::mesh {
namespace {

using client::Buffer;

constexpr uint64_t kMostBytes = uint64_t{1} << 48;  // of a buffer on one chip
// Pages that the library chooses are multiples of it, so that any range of them may be written.
constexpr uint64_t kPageAlignment = 64;

}  // namespace

Status CheckSize(uint64_t part_bytes, uint32_t parts, const char* name) {
  if (parts != 0 && part_bytes != 0 && part_bytes <= kMostBytes / parts) return {};
  return Invalid(
      name, fmt::format("{} parts of {} bytes; at least one part of one byte, and {} bytes at most",
                        parts, part_bytes, kMostBytes));
}

Status CheckBuffer(const MeshBuffer& buffer, size_t chips, const char* name) {
  Status size = CheckSize(buffer.part_bytes, buffer.parts, name);
  if (!size.ok()) return size;
  if (buffer.buffers.size() != chips) {
    return Invalid(name,
                   fmt::format("{} buffers for a mesh of {} chips", buffer.buffers.size(), chips));
  }
  const uint32_t page_bytes = buffer.page_bytes();
  for (const Buffer& one : buffer.buffers) {
    if (one.page_bytes() != page_bytes || page_bytes == 0 ||
        buffer.padded_bytes() > one.size_bytes() ||
        buffer.padded_bytes() / page_bytes > UINT32_MAX) {
      return Invalid(
          name, fmt::format("a buffer of {} bytes in pages of {}; {} parts of {} bytes take {} in "
                            "pages of {}, fewer than 2^32",
                            one.size_bytes(), one.page_bytes(), buffer.parts, buffer.part_bytes,
                            page_bytes == 0 ? 0 : buffer.padded_bytes(), page_bytes));
    }
  }
  return {};
}

uint32_t PageBytesFor(uint64_t part_bytes) {
  const uint64_t pages = (part_bytes + kRingSegmentBytes - 1) / kRingSegmentBytes;
  return static_cast<uint32_t>(((part_bytes + pages - 1) / pages + kPageAlignment - 1) /
                               kPageAlignment * kPageAlignment);
}

Status WriteParts(client::Queue queue, const MeshBuffer& buffer, uint32_t chip,
                  std::span<const std::byte> bytes) {
  if (buffer.padded_bytes() == bytes.size()) {
    return queue.Write(buffer.buffers[chip], 0, bytes);
  }
  std::vector<std::byte> padded(buffer.padded_bytes());
  for (uint32_t part = 0; part < buffer.parts; ++part) {
    std::memcpy(padded.data() + part * (padded.size() / buffer.parts),
                bytes.data() + part * buffer.part_bytes, buffer.part_bytes);
  }
  return queue.Write(buffer.buffers[chip], 0, padded);
}

Status ReadParts(client::Queue queue, const MeshBuffer& buffer, uint32_t chip,
                 std::span<std::byte> into) {
  if (buffer.padded_bytes() == into.size()) {
    return queue.Read(buffer.buffers[chip], 0, into);
  }
  std::vector<std::byte> padded(buffer.padded_bytes());
  Status status = queue.Read(buffer.buffers[chip], 0, padded);
  for (uint32_t part = 0; status.ok() && part < buffer.parts; ++part) {
    std::memcpy(into.data() + part * buffer.part_bytes,
                padded.data() + part * (padded.size() / buffer.parts), buffer.part_bytes);
  }
  return status;
}

}  // namespace ttfd::mesh
