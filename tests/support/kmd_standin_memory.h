// The stand-in's pages of memory: how many hugepages the host has reserved, and which pages are consecutive.
#pragma once

#include <cstdint>
#include <vector>

#include "runtime/device/kmd/system.h"
#include "tests/support/kmd_standin_calls.h"

namespace ttfd {

// Pages are consecutive within a hugepage, by decree; ordinary ones never are.
class StandinMemory final : public kmd::Memory {
 public:
  StandinMemory(StandinCalls& calls, uint32_t giant_pages, uint32_t huge_pages)
      : calls_(calls), giant_pages_(giant_pages), huge_pages_(huge_pages) {}
  ~StandinMemory() override;

  int Map(size_t size, uint64_t page_bytes, int numa_node, MutableByteSpan* memory) override;
  int Unmap(MutableByteSpan memory) override;
  bool AreConsecutive(uint64_t address, uint64_t bytes) const;

  size_t mappings() const { return mapped_.size(); }
  uint32_t giant_pages() const { return giant_pages_; }  // free ones
  uint32_t huge_pages() const { return huge_pages_; }
  int last_numa_node() const { return last_numa_node_; }  // where memory was asked for

 private:
  struct Mapped {
    MutableByteSpan memory;
    uint64_t page_bytes;
  };

  uint32_t* Reserved(uint64_t page_bytes);  // null: without a limit

  StandinCalls& calls_;
  uint32_t giant_pages_;
  uint32_t huge_pages_;
  int last_numa_node_ = -1;
  std::vector<Mapped> mapped_;
};

}  // namespace ttfd
