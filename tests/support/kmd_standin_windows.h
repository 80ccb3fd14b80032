// The stand-in's hardware windows: who owns them, where they are mapped, what is stored through them.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <vector>

#include "runtime/device/kmd/abi.h"
#include "runtime/device/kmd/system.h"
#include "runtime/device/pcie_port.h"
#include "runtime/hw/pcie.h"

namespace ttfd {

struct StandinMapping {
  std::byte* begin = nullptr;
  size_t size = 0;
  uint32_t window = 0;
  bool write_combining = false;
  bool withdrawn = false;
  int owner = 0;
};

// Owners are descriptors. Results are errnos, 0: done.
class StandinWindows {
 public:
  explicit StandinWindows(PciePort& port) : port_(port) {}
  ~StandinWindows();

  int Allocate(int owner, kmd::AllocateWindowCall* call);
  int Free(int owner, const kmd::FreeWindowCall& call);
  int Configure(int owner, const kmd::ConfigureWindowCall& call);
  // One word, through the window that belongs to the driver.
  Status WriteAsDriver(hw::Coordinate tile, uint64_t address, uint32_t word);
  StatusOr<uint32_t> ReadAsDriver(hw::Coordinate tile, uint64_t address);
  void ReleaseAllOf(int owner);
  // Parts of what the driver does at a reset.
  void ReclaimAll() { slots_ = {}; }
  void WithdrawMappings();

  int Map(int owner, uint64_t offset, size_t size, kmd::Mapping* mapping);
  int Unmap(const kmd::Mapping& mapping, int* owner);
  StandinMapping* Find(const kmd::Mapping& mapping);

  // The model's answer to one access.
  Status Load(const StandinMapping& mapping, uint64_t offset, uint32_t* value);
  Status Store(const StandinMapping& mapping, uint64_t offset, ByteSpan bytes);
  // Stays in the processor until Drain(), which empties it line by line, the last first.
  void Combine(const StandinMapping& mapping, uint64_t offset, ByteSpan words);
  Status Drain();

  uint32_t in_use() const;
  size_t mappings() const { return mappings_.size(); }

 private:
  static constexpr uint32_t kCount = hw::kTlbWindowKernel;  // one more belongs to the driver
  struct Slot {
    int owner = 0;  // 0: free
    uint32_t mappings = 0;
  };
  struct Line {
    uint64_t bar_offset;
    std::vector<std::byte> bytes;
  };

  void Point(uint32_t window, const kmd::WindowConfig& config);
  // Where in BAR0 the driver's own window shows the address.
  uint64_t PointAsDriver(hw::Coordinate tile, uint64_t address);

  PciePort& port_;
  std::array<Slot, kCount> slots_{};
  std::map<std::byte*, StandinMapping> mappings_;
  std::vector<Line> combining_;
};

}  // namespace ttfd
