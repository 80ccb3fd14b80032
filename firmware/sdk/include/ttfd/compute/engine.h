// How the three harts of a compute kernel work together: circular buffers, the registers of Dst, and the start of each
// thread of the engine. Every wait of <ttfd/compute.h> is in this file.
//
// A compute kernel is one source, compiled for TRISC0, TRISC1 and TRISC2. Each function does its hart's part:
//
//   TRISC0  unpacks tiles of circular buffers into the source registers SrcA and SrcB
//   TRISC1  computes, from SrcA and SrcB into Dst, and in Dst
//   TRISC2  packs tiles of Dst into circular buffers
//
// Dst holds 32-bit numbers: two halves of four tiles. One half is computed while the other is packed; the engine's
// semaphore 1 counts the halves that are ready to pack. A tile has 1024 datums, four faces of 16x16 in the order top
// left, top right, bottom left, bottom right, which lie in 64 rows of SrcA, SrcB or Dst.
#pragma once

#include <stdint.h>
#include <ttfd/circular_buffer.h>
#include <ttfd/compute/instructions.h>

namespace ttfd::compute {

inline constexpr bool kUnpacks = kernel::kHart == hw::kTrisc0;
inline constexpr bool kComputes = kernel::kHart == hw::kTrisc1;
inline constexpr bool kPacks = kernel::kHart == hw::kTrisc2;

namespace internal {

using namespace kernel;
using namespace hw::tensix;

inline constexpr uint32_t kTileDatums = 1024;
inline constexpr uint32_t kTileRows = 64;
inline constexpr uint32_t kDstHalfRows = 512;
inline constexpr uint32_t kMathPack = 1u << kSemaphoreMathPack;
inline constexpr uint32_t kAllCounters = 0b1111;  // SrcA, SrcB, Dst, fidelity phase
inline constexpr uint32_t kBothSources = 0b11;
// Address modifiers of TRISC1's thread: operations set 0 to 5 in their init functions; 6 and 7 are set at the start.
inline constexpr uint32_t kAddrModNextVector = 6;
inline constexpr uint32_t kAddrModNoStep = 7;

// A circular buffer as this hart uses it.
struct Buffer {
  CircularBuffer pages;
  uint32_t packed = 0;  // tiles packed since the last push
};
inline Buffer buffers[abi::kMaxCircularBuffers];

[[gnu::noinline]] inline void LoadBuffer(uint32_t index) {
  buffers[index].pages = CircularBuffer(index);
}
inline Buffer& BufferAt(uint32_t index) {
  if (buffers[index].pages.pages() == 0) [[unlikely]] {
    LoadBuffer(index);
  }
  return buffers[index];
}

// Format of the tiles in a circular buffer: bfloat16 where the client gave none.
[[gnu::noinline]] inline Format FormatOf(uint32_t buffer) {
  const CircularBuffer& pages = BufferAt(buffer).pages;
  return pages.has_format() ? pages.format() : Format::kFloat16B;
}

inline uint32_t TileAddress(uint32_t buffer, uint32_t tile) {
  const CircularBuffer& pages = BufferAt(buffer).pages;
  return pages.position() + tile * pages.page_bytes();
}

// First row of the half of Dst that this hart's thread works in: 0 or kDstHalfRows.
inline uint32_t dst_half = 0;
// Tiles of that half that hold a maximum, bit by bit: reduce_tile.
inline uint32_t dst_maxima = 0;

constexpr uint32_t CodeOf(Format format) { return static_cast<uint32_t>(format); }

// Stores the configuration word of these fields, which are of one word; its other fields become 0.
template <typename... More>
void SetConfigFields(FieldValue first, More... more) {
  SetConfig(first.config.word, (first.config.field.In(0, first.value) | ... |
                                more.config.field.In(0, more.value)));
}

// TRISC0.

// The format of each source, and whether unpacker 0 transposes the four faces of a tile, each in its place.
[[gnu::noinline]] inline void ConfigureSources(uint32_t buffer_a, uint32_t buffer_b, bool transpose = false) {
  constexpr UnpackerConfig kA = kUnpackers[0];
  constexpr UnpackerConfig kB = kUnpackers[1];
  const uint32_t a = CodeOf(FormatOf(buffer_a));
  const uint32_t b = CodeOf(FormatOf(buffer_b));
  Synchronize();  // tiles before it are unpacked as they were to be
  SetConfigFields(FieldValue{kA.in_format, a}, FieldValue{kA.uncompressed, 1});
  SetConfigFields(FieldValue{kA.out_format, a}, FieldValue{kA.transpose, transpose});
  SetConfigFields(FieldValue{kB.in_format, b}, FieldValue{kB.uncompressed, 1},
                  FieldValue{kB.x_dim, kTileDatums});
  SetConfigFields(FieldValue{kB.out_format, b});
}

inline void SetAddress(ConfigField field, uint32_t address) {
  SetConfig(field.word, address / 16 - 1);
}

// Unpacks the tile at L1 address `a` into SrcA, and the one at `b` into SrcB.
[[gnu::noinline]] inline void Unpack(uint32_t a, uint32_t b) {
  constexpr UNPACR kUnpack = UNPACR{}.last(1).ovrd_thread_id(1).set_dat_valid(1);
  Synchronize();  // the last addresses have been used
  SetAddress(kUnpackers[1].address, b);
  SetAddress(kUnpackers[0].address, a);
  ReadConfig(kUnpackers[0].address.word);
  Push<kUnpack.unpacker(0)>();
  Push<kUnpack.unpacker(1)>();
}

// Unpacks the tile at L1 address `a` into SrcA; SrcB becomes 0.
[[gnu::noinline]] inline void UnpackBesideZero(uint32_t a) {
  Synchronize();  // the last address has been used
  SetAddress(kUnpackers[0].address, a);
  ReadConfig(kUnpackers[0].address.word);
  Push<UNPACR{}.last(1).ovrd_thread_id(1).set_dat_valid(1)>();
  Push<UNPACR_NOP{}.unpacker(1).unpack_pop(1).stall_clr_cntrl(1).set_dvalid(1)>();
}

// This hart owns configuration words 0, 1 and 2, which the three threads share. TRISC1 waits for a valid source, and
// TRISC2 for TRISC1, before they depend on them.
inline void StartUnpacking() {
  constexpr UnpackerConfig kA = kUnpackers[0];
  constexpr UnpackerConfig kB = kUnpackers[1];
  SetConfig<FieldValue{kAluSrcAOverride, 0}, FieldValue{kAluSrcBOverride, 0},
            FieldValue{kAluDstOverride, 0}>();
  SetConfig<FieldValue{kAluKeepDenormalSrc, 0}, FieldValue{kPackReluMode, 0}>();
  // A tile is one row of 1024 datums, which fills the 64 rows of a source.
  SetConfig<FieldValue{kA.x_dim, kTileDatums}>();
  SetConfig<FieldValue{kA.y_dim, 1}, FieldValue{kA.z_dim, 1}>();
  SetConfig<FieldValue{kA.no_zero_compression, 1}>();
  SetConfig<FieldValue{kA.offset, 0}>();
  SetConfig<FieldValue{kA.dest_y_stride, 0}>();
  SetConfig<FieldValue{kA.dest_z_stride, 0}>();
  SetConfig<FieldValue{kUnpack0DestAddress, 64}>();  // row 0: the unpacker subtracts 64
  SetConfig<FieldValue{kUnpack0AddCounter, 0}>();
  SetConfig<FieldValue{kB.y_dim, 1}, FieldValue{kB.z_dim, 1}>();
  SetConfig<FieldValue{kB.no_zero_compression, 1}>();
  SetConfig<FieldValue{kB.dest_z_stride, 0}>();
  SetThreadConfig<kThreadStateId, 0>();
  SetThreadConfig<kThreadUnpackSet, 4>();
  SetThreadConfig<kThreadUnpackContext, 0>();
  SetCounters<kCountersUnpack0 | kCountersUnpack1, kTileDatums>();
}

// TRISC1.

// What an instruction with addr_mode `kSection` does to the row counters: adds to those of the sources, which wrap at
// 64, and what `kDst` says to Dst and the fidelity phase.
template <uint32_t kSection, uint32_t kSrcA, uint32_t kSrcB, uint32_t kDst>
void SetAddrMod() {
  SetThreadConfig<kThreadAddrModAb + kSection,
                  kAddrModSrcAIncrement.In(0, kSrcA) | kAddrModSrcBIncrement.In(0, kSrcB)>();
  SetThreadConfig<kThreadAddrModDst + kSection, kDst>();
  SetThreadConfig<kThreadAddrModBias + kSection, 0>();
}
inline constexpr uint32_t kNextPhase = kAddrModFidelityIncrement.In(0, 1);

// Waits until the instructions of this thread have left the matrix and the vector unit; those that come next, and
// changes of the thread's configuration, use what they left.
inline void AwaitUnits() {
  Push<STALLWAIT{}
           .stall_res(kStallMath | kStallSfpu | kStallConfig)
           .wait_res(kUntilMath | kUntilSfpu)>();
}

// Instructions from here on count rows from the first one of tile `tile` of the half of Dst, from fidelity phase 0.
inline void SelectDstTile(uint32_t tile) {
  AwaitUnits();
  internal::Push(
      SETC16{}.setc16_reg(kThreadDstOffset).setc16_value(dst_half + tile * kTileRows));
  Push<SETRWC{}.bit_mask(kAllCounters)>();
}

// Makes the 16 rows of a face of a tile 0, for SelectDstTile()'s half.
inline void ClearDstFace(uint32_t tile, uint32_t face) {
  internal::Push(ZEROACC{}
                     .clear_mode(1)
                     .use_32_bit_mode(1)
                     .addr_mode(kAddrModNoStep)
                     .where(tile * 4 + face));
}

inline void StartComputing() {
  SetThreadConfig<kThreadStateId, 0>();
  SetThreadConfig<kThreadSrcAFormatOverride, 0>();
  SetThreadConfig<kThreadSrcBFormatOverride, 0>();
  SetThreadConfig<kThreadKeepDvalid, 0>();
  SetAddrMod<kAddrModNextVector, 0, 0, kAddrModDstIncrement.In(0, 2)>();
  SetAddrMod<kAddrModNoStep, 0, 0, 0>();
  Push<SEMINIT{}.sem_sel(kMathPack).init_value(0).max_value(2)>();
}

// TRISC2.

[[gnu::noinline]] inline void ConfigurePacker(uint32_t buffer) {
  const uint32_t format = CodeOf(FormatOf(buffer));
  Synchronize();  // tiles before it are packed as they were to be
  SetConfigFields(FieldValue{kPackNoZeroCompression, 1}, FieldValue{kPackOutFormat, format},
                  FieldValue{kPackInFormat, format});
}

// Packs tile `tile` of the half of Dst to an L1 address: 64 rows of 32 bits, four rows an instruction.
[[gnu::noinline]] inline void Pack(uint32_t tile, uint32_t address) {
  Synchronize();  // the last tile has been read, and its address used
  SetConfigFields(FieldValue{kPackDstOffset, dst_half + tile * kTileRows});
  SetAddress(kPackAddress, address);
  ReadConfig(kPackAddress.word);
  for (uint32_t i = 0; i != 15; ++i) Push<PACR{}>();
  Push<PACR{}.last(1).addr_mode(1)>();
}

inline void StartPacking() {
  constexpr uint32_t kRowBytes = 32;  // of 16 datums of kPackInFormat
  SetConfig<FieldValue{kPackSourceYStride, kRowBytes}>();
  SetConfig<FieldValue{kPackSourceZStride, 0}, FieldValue{kPackSourceWStride, 0}>();
  SetConfig<FieldValue{kPackDestYStride, 0}>();
  SetConfig<FieldValue{kPackRead32Bit, 1}>();
  SetConfig(kPackRowSets, 0);
  SetConfig(kPackRowSets + 1, 0);
  SetConfig<FieldValue{kPackEdgeMask0, 0xFFFF}, FieldValue{kPackRowSetSelect, 0}>();
  SetConfig<FieldValue{kPackEdgeMask1, 0}>();
  SetConfig<FieldValue{kPackRowsPerPlane, 16}>();
  SetConfig<FieldValue{kPackExponentBytes, 0}>();
  SetConfig<FieldValue{kPackAccumulate, 0}>();
  SetThreadConfig<kThreadStateId, 0>();
  SetThreadConfig<kThreadAddrModPack, kAddrModSourceYIncrement.In(0, 4)>();
  SetThreadConfig<kThreadAddrModPack + 1, kAddrModSourceYClear.In(0, 1)>();
  SetCounters<kCountersPack, 16>();
}

// Before kernel_main(): sets all that no other function sets. The engine is as the last kernel left it.
inline void Start() {
  if constexpr (kUnpacks) StartUnpacking();
  if constexpr (kComputes) StartComputing();
  if constexpr (kPacks) StartPacking();
}

}  // namespace internal

// Sets formats: of SrcA and SrcB as those of the buffers they are unpacked from, and of the buffer that is packed to.
// A kernel calls it, or one of the init functions that call it, before any other function.
inline void compute_kernel_hw_startup(uint32_t in0, uint32_t in1, uint32_t out) {
  using namespace internal;
  if constexpr (kUnpacks) {
    ConfigureSources(in0, in1);
    SetConfigFields(FieldValue{kAluSrcAFormat, CodeOf(FormatOf(in0))},
                    FieldValue{kAluSrcBFormat, CodeOf(FormatOf(in1))},
                    FieldValue{kAluDstFormat, CodeOf(FormatOf(out))}, FieldValue{kAluFloat32Dst, 1},
                    FieldValue{kAluFloat32Sfpu, 1}, FieldValue{kAluInt8, 0});
  }
  if constexpr (kPacks) ConfigurePacker(out);
}
inline void compute_kernel_hw_startup(uint32_t in, uint32_t out) {
  compute_kernel_hw_startup(in, in, out);
}

// Circular buffers. TRISC0 consumes: waits for the first `tiles` tiles, and gives them back after it has unpacked them.
inline void cb_wait_front(uint32_t buffer, uint32_t tiles) {
  if constexpr (kUnpacks) internal::BufferAt(buffer).pages.Wait(tiles);
}
inline void cb_pop_front(uint32_t buffer, uint32_t tiles) {
  if constexpr (kUnpacks) {
    kernel::Synchronize();  // the tiles have been read
    internal::BufferAt(buffer).pages.Pop(tiles);
  }
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
    if (dst_half == 0) {
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
    dst_half ^= kDstHalfRows;
  }
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
    dst_half ^= kDstHalfRows;
  }
}

// Packs tile `dst` (0 to 3) into the reserved pages of a circular buffer: into the first one, and into the next one by each
// further call until cb_push_back. With kOutOfOrder into page `page`.
template <bool kOutOfOrder = false>
void pack_tile(uint32_t dst, uint32_t buffer, uint32_t page = 0) {
  if constexpr (kPacks) {
    internal::Buffer& out = internal::BufferAt(buffer);
    if constexpr (!kOutOfOrder) page = out.packed++;
    internal::Pack(dst, internal::TileAddress(buffer, page));
  }
}

}  // namespace ttfd::compute
