// One suite for every backend: what a device must do, whatever is behind it.
//
// Programs are assembled by hand so that the suite depends on nothing above the device. A test waits
// for words that the device writes, with a bound on the clocks it grants, so that it works where
// time moves by itself too.
#pragma once

#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "runtime/device/device.h"
#include "runtime/hw/tensix.h"
#include "tests/support/noc_asm.h"
#include "tests/support/rv32_asm.h"

namespace ttfd {

struct Backend {
  std::string name;
  std::function<StatusOr<std::unique_ptr<Device>>()> open;
  std::string skip;  // why it cannot run here; empty: it can
  // A refused access of the host is the answer to that very call, and nothing else changes. Elsewhere
  // writes are posted and the chip is lost until its next reset.
  bool refuses_at_once = false;
  bool reports_faults = true;  // does the host learn that device code was refused? Not on silicon
  bool continues_after_faults =
      true;  // a hart's fault stops that hart alone; elsewhere the chip is lost
  bool resets_registers =
      true;  // does Reset clear more than harts, such as streams? A soft reset does not
  bool checks_links = false;  // what may follow a NoC write that is linked
  bool alone = true;          // is no other chip at an Ethernet channel?
  bool zeroes_harts = false;  // registers and local RAM, when a hart leaves reset
};

// Every backend the suite knows, runnable here or not.
std::vector<Backend> Backends();

inline std::string BackendName(const testing::TestParamInfo<Backend>& info) {
  return info.param.name;
}
inline void PrintTo(const Backend& backend, std::ostream* out) { *out << backend.name; }

class DeviceTest : public testing::TestWithParam<Backend> {
 protected:
  static constexpr hw::Coordinate kTile = {1, 2};
  static constexpr hw::Coordinate kOther = {2, 3};
  static constexpr uint32_t kDone = 0x8000;  // programs say here that they are through
  static constexpr uint32_t kResults = 0x8100;

  void SetUp() override {
    if (!GetParam().skip.empty()) GTEST_SKIP() << GetParam().skip;
    StatusOr<std::unique_ptr<Device>> device = GetParam().open();
    ASSERT_TRUE(device.ok()) << device.status().ToString();
    device_ = std::move(device).value();
  }

  Device& device() { return *device_; }

  std::unique_ptr<Window> OpenWindow(const WindowTarget& target) {
    StatusOr<std::unique_ptr<Window>> window = device_->OpenWindow(target);
    EXPECT_TRUE(window.ok()) << window.status().ToString();
    return std::move(window).value();
  }
  void Write(hw::Coordinate tile, uint64_t address, ByteSpan from) {
    const Status status = OpenWindow(UnicastTarget(tile))->Write(address, from);
    EXPECT_TRUE(status.ok()) << status.ToString();
  }
  void WriteWord(hw::Coordinate tile, uint64_t address, uint32_t value) {
    Write(tile, address, BytesOf(value));
  }
  uint32_t ReadWord(hw::Coordinate tile, uint64_t address) {
    const StatusOr<uint32_t> value = ttfd::ReadWord(*OpenWindow(UnicastTarget(tile)), address);
    EXPECT_TRUE(value.ok()) << value.status().ToString();
    return value.value_or(0);
  }
  std::vector<uint32_t> ReadWords(hw::Coordinate tile, uint64_t address, size_t count) {
    std::vector<uint32_t> words(count);
    const Status status =
        OpenWindow(UnicastTarget(tile))->Read(address, std::as_writable_bytes(std::span(words)));
    EXPECT_TRUE(status.ok()) << status.ToString();
    return words;
  }

  // Puts `program` at `address` and lets the harts run whose SOFT_RESET bits are clear in `held`.
  void Load(hw::Coordinate tile, const Rv32Asm& program, uint32_t address = 0) {
    Write(tile, address, program.bytes());
  }
  void Start(hw::Coordinate tile, uint32_t held = hw::kSoftResetAllHarts & ~hw::kSoftResetBrisc) {
    WriteWord(tile, hw::kSoftReset0, held);
  }

  // Grants clocks until the word has the value.
  Status Await(hw::Coordinate tile, uint64_t address, uint32_t value) {
    constexpr int kSlices = 1000;
    constexpr uint64_t kSlice = 100;
    const std::unique_ptr<Window> window = OpenWindow(UnicastTarget(tile));
    for (int i = 0; i < kSlices; ++i) {
      RETURN_IF_ERROR(device_->Advance(kSlice).status());
      ASSIGN_OR_RETURN(const uint32_t found, ttfd::ReadWord(*window, address));
      if (found == value) return OkStatus();
    }
    return Error(StatusCode::kDeadlineExceeded, "({},{}) {:#x} did not become {:#x}", tile.x,
                 tile.y, address, value);
  }

  // Adds "done, wait for ever" and runs BRISC of `tile` until it is done.
  void Run(Rv32Asm program, hw::Coordinate tile = kTile) {
    EmitDone(program);
    WriteWord(tile, kDone, 0);
    Start(tile, hw::kSoftResetAllHarts);
    Load(tile, program);
    Start(tile);
    const Status status = Await(tile, kDone, 1);
    EXPECT_TRUE(status.ok()) << status.ToString();
  }
  static void EmitDone(Rv32Asm& a) {
    a.StoreWord(kDone, 1);
    a.Halt();
  }

  std::vector<hw::Coordinate> Tiles() const {
    std::vector<hw::Coordinate> tiles;
    for (const uint32_t x : device_->info().tensix_columns) {
      for (uint32_t row = 0; row < hw::kTensixRows; ++row) {
        tiles.push_back({x, hw::kTensixFirstRow + row});
      }
    }
    return tiles;
  }
  hw::Coordinate Bank(uint32_t bank, uint32_t noc = 0) const {
    const uint32_t xy = device_->info().dram_port_xy[noc][bank];
    return {hw::NocX(xy), hw::NocY(xy)};
  }
  uint32_t banks() const { return static_cast<uint32_t>(device_->info().dram_port_xy[0].size()); }

 private:
  std::unique_ptr<Device> device_;
};

// Words that do not repeat (the linear congruential generator of Numerical Recipes).
inline std::vector<uint32_t> Pattern(size_t words, uint32_t seed) {
  std::vector<uint32_t> pattern(words);
  for (uint32_t& word : pattern) word = seed = seed * 1664525 + 1013904223;
  return pattern;
}

#define TTFD_FOR_EVERY_BACKEND(suite) \
  INSTANTIATE_TEST_SUITE_P(All, suite, testing::ValuesIn(Backends()), BackendName)

}  // namespace ttfd
