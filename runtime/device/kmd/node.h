// An open /dev/tenstorrent/N: the one descriptor of a device, and whether the card behind it was lost.
//
// Everything that the driver gives belongs to the descriptor and ends with it.
#pragma once

#include <cerrno>
#include <memory>
#include <string>
#include <string_view>

#include "runtime/base/status.h"
#include "runtime/device/device.h"
#include "runtime/device/kmd/abi.h"
#include "runtime/device/kmd/driver_version.h"
#include "runtime/device/kmd/system.h"

namespace ttfd::kmd {

// INVALID_ARGUMENT: not the path of a node ("/dev/tenstorrent/0", or a link to one) and no PCI address
// ("0000:03:00.0"). Opens nothing.
Status CheckCardName(std::string_view which);

class Node {
 public:
  // Checks driver and card, and takes the driver's lock flag that keeps a second ttfd out. `which`: as CheckCardName.
  static StatusOr<std::unique_ptr<Node>> Open(const System& system, const std::string& which);
  ~Node();
  // Resets the chip by the driver's protocol, and opens the node anew. The first part is all that fails without a
  // consequence: once BeginReset is OK, nothing that this process had of the card is of any use.
  Status BeginReset();
  // Waits for the node to be back; `tick` is called meanwhile. On an error the card is lost.
  Status EndReset(Clock& clock, Tick tick);
  // Opens the node of the same PCI device anew, under whatever name the driver gave it, with the same checks. What the
  // old descriptor owned is gone, and so have to be its mappings. On an error the card is as lost as before.
  Status Reopen();
  // Ends what follows a Reopen. On an error the card is lost.
  Status EndRestore(const Status& restored);
  // One more descriptor of the same node, or below 0 -errno. Where there is no node the card is lost.
  int OpenAnother();

  Kernel& kernel() const { return *system_.kernel; }
  Bus& bus() const { return *system_.bus; }
  const std::string& path() const { return path_; }
  const DriverVersion& version() const { return version_; }
  bool iommu() const { return iommu_; }  // does the host translate what the card sends?
  // Node, PCI address, driver and link; the rest is unset.
  CardHealth ReadHealth() const;

  // 0 or an errno. ENODEV loses the card.
  int Call(Request request, void* argument) {
    return lost_.ok() ? Call(descriptor_, request, argument) : ENODEV;
  }
  int Call(int descriptor, Request request, void* argument);
  int Map(uint64_t offset, size_t size, Mapping* mapping);
  void Unmap(const Mapping& mapping) { system_.kernel->Unmap(mapping); }
  // Memory near the card (Memory::Map).
  int MapMemory(size_t size, uint64_t page_bytes, MutableByteSpan* memory) {
    return -system_.memory->Map(size, page_bytes, numa_node_, memory);
  }
  void UnmapMemory(MutableByteSpan memory) { system_.memory->Unmap(memory); }

  // OK, or why the card was lost. A lost card stays lost: its windows and NoC addresses have no meaning any more.
  const Status& lost() const { return lost_; }
  const Status& Lose(std::string_view symptom);
  // The card's registers read all ones. It is lost, and silent (DATA_LOSS) while its driver serves it and can reset the
  // chip.
  const Status& FallSilent();
  bool silent() const { return silent_; }

 private:
  explicit Node(const System& system) : system_(system) {}
  // Opens path_, ends a reset, and checks driver and card.
  Status OpenPath();
  Status FindAndOpen();
  Status CallReset(uint32_t flags, std::string_view what);
  void Close();
  // The node that the driver has made for the PCI device. None: there is none.
  std::optional<std::string> FindPath() const;
  Status CheckDriver();
  Status CheckCard();
  Status TakeLock();
  // The kernel's text about the PCI device; empty: there is none.
  std::string Attribute(std::string_view name) const;
  std::vector<std::string> OtherProcesses() const;
  Status CallError(std::string_view what, int error);

  const System system_;
  std::string path_;
  int descriptor_ = -1;
  bool in_reset_ = false;  // a reset has begun that this process is to end (kPostReset)
  DriverVersion version_;
  std::string pci_address_;  // "0000:03:00.0"
  bool iommu_ = false;
  int numa_node_ = -1;  // -1: any
  Status lost_;
  bool silent_ = false;
  bool reset_in_vain_ = false;  // the chip was reset, and has not served since
};

}  // namespace ttfd::kmd
