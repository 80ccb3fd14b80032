// A simulator library in a child process, for the ports of its chips (TtsimPort).
//
// Writes are posted: they gather here and go with the next call that needs an answer, as they would on a real bus; a
// refused one is the answer to that call. The library offers no PERST#, so a reset starts a new child: DRAM and L1 of
// all its chips are lost.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "runtime/base/clock.h"
#include "runtime/base/unique_fd.h"
#include "runtime/device/pcie_port.h"
#include "runtime/device/ttsim/child_process.h"
#include "runtime/device/ttsim/wire.h"

namespace ttfd::ttsim {

class Simulator {
 public:
  struct Options {
    std::string library;
    std::string child_program;
    // For an answer to anything: far longer than the slowest takes on a busy machine, and shorter than the service
    // manager's patience with the daemon (WatchdogSec in deploy/ttfd.service.in), which cannot show life meanwhile.
    Duration patience = std::chrono::seconds(15);
  };

  // UNAVAILABLE: the simulator does not start, with what it said.
  static StatusOr<std::unique_ptr<Simulator>> Start(const Options& options);
  ~Simulator();

  // Starts a new child, with the memory that was mapped.
  Status Restart();
  // Number of the child, from 1.
  uint64_t generation() const { return generation_; }
  // Why there is no child; OK while there is one.
  const Status& lost() const { return lost_; }

  // Appends a request, after a flush if it does not fit.
  Status Put(const Request& request, ByteSpan data = {});
  // The same, has everything that was put done, and waits for it.
  StatusOr<Answer> Ask(const Request& request, MutableByteSpan reply, int file = -1);
  // PciePort::MapHostMemory.
  Status MapHostMemory(uint64_t bus_address, const HostPages& pages);

  pid_t child() const { return child_ == nullptr ? 0 : child_->pid(); }

 private:
  struct Mapping {
    uint64_t bus_address;
    uint64_t size;
    UniqueFd file;  // ours: a new child needs it again
  };

  explicit Simulator(const Options& options) : options_(options) {}
  Status MakeMailbox();
  // Has everything that was put done, and waits for it.
  StatusOr<Answer> Ring(int file = -1);
  // The child died or is given up: why, from now on.
  Status Lose(const Status& symptom);

  const Options options_;
  UniqueFd mailbox_file_;
  Mailbox* mailbox_ = nullptr;
  std::unique_ptr<ChildProcess> child_;
  uint64_t generation_ = 0;
  Status lost_;          // why the child is gone
  uint32_t posted_ = 0;  // bytes of requests that wait in the mailbox
  std::vector<Mapping> mappings_;
};

}  // namespace ttfd::ttsim
