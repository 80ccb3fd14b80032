// A simulator library in a child process, as a PciePort.
//
// Writes are posted: they gather here and go with the next call that needs an answer, as they would
// on a real bus; a refused one is the answer to that call. The library offers no PERST#, so Reset
// starts a new child: DRAM and L1 are lost.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "runtime/base/clock.h"
#include "runtime/base/unique_fd.h"
#include "runtime/device/pcie_port.h"
#include "runtime/device/ttsim/child_process.h"
#include "runtime/device/ttsim/wire.h"

namespace ttfd {

class TtsimPort final : public PciePort {
 public:
  struct Options {
    std::string library;
    std::string child_program;
    // For an answer to anything: far longer than the slowest takes on a busy machine, and shorter than the service
    // manager's patience with the daemon (WatchdogSec in deploy/ttfd.service.in), which cannot show life meanwhile.
    Duration patience = std::chrono::seconds(15);
  };

  // UNAVAILABLE: the simulator does not start, with what it said.
  static StatusOr<std::unique_ptr<TtsimPort>> Start(const Options& options);
  ~TtsimPort() override;

  StatusOr<uint32_t> ConfigRead(uint32_t offset) override;
  Status BarRead(int bar, uint64_t offset, MutableByteSpan to) override;
  Status BarWrite(int bar, uint64_t offset, ByteSpan from) override;
  Status MapHostMemory(uint64_t bus_address, const HostPages& pages) override;
  Status Reset() override;
  StatusOr<AdvanceResult> Advance(uint64_t clocks) override;

  pid_t child() const { return child_ == nullptr ? 0 : child_->pid(); }

 private:
  struct Mapping {
    uint64_t bus_address;
    uint64_t size;
    UniqueFd file;  // ours: a new child needs it again
  };

  explicit TtsimPort(const Options& options) : options_(options) {}
  Status MakeMailbox();
  Status StartChild();
  // Physical address of [offset, offset + size) of a BAR.
  StatusOr<uint64_t> Locate(int bar, uint64_t offset, uint64_t size) const;
  // Appends a request, after a flush if it does not fit.
  Status Put(const ttsim::Request& request, ByteSpan data = {});
  // Has everything that was put done, and waits for it.
  StatusOr<ttsim::Answer> Ring(int file = -1);
  StatusOr<ttsim::Answer> Ask(const ttsim::Request& request, MutableByteSpan reply, int file = -1);
  // The child died or is given up: why, from now on.
  Status Lose(const Status& symptom);

  const Options options_;
  UniqueFd mailbox_file_;
  ttsim::Mailbox* mailbox_ = nullptr;
  std::unique_ptr<ttsim::ChildProcess> child_;
  Status lost_;            // why the child is gone
  bool used_ = false;      // since the child started
  uint32_t posted_ = 0;    // bytes of requests that wait in the mailbox
  uint64_t bars_[2] = {};  // physical addresses of BAR 0 and 2
  std::vector<Mapping> mappings_;
};

}  // namespace ttfd
