// TRISC1: what the operations of the matrix unit and the vector unit have in common.
//
// Instructions made at run time do not wait for space in the queue on ttsim, those in the hart's code do: of the former
// there are at most four in a row.
#pragma once

#include <stdint.h>
#include <ttfd/compute/engine.h>

namespace ttfd::compute::internal {

inline constexpr uint32_t kAllCounters = 0b1111;  // SrcA, SrcB, Dst, fidelity phase
inline constexpr uint32_t kBothSources = 0b11;
// Address modifiers of TRISC1's thread: operations set 0 to 5 in their init functions; 6 and 7 are set at the start.
inline constexpr uint32_t kAddrModNextVector = 6;
inline constexpr uint32_t kAddrModNoStep = 7;
// Tiles of the half of Dst that hold maxima, bit by bit: reduce_tile.
inline uint32_t dst_maxima = 0;

// Sets the step of the row counters after an instruction with addr_mode `kSection`: it adds to those of the sources,
// which wrap at 64; `kDst` has the fields kAddrModDst... and kAddrModFidelity... .
template <uint32_t kSection, uint32_t kSrcA, uint32_t kSrcB>
void SetSourceSteps() {
  SetThreadConfig<kThreadAddrModAb + kSection,
                  kAddrModSrcAIncrement.In(0, kSrcA) | kAddrModSrcBIncrement.In(0, kSrcB)>();
}
template <uint32_t kSection, uint32_t kDst>
void SetDstStep() {
  SetThreadConfig<kThreadAddrModDst + kSection, kDst>();
  SetThreadConfig<kThreadAddrModBias + kSection, 0>();
}
template <uint32_t kSection, uint32_t kSrcA, uint32_t kSrcB, uint32_t kDst>
void SetAddrMod() {
  SetSourceSteps<kSection, kSrcA, kSrcB>();
  SetDstStep<kSection, kDst>();
}
inline constexpr uint32_t kNextPhase = kAddrModFidelityIncrement.In(0, 1);

// Waits until the instructions of this thread have left the matrix and the vector unit; those that come next, and
// changes of the thread's configuration, use what they left.
inline void AwaitUnits() {
  Push<STALLWAIT{}
           .stall_res(kStallMath | kStallSfpu | kStallConfig)
           .wait_res(kUntilMath | kUntilSfpu)>();
}

// Instructions from here on count rows from row `row` of the half of Dst, from fidelity phase 0.
[[gnu::noinline]] inline void SelectDstRow(uint32_t row) {
  AwaitUnits();
  internal::Push(SETC16{}.setc16_reg(kThreadDstOffset).setc16_value(dst_half + row));
  Push<SETRWC{}.bit_mask(kAllCounters)>();
}
inline void SelectDstTile(uint32_t tile) { SelectDstRow(tile * kTileRows); }

// Makes the 16 rows of a face of a tile 0, for SelectDstRow()'s half.
inline void ClearDstFace(uint32_t tile, uint32_t face) {
  internal::Push(
      ZEROACC{}.clear_mode(1).use_32_bit_mode(1).addr_mode(kAddrModNoStep).where(tile * 4 + face));
}

// Lets TRISC0 unpack a tile into Dst, and waits until it has: UnpackToDst().
inline void AwaitUnpackToDst() {
  Push<STALLWAIT{}.stall_res(kStallSync).wait_res(kUntilMath | kUntilSfpu)>();
  Push<SEMPOST{}.sem_sel(kUnpackToDst)>();
  Push<SEMWAIT{}
           .sem_sel(kUnpackToDst)
           .wait_sem_cond(kWhileAtMax)
           .stall_res(kStallMath | kStallSfpu | kStallSync)>();
}

// Sources are read in the configured format, TF32: other formats leave its low bits 0.
inline void StartComputing() {
  Push<SFPENCC{}.instr_mod(10).imm12(0b11)>();  // functions set constants in every lane
  SetThreadConfig<kThreadStateId, 0>();
  SetThreadConfig<kThreadSrcAFormatOverride, 1>();
  SetThreadConfig<kThreadSrcBFormatOverride, 1>();
  SetThreadConfig<kThreadKeepDvalid, 0>();
  SetAddrMod<kAddrModNextVector, 0, 0, kAddrModDstIncrement.In(0, 2)>();
  SetAddrMod<kAddrModNoStep, 0, 0, 0>();
  Push<SEMINIT{}.sem_sel(kMathPack).init_value(0).max_value(kDstSections)>();
  Push<SEMINIT{}.sem_sel(kUnpackToDst).init_value(0).max_value(1)>();
}

}  // namespace ttfd::compute::internal
