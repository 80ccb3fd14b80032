// Fault injection between the daemon and its card: the n-th operation at a seam fails, comes late, is corrupted, or is
// the first that never happens, for every n of the reference scenario (all with TTFD_FAULT_POINTS=all, some otherwise).
// Afterwards nothing has leaked, every command has ended once, and another client's data is what it was.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <string>
#include <tuple>

#include "runtime/abi/host_queue.h"
#include "runtime/abi/rings.h"
#include "runtime/boot/boot_plan.h"
#include "runtime/device/port_device.h"
#include "runtime/device/sim/sim_port.h"
#include "tests/fault/injection_scenario.h"
#include "tests/support/faulty_device.h"
#include "tests/support/test_device.h"

namespace ttfd::injection_test {
namespace {

enum class Seam { kDevice, kPort, kRing };

const char* SeamName(Seam seam) {
  constexpr const char* kNames[] = {"Device", "Port", "Ring"};
  return kNames[static_cast<int>(seam)];
}

CompletionPlace PlaceOfCompletions() {
  const CardOptions options = InjectionScenario::Rings();
  RingSizes sizes;
  sizes.issue_ring_bytes = options.issue_ring_bytes;
  sizes.completion_ring_pages = options.completion_ring_pages;
  return {abi::kCompletionPointerOffset, CompletionRingOffset(sizes), options.completion_ring_pages,
          abi::kCompletionPageBytes};
}

// The model of a card with a seam where `point` decides.
std::unique_ptr<Device> OpenAt(Seam seam, FaultPoint* point) {
  if (seam == Seam::kPort) {
    auto chip = sim::Chip::Create(sim::DefaultOptions(sim::Board::kP100a));
    EXPECT_TRUE(chip.ok());
    const PortTraits model = {.backend = "embedded",
                              .memory_is_zero_after_power_on = true,
                              .iommu = true,
                              .reports_quiescence = true};
    auto opened = PortDevice::Open(
        std::make_unique<FaultyPort>(std::make_unique<SimPort>(*std::move(chip)), point), model);
    EXPECT_TRUE(opened.ok()) << opened.status().ToString();
    return *std::move(opened);
  }
  auto opened = OpenTestDevice("sim:board=p100a");
  EXPECT_TRUE(opened.ok()) << opened.status().ToString();
  return std::make_unique<FaultyDevice>(*std::move(opened), seam == Seam::kDevice ? point : nullptr,
                                        seam == Seam::kRing ? point : nullptr,
                                        PlaceOfCompletions());
}

// Between points, so that about `most` are tried; 1 if all are.
uint64_t Stride(uint64_t operations, uint64_t most) {
  const char* const points = std::getenv("TTFD_FAULT_POINTS");
  if (points != nullptr && std::string(points) == "all") return 1;
  return std::max<uint64_t>(operations / most, 1);
}

class Injection : public ::testing::TestWithParam<std::tuple<Seam, FaultAction>> {
 protected:
  Seam seam() const { return std::get<0>(GetParam()); }
  FaultAction action() const { return std::get<1>(GetParam()); }
  void Tell(uint64_t tried, uint64_t fired, uint64_t operations, uint64_t resets) {
    RecordProperty("points", std::to_string(tried));
    RecordProperty("operations", std::to_string(operations));
    printf("%s %s: %llu points of %llu tried, %llu met, %llu resets\n", SeamName(seam()),
           FaultActionName(action()), static_cast<unsigned long long>(tried),
           static_cast<unsigned long long>(operations), static_cast<unsigned long long>(fired),
           static_cast<unsigned long long>(resets));
  }

  FaultPoint point;
};

std::string Name(const ::testing::TestParamInfo<std::tuple<Seam, FaultAction>>& info) {
  return std::string(SeamName(std::get<0>(info.param))) + "_" +
         FaultActionName(std::get<1>(info.param));
}

INSTANTIATE_TEST_SUITE_P(
    Seams, Injection,
    ::testing::Combine(::testing::Values(Seam::kDevice, Seam::kPort, Seam::kRing),
                       ::testing::Values(FaultAction::kFail, FaultAction::kDelay,
                                         FaultAction::kCorrupt, FaultAction::kKill)),
    Name);

TEST_P(Injection, LeavesNothingBehindWhereverItHits) {
  TTFD_ONLY_ON_THE_EMBEDDED_DEVICE("its operations are counted");
  InjectionScenario scenario(OpenAt(seam(), &point));
  ASSERT_TRUE(scenario.Boot().ok());
  scenario.OpenWitness();
  for (int round = 0; round < 2;
       ++round) {  // the second finds the kernel on the card, as most will
    point.Arm(FaultAction::kNone, 0);
    ASSERT_TRUE(scenario.Run()) << "without a fault";
  }
  const uint64_t operations = point.operations();
  scenario.Check();
  ASSERT_GT(operations, 4u);
  const uint64_t stride = Stride(operations, 12);
  uint64_t tried = 0, fired = 0;
  for (uint64_t nth = 1 + operations % stride; nth <= operations; nth += stride) {
    SCOPED_TRACE("operation " + std::to_string(nth));
    point.Arm(action(), nth);
    scenario.Run();
    fired += point.fired() ? 1 : 0;
    point.Heal();
    scenario.Check();
    ++tried;
    if (HasFailure()) break;
  }
  EXPECT_GT(fired * 2, tried) << "most points are met";
  point.Arm(FaultAction::kNone, 0);
  EXPECT_TRUE(HasFailure() || scenario.Run() || scenario.Run()) << "the card works as before";
  Tell(tried, fired, operations, scenario.resets());
  ExpectBystandersSpared(scenario.bystanders());
}

class BootInjection : public Injection {};
INSTANTIATE_TEST_SUITE_P(
    Seams, BootInjection,
    ::testing::Combine(::testing::Values(Seam::kDevice, Seam::kPort),
                       ::testing::Values(FaultAction::kFail, FaultAction::kDelay,
                                         FaultAction::kCorrupt, FaultAction::kKill)),
    Name);

// Whatever a boot was stopped in, the next one brings the card to work.
TEST_P(BootInjection, TheNextBootFindsTheCardInAnyStateAndBringsItToReady) {
  TTFD_ONLY_ON_THE_EMBEDDED_DEVICE("its operations are counted");
  InjectionScenario scenario(OpenAt(seam(), &point));
  point.Arm(FaultAction::kNone, 0);
  ASSERT_TRUE(scenario.Boot().ok());
  const uint64_t operations = point.operations();
  scenario.OpenWitness();
  // Windows are pointed at tiles by registers: a flipped bit there is a write to another tile.
  if (seam() == Seam::kPort && action() == FaultAction::kCorrupt) scenario.AllowAstray();
  const uint64_t stride = Stride(operations, 6);
  uint64_t tried = 0, fired = 0;
  for (uint64_t nth = 1 + operations % stride; nth <= operations; nth += stride) {
    SCOPED_TRACE("operation " + std::to_string(nth) + " of the boot");
    point.Arm(action(), nth);
    scenario.Reset(false);
    fired += point.fired() ? 1 : 0;
    point.Heal();
    scenario.Reset(true);
    scenario.Check();
    if (HasFailure()) break;
    EXPECT_TRUE(scenario.Run());
    scenario.Check();
    ++tried;
    if (HasFailure()) break;
  }
  EXPECT_GT(fired * 2, tried) << "most points are met";
  EXPECT_LE(scenario.astray(), 1 + tried / 50) << "hardly any";
  printf("astray: %llu\n", static_cast<unsigned long long>(scenario.astray()));
  Tell(tried, fired, operations, scenario.resets());
  ExpectBystandersSpared(scenario.bystanders());
}

}  // namespace
}  // namespace ttfd::injection_test
