// A card in a few lines: commands act on sparse memory when polled, or hang, fault, refuse and take
// time as a test wishes.
#pragma once

#include <array>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "runtime/base/clock.h"
#include "runtime/dispatch/dispatcher.h"

namespace ttfd {

class FakeDispatcher final : public Dispatcher {
 public:
  struct Behaviour {
    GridSize grid{4, 3};
    uint32_t dram_banks = 4;
    uint64_t dram_bank_bytes = 1 << 20;
    uint32_t l1_bytes = 256 << 10;
    bool memory_is_zero_after_power_on = true;
  };
  explicit FakeDispatcher(const Behaviour& behaviour);

  Status Boot() override;
  const CardDescription& card() const override { return card_; }
  const DeviceInfo& device_info() const override { return info_; }
  const CardGeometry& geometry() const override { return geometry_; }
  using Dispatcher::Event;
  using Dispatcher::HasRoomFor;
  using Dispatcher::Submit;
  StatusOr<bool> HasRoomFor(const Route& route, const Command& command) override;
  StatusOr<uint64_t> Submit(const Route& route, const Command& command) override;
  Status Wait(uint32_t hardware_queue, const Ticket& after) override;
  Status Event(uint32_t hardware_queue, uint64_t ticket) override;
  Status Poll() override;
  uint64_t submitted(uint32_t) const override { return submitted_; }
  uint64_t completed(uint32_t) const override { return completed_; }
  StatusOr<bool> LookForProgress() override { return false; }
  StallReport Diagnose() override { return {}; }
  void SetTimeouts(Duration, Duration) override {}
  bool idle() const override { return pending_.empty(); }
  uint64_t progress() const override { return progress_; }
  std::vector<HartReport> Report() override;
  Status Shutdown() override;

  // ---- what a test changes and looks at. With a running device thread only before it starts.

  bool hold = false;  // nothing completes, nothing moves
  size_t room = 64;   // commands in flight that fit
  size_t completes_per_poll = ~size_t{0};
  ManualClock* clock = nullptr;  // a completed command moves it by...
  std::function<Duration(const Command&)> cost;
  std::function<Status(const LaunchCommand&)> on_launch;  // a failed status faults the card
  int failing_boots = 0;
  Status next_poll;  // not OK: the next Poll fails with it
  int boots = 0;
  bool shut_down = false;
  std::vector<std::string> log;  // "write 64", "launch", "event", in the order of Submit
  bool keep_log = true;

  std::string Peek(const Region& region, uint64_t offset, uint64_t size);
  void Poke(const Region& region, uint64_t offset, const std::string& bytes);

 private:
  struct Pending {
    uint64_t ticket;
    Command command;
    std::string payload;
    bool event = false;
  };
  std::byte& At(const Region& region, uint64_t offset);
  Status Act(Pending& pending);

  CardDescription card_;
  CardGeometry geometry_;
  DeviceInfo info_;
  bool booted_ = false;
  uint64_t submitted_ = 0;
  uint64_t completed_ = 0;
  uint64_t progress_ = 0;
  std::deque<Pending> pending_;
  // (kind, bank, page of 4 KiB) -> bytes
  std::map<std::array<uint64_t, 3>, std::array<std::byte, 4096>> memory_;
};

}  // namespace ttfd
