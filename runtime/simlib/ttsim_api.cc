// The exported functions: is there a device, then ask it.
#include "runtime/simlib/ttsim_api.h"

#include <cstdio>
#include <ctime>
#include <memory>

#include "runtime/simlib/flat_device.h"

namespace {

using ttfd::simlib::Category;
using ttfd::simlib::Die;
using ttfd::simlib::FlatDevice;

// The contract has no handle, so this is the one place of the project with state outside an object.
ttfd::simlib::DmaRead dma_read = nullptr;
ttfd::simlib::DmaWrite dma_write = nullptr;
std::unique_ptr<FlatDevice>& Slot() {
  static std::unique_ptr<FlatDevice> device;
  return device;
}

FlatDevice& Running(const char* function) {
  if (Slot() == nullptr) {
    Die(0, Category::kConfigurationError, function, "libttsim_init has not been called");
  }
  return *Slot();
}

void NotRunning(const char* function) {
  if (Slot() != nullptr) {
    Die(Slot()->clock(), Category::kConfigurationError, function, "the device is already running");
  }
}

}  // namespace

void libttsim_set_pci_dma_mem_callbacks(void (*read)(uint64_t, void*, uint32_t),
                                        void (*write)(uint64_t, const void*, uint32_t)) {
  NotRunning(__func__);
  dma_read = read;
  dma_write = write;
}

void libttsim_init() {
  NotRunning(__func__);
  Slot() = std::make_unique<FlatDevice>(dma_read, dma_write);
}

void libttsim_exit() {
  const uint64_t clock = Running(__func__).clock();
  const double seconds = static_cast<double>(std::clock()) / CLOCKS_PER_SEC;  // of the processor
  const double khz = seconds > 0 ? static_cast<double>(clock) / seconds / 1e3 : 0;
  std::printf("[%llu] %.1f seconds (%.1f KHz)\n", static_cast<unsigned long long>(clock), seconds,
              khz);
  std::fflush(stdout);
  Slot().reset();
}

uint32_t libttsim_pci_config_rd32(uint32_t bdf, uint32_t offset) {
  return Running(__func__).ConfigRead(bdf, offset, __func__);
}

void libttsim_pci_config_wr32(uint32_t bdf, uint32_t offset, uint32_t value) {
  Running(__func__).ConfigWrite(bdf, offset, value, __func__);
}

void libttsim_pci_mem_rd_bytes(uint64_t paddr, void* to, uint32_t size) {
  Running(__func__).MemoryRead(paddr, {static_cast<std::byte*>(to), size}, __func__);
}

void libttsim_pci_mem_wr_bytes(uint64_t paddr, const void* from, uint32_t size) {
  Running(__func__).MemoryWrite(paddr, {static_cast<const std::byte*>(from), size}, __func__);
}

void libttsim_clock(uint32_t clocks) { Running(__func__).Clock(clocks, __func__); }

void libttsim_tile_rd_bytes(uint32_t, uint32_t, uint64_t, void*, uint32_t) {
  Die(Slot() == nullptr ? 0 : Slot()->clock(), Category::kUnsupportedFunctionality, __func__,
      "tiles of a Blackhole are reached through BARs");
}

void libttsim_tile_wr_bytes(uint32_t, uint32_t, uint64_t, const void*, uint32_t) {
  Die(Slot() == nullptr ? 0 : Slot()->clock(), Category::kUnsupportedFunctionality, __func__,
      "tiles of a Blackhole are reached through BARs");
}
