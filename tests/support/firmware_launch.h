// Launches by hand: puts kernels and configuration on the bench's workers and builds the records that
// start them.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "tests/support/firmware_bench.h"

namespace ttfd::testing {

struct BenchKernel {
  std::string name;  // in firmware/kernels
  hw::Hart hart = hw::kBrisc;
  std::vector<uint32_t> common = {};
  // Per-core words of worker `index`; none if empty.
  std::function<std::vector<uint32_t>(uint32_t index)> per_core = {};
};

struct BenchProgram {
  std::vector<BenchKernel> kernels;
  std::vector<abi::CircularBufferConfig> circular_buffers = {};
  std::vector<uint32_t> semaphores = {};  // initial values
  uint32_t program_id = 1;
  uint32_t print_tag = 0;
};

class BenchLauncher {
 public:
  explicit BenchLauncher(FirmwareBench& bench) : bench_(bench) {}

  // Writes images and configuration to every worker over PCIe, and forgets what was there before.
  void Load(const BenchProgram& program);

  // Appends what launches the loaded program on all workers: launch message by multicast, NOTIFY,
  // SEND_GO by multicast. Waits, on the card, for the workers of the launch before.
  void Append(EntryBuilder& entry);

  // Loads, launches, runs to rest.
  Status Run(const BenchProgram& program);
  // Launches what is loaded and runs to rest.
  Status RunLoaded();
  // The workers have run the images: launches from here on keep the instruction caches.
  void CodeIsKnown() { message_.enables &= ~abi::kLaunchNewCode; }
  // What the next launches enable instead.
  void SetEnables(uint32_t enables) { message_.enables = enables; }

  // The go word of the next launch, and the message it names.
  uint32_t NextGo() const;
  abi::LaunchMessage message() const { return message_; }
  uint32_t completed() const { return launches_ * bench_.worker_count(); }
  uint32_t launches() const { return launches_; }

 private:
  FirmwareBench& bench_;
  abi::LaunchMessage message_{};
  uint32_t launches_ = 0;
};

}  // namespace ttfd::testing
