// The Dispatcher of a card: its hardware queues, booted with given firmware.
#pragma once

#include <array>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "runtime/boot/boot_plan.h"
#include "runtime/boot/firmware_set.h"
#include "runtime/command/card_geometry.h"
#include "runtime/dispatch/card_queues.h"
#include "runtime/dispatch/card_snapshot.h"
#include "runtime/dispatch/dispatcher.h"
#include "runtime/dispatch/fault_watch.h"
#include "runtime/dispatch/launch_state.h"
#include "runtime/dispatch/print_rings.h"
#include "runtime/dispatch/snapshot_file.h"

namespace ttfd {

class CardDispatcher final : public Dispatcher {
 public:
  // As Dispatcher::Create, with firmware that outlives the dispatcher. `names`: ELF files with its symbols, or none.
  static StatusOr<std::unique_ptr<CardDispatcher>> Create(Device& device, Clock& clock,
                                                          const DispatcherOptions& options,
                                                          const FirmwareSet& firmware,
                                                          const FirmwareSet& names = FirmwareSet());
  ~CardDispatcher() override;

  using Dispatcher::Boot;
  using Dispatcher::TrySubmit;
  Status Boot(ResetStrength strength, Tick tick) override;
  Status CheckPresence() override { return device_.CheckPresence(); }
  const CardDescription& card() const override { return card_; }
  KernelBounds* kernel_bounds() override { return device_.kernel_bounds(); }
  const DeviceInfo& device_info() const override { return device_.info(); }
  const CardGeometry& geometry() const override { return geometry_; }
  StatusOr<std::optional<uint64_t>> TrySubmit(const Route& route, const Command& command,
                                              std::span<const Ticket> after,
                                              absl::FunctionRef<bool()> wanted) override;
  void TakeBack(const Ticket& ticket) override {
    queues_[ticket.hardware_queue].TakeBack(ticket.number);
  }
  StatusOr<bool> Event(uint32_t hardware_queue, uint64_t ticket) override;
  using Dispatcher::Poll;
  Status Poll(absl::FunctionRef<bool()> interrupted) override;
  void OnPrint(PrintSink sink) override { prints_.set_sink(std::move(sink)); }
  void SalvagePrints() override;
  uint64_t submitted(uint32_t queue) const override { return queues_[queue].timeline.submitted(); }
  uint64_t completed(uint32_t queue) const override { return queues_[queue].completed(); }
  bool IsDone(const Ticket& ticket) const override {
    return queues_[ticket.hardware_queue].IsDone(ticket.number);
  }
  bool idle() const override;
  uint64_t progress() const override { return progress_; }
  StatusOr<uint64_t> LookAt(uint32_t hardware_queue) override;
  StallReport Diagnose(uint32_t hardware_queue) override;
  StallReport Diagnose() override;
  StallReport HaltAndDiagnose() override;
  HostQueueRecord HostRecord(uint32_t hardware_queue) override;
  ExecutionState StateOf(const Ticket& ticket) override;
  void SetTimeouts(Duration operation, Duration kernel) override;
  std::vector<HartReport> Report() override;
  std::vector<ResidentKernel> Kernels() const override;
  Status StartProfile(const ProfileOptions& options) override;
  ProfileResult StopProfile() override;
  using Dispatcher::ShutDownWithin;
  Status ShutDownWithin(Duration limit, Tick tick) override;

 private:
  using Plans = std::array<BootPlan, kHardwareQueues>;

  CardDispatcher(Device& device, Clock& clock, const DispatcherOptions& options,
                 const FirmwareSet& firmware, const FirmwareSet& names, const Plans& plans);

  // INVALID_ARGUMENT if there is no such hardware queue, or it has not given the ticket.
  Status CheckTicket(uint32_t hardware_queue, uint64_t ticket) const;
  // Keeps the first reason for which the card is lost and returns it.
  Status Lose(const Status& status);
  Status PlaceRings();
  Status OpenLinks();
  // Encodes a command; nothing has happened yet.
  Status Plan(const Route& route, const Command& command);
  void PlanTransfer(const Route& route, const Command& command);
  // Hands the device what is planned; a ticket of its own comes later, or never.
  StatusOr<CardQueue::Begin> Commit(uint32_t hardware_queue, std::unique_ptr<TraceUndo>* undo);
  void Drop() {
    launches_.Drop();
    queues_.Drop();
  }
  // Has the card taken every entry, and is the host told of everything it asked for?
  bool settled() const;
  // Takes what the card published on any queue; how many records there were.
  StatusOr<uint32_t> Collect();
  // Advances one slice. False when nothing can move any more: not the card, not the host.
  StatusOr<bool> Step(uint64_t clocks);
  Status PollPrints();
  Status PollCard(absl::FunctionRef<bool()> interrupted);
  Status PollOrFail(absl::FunctionRef<bool()> interrupted);
  Status CheckHang();
  // False: there was still work at `deadline`.
  StatusOr<bool> Drain(TimePoint deadline, Tick tick);
  // Any value but those of earlier boots and 0, what cleared memory holds.
  uint32_t boot_nonce() const { return 0x7E570000u + boots_; }
  std::array<QueueState, kHardwareQueues> QueueStates() const;
  Status HaltDispatch();
  StallReport Examine(CardSnapshot card);
  // card_verify.cc
  Status VerifyCard(Tick tick);
  Status VerifyQueue(uint32_t number, Tick tick);
  std::array<Region, 2> TestPlaces() const;
  Status VerifyVersions();
  Status AwaitSettled(Tick tick);
  StatusOr<std::string> FindRunning();
  Status AwaitStopped(TimePoint deadline, Tick tick);
  Status TerminateAll(TimePoint deadline, Tick tick);

  Device& device_;
  Clock& clock_;
  DispatcherOptions options_;
  const FirmwareSet firmware_;
  Plans plans_;
  const CardGeometry geometry_;
  CardDescription card_;
  uint32_t max_piece_bytes_ = 0;
  const TimePoint capture_start_;
  std::unique_ptr<RecordFileWriter> capture_;
  std::array<std::unique_ptr<HostMemory>, kHardwareQueues> host_memory_;
  Status lost_;  // why the card is of no use until Boot; OK while it is
  uint32_t boots_ = 0;

  PrintRings prints_;
  CardQueues queues_;
  LaunchState launches_;
  LaunchCommand check_;  // of a card that has come up; made when it is first needed
  const CodeMap code_;
  std::unique_ptr<Profile> profile_;  // null: nobody asked for one
  uint64_t progress_ = 0;
  FaultWatch faults_;
  std::optional<StoppedCard> stopped_;  // when Diagnose was called last
};

}  // namespace ttfd
