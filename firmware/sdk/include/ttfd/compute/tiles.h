// Tiles of circular buffers and of Dst: what every compute kernel uses. Each function does its hart's part.
//
// Nothing checks the numbers that functions get:
// - `buffer` and `in`, `out`: an index of a circular buffer of the program, below abi::kMaxCircularBuffers.
// - `tiles`: at most the pages of the buffer; the pages are consecutive if each count of a kernel divides their number.
// - `dst`: a tile of the half of Dst that tile_regs_acquire or tile_regs_wait gave, 0 to 3 (0 to 7 with
//   TTFD_WHOLE_DST). A greater one is a tile of the other half, which another hart may be using.
#pragma once

#include <stdint.h>
#include <ttfd/compute/engine.h>
#include <ttfd/compute/math.h>
#include <ttfd/compute/pack.h>
#include <ttfd/compute/unpack.h>

namespace ttfd::compute {

namespace internal {

// Before kernel_main(): sets all that no other function sets. The engine is as the last kernel left it.
inline void Start() {
  if constexpr (kUnpacks) StartUnpacking();
  if constexpr (kComputes) StartComputing();
  if constexpr (kPacks) StartPacking();
}

}  // namespace internal

// Sets the format of the buffer that is packed to, and no others: in the place of the next function where the init
// function of the first operation follows at once (own extension). Also later, for a buffer of another format: TRISC0
// has then waited for the last of all tiles that have been packed, and TRISC1 has no other.
inline void output_init(uint32_t out) {
  using namespace internal;
  if constexpr (kUnpacks) {
    SetConfigFields(FieldValue{kAluSrcAFormat, CodeOf(Format::kTf32)},
                    FieldValue{kAluSrcBFormat, CodeOf(Format::kTf32)},
                    FieldValue{kAluDstFormat, CodeOf(TileFormatOf(out).format)},
                    FieldValue{kAluFloat32Dst, 1}, FieldValue{kAluFloat32Sfpu, 1},
                    FieldValue{kAluInt8, 0});
  }
  if constexpr (kPacks) ConfigurePacker(out);
}

// Sets formats: of the buffers that SrcA and SrcB are unpacked from, and of the buffer that is packed to. A kernel
// calls it, or one of the init functions that call it, before any other function. Every buffer that the kernel packs
// to has the format of `out`, until output_init; the two buffers of an operation may have different ones.
inline void compute_kernel_hw_startup(uint32_t in0, uint32_t in1, uint32_t out) {
  if constexpr (kUnpacks) internal::ConfigureSources(in0, in1);
  output_init(out);
}
inline void compute_kernel_hw_startup(uint32_t in, uint32_t out) {
  compute_kernel_hw_startup(in, in, out);
}

namespace internal {

[[gnu::noinline]] inline void WaitFront(uint32_t buffer, uint32_t tiles) {
  BufferAt(buffer).pages.Wait(tiles);
}
[[gnu::noinline]] inline void PopFront(uint32_t buffer, uint32_t tiles) {
  Synchronize();  // the tiles have been read
  BufferAt(buffer).pages.Pop(tiles);
}

}  // namespace internal

// Circular buffers. TRISC0 consumes: waits for the first `tiles` tiles, and gives them back after it has unpacked
// them.
inline void cb_wait_front(uint32_t buffer, uint32_t tiles) {
  if constexpr (kUnpacks) internal::WaitFront(buffer, tiles);
}
inline void cb_pop_front(uint32_t buffer, uint32_t tiles) {
  if constexpr (kUnpacks) internal::PopFront(buffer, tiles);
}

// TRISC2 produces: waits for space for `tiles` tiles, and hands them over after it has packed them.
inline void cb_reserve_back(uint32_t buffer, uint32_t tiles) {
  if constexpr (kPacks) internal::BufferAt(buffer).pages.Reserve(tiles);
}
inline void cb_push_back(uint32_t buffer, uint32_t tiles) {
  if constexpr (kPacks) {
    kernel::Synchronize();  // the tiles have been written
    internal::BufferAt(buffer).packed = 0;
    internal::BufferAt(buffer).pages.Push(tiles);
  }
}

// Dst. TRISC1 waits for a free half, which is then 0, computes in it, and passes it on to TRISC2.
inline void tile_regs_acquire() {
  using namespace internal;
  if constexpr (kComputes) {
    constexpr ZEROACC kClearHalf = ZEROACC{}.clear_mode(2).use_32_bit_mode(1);
    Push<SEMWAIT{}
             .sem_sel(kMathPack)
             .wait_sem_cond(kWhileAtMax)
             .stall_res(kStallMath | kStallSfpu | kStallSync)>();
    if constexpr (kDstSections == 1) {
      Push<kClearHalf.where(0)>();
      Push<kClearHalf.where(1)>();
    } else if (dst_half == 0) {
      Push<kClearHalf.where(0)>();
    } else {
      Push<kClearHalf.where(1)>();
    }
    dst_maxima = 0;
  }
}
inline void tile_regs_commit() {
  using namespace internal;
  if constexpr (kComputes) {
    Push<STALLWAIT{}.stall_res(kStallSync).wait_res(kUntilMath | kUntilSfpu)>();
    Push<SEMPOST{}.sem_sel(kMathPack)>();
  }
  if constexpr (kUnpacks || kComputes) dst_half ^= kNextDstSection;
}
// TRISC2 waits for a half that is ready to pack, packs tiles of it, and gives it back.
inline void tile_regs_wait() {
  using namespace internal;
  if constexpr (kPacks) {
    Push<SEMWAIT{}
             .sem_sel(kMathPack)
             .wait_sem_cond(kWhileZero)
             .stall_res(kStallPack | kStallSync)>();
  }
}
inline void tile_regs_release() {
  using namespace internal;
  if constexpr (kPacks) {
    Push<STALLWAIT{}.stall_res(kStallSync).wait_res(kUntilPack)>();
    Push<SEMGET{}.sem_sel(kMathPack)>();
    dst_half ^= kNextDstSection;
  }
}

// Rows begin to end - 1 of the 32 of a tile, at least one: of functions that compute a part of it.
struct TileRows {
  uint32_t begin;
  uint32_t end;
};

// Packs tile `dst` (0 to 3) into the reserved pages of a circular buffer: into the first one, and into the next one
// by each further call until cb_push_back. With kOutOfOrder into page `page`.
template <bool kOutOfOrder = false>
void pack_tile(uint32_t dst, uint32_t buffer, uint32_t page = 0) {
  if constexpr (kPacks) {
    internal::Buffer& out = internal::BufferAt(buffer);
    if constexpr (!kOutOfOrder) page = out.packed++;
    internal::Pack(dst, internal::TileAddress(buffer, page));
  }
}

}  // namespace ttfd::compute
