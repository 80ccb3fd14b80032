// Lines of decoded instructions.
#include "runtime/sim/instruction_cache.h"

#include <algorithm>
#include <cstring>

#include "runtime/base/bytes.h"
#include "runtime/hw/tensix.h"
#include "runtime/sim/decode.h"

namespace ttfd::sim {

void InstructionCache::Fetch(const std::byte* l1, uint32_t pc, Rng& rng) {
  const uint32_t first = pc / (4 * kLineWords);
  const uint32_t last =
      std::min(first + rng.Below(kPrefetchLines + 1), hw::kL1Bytes / (4 * kLineWords) - 1);
  for (uint32_t line = first; line <= last; ++line) FetchLine(l1, line);
}

void InstructionCache::FetchLine(const std::byte* l1, uint32_t line) {
  Decoded* const entries = code_ + line * kLineWords;
  if (entries[0].operation != 0) return;
  lines_.push_back(line);
  for (uint32_t i = 0; i < kLineWords; ++i) {
    const uint32_t pc = (line * kLineWords + i) * 4;
    const auto word = LoadAt<uint32_t>(l1 + pc);
    entries[i] = Decode(word, pc);
    entries[i].handler = static_cast<int32_t>(word);
  }
}

void InstructionCache::Invalidate() {
  for (const uint32_t line : lines_) {
    std::memset(code_ + line * kLineWords, 0, kLineWords * sizeof(Decoded));
  }
  lines_.clear();
}

}  // namespace ttfd::sim
