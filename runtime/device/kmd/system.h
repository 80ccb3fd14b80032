// The seam below the backend: calls into the kernel, its files, pages of memory, and loads and stores of mapped
// windows. The system's own is linux_system.h; tests put a stand-in for the driver here.
//
// The device thread is the only caller of a device's calls.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "runtime/base/bytes.h"

namespace ttfd::kmd {

// Sizes of pages of memory. Ordinary ones are what the kernel uses on x86-64.
inline constexpr uint64_t kPageBytes = 4096;
inline constexpr uint64_t kHugePageBytes = uint64_t{2} << 20;
inline constexpr uint64_t kGiantPageBytes = uint64_t{1} << 30;

// Addresses of this process at which a window is visible. Touched through a Bus only.
struct Mapping {
  std::byte* begin = nullptr;
  size_t size = 0;
};

// Calls into the kernel. Results below 0 are -errno.
class Kernel {
 public:
  virtual ~Kernel() = default;
  virtual int Open(const std::string& path) = 0;  // a descriptor; never waits for others to close
  virtual int Close(int descriptor) = 0;
  virtual int Ioctl(int descriptor, uint32_t request, void* argument) = 0;
  virtual int Map(int descriptor, uint64_t offset, size_t size, Mapping* mapping) = 0;
  virtual int Unmap(const Mapping& mapping) = 0;
};

// The system's files in /sys, /proc and /dev.
class Files {
 public:
  virtual ~Files() = default;
  // A text, without its last newline; none: it cannot be read.
  virtual std::optional<std::string> ReadText(const std::string& path) = 0;
  // Names in a folder of /sys or /dev, sorted; empty: there is no such folder, or it cannot be read.
  virtual std::vector<std::string> List(const std::string& folder) = 0;
};

// Pages of memory of this process. Results below 0 are -errno.
class Memory {
 public:
  virtual ~Memory() = default;
  // Zeroed memory that stays where it is and is shared with a fork, of pages of one of the three sizes: of the NUMA
  // node if that is not negative and has some. Fails where the host has not reserved enough hugepages.
  virtual int Map(size_t size, uint64_t page_bytes, int numa_node, MutableByteSpan* memory) = 0;
  virtual int Unmap(MutableByteSpan memory) = 0;
};

// Loads and stores. Each call that answers `false` found the mapping withdrawn by the driver: nothing was read or
// written that counts. Offsets are multiples of the width and lie inside the mapping.
class Bus {
 public:
  virtual ~Bus() = default;
  // One load of 4 bytes, uncached.
  virtual bool Load(const Mapping& mapping, uint64_t offset, uint32_t* value) = 0;
  // One store of the low `width` bytes (1, 2 or 4) of `value`, uncached.
  virtual bool Store(const Mapping& mapping, uint64_t offset, uint32_t value, uint32_t width) = 0;
  // Stores whole words to a write-combining mapping. They arrive in any order, and all of them before anything that
  // follows the next StoreFence.
  virtual bool StoreBulk(const Mapping& mapping, uint64_t offset, ByteSpan words) = 0;
  virtual void StoreFence() = 0;
};

// Outlives every device opened over it.
struct System {
  Kernel* kernel = nullptr;
  Files* files = nullptr;
  Memory* memory = nullptr;
  Bus* bus = nullptr;
};

}  // namespace ttfd::kmd
