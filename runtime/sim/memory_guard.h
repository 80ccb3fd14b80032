// Decides which memory of buffers the harts of a tile may access (Chip::Guard).
#pragma once

#include <cstdint>

#include "runtime/sim/fault.h"

namespace ttfd::sim {

class TensixTile;
struct NocPacket;

enum class GuardedMemory : uint8_t { kL1, kDram };  // of any Tensix tile; of any DRAM bank

struct GuardedAccess {
  GuardedMemory memory = GuardedMemory::kL1;
  bool writes = false;
  uint64_t address = 0;  // in the tile or bank
  uint64_t length = 0;   // bytes
};

class MemoryGuard {
 public:
  virtual ~MemoryGuard() = default;
  // Whether a hart of `tile` may. Called before the access, inside Chip::Advance. A refusal is a fault of the hart; its
  // reason is good until the next one.
  virtual Refusal Check(const TensixTile& tile, const GuardedAccess& access) = 0;

  // Addresses below are not checked.
  uint32_t l1_begin() const { return l1_begin_; }
  uint64_t dram_begin() const { return dram_begin_; }

 protected:
  // While no tile has the guard.
  void SetBegins(uint32_t l1, uint64_t dram) {
    l1_begin_ = l1;
    dram_begin_ = dram;
  }

 private:
  uint32_t l1_begin_ = 0;
  uint64_t dram_begin_ = 0;
};

// The same for both ends of a packet that a hart of `source` issues. No `guard`: it may.
Refusal CheckPacket(MemoryGuard& guard, const TensixTile& source, const NocPacket& packet);
inline Refusal CheckBounds(MemoryGuard* guard, const TensixTile& source, const NocPacket& packet) {
  return guard == nullptr ? Refusal{} : CheckPacket(*guard, source, packet);
}

}  // namespace ttfd::sim
