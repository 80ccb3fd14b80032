// TRISC0: tiles from L1 into SrcA and SrcB, or into Dst.
#pragma once

#include <stdint.h>
#include <ttfd/compute/formats.h>

namespace ttfd::compute::internal {

// Row 0 of SrcA or Dst, in datums: the unpacker subtracts 64.
inline constexpr uint32_t kFirstDatum = 64;

// The format of each source, and whether unpacker 0 transposes the four faces of a tile, each in its place, or fills
// Dst in place of SrcA.
[[gnu::noinline]] inline void ConfigureSources(uint32_t buffer_a, uint32_t buffer_b,
                                               bool transpose = false, bool to_dst = false) {
  constexpr UnpackerConfig kA = kUnpackers[0];
  constexpr UnpackerConfig kB = kUnpackers[1];
  const TileFormat a = TileFormatOf(buffer_a);
  const TileFormat b = TileFormatOf(buffer_b);
  Synchronize();  // tiles before it are unpacked as they were to be
  SetConfigFields(FieldValue{kA.in_format, CodeOf(a.format)}, FieldValue{kA.uncompressed, 1});
  SetConfigFields(FieldValue{kA.out_format, CodeOf(to_dst ? a.format : a.source())},
                  FieldValue{kA.transpose, transpose});
  SetConfigFields(FieldValue{kA.no_zero_compression, 1}, FieldValue{kUnpack0ToDst, to_dst});
  SetConfig<FieldValue{kUnpack0DestAddress, kFirstDatum}>();
  SetConfigFields(FieldValue{kB.in_format, CodeOf(b.format)}, FieldValue{kB.uncompressed, 1},
                  FieldValue{kB.x_dim, kTileDatums});
  SetConfigFields(FieldValue{kB.out_format, CodeOf(b.source())});
  internal::Push(SETC16{}.setc16_reg(kThreadUnpackSet).setc16_value(to_dst ? 0 : 4));
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
[[gnu::noinline]] inline void UnpackWithZero(uint32_t a) {
  Synchronize();  // the last address has been used
  SetAddress(kUnpackers[0].address, a);
  ReadConfig(kUnpackers[0].address.word);
  Push<UNPACR{}.last(1).ovrd_thread_id(1).set_dat_valid(1)>();
  Push<UNPACR_NOP{}.unpacker(1).unpack_pop(1).stall_clr_cntrl(1).set_dvalid(1)>();
}

// Unpacks the tile at L1 address `b` into SrcB; SrcA becomes 0.
[[gnu::noinline]] inline void UnpackToSrcB(uint32_t b) {
  Synchronize();  // the last address has been used
  SetAddress(kUnpackers[1].address, b);
  ReadConfig(kUnpackers[1].address.word);
  Push<UNPACR_NOP{}.unpack_pop(1).stall_clr_cntrl(1).set_dvalid(1)>();
  Push<UNPACR{}.unpacker(1).last(1).ovrd_thread_id(1).set_dat_valid(1)>();
}

// Unpacks the tile at L1 address `from` into tile `tile` of the half of Dst, when TRISC1 has posted that it may:
// AwaitUnpackToDst().
[[gnu::noinline]] inline void UnpackToDst(uint32_t from, uint32_t tile) {
  Synchronize();  // the last addresses have been used
  SetConfigFields(FieldValue{kUnpack0DestAddress, kFirstDatum + (dst_half + tile * kTileRows) *
                                                                    (kTileDatums / kTileRows)});
  SetAddress(kUnpackers[0].address, from);
  ReadConfig(kUnpackers[0].address.word);
  Push<SEMWAIT{}
           .sem_sel(kUnpackToDst)
           .wait_sem_cond(kWhileZero)
           .stall_res(kStallUnpack | kStallSync)>();
  Push<UNPACR{}.last(1).ovrd_thread_id(1)>();
  Push<STALLWAIT{}.stall_res(kStallSync).wait_res(kUntilUnpack0)>();
  Push<SEMGET{}.sem_sel(kUnpackToDst)>();
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
  SetConfig<FieldValue{kA.offset, 0}>();
  SetConfig<FieldValue{kA.dest_y_stride, 0}>();
  SetConfig<FieldValue{kA.dest_z_stride, 0}>();
  SetConfig<FieldValue{kUnpack0AddCounter, 0}>();
  SetConfig<FieldValue{kB.y_dim, 1}, FieldValue{kB.z_dim, 1}>();
  SetConfig<FieldValue{kB.no_zero_compression, 1}>();
  SetConfig<FieldValue{kB.dest_z_stride, 0}>();
  SetThreadConfig<kThreadStateId, 0>();
  SetThreadConfig<kThreadUnpackContext, 0>();
  SetCounters<kCountersUnpack0 | kCountersUnpack1, kTileDatums>();
}

}  // namespace ttfd::compute::internal
