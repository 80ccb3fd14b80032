// The Dispatcher of a card: one hardware queue, booted with given firmware.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "runtime/boot/boot_plan.h"
#include "runtime/boot/firmware_set.h"
#include "runtime/command/card_geometry.h"
#include "runtime/command/ordering.h"
#include "runtime/dispatch/card_link.h"
#include "runtime/dispatch/dispatcher.h"
#include "runtime/dispatch/launch_state.h"
#include "runtime/dispatch/read_tracker.h"
#include "runtime/queue/timeline.h"

namespace ttfd {

class CardDispatcher final : public Dispatcher {
 public:
  // As Dispatcher::Create, with firmware that outlives the dispatcher.
  static StatusOr<std::unique_ptr<CardDispatcher>> Create(Device& device, Clock& clock,
                                                          const DispatcherOptions& options,
                                                          const FirmwareSet& firmware);
  ~CardDispatcher() override;

  Status Boot() override;
  const CardDescription& card() const override { return card_; }
  const DeviceInfo& device_info() const override { return device_.info(); }
  const CardGeometry& geometry() const override { return geometry_; }
  using Dispatcher::Event;
  using Dispatcher::HasRoomFor;
  using Dispatcher::Submit;
  StatusOr<bool> HasRoomFor(const Route& route, const Command& command) override;
  StatusOr<uint64_t> Submit(const Route& route, const Command& command) override;
  Status Wait(uint32_t hardware_queue, const Ticket& after) override;
  Status Event(uint32_t hardware_queue, uint64_t ticket) override;
  Status Poll() override;
  uint64_t submitted(uint32_t) const override { return timeline_.submitted(); }
  uint64_t completed(uint32_t) const override { return timeline_.completed(); }
  StatusOr<bool> LookForProgress() override { return false; }
  StallReport Diagnose() override { return {}; }
  void SetTimeouts(Duration, Duration) override {}
  bool idle() const override { return timeline_.idle(); }
  uint64_t progress() const override { return progress_; }
  std::vector<HartReport> Report() override;
  Status Shutdown() override;

 private:
  // What is known once an event is seen.
  struct Mark {
    Ordering::Mark ordering;
    uint32_t entries = 0;  // the card has taken every entry below
  };

  CardDispatcher(Device& device, Clock& clock, const DispatcherOptions& options,
                 const FirmwareSet& firmware, BootPlan plan);

  // Keeps the first reason for which the card is lost and returns it.
  Status Lose(const Status& status);
  Status Encode(const Command& command);
  // Records the card has published since the last call; how many there were.
  StatusOr<uint32_t> Collect();
  Status Seen(const CompletionQueue::Record& record);
  // Advances one slice. False when nothing can move any more: not the card, not the host.
  StatusOr<bool> Step(uint64_t clocks);
  StatusOr<uint64_t> PollOrFail();
  Status CheckHang();
  Status Drain();
  Status AwaitStopped();
  Status TerminateAll();

  Device& device_;
  Clock& clock_;
  const DispatcherOptions options_;
  const FirmwareSet firmware_;
  BootPlan plan_;
  const CardGeometry geometry_;
  CardDescription card_;
  uint32_t max_piece_bytes_ = 0;

  std::unique_ptr<RecordFileWriter> capture_;
  std::unique_ptr<HostMemory> host_memory_;
  std::unique_ptr<CardLink> link_;  // null until booted
  Status lost_;                     // why the card is of no use until Boot; OK while it is
  uint32_t boots_ = 0;

  Ordering ordering_;
  LaunchState launches_;
  ReadTracker reads_;
  Timeline<Mark> timeline_;
  uint64_t progress_ = 0;
};

}  // namespace ttfd
