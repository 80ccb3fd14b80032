// The one device of the library: the model with the contract's address map around it. What the contract
// forbids ends the process.
#pragma once

#include <cstdint>
#include <memory>
#include <string_view>

#include "runtime/sim/chip.h"
#include "runtime/simlib/category.h"

namespace ttfd::simlib {

using DmaRead = void (*)(uint64_t paddr, void* to, uint32_t size);
using DmaWrite = void (*)(uint64_t paddr, const void* from, uint32_t size);

// The line of the contract and the end of the process. `function` is whose caller is told.
[[noreturn]] void Die(uint64_t clock, Category category, const char* function,
                      std::string_view text);

class FlatDevice final : public sim::HostAccess {
 public:
  // Callbacks may be null. Ends the process when the options or the machine do not allow a device.
  FlatDevice(DmaRead read, DmaWrite write);

  uint32_t ConfigRead(uint32_t bdf, uint32_t offset, const char* function);
  void ConfigWrite(uint32_t bdf, uint32_t offset, uint32_t value, const char* function);
  void MemoryRead(uint64_t paddr, MutableByteSpan to, const char* function);
  void MemoryWrite(uint64_t paddr, ByteSpan from, const char* function);
  void Clock(uint32_t clocks, const char* function);

  uint64_t clock() const { return chip_->clock(); }

  // The chip's accesses to the host.
  sim::Refusal Read(uint64_t bus_address, MutableByteSpan to) override;
  sim::Refusal Write(uint64_t bus_address, ByteSpan from) override;

 private:
  struct BarOffset {
    int bar;
    uint64_t offset;
  };
  BarOffset Locate(uint64_t paddr, uint64_t size, const char* function) const;
  // False: no such device.
  bool CheckConfig(uint32_t bdf, uint32_t offset, const char* function) const;
  [[noreturn]] void Refused(const Status& status, const char* function) const;

  const DmaRead dma_read_;
  const DmaWrite dma_write_;
  std::unique_ptr<sim::Chip> chip_;
};

}  // namespace ttfd::simlib
