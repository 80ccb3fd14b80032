// A card that runs our firmware: its hardware queues, booted on a device.
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
#include "runtime/card/card.h"
#include "runtime/card/card_inspector.h"
#include "runtime/card/card_options.h"
#include "runtime/card/card_queues.h"
#include "runtime/card/code_map.h"
#include "runtime/card/fault_watch.h"
#include "runtime/card/launch_state.h"
#include "runtime/card/print_rings.h"
#include "runtime/command/card_geometry.h"

namespace ttfd {

class FirmwareCard final : public Card {
 public:
  // `device` and `clock` outlive the card. Does not touch the device.
  static StatusOr<std::unique_ptr<FirmwareCard>> Create(Device& device, Clock& clock,
                                                        const CardOptions& options);
  // With other firmware than the embedded, which outlives the card. `names`: ELF files with its symbols, or none.
  static StatusOr<std::unique_ptr<FirmwareCard>> Create(Device& device, Clock& clock,
                                                        const CardOptions& options,
                                                        const FirmwareSet& firmware,
                                                        const FirmwareSet& names = FirmwareSet());
  ~FirmwareCard() override;

  Status Boot(ResetStrength strength, Tick tick) override;
  Status Boot() { return Boot(ResetStrength::kHarts, NoTick); }
  Status CheckPresence() override { return device_.CheckPresence(); }
  StatusOr<std::optional<uint64_t>> TrySubmit(const Route& route, const Command& command,
                                              std::span<const Ticket> after = {}) override;
  // On hardware queue 0, over all workers.
  StatusOr<std::optional<uint64_t>> TrySubmit(const Command& command) {
    return TrySubmit(Route(), command);
  }
  StatusOr<bool> RequestEvent(const Ticket& ticket) override;
  StatusOr<bool> Poll(absl::FunctionRef<bool()> interrupted, CardOutput* output) override;
  Status Poll() { return PollAlone(*this); }
  CardStop Halt(CardOutput* output) override;
  CardStop Halt();
  Status Shutdown(const ShutdownLimits& limits, Tick tick, CardOutput* output) override;
  Status Shutdown(const ShutdownLimits& limits = {});

  uint64_t submitted(uint32_t queue) const { return queues_[queue].timeline.submitted(); }
  // Nothing up to it is on the card any more: it is done, or Boot or Shutdown discarded it (IsDone).
  uint64_t completed(uint32_t queue) const { return queues_[queue].completed(); }
  // Is the ticket known to be done? Of independent launches, and of what came behind them, more may be than `completed`
  // says. False for what Boot or Shutdown discarded; after that, of older tickets true only for those up to the first
  // that was discarded. REQUIRES a ticket that was given.
  bool IsDone(const Ticket& ticket) const {
    return queues_[ticket.hardware_queue].IsDone(ticket.number);
  }
  // Every submitted ticket completed, every requested event seen, on all hardware queues.
  bool idle() const;

 private:
  using Plans = std::array<BootPlan, kHardwareQueues>;

  FirmwareCard(Device& device, Clock& clock, const CardOptions& options,
               const FirmwareSet& firmware, const FirmwareSet& names, const Plans& plans);

  // INVALID_ARGUMENT if there is no such hardware queue, or it has not given the ticket.
  Status CheckTicket(const Ticket& ticket) const;
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
  // Has the card taken every entry, and has the host received everything it requested?
  bool settled() const;
  // Takes what the card published on any queue; how many records there were.
  StatusOr<uint32_t> Collect();
  // Advances one slice. False when nothing can move any more: not the card, not the host.
  StatusOr<bool> Step(uint64_t clocks);
  StatusOr<bool> PollCard(absl::FunctionRef<bool()> interrupted);
  StatusOr<bool> PollOrFail(absl::FunctionRef<bool()> interrupted);
  // False: something should move on the card, and nothing does.
  bool HasSettled();
  // False: there was still work at `deadline`.
  StatusOr<bool> Drain(TimePoint deadline, const ShutdownLimits& limits, Tick tick);
  // Any value but those of earlier boots and 0, what cleared memory holds.
  uint32_t boot_nonce() const { return 0x7E570000u + boots_; }
  // Undoes what submitting commands that had not started changed in the host's records, the youngest first.
  void UndoUnstarted(const CardStop& stop);
  void HoldHarts();  // salvages prints: L1 stays as it is, or the memory is lost anyway
  // Adds what has ended, and what was printed, since the last call.
  void TakeOutput(CardOutput* output);
  // "workers of CQ0 stopped: ..."
  std::string Explain();
  // card_verify.cc
  Status VerifyCard(Tick tick);
  Status VerifyQueue(uint32_t number, Tick tick);
  std::array<Region, 2> TestPlaces() const;
  Status VerifyVersions();
  Status AwaitSettled(Tick tick);
  StatusOr<std::string> FindRunning();
  Status AwaitStopped(TimePoint deadline, Tick tick);
  Status TerminateAll(TimePoint deadline, Tick tick);
  Status DrainAndTerminate(const ShutdownLimits& limits, Tick tick);

  Device& device_;
  Clock& clock_;
  CardOptions options_;
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
  CardInspector inspector_;
  uint64_t progress_ = 0;
  FaultWatch faults_;
};

}  // namespace ttfd
