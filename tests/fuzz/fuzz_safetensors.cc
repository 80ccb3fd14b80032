// Fuzz target: any bytes as a file of safetensors are refused, or read whole.
#include <sys/mman.h>
#include <unistd.h>

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <string>

#include "ttfd/tensor/safetensors.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using ttfd::tensor::Safetensors;
  static const int fd = memfd_create("model.safetensors", MFD_CLOEXEC);
  if (ftruncate(fd, static_cast<off_t>(size)) != 0 ||
      pwrite(fd, data, size, 0) != static_cast<ssize_t>(size)) {
    std::abort();
  }
  const auto file = Safetensors::Open("/proc/self/fd/" + std::to_string(fd));
  if (!file.ok()) return 0;
  uint64_t header = 0, bytes = 0;
  std::memcpy(&header, data, sizeof(header));
  for (const Safetensors::Entry& entry : file->entries()) {
    bytes += entry.size_bytes;
    const auto elements = file->Read(entry);
    const bool is_float = entry.dtype == "F32" || entry.dtype == "F16" || entry.dtype == "BF16";
    if (file->Find(entry.name) != &entry || elements.ok() != is_float) std::abort();
    if (entry.dtype == "F32" && entry.elements != 0 &&
        std::memcmp(elements->data(), data + entry.offset, entry.size_bytes) != 0) {
      std::abort();
    }
  }
  if (sizeof(header) + header + bytes != size) std::abort();
  return 0;
}
