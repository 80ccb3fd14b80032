#include "tests/peer/tensix_generator.h"

#include "tests/peer/tensix_units.h"

namespace ttfd {

TensixProgram RandomTensixProgram(TensixUnit unit, uint32_t number) {
  Chooser choose(number * 8 + static_cast<uint32_t>(unit));
  choose.Any();  // the first number of a small seed is small
  TensixWriter writer(choose.Percent(50));
  switch (unit) {
    case TensixUnit::kMath:
      WriteMathProgram(choose, writer);
      break;
    case TensixUnit::kUnpack:
      WriteUnpackProgram(choose, writer);
      break;
    case TensixUnit::kPack:
      WritePackProgram(choose, writer);
      break;
    case TensixUnit::kCounters:
      WriteCountersProgram(choose, writer);
      break;
    case TensixUnit::kSync:
      WriteSyncProgram(choose, writer);
      break;
    case TensixUnit::kLanes:
      WriteLanesProgram(choose, writer);
      break;
    case TensixUnit::kPools:
      WritePoolsProgram(choose, writer);
      break;
    case TensixUnit::kMoves:
      WriteMovesProgram(choose, writer);
  }
  writer.Release();
  return writer.program();
}

}  // namespace ttfd
