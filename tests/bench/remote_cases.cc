// A chip of the model behind a link of its neighbour: commands, clocks, and the time of a boot against that of the
// neighbour. All but that ratio does not depend on the host's speed.
#include <chrono>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "runtime/card/firmware_card.h"
#include "runtime/device/sim/sim_device.h"
#include "runtime/fabric/remote_device.h"
#include "runtime/hw/noc.h"
#include "runtime/hw/tensix.h"
#include "tests/bench/bench_case.h"

namespace ttfd::bench {
namespace {

class Remote {
 public:
  static StatusOr<std::shared_ptr<Remote>> Open() {
    auto remote = std::make_shared<Remote>();
    ASSIGN_OR_RETURN(const SimOptions options, ParseSimOptions("sim:cluster=1x2,remote=1,links=1"));
    ASSIGN_OR_RETURN(auto devices, OpenSimDevices(options));
    remote->front_ = std::move(devices.front());
    ASSIGN_OR_RETURN(remote->device_,
                     RemoteDevice::Open(remote->front_, ReadLinks(*remote->front_).front(), "0.0",
                                        SteadyClock()));
    return remote;
  }

  // Register writes over the link for each 4 KiB of 1 MiB of DRAM, in accesses of so many bytes.
  StatusOr<double> RegisterWrites(bool writes, size_t access) {
    const uint32_t bank = device_->info().dram_port_xy[0][0];
    ASSIGN_OR_RETURN(const auto window,
                     device_->OpenWindow(UnicastTarget({hw::NocX(bank), hw::NocY(bank)})));
    std::vector<std::byte> data(access);
    constexpr size_t kBytes = 1 << 20;
    const uint64_t before = device_->link().counts().register_writes;
    for (uint64_t at = 0; at < kBytes; at += access) {
      RETURN_IF_ERROR(writes ? window->Write(at, data) : window->Read(at, data));
    }
    return static_cast<double>(device_->link().counts().register_writes - before) * 4096 / kBytes;
  }

  // Register writes of a reset, a boot and the check of the card.
  StatusOr<double> BootCommands() {
    RETURN_IF_ERROR(Boot().status());  // the first launches nothing
    const uint64_t before = device_->link().counts().register_writes;
    RETURN_IF_ERROR(card_->Boot());
    return static_cast<double>(device_->link().counts().register_writes - before);
  }

  // Host time of a boot against that of the neighbour.
  StatusOr<double> BootRatio() {
    RETURN_IF_ERROR(Boot().status());
    ASSIGN_OR_RETURN(const auto near, FirmwareCard::Create(*front_, SteadyClock(), CardOptions()));
    RETURN_IF_ERROR(near->Boot());
    const auto time = [](FirmwareCard& card) -> StatusOr<double> {
      const TimePoint begin = SteadyClock().Now();
      RETURN_IF_ERROR(card.Boot());
      return std::chrono::duration<double>(SteadyClock().Now() - begin).count();
    };
    ASSIGN_OR_RETURN(const double near_seconds, time(*near));
    ASSIGN_OR_RETURN(const double far_seconds, time(*card_));
    return far_seconds / near_seconds;
  }

  StatusOr<double> UploadRate() {
    constexpr uint32_t kCommand = 64 << 10;
    constexpr uint32_t kCommands = 16;
    RETURN_IF_ERROR(Boot().status());
    const std::vector<std::byte> data(kCommand, std::byte{0x5A});
    const Region region{MemoryKind::kDram, -1, 0x100000, 2048, kCommand};
    ASSIGN_OR_RETURN(const uint64_t begin, Now());
    for (uint32_t i = 0; i < kCommands; ++i) RETURN_IF_ERROR(Submit(WriteCommand{region, 0, data}));
    RETURN_IF_ERROR(Finish());
    ASSIGN_OR_RETURN(const uint64_t end, Now());
    return 1.0 * kCommand * kCommands / static_cast<double>(end - begin);
  }

  // From the request of an event until the host has it.
  StatusOr<double> EventClocks() {
    RETURN_IF_ERROR(Boot().status());
    ASSIGN_OR_RETURN(const uint64_t begin, Now());
    RETURN_IF_ERROR(Finish());
    ASSIGN_OR_RETURN(const uint64_t end, Now());
    return static_cast<double>(end - begin);
  }

 private:
  StatusOr<FirmwareCard*> Boot() {
    if (card_ != nullptr) return card_.get();
    ASSIGN_OR_RETURN(card_, FirmwareCard::Create(*device_, SteadyClock(), CardOptions()));
    RETURN_IF_ERROR(card_->Boot());
    return card_.get();
  }
  Status Submit(const Command& command) {
    for (;;) {
      ASSIGN_OR_RETURN(const std::optional<uint64_t> ticket, card_->TrySubmit(command));
      if (ticket.has_value()) return OkStatus();
      RETURN_IF_ERROR(card_->RequestEvent({0, card_->submitted(0)}).status());
      RETURN_IF_ERROR(card_->Poll());
    }
  }
  Status Finish() {
    for (bool asked = false; !asked;) {
      ASSIGN_OR_RETURN(asked, card_->RequestEvent({0, card_->submitted(0)}));
      if (!asked) RETURN_IF_ERROR(card_->Poll());
    }
    while (!card_->idle()) RETURN_IF_ERROR(card_->Poll());
    return OkStatus();
  }
  // The neighbour's clock.
  StatusOr<uint64_t> Now() {
    ASSIGN_OR_RETURN(const auto window, front_->OpenWindow(UnicastTarget({1, 2})));
    ASSIGN_OR_RETURN(const uint64_t low, ReadWord(*window, hw::kWallClockLow));
    ASSIGN_OR_RETURN(const uint64_t high, ReadWord(*window, hw::kWallClockHigh));
    return high << 32 | low;
  }

  std::shared_ptr<Device> front_;
  std::unique_ptr<RemoteDevice> device_;
  std::unique_ptr<FirmwareCard> card_;
};

BenchCase RemoteCase(std::string name, std::string unit,
                     std::function<StatusOr<double>(Remote&)> figure) {
  auto remote = std::make_shared<std::shared_ptr<Remote>>();
  const auto run = [=](std::chrono::nanoseconds) -> StatusOr<double> {
    if (*remote == nullptr) {
      ASSIGN_OR_RETURN(*remote, Remote::Open());
    }
    return figure(**remote);
  };
  return {std::move(name), std::move(unit), run};
}

}  // namespace

std::vector<BenchCase> RemoteCases() {
  return {
      RemoteCase("remote.write_4k_register_writes", "writes",
                 [](Remote& remote) { return remote.RegisterWrites(true, 1 << 20); }),
      RemoteCase("remote.read_4k_register_writes", "writes",
                 [](Remote& remote) { return remote.RegisterWrites(false, 4096); }),
      RemoteCase("remote.boot_register_writes", "writes",
                 [](Remote& remote) { return remote.BootCommands(); }),
      RemoteCase("remote.boot_time_ratio", "ratio",
                 [](Remote& remote) { return remote.BootRatio(); }),
      RemoteCase("remote.upload_b_per_clock", "B/clock",
                 [](Remote& remote) { return remote.UploadRate(); }),
      RemoteCase("remote.event_clocks", "clocks",
                 [](Remote& remote) { return remote.EventClocks(); }),
  };
}

}  // namespace ttfd::bench
