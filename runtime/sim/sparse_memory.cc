// SparseMemory by mmap without reservation and without huge pages.
#include "runtime/sim/sparse_memory.h"

#include <sys/mman.h>

#include <cerrno>
#include <cstring>

namespace ttfd::sim {

StatusOr<SparseMemory> SparseMemory::Map(uint64_t size_bytes) {
  void* const address = mmap(nullptr, size_bytes, PROT_READ | PROT_WRITE,
                             MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (address == MAP_FAILED) {
    return Error(StatusCode::kResourceExhausted, "cannot map {} bytes of address space: {}",
                 size_bytes, std::strerror(errno));
  }
  // A 2 MiB page for every first touch would make an idle chip cost hundreds of megabytes. A kernel
  // without huge pages refuses the advice, which is just as well.
  (void)madvise(address, size_bytes, MADV_NOHUGEPAGE);
  return SparseMemory(static_cast<std::byte*>(address), size_bytes);
}

SparseMemory::~SparseMemory() {
  if (data_ != nullptr) munmap(data_, size_);
}

}  // namespace ttfd::sim
