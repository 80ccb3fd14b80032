// The same figures of any backend: instructions, packets and the booted card, by nothing but what every device offers.
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "runtime/card/firmware_card.h"
#include "tests/bench/bench_case.h"
#include "tests/bench/bench_programs.h"

namespace ttfd::bench {
namespace {

using Now = std::chrono::steady_clock;

struct Progress {
  double clocks = 0;
  double seconds = 0;
};

// A device on which BRISC of `tiles` tiles runs `program` for ever.
class RunningDevice {
 public:
  static StatusOr<std::unique_ptr<RunningDevice>> Start(const DeviceOpener& open,
                                                        const Rv32Asm& program, uint32_t tiles) {
    auto running = std::make_unique<RunningDevice>();
    ASSIGN_OR_RETURN(running->device_, open());
    const std::vector<uint32_t>& columns = running->device_->info().tensix_columns;
    for (uint32_t i = 0; i < tiles; ++i) {
      const hw::Coordinate tile = {columns[i / hw::kTensixRows],
                                   hw::kTensixFirstRow + i % hw::kTensixRows};
      ASSIGN_OR_RETURN(const std::unique_ptr<Window> window,
                       running->device_->OpenWindow(UnicastTarget(tile)));
      RETURN_IF_ERROR(window->Write(0, program.bytes()));
      RETURN_IF_ERROR(
          WriteWord(*window, hw::kSoftReset0, hw::kSoftResetAllHarts & ~hw::kSoftResetBrisc));
    }
    return running;
  }

  StatusOr<Progress> RunFor(std::chrono::nanoseconds budget) {
    constexpr uint64_t kSlice = 10'000;
    const Now::time_point start = Now::now();
    Progress progress;
    do {
      ASSIGN_OR_RETURN(const AdvanceResult advanced, device_->Advance(kSlice));
      progress.clocks += static_cast<double>(advanced.clocks);
      progress.seconds = std::chrono::duration<double>(Now::now() - start).count();
    } while (progress.seconds < std::chrono::duration<double>(budget).count());
    return progress;
  }

  StatusOr<uint32_t> ReadsDone() {
    ASSIGN_OR_RETURN(const std::unique_ptr<Window> window,
                     device_->OpenWindow(UnicastTarget(kReadingTile)));
    return ReadWord(*window, hw::kNiuAddress + hw::kNocStatus + 4 * hw::kNocReadResponses);
  }

 private:
  std::unique_ptr<Device> device_;
};

using Measure = std::function<StatusOr<double>(RunningDevice&, std::chrono::nanoseconds)>;

BenchCase Case(std::string name, std::string unit, const DeviceOpener& open, Rv32Asm program,
               uint32_t tiles, Measure measure) {
  auto device = std::make_shared<std::unique_ptr<RunningDevice>>();
  const auto run = [device, open, program = std::move(program), tiles,
                    measure](std::chrono::nanoseconds budget) -> StatusOr<double> {
    if (*device == nullptr) {
      ASSIGN_OR_RETURN(*device, RunningDevice::Start(open, program, tiles));
    }
    return measure(**device, budget);
  };
  return {std::move(name), std::move(unit), run};
}

// Million instructions a second: a hart that never waits executes one a clock, on every backend.
BenchCase Instructions(std::string name, const DeviceOpener& open, Rv32Asm program,
                       uint32_t tiles) {
  return Case(std::move(name), "million/s", open, std::move(program), tiles,
              [tiles](RunningDevice& device, std::chrono::nanoseconds budget) -> StatusOr<double> {
                ASSIGN_OR_RETURN(const Progress progress, device.RunFor(budget));
                return progress.clocks * tiles / progress.seconds / 1e6;
              });
}

StatusOr<double> ReadRate(RunningDevice& device, std::chrono::nanoseconds budget) {
  ASSIGN_OR_RETURN(const uint32_t before, device.ReadsDone());
  ASSIGN_OR_RETURN(const Progress progress, device.RunFor(budget));
  ASSIGN_OR_RETURN(const uint32_t after, device.ReadsDone());
  return double{hw::kNocMaxPacketBytes} * (after - before) / progress.seconds / 1e9;
}

// From a device nobody has used to one that takes commands.
StatusOr<double> ReadyMs(const DeviceOpener& open) {
  const Now::time_point start = Now::now();
  ASSIGN_OR_RETURN(const std::unique_ptr<Device> device, open());
  ASSIGN_OR_RETURN(const std::unique_ptr<FirmwareCard> firmware_card,
                   FirmwareCard::Create(*device, SteadyClock(), CardOptions()));
  RETURN_IF_ERROR(firmware_card->Boot());
  return std::chrono::duration<double, std::milli>(Now::now() - start).count();
}

}  // namespace

std::vector<BenchCase> CompareCases(const std::string& prefix, const DeviceOpener& open) {
  constexpr uint32_t kManyTiles = 120;
  std::vector<BenchCase> cases = {
      Instructions(prefix + "hart1_alu.mips", open, AluLoop(), 1),
      Instructions(prefix + "hart1_mix.mips", open, MixLoop(), 1),
      Instructions(prefix + "hart120.mips", open, MixLoop(), kManyTiles),
      Case(prefix + "noc_16k_gb_s", "GB/s", open, ReadLoop(), 1, ReadRate),
      {prefix + "open_to_ready_ms", "ms",
       [open](std::chrono::nanoseconds) { return ReadyMs(open); }},
  };
  for (BenchCase& one : TensixCases(prefix + "tensix.", open)) cases.push_back(std::move(one));
  for (BenchCase& one : DeviceCases(prefix, open)) cases.push_back(std::move(one));
  return cases;
}

}  // namespace ttfd::bench
