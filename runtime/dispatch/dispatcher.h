// The booted card as an object: boots it, turns commands into records, watches completions.
//
// Single-threaded: one thread, the device thread, is the only caller. Order: route.h.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "absl/functional/function_ref.h"
#include "runtime/base/clock.h"
#include "runtime/base/status.h"
#include "runtime/command/card_geometry.h"
#include "runtime/command/command.h"
#include "runtime/command/route.h"
#include "runtime/device/device.h"
#include "runtime/device/wait.h"
#include "runtime/dispatch/dispatcher_options.h"
#include "runtime/dispatch/profile.h"
#include "runtime/dispatch/queue_state.h"
#include "runtime/dispatch/stall_report.h"

namespace ttfd {

struct DramBank {
  hw::Coordinate port;            // translated, of NoC 0
  hw::Coordinate nearest_worker;  // logical
};

// What clients may know of the card; constant once booted.
struct CardDescription {
  GridSize grid;
  uint32_t dram_banks = 0;
  uint64_t dram_bank_bytes = 0;  // allocatable, from dram_base
  uint32_t dram_base = 0;
  uint32_t l1_base = 0;  // of buffers, the same on every worker
  uint32_t l1_bytes = 0;
  uint64_t dram_bank_size = 0;     // with what is not allocatable
  std::vector<uint32_t> worker_x;  // of the grid's columns, translated
  std::vector<uint32_t> worker_y;  // of its rows
  std::vector<DramBank> banks;
};

// A place on the timeline of a hardware queue.
struct Ticket {
  uint32_t hardware_queue = 0;
  uint64_t number = 0;
};

// What the host itself knows of a hardware queue, without asking the card.
struct HostQueueRecord {
  uint64_t submitted = 0;  // tickets
  uint64_t completed = 0;
  uint32_t entries_announced = 0;
  uint32_t entries_done = 0;         // at the last event that was seen
  uint32_t entries_lost = 0;         // of those since then: not in the ring any more
  uint32_t entries_left_out = 0;     // there are too many to decode
  std::vector<std::string> records;  // since then, decoded: a line for each command
};

// A kernel in the workers' L1, for who looks at them with a debugger.
struct ResidentKernel {
  std::string name;
  uint32_t address = 0;  // where address 0 of its ELF file is
  uint32_t bytes = 0;
  size_t workers = 0;  // that hold it
};

// One print of a kernel.
struct KernelPrint {
  uint32_t launch = 0;  // of the launches of a trace, from 0
  uint32_t kernel = 0;  // as ProgramSpec::kernels
  std::string kernel_name;
  uint32_t x = 0;  // logical
  uint32_t y = 0;
  hw::Hart hart = hw::kBrisc;
  std::string text;  // of any bytes, without the newline at its end
};
// Called on the device thread, from Poll, Shutdown and SalvagePrints, with the ticket of the launch or replay, before
// that counts as completed. In order for each hart.
using PrintSink = std::function<void(const Ticket&, KernelPrint)>;

class Dispatcher {
 public:
  // `device` and `clock` outlive the dispatcher. Does not touch the card.
  static StatusOr<std::unique_ptr<Dispatcher>> Create(Device& device, Clock& clock,
                                                      const DispatcherOptions& options);
  virtual ~Dispatcher() = default;

  // Reset to "ready". Also the recovery from anything: all commands in flight are forgotten. A failure names tile,
  // hart, waypoint and, where the backend can tell, PC. It is ready when it has shown that it works: VerifyCard in
  // card_verify.cc. `tick`, here and below: of the waits for the card; with its error the card is lost.
  virtual Status Boot(ResetStrength strength, Tick tick) = 0;
  Status Boot() { return Boot(ResetStrength::kHarts, NoTick); }

  // UNAVAILABLE or DATA_LOSS: the card is lost (Device::CheckPresence); only Boot is of use, which looks for it.
  virtual Status CheckPresence() { return OkStatus(); }

  virtual const CardDescription& card() const = 0;
  virtual const DeviceInfo& device_info() const = 0;
  // As Device::kernel_bounds(). A boot sets its layout.
  virtual KernelBounds* kernel_bounds() { return nullptr; }

  // What BuildTrace needs; constant from creation on, any thread.
  virtual const CardGeometry& geometry() const = 0;

  // Hands the command to the device if its records fit the rings now, of every hardware queue it concerns. Returns its
  // ticket on the timeline of its hardware queue: dense from 1, never reused. None: there is no space and nothing has
  // changed; Poll and try again. That may take an Event, because no more worker completions of a hardware queue are
  // outstanding than its counters distinguish (hw::kStreamCounterReach).
  // The command begins when those of `after` are done, and so does what is submitted to its hardware queue later. The
  // device waits, not the host; nothing is sent for what is not on the card any more.
  // REQUIRES values that keep the rules of command.h, and tickets that were given: INVALID_ARGUMENT otherwise, nothing
  // sent. RESOURCE_EXHAUSTED, nothing sent, where command.h says so. But for independent launches nothing completes
  // before an Event. `wanted` is called last, when there is space: false, and nothing is sent.
  virtual StatusOr<std::optional<uint64_t>> TrySubmit(const Route& route, const Command& command,
                                                      std::span<const Ticket> after,
                                                      absl::FunctionRef<bool()> wanted) = 0;
  StatusOr<std::optional<uint64_t>> TrySubmit(const Route& route, const Command& command,
                                              std::span<const Ticket> after = {}) {
    return TrySubmit(route, command, after, [] { return true; });
  }
  // On hardware queue 0, over all workers.
  StatusOr<std::optional<uint64_t>> TrySubmit(const Command& command) {
    return TrySubmit(Route(), command);
  }

  // Asks the device to report when everything of `hardware_queue` up to `ticket` is done but independent launches,
  // those on workers of their own (Route::workers): the card executes what comes behind them meanwhile, and publishes
  // their end unasked. REQUIRES a ticket that was given (INVALID_ARGUMENT).
  // The dispatcher waits for its kernels there; so an event for a launch that is asked for behind the next launch lets
  // the two be placed back to back. False: there is no space and nothing has changed; Poll and try again. There is
  // space for one event behind every command.
  virtual StatusOr<bool> Event(uint32_t hardware_queue, uint64_t ticket) = 0;

  // Lets the device run and collects completions; calls sinks. An error means the device is lost until
  // Boot: FAILED_PRECONDITION with the fault, DEADLINE_EXCEEDED when nothing can move any more. `interrupted`: a device
  // that runs on the calling thread is to return soon, though nothing has completed.
  virtual Status Poll(absl::FunctionRef<bool()> interrupted) = 0;
  Status Poll() {
    return Poll([] { return false; });
  }

  // Who hears what kernels print; without one they print nothing.
  virtual void OnPrint(PrintSink sink) = 0;
  // Takes what kernels printed before the card was lost, or is given up; their tickets are not heard of again. Only
  // Boot and Shutdown may follow: a card that does not answer is reset for it.
  virtual void SalvagePrints() = 0;

  virtual uint64_t submitted(uint32_t hardware_queue) const = 0;
  // Nothing up to it is on the card any more: it is done, or Boot or Shutdown discarded it (IsDone).
  virtual uint64_t completed(uint32_t hardware_queue) const = 0;
  // Is the ticket known to be done? Of independent launches, and of what came behind them, more may be than `completed`
  // says. False for what Boot or Shutdown discarded; after that, of older tickets true only for those up to the first
  // that was discarded. REQUIRES a ticket that was given.
  virtual bool IsDone(const Ticket& ticket) const = 0;
  // Every submitted ticket completed, every asked event seen, on all hardware queues.
  virtual bool idle() const = 0;
  // Changes whenever the host saw the device make progress. Costs nothing.
  virtual uint64_t progress() const = 0;
  // Asks the card itself how far a hardware queue is: a number that changes with progress words, waypoints
  // and worker counts; the caller compares it with the one it got before. A few PCIe reads; for a
  // deadline that is about to fire, never to poll.
  virtual StatusOr<uint64_t> LookAt(uint32_t hardware_queue) = 0;
  // Why a hardware queue does not progress; without `harts`.
  virtual StallReport Diagnose(uint32_t hardware_queue) = 0;
  // The same of the one that stopped, where the other only waits for it; with `harts`. Takes completions before.
  virtual StallReport Diagnose() = 0;
  // The same of a card that is given up: nothing is begun on it any more, on no hardware queue, so that what StateOf
  // says stays true. Harts are looked at first, for a halted one has no pc. Only SalvagePrints, Boot and Shutdown may
  // follow.
  virtual StallReport HaltAndDiagnose() = 0;

  // The host's own records of a queue. Touches no device.
  virtual HostQueueRecord HostRecord(uint32_t hardware_queue) = 0;
  // How far a command was when the card was looked at last, if it has not completed. Touches no device. REQUIRES a
  // card that begins nothing since: HaltAndDiagnose.
  virtual ExecutionState StateOf(const Ticket& ticket) = 0;

  // The command had not begun and will be submitted again after Boot: what submitting it changed in the host's own
  // records (the patches of a trace) is undone. The youngest first. Touches no device.
  virtual void TakeBack(const Ticket& ticket) = 0;

  // Of the waits of Shutdown; fires only if nothing progressed. `kernel`: while workers run; 0 = the same.
  virtual void SetTimeouts(Duration operation, Duration kernel) = 0;

  virtual std::vector<HartReport> Report() = 0;
  // What launches have placed and nothing has displaced.
  virtual std::vector<ResidentKernel> Kernels() const = 0;

  // Samples where harts spend their time, in every Poll, until StopProfile. One at a time:
  // FAILED_PRECONDITION. UNIMPLEMENTED where the backend shows nothing.
  virtual Status StartProfile(const ProfileOptions& /*options*/) {
    return Error(StatusCode::kUnimplemented, "this card cannot be profiled");
  }
  virtual ProfileResult StopProfile() { return {}; }

  // Drains, terminates the dispatch cores, holds every hart in reset, whatever went wrong before; the
  // result is the first thing that did. Waits as long as work in flight progresses, but no longer than `limit`:
  // what has not ended by then is cut off, which is no error. Boot starts anew.
  virtual Status ShutDownWithin(Duration limit, Tick tick) = 0;
  Status ShutDownWithin(Duration limit) { return ShutDownWithin(limit, NoTick); }
  Status Shutdown() { return ShutDownWithin(Duration::max()); }
};

}  // namespace ttfd
