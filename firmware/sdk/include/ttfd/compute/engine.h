// How the three harts of a compute kernel work together: circular buffers, the registers of Dst, and the start of each
// thread of the engine. Every wait of <ttfd/compute.h> is in tiles.h, unpack.h, math.h and pack.h.
//
// A compute kernel is one source, compiled for TRISC0, TRISC1 and TRISC2. Each function does its hart's part:
//
//   TRISC0  unpacks tiles of circular buffers into the source registers SrcA and SrcB
//   TRISC1  computes, from SrcA and SrcB into Dst, and in Dst
//   TRISC2  packs tiles of Dst into circular buffers
//
// Dst holds 32-bit numbers: two halves of four tiles. One half is computed while the other is packed; the engine's
// semaphore 1 counts the halves that are ready to pack. With TTFD_WHOLE_DST there is one section of eight tiles, which
// is computed and then packed. TRISC0 unpacks into Dst itself where TRISC1 lets it, by semaphore 2. A tile has 1024
// datums, four faces of 16x16 in the order top left, top right, bottom left, bottom right, which lie in 64 rows of
// SrcA, SrcB or Dst.
#pragma once

#include <stdint.h>
#include <ttfd/circular_buffer.h>
#include <ttfd/compute/names.h>

// How many indices of circular buffers there are, from 0: a kernel with fewer has a smaller image. Defined for all of
// its sources, by DEFINES of ttfd_add_kernel.
#ifndef TTFD_CIRCULAR_BUFFERS
#define TTFD_CIRCULAR_BUFFERS ttfd::abi::kMaxCircularBuffers
#endif

// Whether Dst is one section of eight tiles: for kernels that use more than four. Defined for all of its sources.
#ifndef TTFD_WHOLE_DST
#define TTFD_WHOLE_DST 0
#endif

namespace ttfd::compute {

inline constexpr bool kUnpacks = kernel::kHart == hw::kTrisc0;
inline constexpr bool kComputes = kernel::kHart == hw::kTrisc1;
inline constexpr bool kPacks = kernel::kHart == hw::kTrisc2;

namespace internal {

inline constexpr uint32_t kTileDatums = 1024;
inline constexpr uint32_t kTileRows = 64;
inline constexpr uint32_t kDstHalfRows = 512;
inline constexpr uint32_t kDstSections = TTFD_WHOLE_DST ? 1 : 2;
inline constexpr uint32_t kNextDstSection = TTFD_WHOLE_DST ? 0 : kDstHalfRows;
inline constexpr uint32_t kMathPack = 1u << kSemaphoreMathPack;
inline constexpr uint32_t kUnpackToDst = 1u << kSemaphoreUnpackToDst;

// A circular buffer as this hart uses it.
struct Buffer {
  CircularBuffer pages;
  uint32_t packed = 0;  // tiles packed since the last push
};
inline Buffer buffers[TTFD_CIRCULAR_BUFFERS];

[[gnu::noinline]] inline void LoadBuffer(uint32_t index) {
  buffers[index].pages = CircularBuffer(index);
}
inline Buffer& LoadedBuffer(uint32_t index) {
  if (buffers[index].pages.pages() == 0) [[unlikely]] {
    LoadBuffer(index);
  }
  return buffers[index];
}

[[gnu::always_inline]] inline Buffer& BufferAt(uint32_t index) {
  kernel::internal::NoteUse<abi::kCircularBuffer>(index);
  return LoadedBuffer(index);
}

inline uint32_t TileAddress(uint32_t buffer, uint32_t tile) {
  const CircularBuffer& pages = BufferAt(buffer).pages;
  return pages.position() + tile * pages.page_bytes();
}

// First row of the half of Dst that this hart uses, on TRISC0 the one that TRISC1 uses: 0 or kDstHalfRows.
inline uint32_t dst_half = 0;

constexpr uint32_t CodeOf(Format format) { return static_cast<uint32_t>(format); }

// Stores the configuration word of these fields, which are of one word; its other fields become 0.
template <typename... More>
void SetConfigFields(FieldValue first, More... more) {
  SetConfig(first.config.word,
            (first.config.field.In(0, first.value) | ... | more.config.field.In(0, more.value)));
}

// Stores an L1 address where the unpackers and the packer expect one.
inline void SetAddress(ConfigField field, uint32_t address) {
  SetConfig(field.word, address / 16 - 1);
}

}  // namespace internal

}  // namespace ttfd::compute
