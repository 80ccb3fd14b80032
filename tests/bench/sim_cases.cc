// How fast the embedded device executes instructions (one hart, and 120 harts in turn) and copies packets, how soon it
// is ready, and how much memory it takes.
#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "runtime/card/firmware_card.h"
#include "runtime/device/sim/sim_device.h"
#include "runtime/hw/tensix.h"
#include "tests/bench/bench_case.h"
#include "tests/bench/bench_programs.h"

namespace ttfd::bench {
namespace {

using Now = std::chrono::steady_clock;

// A p150 on which BRISC of `tiles` tiles runs `program` for ever.
class RunningChip {
 public:
  static StatusOr<std::unique_ptr<RunningChip>> Start(const Rv32Asm& program, uint32_t tiles) {
    auto running = std::make_unique<RunningChip>();
    ASSIGN_OR_RETURN(running->device_,
                     OpenSimDevice({sim::DefaultOptions(sim::Board::kP150), {}}, &running->chip_));
    for (uint32_t i = 0; i < tiles; ++i) {
      const WindowTarget tile = UnicastTarget(running->chip_->TensixCoordinate(i));
      ASSIGN_OR_RETURN(const std::unique_ptr<Window> window, running->device_->OpenWindow(tile));
      RETURN_IF_ERROR(window->Write(0, program.bytes()));
      RETURN_IF_ERROR(
          WriteWord(*window, hw::kSoftReset0, hw::kSoftResetAllHarts & ~hw::kSoftResetBrisc));
    }
    return running;
  }

  // Million instructions a second, over at least `budget`.
  StatusOr<double> Measure(std::chrono::nanoseconds budget) {
    const uint64_t before = chip_->retired_instructions();
    // Slices long enough that entering the model does not show.
    ASSIGN_OR_RETURN(const double seconds, RunFor(budget, 20000));
    return static_cast<double>(chip_->retired_instructions() - before) / seconds / 1e6;
  }

  // Gigabytes a second that the first tile reads in ReadLoop().
  StatusOr<double> MeasureReads(std::chrono::nanoseconds budget) {
    ASSIGN_OR_RETURN(const std::unique_ptr<Window> window,
                     device_->OpenWindow(UnicastTarget(kReadingTile)));
    constexpr uint64_t kCounter = hw::kNiuAddress + hw::kNocStatus + 4 * hw::kNocReadResponses;
    ASSIGN_OR_RETURN(const uint32_t before, ReadWord(*window, kCounter));
    ASSIGN_OR_RETURN(const double seconds, RunFor(budget, 1000));
    ASSIGN_OR_RETURN(const uint32_t after, ReadWord(*window, kCounter));
    return double{hw::kNocMaxPacketBytes} * (after - before) / seconds / 1e9;
  }

 private:
  // Returns the seconds it took.
  StatusOr<double> RunFor(std::chrono::nanoseconds budget, uint64_t slice) {
    const Now::time_point start = Now::now();
    Now::duration passed{};
    do {
      RETURN_IF_ERROR(device_->Advance(slice).status());
      passed = Now::now() - start;
    } while (passed < budget);
    return std::chrono::duration<double>(passed).count();
  }

  sim::Chip* chip_ = nullptr;  // inside device_
  std::unique_ptr<Device> device_;
};

using Measurement = StatusOr<double> (RunningChip::*)(std::chrono::nanoseconds);

BenchCase Case(std::string name, std::string unit, Rv32Asm program, uint32_t tiles,
               Measurement measure) {
  auto chip = std::make_shared<std::unique_ptr<RunningChip>>();
  const auto run = [chip, program = std::move(program), tiles,
                    measure](std::chrono::nanoseconds budget) -> StatusOr<double> {
    if (*chip == nullptr) {
      ASSIGN_OR_RETURN(*chip, RunningChip::Start(program, tiles));
    }
    return ((**chip).*measure)(budget);
  };
  return {std::move(name), std::move(unit), run};
}

BenchCase Instructions(std::string name, Rv32Asm program, uint32_t tiles) {
  return Case(std::move(name), "million/s", std::move(program), tiles, &RunningChip::Measure);
}

// Memory of this process that is in RAM, in MiB.
StatusOr<double> ResidentMemory() {
  std::ifstream file("/proc/self/statm");
  double total = 0;
  double resident = 0;
  if (!(file >> total >> resident)) return Internal("/proc/self/statm cannot be read");
  return resident * static_cast<double>(sysconf(_SC_PAGESIZE)) / (1 << 20);
}

struct BootCost {
  double ready_ms = 0;     // from reset to a card that takes commands
  double resident_mb = 0;  // what process memory grew by, the model and its runtime together
};

// A p150 that nobody has used before.
StatusOr<BootCost> BootOnce() {
  BootCost cost;
  ASSIGN_OR_RETURN(const double before, ResidentMemory());
  ASSIGN_OR_RETURN(const std::unique_ptr<Device> device,
                   OpenSimDevice({sim::DefaultOptions(sim::Board::kP150), {}}));
  ASSIGN_OR_RETURN(const std::unique_ptr<FirmwareCard> firmware_card,
                   FirmwareCard::Create(*device, SteadyClock(), CardOptions()));
  const Now::time_point start = Now::now();
  RETURN_IF_ERROR(firmware_card->Boot());
  cost.ready_ms = std::chrono::duration<double, std::milli>(Now::now() - start).count();
  ASSIGN_OR_RETURN(const double after, ResidentMemory());
  cost.resident_mb = after - before;
  return cost;
}

BenchCase BootCase(std::string name, std::string unit, double BootCost::*figure) {
  const auto run = [figure](std::chrono::nanoseconds) -> StatusOr<double> {
    ASSIGN_OR_RETURN(const BootCost cost, BootOnce());
    return cost.*figure;
  };
  return {std::move(name), std::move(unit), run};
}

}  // namespace

std::vector<BenchCase> SimCases() {
  constexpr uint32_t kManyTiles = 120;
  return {Instructions("sim.hart1_alu.mips", AluLoop(), 1),
          Instructions("sim.hart1_mix.mips", MixLoop(), 1),
          Instructions("sim.hart120.mips", MixLoop(), kManyTiles),
          Case("sim.noc_16k_gb_s", "GB/s", ReadLoop(), 1, &RunningChip::MeasureReads),
          BootCase("sim.ready_ms", "ms", &BootCost::ready_ms),
          BootCase("sim.idle_rss_mb", "MiB", &BootCost::resident_mb)};
}

}  // namespace ttfd::bench
