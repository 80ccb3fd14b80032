// Looks at a booted card that runs, without disturbing it. For status, watchdogs, debuggers and profiles.
//
// Single-threaded: the thread that calls the card's functions.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "runtime/base/status.h"
#include "runtime/card/profile.h"
#include "runtime/card/stall_report.h"

namespace ttfd {

// Host's own records of a hardware queue, made without reading the card.
struct HostQueueRecord {
  uint64_t submitted = 0;  // tickets
  uint64_t completed = 0;
  uint32_t entries_announced = 0;
  uint32_t entries_done = 0;         // at the last event that was seen
  uint32_t entries_lost = 0;         // of those since then: not in the ring any more
  uint32_t entries_left_out = 0;     // there are too many to decode
  std::vector<std::string> records;  // since then, decoded: a line for each command
};

// A kernel in the workers' L1, for debuggers.
struct ResidentKernel {
  std::string name;
  uint32_t address = 0;  // where address 0 of its ELF file is
  uint32_t bytes = 0;
  size_t workers = 0;  // that hold it
};

class CardProbe {
 public:
  virtual ~CardProbe() = default;

  // How far a hardware queue is: a number that changes with progress words, waypoints and worker counts; the caller
  // compares it with an earlier one. A few PCIe reads; for a deadline that is about to fire, never to poll.
  virtual StatusOr<uint64_t> LookAt(uint32_t hardware_queue) = 0;
  // Why a hardware queue does not progress; without `harts`.
  virtual StallReport Diagnose(uint32_t hardware_queue) = 0;
  virtual std::vector<HartReport> Harts() = 0;
  // The host's own records of a queue. Touches no device.
  virtual HostQueueRecord HostRecord(uint32_t hardware_queue) = 0;
  // Kernels that launches have placed and nothing has displaced. Touches no device.
  virtual std::vector<ResidentKernel> Kernels() const = 0;

  // Samples where harts spend their time, in every Poll, until StopProfile. One at a time:
  // FAILED_PRECONDITION. UNIMPLEMENTED where the backend shows nothing.
  virtual Status StartProfile(const ProfileOptions& options) = 0;
  virtual ProfileResult StopProfile() = 0;
};

}  // namespace ttfd
