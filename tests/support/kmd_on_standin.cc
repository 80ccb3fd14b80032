#include "tests/support/kmd_on_standin.h"

#include <gtest/gtest.h>

#include <string>
#include <utility>

#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "runtime/device/sim/sim_device.h"
#include "runtime/device/sim/sim_port.h"
#include "tests/support/test_card.h"
#include "tests/support/test_device_text.h"

namespace ttfd {
namespace {

void ExpectNothingLeft(const KmdStandin& standin) {
  EXPECT_EQ(standin.open_files(), 0u);
  EXPECT_EQ(standin.windows().in_use(), 0u);
  EXPECT_EQ(standin.pins().count(), 0u);
  EXPECT_EQ(standin.memory().mappings(), 0u);
}

}  // namespace

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

StatusOr<std::unique_ptr<KmdStandin>> MakeKmdStandin(std::string_view chip,
                                                     const StandinOptions& options) {
  ASSIGN_OR_RETURN(const SimOptions parsed, ParseSimOptions(chip));
  ASSIGN_OR_RETURN(std::unique_ptr<sim::Chip> created, sim::Chip::Create(parsed));
  return std::make_unique<KmdStandin>(std::make_unique<SimPort>(std::move(created)), options);
}

StatusOr<std::unique_ptr<Device>> OpenKmdOnStandin(std::string_view chip) {
  ASSIGN_OR_RETURN(std::unique_ptr<KmdStandin> made, MakeKmdStandin(chip, TestStandinOptions()));
  const std::shared_ptr<KmdStandin> driver = std::move(made);
  ASSIGN_OR_RETURN(std::unique_ptr<KmdDevice> device,
                   KmdDevice::Open(KmdStandin::kNode, driver->system()));
  // On silicon the card runs while the host waits.
  const auto let_time_pass = [chip = driver.get()](uint64_t clocks) { chip->LetTimePass(clocks); };
  return std::make_unique<TestCard>(std::move(device), let_time_pass,
                                    [driver] { ExpectNothingLeft(*driver); });
}

}  // namespace ttfd
