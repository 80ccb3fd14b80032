// Third of five harts that compute with tiles (tile_reader.cc describes them): combines the tiles in SrcB and SrcA
// into one in Dst, which it passes on by the engine's semaphore 1. TRISC1.
//
// Common arguments: 0 number of tiles; 1 operation: 0 SrcB + SrcA, 1 SrcB * SrcA element by element, 2 the matrix
// product of SrcB and SrcA. Dst has 32 bits. The multipliers take 5 bits of SrcA and 7 of SrcB at a time, so whole
// mantissas of 8 bits take four passes, the fidelity phases (HiFi4).
#include <ttfd/compute/instructions.h>
#include <ttfd/kernel.h>

using namespace ttfd::kernel;
using namespace ttfd::hw::tensix;

namespace {

enum Operation : uint32_t { kAdd = 0, kMultiply = 1, kMatrixMultiply = 2 };

constexpr uint32_t kPhases = 4;
constexpr uint32_t kAllCounters = 0b1111;  // SrcA, SrcB, Dst, fidelity phase
constexpr uint32_t kBothSources = 0b11;

// What an instruction with addr_mode `kSection` does to the row counters: adds to those of the sources, which wrap at
// 64, and what `kDst` says to Dst and the fidelity phase.
template <uint32_t kSection, uint32_t kSrcA, uint32_t kSrcB, uint32_t kDst>
void SetAddrMod() {
  SetThreadConfig<kThreadAddrModAb + kSection,
                  kAddrModSrcAIncrement.In(0, kSrcA) | kAddrModSrcBIncrement.In(0, kSrcB)>();
  SetThreadConfig<kThreadAddrModDst + kSection, kDst>();
  SetThreadConfig<kThreadAddrModBias + kSection, 0>();
}
constexpr uint32_t kNextPhase = kAddrModFidelityIncrement.In(0, 1);

// An instruction takes eight rows; addr_mode 1 ends a phase.
void ConfigureElementwise() {
  SetAddrMod<0, 8, 8, kAddrModDstIncrement.In(0, 8)>();
  SetAddrMod<1, 8, 8, kAddrModDstClear.In(0, 1) | kNextPhase>();
}

void Add() {
  for (uint32_t i = 0; i != 7; ++i) Push<ELWADD{}>();
  Push<ELWADD{}.clear_dvalid(kBothSources)>();
}

void Multiply() {
  for (uint32_t phase = 0; phase != kPhases - 1; ++phase) {
    for (uint32_t i = 0; i != 7; ++i) Push<ELWMUL{}>();
    Push<ELWMUL{}.addr_mode(1)>();
  }
  for (uint32_t i = 0; i != 7; ++i) Push<ELWMUL{}>();
  Push<ELWMUL{}.clear_dvalid(kBothSources)>();
}

// MVMUL: eight rows of Dst += eight rows of SrcB times a face of SrcA. Faces begin at rows 0, 16, 32 and 48.
void ConfigureMatrixMultiply() {
  SetAddrMod<0, 0, 8, 0>();            // to the lower half of the face of SrcB
  SetAddrMod<1, 0, 24, 0>();           // to the face of SrcB below
  SetAddrMod<2, 32, 40, 0>();          // to the right column of SrcB and the face of SrcA below
  SetAddrMod<3, 48, 8, 0>();           // to the left column of SrcB and the top right face of SrcA
  SetAddrMod<4, 16, 8, kNextPhase>();  // to the first faces and the next phase
}

// A column of faces of SrcB times one face of SrcA, into the faces of Dst at row `kDst` and below it.
template <uint32_t kDst, MVMUL kLast>
void MultiplyColumn() {
  Push<MVMUL{}.dst(kDst)>();
  Push<MVMUL{}.dst(kDst + 8).addr_mode(1)>();
  Push<MVMUL{}.dst(kDst + 32)>();
  Push<kLast.dst(kDst + 40)>();
}

template <MVMUL kLast>
void MatrixMultiplyPhase() {
  MultiplyColumn<0, MVMUL{}.addr_mode(2)>();
  MultiplyColumn<0, MVMUL{}.addr_mode(3)>();
  MultiplyColumn<16, MVMUL{}.addr_mode(2)>();
  MultiplyColumn<16, kLast>();
}

void MatrixMultiply() {
  for (uint32_t phase = 0; phase != kPhases - 1; ++phase) {
    MatrixMultiplyPhase<MVMUL{}.addr_mode(4)>();
  }
  MatrixMultiplyPhase<MVMUL{}.addr_mode(4).clear_dvalid(kBothSources)>();
}

}  // namespace

void kernel_main() {
  const uint32_t operation = CommonArgument(1);
  SetThreadConfig<kThreadStateId, 0>();
  SetThreadConfig<kThreadDstOffset, 0>();
  SetThreadConfig<kThreadSrcAFormatOverride, 0>();
  SetThreadConfig<kThreadSrcBFormatOverride, 0>();
  SetThreadConfig<kThreadKeepDvalid, 0>();
  if (operation == kMatrixMultiply) {
    ConfigureMatrixMultiply();
  } else {
    ConfigureElementwise();
  }
  constexpr uint32_t kSelect = 1u << kSemaphoreMathPack;
  Push<SEMINIT{}.sem_sel(kSelect).init_value(0).max_value(1)>();
  for (uint32_t count = CommonArgument(0); count != 0; --count) {
    Push<SEMWAIT{}
             .sem_sel(kSelect)
             .wait_sem_cond(kWhileAtMax)
             .stall_res(kStallMath | kStallSync)>();  // the packer has read Dst
    Push<SETRWC{}.bit_mask(kAllCounters)>();
    Push<ZEROACC{}.clear_mode(3).use_32_bit_mode(1)>();  // all of Dst: products are added to it
    if (operation == kAdd) {
      Add();
    } else if (operation == kMultiply) {
      Multiply();
    } else {
      MatrixMultiply();
    }
    Push<STALLWAIT{}.stall_res(kStallSync).wait_res(kUntilMath)>();
    Push<SEMPOST{}.sem_sel(kSelect)>();
  }
  Synchronize();
}
