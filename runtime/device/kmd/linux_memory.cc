// Anonymous memory, of ordinary pages or hugepages.
#include <linux/mempolicy.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <array>
#include <bit>
#include <cerrno>

#include "runtime/device/kmd/linux_system.h"

namespace ttfd::kmd {
namespace {

constexpr int kMaxNumaNodes = 1024;  // the kernel's own limit

// A kernel without NUMA refuses, and a node without memory is passed over: where pages lie costs time alone.
void PreferNode(void* address, size_t size, int numa_node) {
  constexpr int kBits = 8 * sizeof(unsigned long);
  std::array<unsigned long, kMaxNumaNodes / kBits> nodes{};
  if (numa_node < 0 || numa_node >= kMaxNumaNodes) return;
  nodes[static_cast<size_t>(numa_node / kBits)] = 1ul << numa_node % kBits;
  (void)syscall(SYS_mbind, address, size, MPOL_PREFERRED, nodes.data(), kMaxNumaNodes, 0);
}

}  // namespace

int LinuxMemory::Map(size_t size, uint64_t page_bytes, int numa_node, MutableByteSpan* memory) {
  int flags = MAP_SHARED | MAP_ANONYMOUS;
  if (page_bytes != kPageBytes)
    flags |= MAP_HUGETLB | std::countr_zero(page_bytes) << MAP_HUGE_SHIFT;
  void* const address = mmap(nullptr, size, PROT_READ | PROT_WRITE, flags, -1, 0);
  if (address == MAP_FAILED) return -errno;
  PreferNode(address, size, numa_node);
  // A page that is missing is an error here, but a SIGBUS when it is touched. Kernels before 5.14 do not know this.
  if (madvise(address, size, MADV_POPULATE_WRITE) != 0 && errno != EINVAL) {
    const int error = errno;
    munmap(address, size);
    return -error;
  }
  *memory = {static_cast<std::byte*>(address), size};
  return 0;
}

int LinuxMemory::Unmap(MutableByteSpan memory) {
  return munmap(memory.data(), memory.size()) == 0 ? 0 : -errno;
}

}  // namespace ttfd::kmd
