// The booted card as an object: boots it, turns commands into records, watches completions.
//
// Single-threaded: one thread, the device thread, is the only caller. Order: commands take effect
// as if each began when the one submitted before had ended.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "runtime/base/clock.h"
#include "runtime/base/status.h"
#include "runtime/command/command.h"
#include "runtime/device/device.h"

namespace ttfd {

struct DispatcherOptions {
  uint32_t issue_ring_bytes = 4 << 20;
  uint32_t completion_ring_pages = 1024;
  uint32_t fetch_queue_entries = 1534;
  uint32_t command_ring_bytes = 256 * 1024;
  uint32_t scratch_bytes = 128 * 1024;
  uint32_t ringbuffer_bytes = 512 * 1024;
  uint32_t dispatch_ring_pages = 128;
  uint32_t dispatch_s_ring_pages = 128;
  Duration boot_timeout = std::chrono::seconds(10);  // each wait of the boot
  Duration operation_timeout =
      std::chrono::seconds(10);      // queue space, drain, terminate: without any progress
  uint64_t advance_clocks = 20'000;  // device time per Poll, in clocks
  std::string record_path;           // capture of the record stream (ttfd --record); empty = none
};

// What clients may know of the card; constant once booted.
struct CardDescription {
  GridSize grid;
  uint32_t dram_banks = 0;
  uint64_t dram_bank_bytes = 0;  // allocatable, from dram_base
  uint32_t dram_base = 0;
  uint32_t l1_base = 0;  // of buffers, the same on every worker
  uint32_t l1_bytes = 0;
};

// Where the pipeline stands, for status and for hang reports. Reading it costs PCIe reads; never
// polled.
struct HartReport {
  std::string where;  // "prefetch (16,2) BRISC"
  uint32_t state = 0;
  std::string waypoint;
  uint32_t progress = 0;
  uint32_t pc = 0;   // 0 where the backend cannot tell
  std::string text;  // one sentence: what it waits for, or its fault
};

class Dispatcher {
 public:
  // `device` and `clock` outlive the dispatcher. Does not touch the card.
  static StatusOr<std::unique_ptr<Dispatcher>> Create(Device& device, Clock& clock,
                                                      const DispatcherOptions& options);
  virtual ~Dispatcher() = default;

  // Reset to "ready". Also the recovery from anything: all commands in flight are forgotten, device
  // memory keeps its contents. A failure names tile, hart, waypoint and, where the backend can
  // tell, PC.
  virtual Status Boot() = 0;

  virtual const CardDescription& card() const = 0;
  virtual const DeviceInfo& device_info() const = 0;

  // Does the command fit the rings now? False: Poll and ask again. Also true for a command larger
  // than the rings once nothing else is in them: Submit then lets the device run meanwhile.
  virtual StatusOr<bool> HasRoomFor(const Command& command) = 0;

  // Encodes the command and hands it to the device. Returns its ticket: dense from 1, never reused.
  // REQUIRES: HasRoomFor, and values that keep the rules of command.h (INVALID_ARGUMENT otherwise,
  // nothing sent). Nothing completes before an Event.
  virtual StatusOr<uint64_t> Submit(const Command& command) = 0;

  // Asks the device to report when everything submitted so far is done. REQUIRES room (one entry is
  // always kept back for it).
  virtual Status Event() = 0;

  // Lets the device run and collects completions; calls sinks. Returns the highest ticket known to
  // be completed. An error means the device is lost until Boot: FAILED_PRECONDITION with the fault,
  // DEADLINE_EXCEEDED when nothing can move any more.
  virtual StatusOr<uint64_t> Poll() = 0;

  virtual uint64_t submitted() const = 0;
  virtual uint64_t completed() const = 0;
  virtual bool idle() const = 0;  // every submitted ticket completed, every asked event seen
  // Changes whenever the device made progress: what a deadline by progress watches.
  virtual uint64_t progress() const = 0;

  virtual std::vector<HartReport> Report() = 0;

  // Drains, terminates the dispatch cores, holds every hart in reset, whatever went wrong before; the
  // result is the first thing that did. Bounded by operation_timeout. Boot starts anew.
  virtual Status Shutdown() = 0;
};

}  // namespace ttfd
