// An open /dev/tenstorrent/N: the one descriptor of a device, and whether the card behind it was lost.
//
// Everything that the driver gives belongs to the descriptor and ends with it.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "runtime/base/status.h"
#include "runtime/device/kmd/abi.h"
#include "runtime/device/kmd/driver_version.h"
#include "runtime/device/kmd/system.h"

namespace ttfd::kmd {

class Node {
 public:
  // Checks driver and card, and takes the driver's lock flag that keeps a second ttfd out.
  static StatusOr<std::unique_ptr<Node>> Open(const System& system, const std::string& path);
  ~Node();

  Bus& bus() const { return *system_.bus; }
  const DriverVersion& version() const { return version_; }
  bool iommu() const { return iommu_; }  // does the host translate what the card sends?

  // 0 or an errno. ENODEV loses the card.
  int Call(Request request, void* argument);
  int Map(uint64_t offset, size_t size, Mapping* mapping);
  void Unmap(const Mapping& mapping) { system_.kernel->Unmap(mapping); }

  // OK, or why the card was lost. A lost card stays lost: its windows and NoC addresses have no meaning any more.
  const Status& lost() const { return lost_; }
  const Status& Lose(std::string_view symptom);

 private:
  Node(const System& system, const std::string& path, int descriptor)
      : system_(system), path_(path), descriptor_(descriptor) {}
  Status CheckDriver();
  Status CheckCard();
  Status TakeLock();
  std::vector<std::string> OtherProcesses() const;
  Status CallError(std::string_view what, int error);

  const System system_;
  const std::string path_;
  const int descriptor_;
  DriverVersion version_;
  bool iommu_ = false;
  Status lost_;
};

}  // namespace ttfd::kmd
