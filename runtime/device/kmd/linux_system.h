// The system's own kernel calls, loads and stores. Never run against silicon.
#pragma once

#include "runtime/device/kmd/system.h"

namespace ttfd::kmd {

class LinuxKernel final : public Kernel {
 public:
  int Open(const std::string& path) override;
  int Close(int descriptor) override;
  int Ioctl(int descriptor, uint32_t request, void* argument) override;
  int Map(int descriptor, uint64_t offset, size_t size, Mapping* mapping) override;
  int Unmap(const Mapping& mapping) override;
};

class LinuxFiles final : public Files {
 public:
  std::optional<std::string> ReadText(const std::string& path) override;
  std::vector<std::string> List(const std::string& folder) override;
};

class LinuxMemory final : public Memory {
 public:
  int Map(size_t size, uint64_t page_bytes, int numa_node, MutableByteSpan* memory) override;
  int Unmap(MutableByteSpan memory) override;
};

// The driver withdraws the mappings of a card that was reset or removed; the next access is a SIGBUS or SIGSEGV.
// The first LinuxBus installs a handler for both. While a call accesses a mapping, a thread-local record names it;
// the handler puts a private page of zeros in place of the whole mapping, marks the record, and the interrupted
// access continues there. It calls nothing but mmap and sigaction, and takes no lock. A signal from anywhere else
// goes to the action that was installed before.
class LinuxBus final : public Bus {
 public:
  LinuxBus();
  bool Load(const Mapping& mapping, uint64_t offset, uint32_t* value) override;
  bool Store(const Mapping& mapping, uint64_t offset, uint32_t value, uint32_t width) override;
  bool StoreBulk(const Mapping& mapping, uint64_t offset, ByteSpan words) override;
  void StoreFence() override;
};

// Never destroyed.
System LinuxSystem();

}  // namespace ttfd::kmd
