// Has time pass on a card by sleeping.
#include "tests/support/test_card.h"

#include <chrono>
#include <thread>

#include "runtime/device/kmd/linux_system.h"
#include "runtime/hw/arc.h"

namespace ttfd {

StatusOr<std::unique_ptr<Device>> OpenTestCard(const std::string& which) {
  ASSIGN_OR_RETURN(std::unique_ptr<KmdDevice> device, KmdDevice::Open(which, kmd::LinuxSystem()));
  device->SetInUse(true);  // the clock that the sleep is calculated with
  const auto sleep = [](uint64_t clocks) {
    constexpr uint64_t kClocksPerUs = hw::kAiclkBusyHz / 1'000'000;
    std::this_thread::sleep_for(std::chrono::microseconds(clocks / kClocksPerUs + 1));
  };
  return std::make_unique<TestCard>(std::move(device), sleep, nullptr);
}

}  // namespace ttfd
