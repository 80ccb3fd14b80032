// A host in memory: files of /sys, /proc and /dev, and a driver behind the node that answers three harmless calls.
// Begins as a healthy host with one card behind an IOMMU.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "runtime/device/kmd/abi.h"
#include "runtime/device/kmd/driver_version.h"
#include "runtime/device/kmd/system.h"

namespace ttfd {

// What the driver answers at a node.
struct NodeAnswers {
  int open_error = 0;
  int identity_error = 0;
  int lock_error = 0;
  bool locked = false;
  uint16_t device = 0xB140;
  uint16_t bus_device_function = 0x0300;  // of node 0; of node N: N buses further
  kmd::DriverVersion version = {2, 10, 0};
};

class HostTree final : public kmd::Files, public kmd::Kernel {
 public:
  static constexpr char kPci[] = "/sys/bus/pci/devices/0000:03:00.0";
  static constexpr char kTelemetry[] =
      "/sys/bus/pci/devices/0000:03:00.0/tenstorrent/tenstorrent!0";
  static constexpr char kUnreadable[] = "(there, but cannot be read)";

  HostTree();
  // Removes what was there under the path, as a file or a folder; none: and puts nothing in its place.
  void Set(const std::string& path, const std::optional<std::string>& text);
  // Files of a healthy card; that of node 0 is there already.
  void AddCard(const std::string& address, const std::string& number);
  void Answer(const NodeAnswers& answers) { answers_ = answers; }

  size_t open_files() const { return open_; }

  std::optional<std::string> ReadText(const std::string& path) override;
  std::vector<std::string> List(const std::string& folder) override;

  int Open(const std::string& path) override;
  int Close(int descriptor) override;
  int Ioctl(int descriptor, uint32_t request, void* argument) override;
  int Map(int descriptor, uint64_t offset, size_t size, kmd::Mapping* mapping) override;
  int Unmap(const kmd::Mapping& mapping) override;

 private:
  std::map<std::string, std::string> files_;
  NodeAnswers answers_;
  size_t open_ = 0;
  uint64_t beats_ = 0;
};

}  // namespace ttfd
