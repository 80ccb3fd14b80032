#include "runtime/simlib/flat_device.h"

#include <unistd.h>

#include <cstdio>
#include <string>

#include "runtime/hw/pcie.h"
#include "runtime/simlib/options.h"

namespace ttfd::simlib {

void Die(uint64_t clock, Category category, const char* function, std::string_view text) {
  const std::string line =
      fmt::format("[{}] ERROR: {}: {}: {}\n", clock, CategoryName(category), function, text);
  std::fputs(line.c_str(), stdout);
  std::fflush(stdout);
  _exit(1);
}

FlatDevice::FlatDevice(DmaRead read, DmaWrite write) : dma_read_(read), dma_write_(write) {
  const char* const function = "libttsim_init";
  const StatusOr<sim::ChipOptions> options = OptionsFromEnvironment();
  if (!options.ok()) {
    Die(0, Category::kConfigurationError, function, StatusMessage(options.status()));
  }
  StatusOr<std::unique_ptr<sim::Chip>> chip = sim::Chip::Create(*options);
  if (!chip.ok()) Die(0, Category::kSystemError, function, StatusMessage(chip.status()));
  chip_ = std::move(chip).value();
  chip_->SetHostAccess(this);
}

bool FlatDevice::CheckConfig(uint32_t bdf, uint32_t offset, const char* function) const {
  const uint32_t bus = bdf >> 8;
  const uint32_t device = bdf >> 3 & 0x1F;
  if (bus != 0 || (bdf & 7) != 0) {
    Die(clock(), Category::kUndefinedBehavior, function,
        fmt::format("bus/device/function {:#x}: only bus 0 and function 0 exist", bdf));
  }
  if (offset % 4 != 0) {
    Die(clock(), Category::kUndefinedBehavior, function,
        fmt::format("misaligned offset {:#x}", offset));
  }
  return device == 0;
}

uint32_t FlatDevice::ConfigRead(uint32_t bdf, uint32_t offset, const char* function) {
  constexpr uint32_t kNoDevice = ~0u;
  if (!CheckConfig(bdf, offset, function)) return kNoDevice;
  const StatusOr<uint32_t> value = chip_->ConfigRead(offset);
  if (!value.ok()) Refused(value.status(), function);
  return *value;
}

void FlatDevice::ConfigWrite(uint32_t bdf, uint32_t offset, uint32_t value, const char* function) {
  if (!CheckConfig(bdf, offset, function)) {
    Die(clock(), Category::kUndefinedBehavior, function,
        fmt::format("bus/device/function {:#x} does not exist", bdf));
  }
  if (const Status status = chip_->ConfigWrite(offset, value); !status.ok()) {
    Refused(status, function);
  }
}

FlatDevice::BarOffset FlatDevice::Locate(uint64_t paddr, uint64_t size,
                                         const char* function) const {
  struct Range {
    int bar;
    uint64_t start;
    uint64_t bytes;
  };
  static constexpr Range kBars[] = {{0, hw::kModelBar0Address, hw::kBar0Bytes},
                                    {2, hw::kModelBar2Address, hw::kBar2Bytes},
                                    {4, hw::kModelBar4Address, hw::kBar4Bytes}};
  if (size == 0) Die(clock(), Category::kUndefinedBehavior, function, "size 0");
  for (const Range& bar : kBars) {
    if (paddr < bar.start || paddr - bar.start >= bar.bytes) continue;
    const uint64_t offset = paddr - bar.start;
    if (bar.bytes - offset >= size || bar.bar == 2) return {bar.bar, offset};
    Die(clock(), Category::kUndefinedBehavior, function,
        fmt::format("{} bytes at {:#x} leave BAR{}", size, paddr, bar.bar));
  }
  Die(clock(), Category::kUndefinedBehavior, function, fmt::format("no BAR is at {:#x}", paddr));
}

void FlatDevice::MemoryRead(uint64_t paddr, MutableByteSpan to, const char* function) {
  const BarOffset at = Locate(paddr, to.size(), function);
  if (const Status status = chip_->BarRead(at.bar, at.offset, to); !status.ok()) {
    Refused(status, function);
  }
}

void FlatDevice::MemoryWrite(uint64_t paddr, ByteSpan from, const char* function) {
  const BarOffset at = Locate(paddr, from.size(), function);
  if (const Status status = chip_->BarWrite(at.bar, at.offset, from); !status.ok()) {
    Refused(status, function);
  }
}

void FlatDevice::Clock(uint32_t clocks, const char* function) {
  const StatusOr<sim::Chip::Progress> progress = chip_->Advance(clocks);
  if (!progress.ok()) Refused(progress.status(), function);
  chip_->Idle(clocks - progress->clocks);  // the contract's clock never stands
}

void FlatDevice::Refused(const Status& status, const char* function) const {
  const std::optional<sim::Fault>& fault = chip_->fault();
  const sim::FaultKind kind = fault.has_value() ? fault->kind : chip_->last_refusal().kind;
  Die(fault.has_value() ? fault->clock : clock(), CategoryOf(kind), function,
      StatusMessage(status));
}

sim::Refusal FlatDevice::Read(uint64_t bus_address, MutableByteSpan to) {
  if (dma_read_ == nullptr) {
    Die(clock(), Category::kConfigurationError, "libttsim_set_pci_dma_mem_callbacks",
        fmt::format("the device reads host memory at {:#x} and no callback is set", bus_address));
  }
  dma_read_(bus_address, to.data(), static_cast<uint32_t>(to.size()));
  return {};
}

sim::Refusal FlatDevice::Write(uint64_t bus_address, ByteSpan from) {
  if (dma_write_ == nullptr) {
    Die(clock(), Category::kConfigurationError, "libttsim_set_pci_dma_mem_callbacks",
        fmt::format("the device writes host memory at {:#x} and no callback is set", bus_address));
  }
  dma_write_(bus_address, from.data(), static_cast<uint32_t>(from.size()));
  return {};
}

}  // namespace ttfd::simlib
