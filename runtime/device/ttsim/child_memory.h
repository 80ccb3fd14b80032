// Host memory as the simulator's callbacks reach it: files of the parent, mapped at bus addresses.
#pragma once

#include <cstdint>
#include <vector>

#include "runtime/base/bytes.h"
#include "runtime/base/status.h"

namespace ttfd::ttsim {

class ChildMemory {
 public:
  // Maps the first `size` bytes of `file`.
  Status Map(uint64_t bus_address, uint64_t size, int file);
  void Unmap(uint64_t bus_address);
  // Null: the bytes do not lie in one mapping.
  std::byte* Find(uint64_t bus_address, uint32_t size) const;

 private:
  struct Mapping {
    uint64_t bus_address;
    MutableByteSpan bytes;
  };
  std::vector<Mapping> mappings_;  // at most one an iATU region
};

}  // namespace ttfd::ttsim
