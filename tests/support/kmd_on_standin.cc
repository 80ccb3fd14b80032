#include "tests/support/kmd_on_standin.h"

#include <gtest/gtest.h>

#include <string>
#include <utility>

#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "runtime/device/kmd/kmd_device.h"
#include "runtime/device/sim/sim_device.h"
#include "runtime/device/sim/sim_port.h"
#include "tests/support/test_device_text.h"

namespace ttfd {
namespace {

class KmdOnStandin final : public Device {
 public:
  KmdOnStandin(std::unique_ptr<KmdStandin> standin, std::unique_ptr<KmdDevice> device)
      : standin_(std::move(standin)), device_(std::move(device)) {}
  ~KmdOnStandin() override {
    device_.reset();
    EXPECT_EQ(standin_->open_files(), 0u);
    EXPECT_EQ(standin_->windows().in_use(), 0u);
    EXPECT_EQ(standin_->pins().count(), 0u);
    EXPECT_EQ(standin_->memory().mappings(), 0u);
  }

  const DeviceInfo& info() const override { return device_->info(); }
  StatusOr<std::unique_ptr<Window>> OpenWindow(const WindowTarget& target) override {
    return device_->OpenWindow(target);
  }
  StatusOr<std::unique_ptr<HostMemory>> AllocateHostMemory(uint64_t size_bytes) override {
    return device_->AllocateHostMemory(size_bytes);
  }
  Status Reset() override { return device_->Reset(); }
  Status ResetChip(Clock& clock, Tick tick) override { return device_->ResetChip(clock, tick); }
  Status HoldOnExit(std::span<const hw::Coordinate> tiles) override {
    return device_->HoldOnExit(tiles);
  }
  void SetInUse(bool in_use) override { device_->SetInUse(in_use); }
  Status CheckPresence() override { return device_->CheckPresence(); }
  // On silicon the card runs while the host waits.
  StatusOr<AdvanceResult> Advance(uint64_t clocks) override {
    standin_->LetTimePass(clocks);
    ASSIGN_OR_RETURN(AdvanceResult advanced, device_->Advance(clocks));
    advanced.clocks = clocks;
    return advanced;
  }

 private:
  const std::unique_ptr<KmdStandin> standin_;
  std::unique_ptr<KmdDevice> device_;
};

// The driver and host that the environment names.
StandinOptions TestStandinOptions() {
  StandinOptions options;
  const std::string device = TestSimulator();
  const size_t colon = device.find(':');
  if (colon == std::string::npos) return options;
  for (const absl::string_view option : absl::StrSplit(device.substr(colon + 1), ',')) {
    absl::string_view version = option;
    if (option == "iommu=off") {
      options.iommu = false;
    } else if (option == "pages=2M") {
      options.giant_pages = 0, options.huge_pages = 16;
    } else if (absl::ConsumePrefix(&version, "driver=")) {
      options.version = kmd::ParseDriverVersion({version.data(), version.size()}).value();
    } else {
      ADD_FAILURE() << "TTFD_TEST_DEVICE: no option is " << option;
    }
  }
  return options;
}

}  // namespace

StatusOr<std::unique_ptr<KmdStandin>> MakeKmdStandin(std::string_view chip,
                                                     const StandinOptions& options) {
  ASSIGN_OR_RETURN(const SimOptions parsed, ParseSimOptions(chip));
  ASSIGN_OR_RETURN(std::unique_ptr<sim::Chip> created, sim::Chip::Create(parsed));
  return std::make_unique<KmdStandin>(std::make_unique<SimPort>(std::move(created)), options);
}

StatusOr<std::unique_ptr<Device>> OpenKmdOnStandin(std::string_view chip) {
  ASSIGN_OR_RETURN(std::unique_ptr<KmdStandin> standin, MakeKmdStandin(chip, TestStandinOptions()));
  ASSIGN_OR_RETURN(std::unique_ptr<KmdDevice> device,
                   KmdDevice::Open(KmdStandin::kNode, standin->system()));
  return std::make_unique<KmdOnStandin>(std::move(standin), std::move(device));
}

}  // namespace ttfd
