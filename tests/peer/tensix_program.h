// A program for a tile's Tensix engine as one TRISC runs it: a list of stores, loads and waits in L1, and the probe
// that carries it out.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "runtime/hw/tensix_config.h"
#include "tests/support/rv32_asm.h"

namespace ttfd {

class TensixProgram {
 public:
  // L1 of the tile.
  static constexpr uint32_t kList = 0x18000;
  static constexpr uint32_t kListEnd = 0x20000;
  static constexpr uint32_t kOperands = 0x20000;  // kTiles of kTileBytes that programs unpack
  static constexpr uint32_t kOperandTiles = 64;
  static constexpr uint32_t kOnesTile = kOperandTiles;    // follows them
  static constexpr uint32_t kBlockTiles = kOnesTile + 1;  // eight tiles of Bfp8_b
  static constexpr uint32_t kTiles = kBlockTiles + 8;
  static constexpr uint32_t kTileBytes = 2048;
  static constexpr uint32_t kResults = 0x80000;  // its first word becomes kDone at the end
  static constexpr uint32_t kDone = 0x600D;

  void Store(uint32_t address, uint32_t value) { Add(kStore, address, value); }
  void Push(uint32_t instruction);
  // Waits until the engine has executed what was pushed.
  void Sync();
  // Loads a word and keeps it among the results.
  void Load(uint32_t address) { Add(kLoad, address, Reserve(4)); }
  // L1 for results: a multiple of 16.
  uint32_t Reserve(uint32_t bytes);

  uint32_t result_bytes() const { return result_bytes_; }
  // The list with its end, as words.
  const std::vector<uint32_t>& words() const { return words_; }
  // More clocks than the list takes.
  uint32_t clocks() const { return static_cast<uint32_t>(words_.size()) * 8 + 100; }
  // One step a line, instructions by their names.
  std::string ToString() const;

 private:
  enum Kind : uint32_t { kStore = 0, kLoad = 1, kSync = 2 };  // in the low bits of an address

  void Add(Kind kind, uint32_t address, uint32_t value);

  std::vector<uint32_t> words_;
  uint32_t result_bytes_ = 16;
  uint32_t unsynced_ = 0;
};

// Carries out the list at TensixProgram::kList.
Rv32Asm TensixProbe();

}  // namespace ttfd
