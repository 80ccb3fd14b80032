// Data for programs: bf16 and Bfp8_b of eight kinds.
#include "tests/peer/sequence_builder.h"
#include "tests/peer/tensix_generator.h"

namespace ttfd {
namespace {

constexpr uint32_t kKinds = 8;

uint32_t Number(Chooser& choose, uint32_t first_exponent, uint32_t last_exponent) {
  const uint32_t any = choose.Any();
  return (any & 0x807F) | choose.Between(first_exponent, last_exponent) << 7;
}

uint32_t Special(Chooser& choose) {
  static constexpr uint32_t kValues[] = {0x0000, 0x8000, 0x7F80, 0xFF80, 0x7FC0, 0xFFFF, 0x7F81,
                                         0x0001, 0x807F, 0x0080, 0x8080, 0x7F7F, 0xFF7F, 0x3F80};
  return choose.Pick(kValues);
}

// Few values, so that sums cancel.
uint32_t Small(Chooser& choose) {
  static constexpr uint32_t kValues[] = {0x0000, 0x3F80, 0xBF80, 0x3FC0, 0xBFC0,
                                         0x4000, 0xC000, 0x3F00, 0x3FFF, 0xBFFF};
  return choose.Pick(kValues);
}

uint32_t Datum(Chooser& choose, uint32_t kind) {
  switch (kind) {
    case 0:
      return Number(choose, 120, 134);
    case 1:
      return choose.Any() & 0xFFFF;
    case 2:
      return Number(choose, 126, 128);
    case 3:
      return choose.Percent(30) ? Special(choose) : Number(choose, 115, 140);
    case 4:
      return Number(choose, 1, 254);
    case 5:
      return Number(choose, 0, 70);
    case 6:
      return Number(choose, 180, 255);
    default:
      return Small(choose);
  }
}

// Four bytes of a tile of Bfp8_b: exponents come first.
uint32_t Block(Chooser& choose, uint32_t word, uint32_t kind) {
  constexpr uint32_t kExponentWords = 16;
  constexpr uint32_t kFew[] = {0, 0x40, 0xC0, 0x60, 0x20, 0x7F, 0xFF, 0x80, 1};
  uint32_t bytes = 0;
  for (uint32_t shift = 0; shift < 32; shift += 8) {
    const uint32_t byte = word < kExponentWords                         ? Datum(choose, kind) >> 7
                          : choose.Percent(kind == kKinds - 1 ? 90 : 5) ? choose.Pick(kFew)
                                                                        : choose.Any();
    bytes |= (byte & 0xFF) << shift;
  }
  return bytes;
}

}  // namespace

std::vector<uint32_t> RandomOperand(uint32_t batch, uint32_t tile) {
  if (tile == TensixProgram::kOnesTile) {
    return std::vector<uint32_t>(TensixProgram::kTileBytes / 4, 0x3F803F80);
  }
  Chooser choose(batch * TensixProgram::kTiles + tile);
  std::vector<uint32_t> words;
  for (uint32_t i = 0; i < TensixProgram::kTileBytes / 4; ++i) {
    if (tile >= TensixProgram::kBlockTiles) {
      words.push_back(Block(choose, i, tile - TensixProgram::kBlockTiles));
      continue;
    }
    const uint32_t low = Datum(choose, tile % kKinds);
    words.push_back(low | Datum(choose, tile % kKinds) << 16);
  }
  return words;
}

}  // namespace ttfd
