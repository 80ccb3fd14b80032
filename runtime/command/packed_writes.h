// WRITE_PACKED and WRITE_PACKED_LARGE: small data to many tiles, cut so that every command keeps
// the limits of the protocol and of the card's rings.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <span>
#include <vector>

#include "runtime/abi/dispatch_commands.h"
#include "runtime/base/bits.h"
#include "runtime/base/bytes.h"
#include "runtime/base/status.h"
#include "runtime/command/card_geometry.h"
#include "runtime/command/record_batch.h"

namespace ttfd {

// Diagnostic types of WRITE_PACKED and WRITE_PACKED_LARGE.
enum PackedType : uint8_t {
  kPackedArguments = 1,
  kPackedLaunch = 2,
  kPackedSemaphores = 3,
  kPackedEvent = 4,
  kPackedGoIndex = 5,
};
enum PackedLargeType : uint8_t { kPackedLargeConfig = 1, kPackedLargeBinaries = 2 };

// The same `data` to `address` of every tile of the rectangles. At most MaxSharedBytes.
void PackedShared(PackedType type, uint32_t address, ByteSpan data, std::span<const CoreRange> to,
                  const CardGeometry& card, RecordBatch& batch);
// The most data PackedShared takes: what shares a page and a record with the header and several targets.
uint32_t MaxSharedBytes(uint32_t max_record_bytes);

// One packet of `size` bytes a target, to the same address. `fill(to, i)` writes packet i.
struct PackedTarget {
  uint32_t noc_word = 0;  // NocXy if receivers is 0, else a rectangle
  uint32_t receivers = 0;
};
template <typename Fill>
void PackedEach(PackedType type, uint32_t address, uint32_t size,
                std::span<const PackedTarget> targets, const CardGeometry& card, RecordBatch& batch,
                const Fill& fill);

// Any amount of data to rectangles; the batch names it, so it outlives that.
struct LargePart {
  CoreRange to;
  uint32_t address = 0;
  ByteSpan data;
};
void PackedLarge(PackedLargeType type, std::span<const LargePart> parts, const CardGeometry& card,
                 RecordBatch& batch);

// How PackedEach cuts its targets; in the header only because that is a template.
struct PackedChunk {
  uint32_t max_targets = 0;
  bool multicast = false;
};
PackedChunk ChunkOfPacked(std::span<const PackedTarget> targets, uint32_t size,
                          const CardGeometry& card, uint32_t max_record_bytes);
// Appends the record of one chunk, without its data packets; returns those.
MutableByteSpan BeginPacked(PackedType type, uint32_t address, uint32_t size,
                            std::span<const PackedTarget> targets, bool multicast,
                            RecordBatch& batch);

template <typename Fill>
void PackedEach(PackedType type, uint32_t address, uint32_t size,
                std::span<const PackedTarget> targets, const CardGeometry& card, RecordBatch& batch,
                const Fill& fill) {
  const PackedChunk chunk = ChunkOfPacked(targets, size, card, batch.max_record_bytes());
  const uint32_t stride = AlignUp(size, abi::kPackedDataAlignment);
  for (size_t first = 0; first < targets.size(); first += chunk.max_targets) {
    const auto part =
        targets.subspan(first, std::min<size_t>(chunk.max_targets, targets.size() - first));
    const MutableByteSpan packets = BeginPacked(type, address, size, part, chunk.multicast, batch);
    for (size_t i = 0; i < part.size(); ++i) {
      fill(packets.subspan(i * stride, size), first + i);
      std::memset(packets.data() + i * stride + size, 0, stride - size);
    }
  }
}

}  // namespace ttfd
