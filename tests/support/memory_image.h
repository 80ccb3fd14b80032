// Memory of a card and its host as a test knows it: named stretches of bytes, and nothing besides them.
#pragma once

#include <cstdint>
#include <vector>

#include "runtime/base/bytes.h"
#include "runtime/base/status.h"
#include "runtime/hw/noc.h"

namespace ttfd::testing {

struct MemoryArea {
  uint32_t xy = 0;  // NocXy of the tile
  uint64_t address = 0;
  std::vector<std::byte> bytes;
};

class MemoryImage {
 public:
  MemoryArea& Add(uint32_t xy, uint64_t address, size_t size) {
    return areas_.emplace_back(MemoryArea{xy, address, std::vector<std::byte>(size)});
  }

  // The bytes at an address. An error if they do not all lie in one area.
  StatusOr<MutableByteSpan> At(uint32_t xy, uint64_t address, uint64_t size) {
    for (MemoryArea& area : areas_) {
      if (area.xy == xy && address >= area.address &&
          address - area.address + size <= area.bytes.size()) {
        return MutableByteSpan(area.bytes).subspan(address - area.address, size);
      }
    }
    return InvalidArgument("{} bytes at {:#x} of tile ({},{}): not memory of this test", size,
                           address, hw::NocX(xy), hw::NocY(xy));
  }

  std::vector<MemoryArea>& areas() { return areas_; }
  const std::vector<MemoryArea>& areas() const { return areas_; }

 private:
  std::vector<MemoryArea> areas_;
};

}  // namespace ttfd::testing
