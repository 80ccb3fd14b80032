// Sum, difference and product of two tiles, element by element.
//
//   add_tiles_init(in0, in1);
//   add_tiles(in0, in1, 0, 0, dst);      // tile 0 of in0 plus tile 0 of in1 into tile dst of Dst
//
// With a broadcast the second tile gives one row, one column or one number for the whole tile: BroadcastType::ROW
// takes its row 0, COL its column 0, SCALAR its element at row 0, column 0.
//
// A result is rounded once, when it is packed, with two exceptions of the hardware: a sum's smaller operand is rounded
// to the grid of the greater one's 11 bits first, and there are no denormals and no NaN: NaN counts as infinity of its
// sign. Products take one to four passes, the fidelity phases: mul_tiles<MathFidelity::HiFi2>(...). HiFi4, the default,
// multiplies whole mantissas of 8 bits.
#pragma once

#include <ttfd/compute/tiles.h>

namespace ttfd::compute {

enum class BroadcastType : uint32_t {
  NONE = 0,
  COL = 1,
  ROW = 2,
  SCALAR = 3
};  // ELW...'s instr_mod
enum class EltwiseBinaryType : uint32_t { ELWADD, ELWSUB, ELWMUL };

namespace internal {

// Steps of the row of SrcA or SrcB after each of the eight instructions of a pass over a tile; rows wrap at 64.
//
//   after instruction   1      2       3      4       5      6       7      8
//   step                first  second  first  fourth  first  second  first  last
//
// After the last one the row is 0 again.
struct RowSteps {
  uint32_t first;
  uint32_t second;
  uint32_t fourth;
  uint32_t last;
};
inline constexpr RowSteps kEachRow = {8, 8, 8, 8};
inline constexpr RowSteps kRowZero = {0, 0, 0, 0};
// Broadcasts of a row use the first row of each top face, twice; those of a column the rows of each left face, twice.
inline constexpr RowSteps kTopFaces = {0, 16, 48, 48};
inline constexpr RowSteps kLeftFaces = {8, 56, 24, 24};
// A tile whose faces are transposed where they are: the two faces in the middle change places.
inline constexpr RowSteps kTransposed = {8, 24, 40, 8};

constexpr RowSteps StepsOf(BroadcastType broadcast) {
  switch (broadcast) {
    case BroadcastType::COL:
      return kLeftFaces;
    case BroadcastType::ROW:
      return kTopFaces;
    case BroadcastType::SCALAR:
      return kRowZero;
    default:
      return kEachRow;
  }
}

// The part that operations have in common.
template <uint32_t kDstStep>
[[gnu::noinline]] void SetDstSteps() {
  constexpr uint32_t kDst = kAddrModDstIncrement.In(0, kDstStep);
  AwaitUnits();
  SetDstStep<0, kDst>();
  SetDstStep<1, kDst>();
  SetDstStep<2, kDst>();
  SetDstStep<3, kAddrModDstClear.In(0, 1) | kNextPhase>();
}
template <RowSteps kSrcA, RowSteps kSrcB, uint32_t kDstStep>
void SetRowSteps() {
  SetDstSteps<kDstStep>();
  SetSourceSteps<0, kSrcA.first, kSrcB.first>();
  SetSourceSteps<1, kSrcA.second, kSrcB.second>();
  SetSourceSteps<2, kSrcA.fourth, kSrcB.fourth>();
  SetSourceSteps<3, kSrcA.last, kSrcB.last>();
}

// A pass over a tile.
template <auto kInstruction, uint32_t kClearDvalid = 0>
void EightRowsEach() {
  Push<kInstruction.addr_mode(0)>();
  Push<kInstruction.addr_mode(1)>();
  Push<kInstruction.addr_mode(0)>();
  Push<kInstruction.addr_mode(2)>();
  Push<kInstruction.addr_mode(0)>();
  Push<kInstruction.addr_mode(1)>();
  Push<kInstruction.addr_mode(0)>();
  Push<kInstruction.addr_mode(3).clear_dvalid(kClearDvalid)>();
}

template <EltwiseBinaryType kOperation, BroadcastType kBroadcast, MathFidelity kFidelity>
void Elementwise(uint32_t in0, uint32_t in1, uint32_t tile0, uint32_t tile1, uint32_t dst) {
  constexpr auto kMode = static_cast<uint32_t>(kBroadcast);
  if constexpr (kUnpacks) Unpack(TileAddress(in0, tile0), TileAddress(in1, tile1));
  if constexpr (kComputes) {
    SelectDstTile(dst);
    if constexpr (kOperation == EltwiseBinaryType::ELWADD) {
      EightRowsEach<ELWADD{}.instr_mod(kMode), kBothSources>();
    } else if constexpr (kOperation == EltwiseBinaryType::ELWSUB) {
      EightRowsEach<ELWSUB{}.instr_mod(kMode), kBothSources>();
    } else {
      for (uint32_t face = 0; face != 4; ++face) ClearDstFace(dst, face);  // products are added
      for (uint32_t i = 1; i != PhasesOf(kFidelity); ++i)
        EightRowsEach<ELWMUL{}.instr_mod(kMode)>();
      EightRowsEach<ELWMUL{}.instr_mod(kMode), kBothSources>();
    }
  }
}

template <BroadcastType kBroadcast>
void ConfigureElementwise(uint32_t in0, uint32_t in1) {
  if constexpr (kUnpacks) ConfigureSources(in0, in1);
  if constexpr (kComputes) SetRowSteps<kEachRow, StepsOf(kBroadcast), 8>();
}

}  // namespace internal

inline void binary_op_init_common(uint32_t in0, uint32_t in1, uint32_t out) {
  compute_kernel_hw_startup(in0, in1, out);
}

template <EltwiseBinaryType kOperation, BroadcastType kBroadcast>
void init_bcast(uint32_t in0, uint32_t in1, uint32_t out) {
  compute_kernel_hw_startup(in0, in1, out);
  internal::ConfigureElementwise<kBroadcast>(in0, in1);
}

// name, EltwiseBinaryType. Sums and differences have one pass, whatever the fidelity.
#define TTFD_COMPUTE_BINARY(name, operation)                                                    \
  inline void name##_tiles_init(uint32_t in0, uint32_t in1) {                                   \
    internal::ConfigureElementwise<BroadcastType::NONE>(in0, in1);                              \
  }                                                                                             \
  template <MathFidelity kFidelity = MathFidelity::HiFi4>                                       \
  void name##_tiles(uint32_t in0, uint32_t in1, uint32_t tile0, uint32_t tile1, uint32_t dst) { \
    internal::Elementwise<EltwiseBinaryType::operation, BroadcastType::NONE, kFidelity>(        \
        in0, in1, tile0, tile1, dst);                                                           \
  }                                                                                             \
  template <BroadcastType kBroadcast, MathFidelity kFidelity = MathFidelity::HiFi4>             \
  void name##_tiles_bcast(uint32_t in0, uint32_t in1, uint32_t tile0, uint32_t tile1,           \
                          uint32_t dst) {                                                       \
    internal::Elementwise<EltwiseBinaryType::operation, kBroadcast, kFidelity>(in0, in1, tile0, \
                                                                               tile1, dst);     \
  }                                                                                             \
  TTFD_COMPUTE_BROADCAST(name, rows, ROW)                                                       \
  TTFD_COMPUTE_BROADCAST(name, cols, COL)                                                       \
  TTFD_COMPUTE_BROADCAST(name, scalar, SCALAR)
#define TTFD_COMPUTE_BROADCAST(name, part, broadcast)                                        \
  inline void name##_bcast_##part##_init_short(uint32_t in0, uint32_t in1) {                 \
    internal::ConfigureElementwise<BroadcastType::broadcast>(in0, in1);                      \
  }                                                                                          \
  template <MathFidelity kFidelity = MathFidelity::HiFi4>                                    \
  void name##_tiles_bcast_##part(uint32_t in0, uint32_t in1, uint32_t tile0, uint32_t tile1, \
                                 uint32_t dst) {                                             \
    name##_tiles_bcast<BroadcastType::broadcast, kFidelity>(in0, in1, tile0, tile1, dst);    \
  }
TTFD_COMPUTE_BINARY(add, ELWADD)
TTFD_COMPUTE_BINARY(sub, ELWSUB)
TTFD_COMPUTE_BINARY(mul, ELWMUL)
#undef TTFD_COMPUTE_BROADCAST
#undef TTFD_COMPUTE_BINARY

}  // namespace ttfd::compute
