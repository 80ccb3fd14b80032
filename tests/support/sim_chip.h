// A chip of the embedded model with short names for what tests do to it.
#pragma once

#include <gtest/gtest.h>

#include <map>
#include <memory>
#include <string>
#include <utility>

#include "runtime/device/sim/sim_device.h"
#include "runtime/hw/tensix.h"
#include "tests/support/rv32_asm.h"

namespace ttfd {

class SimChip {
 public:
  explicit SimChip(const char* options = "sim:board=p150") {
    StatusOr<SimOptions> parsed = ParseSimOptions(options);
    EXPECT_TRUE(parsed.ok()) << parsed.status().ToString();
    StatusOr<std::unique_ptr<Device>> device = OpenSimDevice(*parsed, &chip_);
    EXPECT_TRUE(device.ok()) << device.status().ToString();
    device_ = std::move(device).value();
  }

  Device& device() { return *device_; }
  sim::Chip& chip() { return *chip_; }
  const sim::Chip& chip() const { return *chip_; }
  const sim::Hart& hart(hw::Coordinate tile, uint32_t hart) const {
    return *chip_->FindHart(tile, hart);
  }

  Status Write(hw::Coordinate tile, uint64_t address, ByteSpan from) {
    return WindowOn(tile).Write(address, from);
  }
  void WriteWord(hw::Coordinate tile, uint64_t address, uint32_t value) {
    const Status status = Write(tile, address, BytesOf(value));
    EXPECT_TRUE(status.ok()) << status.ToString();
  }
  uint32_t ReadWord(hw::Coordinate tile, uint64_t address) {
    const StatusOr<uint32_t> value = ttfd::ReadWord(WindowOn(tile), address);
    EXPECT_TRUE(value.ok()) << value.status().ToString();
    return value.value_or(0);
  }
  void Load(hw::Coordinate tile, uint32_t address, const Rv32Asm& program) {
    const Status status = Write(tile, address, program.bytes());
    EXPECT_TRUE(status.ok()) << status.ToString();
  }
  // Starts the harts whose SOFT_RESET bits are clear in `held`.
  void Start(hw::Coordinate tile, uint32_t held = hw::kSoftResetAllHarts & ~hw::kSoftResetBrisc) {
    WriteWord(tile, hw::kSoftReset0, held);
  }
  void Reset() {
    const Status status = device_->Reset();
    EXPECT_TRUE(status.ok()) << status.ToString();
  }
  // Resets, then runs BRISC of (1,2) from `program` until nothing happens any more or `clocks` have
  // passed.
  Status Run(const Rv32Asm& program, uint64_t clocks = 100000) {
    RETURN_IF_ERROR(device_->Reset());
    RETURN_IF_ERROR(Write(kTile, 0, program.bytes()));
    Start(kTile);
    return device_->Advance(clocks).status();
  }

  static constexpr hw::Coordinate kTile = {1, 2};

 private:
  // One for each tile: accesses through it keep their order.
  Window& WindowOn(hw::Coordinate tile) {
    std::unique_ptr<Window>& window = windows_[{tile.x, tile.y}];
    if (window == nullptr) window = device_->OpenWindow(UnicastTarget(tile)).value();
    return *window;
  }

  sim::Chip* chip_ = nullptr;
  std::unique_ptr<Device> device_;
  std::map<std::pair<uint32_t, uint32_t>, std::unique_ptr<Window>> windows_;
};

}  // namespace ttfd
