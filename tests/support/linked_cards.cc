// Opens, boots and runs the cards of a cluster.
#include "tests/support/linked_cards.h"

#include <span>
#include <utility>

#include "firmware/kernel_elfs.h"
#include "runtime/boot/kernel_elf.h"
#include "runtime/command/program.h"
#include "runtime/device/port_device.h"
#include "runtime/device/sim/sim_port.h"

namespace ttfd {

StatusOr<std::unique_ptr<LinkedCards>> LinkedCards::Open(const std::string& text) {
  auto linked = std::make_unique<LinkedCards>();
  ASSIGN_OR_RETURN(const SimOptions options, ParseSimOptions(text));
  linked->links_ = options.cluster.topology.links;
  ASSIGN_OR_RETURN(linked->devices_, OpenSimDevices(options));
  for (const auto& device : linked->devices_) {
    ASSIGN_OR_RETURN(linked->cards_.emplace_back(),
                     FirmwareCard::Create(*device, SteadyClock(), CardOptions()));
    RETURN_IF_ERROR(linked->cards_.back()->Boot());
  }
  return linked;
}

hw::Coordinate LinkedCards::Worker(uint32_t chip) const {
  const CardDescription& description = cards_[chip]->description();
  return {description.worker_x.front(), description.worker_y.front()};
}

LinkPlace LinkedCards::Place(sim::LinkEnd at, uint32_t end) {
  return {devices_[at.chip].get(), at.channel, Worker(at.chip), end, sim::LinkEndText(at)};
}

Status LinkedCards::Run(const std::vector<Launch>& launches) {
  for (const Launch& launch : launches) {
    FirmwareCard& card = *cards_[launch.chip];
    ASSIGN_OR_RETURN(const std::optional<uint64_t> ticket, card.TrySubmit(launch.command));
    if (!ticket) return Internal("the rings of an idle card have no space");
    ASSIGN_OR_RETURN(const bool requested, card.RequestEvent({0, *ticket}));
    if (!requested) return Internal("an idle card has no space for an event");
  }
  for (bool idle = false; !idle;) {
    idle = true;
    for (const Launch& launch : launches) {
      if (cards_[launch.chip]->idle()) continue;
      idle = false;
      const Status status = cards_[launch.chip]->Poll();
      if (!status.ok()) {
        return Annotate(status, ToString(cards_[launch.chip]->Halt().stall));
      }
    }
  }
  return OkStatus();
}

Status LinkedCards::Write(uint32_t chip, uint32_t address, ByteSpan bytes) {
  ASSIGN_OR_RETURN(const auto window, devices_[chip]->OpenWindow(UnicastTarget(Worker(chip))));
  RETURN_IF_ERROR(window->Write(address, bytes));
  std::byte last{};
  return window->Read(address + bytes.size() - 1, {&last, 1});  // it has arrived
}

StatusOr<std::vector<uint32_t>> LinkedCards::ReadWords(uint32_t chip, uint32_t address,
                                                       size_t count) {
  ASSIGN_OR_RETURN(const auto window, devices_[chip]->OpenWindow(UnicastTarget(Worker(chip))));
  std::vector<uint32_t> words(count);
  RETURN_IF_ERROR(window->Read(address, std::as_writable_bytes(std::span(words))));
  return words;
}

uint64_t LinkedCards::Retired(uint32_t chip, uint32_t hart) {
  auto& port = static_cast<SimPort&>(static_cast<PortDevice&>(*devices_[chip]).port());
  return port.chip().FindHart(Worker(chip), hart)->retired;
}

StatusOr<LaunchCommand> LaunchOf(const std::vector<KernelOfALink>& kernels, GridSize grid) {
  ProgramSpec spec;
  LaunchCommand launch;
  for (const KernelOfALink& kernel : kernels) {
    ASSIGN_OR_RETURN(const auto image, LoadKernel(KernelElf(kernel.name), kernel.name));
    spec.kernels.push_back({image, static_cast<hw::Hart>(kernel.hart), {{0, 0, 0, 0}}});
    launch.arguments.emplace_back().common = kernel.arguments;
  }
  ASSIGN_OR_RETURN(launch.program, BuildProgram(1, spec, grid));
  return launch;
}

}  // namespace ttfd
