// The device over a port: what it tells the hardware, how often, and what it makes of errors.
#include "runtime/device/port_device.h"

#include <gtest/gtest.h>

#include <utility>
#include <vector>

#include "runtime/device/sim/sim_port.h"
#include "runtime/hw/noc.h"

namespace ttfd::port_device_test {
namespace {

// The model's port, listened to and interfered with.
class SpyPort final : public PciePort {
 public:
  struct Script {
    uint32_t id = hw::kPciDeviceId << 16 | hw::kPciVendorId;
    bool translation = true;
    Status bar_error = OkStatus();
    Status reset_error = OkStatus();  // of a reset that was carried out
    int tlb_writes = 0;
    int iatu_writes = 0;
  };

  explicit SpyPort(Script* script)
      : script_(script),
        port_(std::move(sim::Chip::Create(sim::DefaultOptions(sim::Board::kP150))).value()) {}

  StatusOr<uint32_t> ConfigRead(uint32_t) override { return script_->id; }
  Status BarRead(int bar, uint64_t offset, MutableByteSpan to) override {
    RETURN_IF_ERROR(script_->bar_error);
    if (offset == hw::kBar0Niu0 + hw::kNocConfig0 && !script_->translation) {
      StoreAt(to.data(), 0u);
      return OkStatus();
    }
    return port_.BarRead(bar, offset, to);
  }
  Status BarWrite(int bar, uint64_t offset, ByteSpan from) override {
    RETURN_IF_ERROR(script_->bar_error);
    if (bar == 2) ++script_->iatu_writes;
    if (bar == 0 && offset >= hw::kTlbRegisters) ++script_->tlb_writes;
    return port_.BarWrite(bar, offset, from);
  }
  Status MapHostMemory(uint64_t bus_address, const HostPages& pages) override {
    return port_.MapHostMemory(bus_address, pages);
  }
  Status Reset() override {
    RETURN_IF_ERROR(port_.Reset());
    return script_->reset_error;
  }
  StatusOr<AdvanceResult> Advance(uint64_t clocks) override { return port_.Advance(clocks); }

 private:
  Script* const script_;
  SimPort port_;
};

class PortDeviceTest : public testing::Test {
 protected:
  StatusOr<std::unique_ptr<PortDevice>> Open() {
    return PortDevice::Open(std::make_unique<SpyPort>(&script_), {.backend = "spy"});
  }
  SpyPort::Script script_;
};

TEST_F(PortDeviceTest, WindowRegistersAreWrittenOnlyWhenTheyChange) {
  const std::unique_ptr<PortDevice> device = Open().value();
  EXPECT_EQ(device->info().backend, "spy");
  const std::unique_ptr<Window> window = device->OpenWindow(UnicastTarget({17, 12})).value();
  script_.tlb_writes = 0;
  ASSERT_TRUE(WriteWord(*window, 0, 1).ok());
  const int first = script_.tlb_writes;
  EXPECT_GE(first, 1);
  for (uint64_t address = 0; address < 4096; address += 4) {
    ASSERT_TRUE(WriteWord(*window, address, 1).ok());
  }
  EXPECT_EQ(script_.tlb_writes, first);
  ASSERT_TRUE(WriteWord(*window, hw::kTlbWindow2MBytes, 1).ok());
  EXPECT_EQ(script_.tlb_writes, first + 1);  // the address word alone
}

TEST_F(PortDeviceTest, AResetProgramsTranslationAndWindowsAnew) {
  const std::unique_ptr<PortDevice> device = Open().value();
  const std::unique_ptr<HostMemory> memory = device->AllocateHostMemory(4096).value();
  const std::unique_ptr<Window> window = device->OpenWindow(UnicastTarget({1, 2})).value();
  ASSERT_TRUE(WriteWord(*window, 16, 5).ok());
  script_.tlb_writes = script_.iatu_writes = 0;
  ASSERT_TRUE(device->Reset().ok());
  EXPECT_GE(script_.iatu_writes, 9);
  EXPECT_EQ(ReadWord(*window, 16).value(), 5u);
  EXPECT_EQ(script_.tlb_writes, 3);
}

TEST_F(PortDeviceTest, AResetThatFails_ProgramsWindowsAnew) {
  const std::unique_ptr<PortDevice> device = Open().value();
  const std::unique_ptr<Window> window = device->OpenWindow(UnicastTarget({1, 2})).value();
  ASSERT_TRUE(WriteWord(*window, 16, 5).ok());
  script_.reset_error = Error(StatusCode::kUnavailable, "the card did not come back in time");
  EXPECT_EQ(device->Reset().code(), StatusCode::kUnavailable);
  script_.tlb_writes = 0;
  EXPECT_EQ(ReadWord(*window, 16).value(), 5u);
  EXPECT_EQ(script_.tlb_writes, 3);
}

TEST_F(PortDeviceTest, CardsItCannotDriveAreNotOpened) {
  script_.id = 0x401E52;
  EXPECT_EQ(Open().status().code(), StatusCode::kFailedPrecondition);
  script_ = {};
  script_.translation = false;
  EXPECT_EQ(Open().status().code(), StatusCode::kFailedPrecondition);
  script_ = {};
  script_.bar_error = Error(StatusCode::kUnavailable, "gone");
  EXPECT_EQ(Open().status().code(), StatusCode::kUnavailable);
}

TEST_F(PortDeviceTest, ErrorsOfThePortReachTheCallerAndMemoryCanStillBeFreed) {
  const std::unique_ptr<PortDevice> device = Open().value();
  const std::unique_ptr<Window> window = device->OpenWindow(UnicastTarget({1, 2})).value();
  std::unique_ptr<HostMemory> memory = device->AllocateHostMemory(4096).value();
  const uint64_t address = memory->noc_address();
  script_.bar_error = Error(StatusCode::kUnavailable, "gone");
  EXPECT_EQ(WriteWord(*window, 0, 1).code(), StatusCode::kUnavailable);
  EXPECT_EQ(device->AllocateHostMemory(4096).status().code(), StatusCode::kUnavailable);
  memory.reset();
  script_.bar_error = OkStatus();
  EXPECT_TRUE(WriteWord(*window, 0, 1).ok());  // not half programmed
  memory = device->AllocateHostMemory(4096).value();
  EXPECT_EQ(memory->noc_address(), address);
}

}  // namespace
}  // namespace ttfd::port_device_test
