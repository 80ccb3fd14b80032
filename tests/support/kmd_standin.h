// Stands in for tt-kmd over the model: descriptors, ioctls, windows and pinned pages as the driver documents them.
//
// It answers as version 2.10 with an IOMMU does, or as StandinOptions say; without one it has hugepages that are
// ordinary memory, and refuses what the driver refuses.
// What no driver could refuse but breaks the rules of the bus (a load through a write-combining mapping, a
// misaligned access, an access that the model refuses) fails the test. The model runs a fixed number of clocks
// with each load and ioctl, so that time passes for a host that polls, and equal calls give equal runs. It is this
// project's reading of the driver's source: no recording of the driver was compared with it, and it proves nothing
// about silicon.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "runtime/device/kmd/abi.h"
#include "runtime/device/kmd/driver_version.h"
#include "runtime/device/kmd/system.h"
#include "runtime/device/pcie_port.h"
#include "tests/support/kmd_standin_calls.h"
#include "tests/support/kmd_standin_memory.h"
#include "tests/support/kmd_standin_pins.h"
#include "tests/support/kmd_standin_windows.h"

namespace ttfd {

struct StandinOptions {
  kmd::DriverVersion version = {2, 10, 0};
  bool module_loaded = true;
  bool iommu = true;
  uint32_t giant_pages = 1;  // free hugepages of 1 GiB
  uint32_t huge_pages = 0;   // of 2 MiB
  int numa_node = -1;
  uint16_t device_id = 0xB140;
  std::string pids = {};  // of /proc/driver/tenstorrent/0/pids, "" if the driver has no such file
  uint64_t clocks_per_call = 200;
};

class KmdStandin final : public kmd::Kernel, public kmd::Files, public kmd::Bus {
 public:
  static constexpr char kNode[] = "/dev/tenstorrent/0";

  explicit KmdStandin(std::unique_ptr<PciePort> port, const StandinOptions& options = {})
      : options_(options),
        port_(std::move(port)),
        windows_(*port_),
        memory_(calls_, options.giant_pages, options.huge_pages),
        pins_(*port_, memory_, options.iommu, options.version) {}

  kmd::System system() { return {this, this, &memory_, this}; }

  // What tests do to the driver and the card.
  StandinCalls& calls() { return calls_; }
  // True: nothing can move any more.
  bool LetTimePass(uint64_t clocks);
  // ASIC reset by another process: descriptors opened before are dead, as their version has it.
  void ResetByAnother();
  // Removes the node, as while a card is reset or when it is pulled.
  void Remove();
  // The node is there again, under this number.
  void ComeBackAs(uint32_t number);
  // Called when the chip is reset by the request of a descriptor, in place of the card's disappearing for a moment.
  void OnReset(std::function<void()> act) { reset_.on_begin = std::move(act); }
  // Reads answer all ones and writes are lost until the card comes back, or its chip is reset by a descriptor.
  void Silence(bool silent = true) { silent_ = silent; }

  // What tests see.
  const kmd::DriverVersion& version() const { return options_.version; }
  // Power flags of all descriptors together.
  uint16_t power() const;
  size_t open_files() const { return descriptors_.size(); }
  size_t locks() const { return locks_.size(); }
  StandinWindows& windows() { return windows_; }
  const StandinWindows& windows() const { return windows_; }
  const StandinMemory& memory() const { return memory_; }
  StandinPins& pins() { return pins_; }
  const StandinPins& pins() const { return pins_; }

  int Open(const std::string& path) override;
  int Close(int descriptor) override;
  int Ioctl(int descriptor, uint32_t request, void* argument) override;
  int Map(int descriptor, uint64_t offset, size_t size, kmd::Mapping* mapping) override;
  int Unmap(const kmd::Mapping& mapping) override;
  std::optional<std::string> ReadText(const std::string& path) override;
  std::vector<std::string> List(const std::string& folder) override;

  bool Load(const kmd::Mapping& mapping, uint64_t offset, uint32_t* value) override;
  bool Store(const kmd::Mapping& mapping, uint64_t offset, uint32_t value, uint32_t width) override;
  bool StoreBulk(const kmd::Mapping& mapping, uint64_t offset, ByteSpan words) override;
  void StoreFence() override;

 private:
  // What an open node owns ends when its descriptor and its mappings are gone.
  struct File {
    int descriptor = 0;
    bool open = true;
    bool dead = false;  // opened before the last reset
    uint32_t mappings = 0;
    uint16_t power = kmd::kPowerOfAnOpenNode;
    std::optional<kmd::NocCleanupCall> cleanup = {};
  };

  int Answer(File& file, uint32_t request, void* argument);
  int AnswerDriverInfo(kmd::DriverInfoCall* call) const;
  int AnswerDeviceInfo(kmd::DeviceInfoCall* call) const;
  int AnswerReset(const File& file, kmd::ResetDeviceCall* call);
  int AnswerCleanup(File& file, const kmd::NocCleanupCall& call) const;
  int AnswerPower(File& file, const kmd::PowerStateCall& call) const;
  // The card loses what a reset takes, and descriptors other than `but` and all mappings are dead.
  void LoseState(int but);
  int AnswerLock(const File& file, kmd::LockControlCall* call);
  void ReleaseIfUnused(int descriptor);
  // Where an access goes; null: the driver has withdrawn the mapping.
  StandinMapping* Find(StandinEvent::Kind access, const kmd::Mapping& mapping, uint64_t offset,
                       uint64_t bytes);

  const StandinOptions options_;
  const std::unique_ptr<PciePort> port_;
  StandinCalls calls_;
  StandinWindows windows_;
  StandinMemory memory_;
  StandinPins pins_;
  std::map<int, File> descriptors_;
  std::map<uint32_t, int> locks_;       // index, descriptor
  std::optional<uint32_t> number_ = 0;  // N of /dev/tenstorrent/N; none: there is no node
  int next_descriptor_ = 1000;
  bool silent_ = false;
  struct {
    bool under_way = false;  // until kPostReset
    std::function<void()> on_begin;
  } reset_;
};

}  // namespace ttfd
