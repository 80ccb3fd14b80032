// A booted card: takes commands, reports which have ended, stops and starts again. Order of commands: route.h.
//
// Single-threaded: one thread, the device thread, is the only caller.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "absl/functional/function_ref.h"
#include "runtime/base/clock.h"
#include "runtime/base/status.h"
#include "runtime/card/card_output.h"
#include "runtime/card/card_probe.h"
#include "runtime/card/queue_state.h"
#include "runtime/card/stall_report.h"
#include "runtime/command/card_geometry.h"
#include "runtime/command/command.h"
#include "runtime/command/route.h"
#include "runtime/device/device.h"
#include "runtime/device/wait.h"

namespace ttfd {

struct DramBank {
  hw::Coordinate port;            // translated, of NoC 0
  hw::Coordinate nearest_worker;  // logical
};

// Description of the card for clients; constant once booted.
struct CardDescription {
  GridSize grid;
  uint32_t dram_banks = 0;
  uint64_t dram_bank_bytes = 0;  // allocatable, from dram_base
  uint32_t dram_base = 0;
  uint32_t l1_base = 0;  // of buffers, the same on every worker
  uint32_t l1_bytes = 0;
  uint64_t dram_bank_size = 0;  // with what is not allocatable
  // Bytes of a transfer, with padding (StrideOf), whose records always fit the issue ring: at most kMaxTransferBytes.
  uint64_t transfer_bytes = kMaxTransferBytes;
  std::vector<uint32_t> worker_x;  // of the grid's columns, translated
  std::vector<uint32_t> worker_y;  // of its rows
  std::vector<DramBank> banks;
};

// A card that was halted.
struct CardStop {
  struct Command {
    Ticket ticket;
    ExecutionState state = ExecutionState::kUnknown;
  };
  StallReport stall;               // which stage stopped, and why
  std::vector<Command> in_flight;  // by hardware queue and ticket

  // Completed, if it was not in flight.
  ExecutionState StateOf(const Ticket& ticket) const;
};

// The error of a card that has work of which nothing can move any more.
inline Status NothingMoves() {
  return Error(StatusCode::kDeadlineExceeded, "nothing can move any more");
}

// Limits of the waits of a shutdown.
struct ShutdownLimits {
  Duration total = Duration::max();               // for work in flight, however it progresses
  Duration operation = std::chrono::seconds(10);  // drain, terminate: without any progress
  Duration kernel{};                              // the same while workers run, if that is longer
};

class Card {
 public:
  virtual ~Card() = default;
  Card(const Card&) = delete;
  Card& operator=(const Card&) = delete;

  const CardDescription& description() const { return facts_.description; }
  const DeviceInfo& device_info() const { return facts_.device_info; }
  // Geometry that BuildTrace needs; constant from creation on, any thread.
  const CardGeometry& geometry() const { return facts_.geometry; }
  // As Device::kernel_bounds(). A boot sets its layout.
  KernelBounds* kernel_bounds() const { return facts_.kernel_bounds; }
  CardProbe& probe() const { return facts_.probe; }

  // Reset to "ready". Also the recovery from anything: all commands in flight are discarded. A failure names tile,
  // hart, waypoint and, where the backend can tell, PC. It is ready when it has shown that it works: VerifyCard in
  // card_verify.cc. `tick`, here and below: of the waits for the card; with its error the card is lost.
  virtual Status Boot(ResetStrength strength, Tick tick) = 0;

  // UNAVAILABLE or DATA_LOSS: the card is lost (Device::CheckPresence); only Boot is of use, which looks for it.
  virtual Status CheckPresence() = 0;

  // Hands the command to the device if its records fit the rings now, of every hardware queue it concerns. Returns its
  // ticket. None: there is no space and nothing has changed; Poll and try again. That may take a RequestEvent, because
  // no more worker completions of a hardware queue are outstanding than its counters distinguish
  // (hw::kStreamCounterReach).
  // The command begins when those of `after` are done, and so does what is submitted to its hardware queue later. The
  // device waits, not the host; nothing is sent for what is not on the card any more.
  // REQUIRES values that keep the rules of command.h, and tickets that were given: INVALID_ARGUMENT otherwise, nothing
  // sent. RESOURCE_EXHAUSTED, nothing sent, where command.h says so. But for independent launches nothing completes
  // before an event.
  virtual StatusOr<std::optional<uint64_t>> TrySubmit(const Route& route, const Command& command,
                                                      std::span<const Ticket> after) = 0;

  // Requests that the device reports when everything of the ticket's hardware queue up to it is done but independent
  // launches, those on workers of their own (Route::workers): the card executes later commands meanwhile, and publishes
  // their end by itself. The event also ends an independent launch for which it had to wait, such as one whose workers
  // a later launch in order has. REQUIRES a ticket that was given (INVALID_ARGUMENT).
  // The dispatcher waits for its kernels there; so an event for a launch that is requested behind the next launch lets
  // the two be placed back to back. False: there is no space and nothing has changed; Poll and try again. There is
  // space for one event behind every command.
  virtual StatusOr<bool> RequestEvent(const Ticket& ticket) = 0;

  // Lets the device run and adds its output to `output`, also with an error; calls the sinks of reads. An error
  // means the device is lost until Boot: FAILED_PRECONDITION with the fault. `interrupted`: a device that runs on the
  // calling thread is to return soon, though nothing has completed.
  // False: the card has work, and nothing of it can move any more by itself. Unless the host gives it more, or a card
  // whose kernels are linked with its own moves, it hangs (NothingMoves).
  virtual StatusOr<bool> Poll(absl::FunctionRef<bool()> interrupted, CardOutput* output) = 0;

  // Gives the card up: nothing is begun on it any more, on no hardware queue, so that the states of the commands in
  // flight stay true. What submitting a command that had not started changed in the host's records (the patches of a
  // trace) is undone. Adds to `output` what had ended, and what kernels had printed; a card that does not answer is
  // reset for it. Harts are looked at, and then all are held in reset. Only Boot and Shutdown may follow.
  virtual CardStop Halt(CardOutput* output) = 0;

  // Drains, terminates the dispatch cores, holds every hart in reset, whatever went wrong before; the
  // result is the first thing that did. Waits as long as work in flight progresses, within the limits:
  // what has not ended by then is cut off, which is no error. Boot starts anew.
  virtual Status Shutdown(const ShutdownLimits& limits, Tick tick, CardOutput* output) = 0;

 protected:
  // All outlive the card, or are parts of it.
  struct Facts {
    const CardDescription& description;
    const DeviceInfo& device_info;
    const CardGeometry& geometry;
    KernelBounds* kernel_bounds;
    CardProbe& probe;
  };
  explicit Card(const Facts& facts) : facts_(facts) {}

 private:
  const Facts facts_;
};

// Poll of a card that waits for no other: stalled it hangs.
inline Status PollAlone(Card& card, CardOutput* output) {
  ASSIGN_OR_RETURN(const bool moves, card.Poll([] { return false; }, output));
  return moves ? OkStatus() : NothingMoves();
}
// Drops the output.
inline Status PollAlone(Card& card) {
  CardOutput unused;
  return PollAlone(card, &unused);
}

}  // namespace ttfd
