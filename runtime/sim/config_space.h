// PCI configuration space: who the card is and where its BARs were put. It has no capabilities and no
// interrupts; moving a BAR is noted and changes nothing else, because the slot routes by BAR number.
#pragma once

#include <array>
#include <cstdint>

#include "runtime/sim/fault.h"

namespace ttfd::sim {

class ConfigSpace {
 public:
  ConfigSpace() { Reset(); }

  // Words; `offset` is a multiple of 4. Bits that hold nothing stay as they are.
  Refusal Read(uint32_t offset, uint32_t* value) const;
  Refusal Write(uint32_t offset, uint32_t value);
  void Reset();

 private:
  static constexpr uint32_t kWords = 16;

  std::array<uint32_t, kWords> words_{};
};

}  // namespace ttfd::sim
