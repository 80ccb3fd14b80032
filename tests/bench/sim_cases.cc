// How fast the embedded device executes instructions: one hart, and 120 harts in turn.
#include <algorithm>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "runtime/device/sim/sim_device.h"
#include "runtime/hw/tensix.h"
#include "tests/bench/bench_case.h"
#include "tests/support/rv32_asm.h"

namespace ttfd::bench {
namespace {

using SteadyClock = std::chrono::steady_clock;

// 24 register instructions and a jump.
Rv32Asm AluLoop() {
  Rv32Asm a;
  a.Li(kA0, 1);
  a.Li(kA1, 12345);
  a.Li(kA2, 77);
  const Rv32Asm::Label loop = a.Here();
  for (int i = 0; i < 4; ++i) {
    a.Add(kA0, kA0, kA1);
    a.Xor(kA1, kA1, kT0);
    a.Slli(kA3, kA2, 3);
    a.Srli(kA4, kA3, 5);
    a.Addi(kT0, kT0, 1);
    a.Or(kA5, kA0, kA2);
  }
  a.Jump(loop);
  return a;
}

// A quarter loads and stores (L1 and local RAM), a branch that goes both ways.
Rv32Asm MixLoop() {
  Rv32Asm a;
  a.Li(kS0, 0x10000);
  a.Li(kS1, hw::kLocalRamAddress + 0x100);
  const Rv32Asm::Label loop = a.Here();
  a.Andi(kA1, kA0, 1023);
  a.Slli(kA1, kA1, 2);
  a.Add(kA2, kS0, kA1);
  a.Lw(kA3, kA2, 0);
  a.Add(kA4, kA4, kA3);
  a.Sw(kA4, kA2, 0);
  a.Andi(kA5, kA0, 1);
  const Rv32Asm::Label odd = a.Here();
  a.Beq(kA5, kZero, odd);
  a.Addi(kA4, kA4, 3);
  a.BindBranch(odd, a.Here());
  a.Lw(kT1, kS1, 0);
  a.Addi(kT1, kT1, 1);
  a.Sw(kT1, kS1, 0);
  a.Addi(kA0, kA0, 1);
  a.Jump(loop);
  return a;
}

// A p150 on which BRISC of `tiles` tiles runs `program` for ever.
class RunningChip {
 public:
  static StatusOr<std::unique_ptr<RunningChip>> Start(const Rv32Asm& program, uint32_t tiles) {
    auto running = std::make_unique<RunningChip>();
    ASSIGN_OR_RETURN(running->device_,
                     OpenSimDevice(sim::DefaultOptions(sim::Board::kP150), &running->chip_));
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
    // Slices long enough that entering the model does not show.
    constexpr uint64_t kSlice = 20000;
    const uint64_t before = chip_->retired_instructions();
    const SteadyClock::time_point start = SteadyClock::now();
    SteadyClock::duration passed{};
    do {
      RETURN_IF_ERROR(device_->Advance(kSlice).status());
      passed = SteadyClock::now() - start;
    } while (passed < budget);
    constexpr double kMillion = 1e6;
    return static_cast<double>(chip_->retired_instructions() - before) /
           std::chrono::duration<double>(passed).count() / kMillion;
  }

 private:
  const sim::Chip* chip_ = nullptr;  // inside device_
  std::unique_ptr<Device> device_;
};

BenchCase Case(std::string name, Rv32Asm program, uint32_t tiles) {
  auto chip = std::make_shared<std::unique_ptr<RunningChip>>();
  const auto run = [chip, program = std::move(program),
                    tiles](std::chrono::nanoseconds budget) -> StatusOr<double> {
    if (*chip == nullptr) {
      ASSIGN_OR_RETURN(*chip, RunningChip::Start(program, tiles));
    }
    return (*chip)->Measure(budget);
  };
  return {std::move(name), "million/s", run};
}

}  // namespace

std::vector<BenchCase> SimCases() {
  constexpr uint32_t kManyTiles = 120;
  return {Case("sim.hart1_alu.mips", AluLoop(), 1), Case("sim.hart1_mix.mips", MixLoop(), 1),
          Case("sim.hart120.mips", MixLoop(), kManyTiles)};
}

}  // namespace ttfd::bench
