// What checking the bounds of kernels' accesses costs on the device model.
#include <array>
#include <memory>
#include <vector>

#include "firmware/kernel_elfs.h"
#include "runtime/boot/kernel_elf.h"
#include "runtime/card/firmware_card.h"
#include "runtime/device/sim/sim_device.h"
#include "tests/bench/bench_case.h"

namespace ttfd::bench {
namespace {

using Now = std::chrono::steady_clock;

constexpr uint32_t kPageBytes = 8192;  // as client/examples/vector_add.py
constexpr uint32_t kPagesPerTile = 4;
constexpr uint64_t kOwner = 1;

// A p150 that runs vector_add on all workers, on three buffers of one owner.
class Adding {
 public:
  static StatusOr<std::unique_ptr<Adding>> Boot(bool bounds) {
    auto card = std::make_unique<Adding>();
    SimOptions options{sim::DefaultOptions(sim::Board::kP150), {}};
    options.bounds = bounds;
    ASSIGN_OR_RETURN(card->device_, OpenSimDevice(options));
    ASSIGN_OR_RETURN(card->card_,
                     FirmwareCard::Create(*card->device_, SteadyClock(), CardOptions()));
    RETURN_IF_ERROR(card->card_->Boot());
    RETURN_IF_ERROR(card->Prepare());
    return card;
  }

  // The time of one launch.
  StatusOr<Now::duration> Launch() {
    const auto start = Now::now();
    ASSIGN_OR_RETURN(const auto ticket, card_->TrySubmit(launch_));
    if (!ticket.has_value()) return Internal("the rings are empty, and have no space");
    RETURN_IF_ERROR(card_->RequestEvent({0, *ticket}).status());
    while (!card_->idle()) RETURN_IF_ERROR(card_->Poll());
    return Now::now() - start;
  }

 private:
  Status Prepare() {
    const CardDescription& card = card_->description();
    const CoreRange all = {0, 0, card.grid.x - 1, card.grid.y - 1};
    const uint32_t tiles = card.grid.x * card.grid.y;
    ASSIGN_OR_RETURN(const auto image, LoadKernel(KernelElf("vector_add"), "vector_add"));
    ProgramSpec spec;
    spec.kernels.push_back({image, hw::kBrisc, {all}});
    spec.circular_buffers.push_back({0, 4, kPageBytes, {all}});
    ASSIGN_OR_RETURN(const auto program, BuildProgram(1, spec, card.grid));
    KernelArguments arguments;
    const uint32_t bank_pages = (tiles * kPagesPerTile + card.dram_banks - 1) / card.dram_banks;
    const uint32_t bank_bytes = bank_pages * kPageBytes;
    for (uint32_t i = 0; i < 3; ++i) {
      const auto begin = static_cast<uint32_t>(card.dram_base) + i * bank_bytes;
      arguments.common.push_back(begin);
      if (KernelBounds* const bounds = card_->kernel_bounds()) {
        bounds->Add({KernelBounds::Memory::kDram, begin, begin + uint64_t{bank_bytes}}, kOwner, i);
      }
    }
    arguments.common.push_back(kPageBytes);
    arguments.words_per_core = 2;
    for (uint32_t tile = 0; tile < tiles; ++tile) {
      arguments.per_core.push_back(tile * kPagesPerTile);
      arguments.per_core.push_back(kPagesPerTile);
    }
    launch_ = LaunchCommand{program, {arguments}};
    if (KernelBounds* const bounds = card_->kernel_bounds()) {
      bounds->Begin(std::array{program->id}, kOwner);
    }
    return OkStatus();
  }

  std::unique_ptr<Device> device_;
  std::unique_ptr<FirmwareCard> card_;
  LaunchCommand launch_;
};

}  // namespace

// Launches on two cards in turn, so that both meet with the same machine.
BenchCase BoundsCase() {
  auto cards = std::make_shared<std::array<std::unique_ptr<Adding>, 2>>();
  const auto run = [cards](std::chrono::nanoseconds budget) -> StatusOr<double> {
    std::array<double, 2> seconds{};
    const auto start = Now::now();
    do {
      for (const bool bounds : {false, true}) {
        std::unique_ptr<Adding>& card = (*cards)[bounds ? 1 : 0];
        if (card == nullptr) {
          ASSIGN_OR_RETURN(card, Adding::Boot(bounds));
        }
        ASSIGN_OR_RETURN(const Now::duration took, card->Launch());
        seconds[bounds ? 1 : 0] += std::chrono::duration<double>(took).count();
      }
    } while (Now::now() - start < budget);
    return 100 * (seconds[1] / seconds[0] - 1);
  };
  return {"sim.bounds_of_vector_add_percent", "%", run};
}

}  // namespace ttfd::bench
