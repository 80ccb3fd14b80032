#include "runtime/device/ttsim/child_memory.h"

#include <sys/mman.h>

#include <cerrno>
#include <cstring>

namespace ttfd::ttsim {

Status ChildMemory::Map(uint64_t bus_address, uint64_t size, int file) {
  void* const start = mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  if (start == MAP_FAILED) return Internal("mmap of host memory: {}", std::strerror(errno));
  mappings_.push_back({bus_address, {static_cast<std::byte*>(start), size}});
  return OkStatus();
}

void ChildMemory::Unmap(uint64_t bus_address) {
  std::erase_if(mappings_, [bus_address](const Mapping& mapping) {
    if (mapping.bus_address != bus_address) return false;
    munmap(mapping.bytes.data(), mapping.bytes.size());
    return true;
  });
}

std::byte* ChildMemory::Find(uint64_t bus_address, uint32_t size) const {
  for (const Mapping& mapping : mappings_) {
    const uint64_t offset = bus_address - mapping.bus_address;
    if (bus_address < mapping.bus_address || offset >= mapping.bytes.size()) continue;
    return size <= mapping.bytes.size() - offset ? mapping.bytes.data() + offset : nullptr;
  }
  return nullptr;
}

}  // namespace ttfd::ttsim
