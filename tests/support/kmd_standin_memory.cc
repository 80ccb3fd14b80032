#include "tests/support/kmd_standin_memory.h"

#include <sys/mman.h>

#include <algorithm>
#include <cerrno>

namespace ttfd {

StandinMemory::~StandinMemory() {
  for (const Mapped& mapped : mapped_) munmap(mapped.memory.data(), mapped.memory.size());
}

uint32_t* StandinMemory::Reserved(uint64_t page_bytes) {
  if (page_bytes == kmd::kGiantPageBytes) return &giant_pages_;
  return page_bytes == kmd::kHugePageBytes ? &huge_pages_ : nullptr;
}

int StandinMemory::Map(size_t size, uint64_t page_bytes, int numa_node, MutableByteSpan* memory) {
  if (const int error = calls_.Begin({StandinEvent::kMapMemory, 0, 0, size}); error != 0) {
    return -error;
  }
  if (size == 0 || size % page_bytes != 0) return -EINVAL;
  uint32_t* const reserved = Reserved(page_bytes);
  if (reserved != nullptr && *reserved < size / page_bytes) return -ENOMEM;
  void* const address = mmap(nullptr, size, PROT_READ | PROT_WRITE,
                             MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (address == MAP_FAILED) return -errno;
  if (reserved != nullptr) *reserved -= static_cast<uint32_t>(size / page_bytes);
  last_numa_node_ = numa_node;
  *memory = {static_cast<std::byte*>(address), size};
  mapped_.push_back({*memory, page_bytes});
  return 0;
}

int StandinMemory::Unmap(MutableByteSpan memory) {
  calls_.Begin({StandinEvent::kUnmapMemory, 0, 0, memory.size()});
  const auto found = std::find_if(mapped_.begin(), mapped_.end(), [&](const Mapped& mapped) {
    return mapped.memory.data() == memory.data() && mapped.memory.size() == memory.size();
  });
  if (found == mapped_.end()) return -EINVAL;
  if (uint32_t* const reserved = Reserved(found->page_bytes); reserved != nullptr) {
    *reserved += static_cast<uint32_t>(memory.size() / found->page_bytes);
  }
  mapped_.erase(found);
  munmap(memory.data(), memory.size());
  return 0;
}

bool StandinMemory::AreConsecutive(uint64_t address, uint64_t bytes) const {
  if (bytes <= kmd::kPageBytes) return true;
  return std::any_of(mapped_.begin(), mapped_.end(), [&](const Mapped& mapped) {
    const uint64_t begin = reinterpret_cast<uint64_t>(mapped.memory.data());
    if (mapped.page_bytes == kmd::kPageBytes || address < begin) return false;
    const uint64_t offset = address - begin;
    return offset < mapped.memory.size() && offset % mapped.page_bytes + bytes <= mapped.page_bytes;
  });
}

}  // namespace ttfd
