// The memory of a fake card, in which regions lie as on a card. Pages are made when they are first touched.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <string>

#include "runtime/command/program.h"
#include "runtime/command/region.h"

namespace ttfd {

class FakeMemory {
 public:
  FakeMemory(uint32_t dram_banks, GridSize grid) : dram_banks_(dram_banks), grid_(grid) {}

  std::string Peek(const Region& region, uint64_t offset, uint64_t size);
  void Poke(const Region& region, uint64_t offset, const std::string& bytes);

 private:
  std::byte& At(const Region& region, uint64_t offset);

  const uint32_t dram_banks_;
  const GridSize grid_;
  std::map<std::array<uint64_t, 3>, std::array<std::byte, 4096>> pages_;  // by kind, bank, page
};

}  // namespace ttfd
