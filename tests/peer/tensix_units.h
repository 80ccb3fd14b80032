// The generators of programs for each unit, and what they share.
#pragma once

#include <cstdint>

#include "tests/peer/sequence_builder.h"
#include "tests/peer/tensix_writer.h"

namespace ttfd {

void WriteMathProgram(Chooser& choose, TensixWriter& writer);
void WriteCountersProgram(Chooser& choose, TensixWriter& writer);
void WriteUnpackProgram(Chooser& choose, TensixWriter& writer);
void WritePackProgram(Chooser& choose, TensixWriter& writer);
void WriteSyncProgram(Chooser& choose, TensixWriter& writer);
void WriteLanesProgram(Chooser& choose, TensixWriter& writer);
void WritePoolsProgram(Chooser& choose, TensixWriter& writer);
void WriteMovesProgram(Chooser& choose, TensixWriter& writer);

// A row of Dst, a multiple of 8, among those that are written already or in a tile of its own.
uint32_t RandomDstRow(Chooser& choose, const TensixWriter& writer);
// Any number of an operand tile.
uint32_t RandomTile(Chooser& choose);
// An address modifier whose increments are multiples of `step`.
RowCounters::Modifier RandomModifier(Chooser& choose, uint32_t step);
// Unpacks one of kSourceFormats from now on, half the times bfloat16.
void RandomSourceFormat(Chooser& choose, TensixWriter& writer, uint32_t unpacker);
// Formats of SrcA and SrcB where the thread's configuration overrides those that were unpacked.
void RandomMathFormats(Chooser& choose, TensixWriter& writer);
// Operand tiles to the sources that have none.
void FillSources(Chooser& choose, TensixWriter& writer);
// A whole tile of Dst by eight elementwise operations.
void FillDstTile(Chooser& choose, TensixWriter& writer, uint32_t tile);
// Series of PACR with address counters and modifiers of any kind, to `bytes` of results.
void PackSeries(Chooser& choose, TensixWriter& writer, uint32_t bytes);

}  // namespace ttfd
