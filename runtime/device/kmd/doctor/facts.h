// Findings of the doctor on a host, before it is judged. Plain values.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "runtime/device/kmd/driver_version.h"
#include "runtime/device/kmd/pci.h"

namespace ttfd::kmd {

// Content of a small file; without a text it does not exist, or cannot be read.
struct FileFact {
  std::optional<std::string> text;
  bool exists = false;
  bool unreadable() const { return exists && !text.has_value(); }
};

// PCIe link, as /sys writes it ("32.0 GT/s PCIe", "16"); of the slot that the card is in, the most it can do.
struct LinkFacts {
  std::optional<std::string> speed;
  std::optional<std::string> max_speed;
  std::optional<std::string> slot_speed;
  std::optional<std::string> width;
  std::optional<std::string> max_width;
  std::optional<std::string> slot_width;
};

struct PciFacts {
  std::string address;  // "0000:03:00.0"
  // Name of the bound driver, "" without one; none: cannot be read.
  std::optional<std::string> driver;
  std::optional<std::vector<int>> bars_without_address;  // none: cannot be read
  FileFact iommu_type;
  bool iommu_group = false;
  LinkFacts link;
};

struct Process {
  std::string pid;   // "0": of another pid namespace
  std::string name;  // empty: not known
};

struct NodeFacts {
  std::string path;  // empty: the driver has made no node
  // Processes that had it open before the survey; none: the driver lists none, or the list cannot be read.
  std::optional<std::vector<Process>> processes;
  // Results of opening the node and of calls to it: 0 or an errno.
  int open_error = 0;
  int identity_error = 0;
  int lock_error = 0;
  // Answers of the calls that had no error.
  PciId id;
  std::string pci_address;
  bool locked = false;
  std::optional<DriverVersion> driver;  // none: before 2.0, or not known
};

// Free hugepages; none: the kernel has no pages of this size, or the file cannot be read.
struct FreePages {
  std::optional<uint64_t> giant;
  std::optional<uint64_t> huge;
};

struct PageFacts {
  int numa_node = -1;  // of the card; -1: none
  FreePages near;      // on its node
  FreePages all;       // on all nodes
};

struct FirmwareFacts {
  bool telemetry = false;  // has the driver any tt_ file?
  FileFact heartbeat;
  // Difference of two readings; none: there are no two.
  std::optional<bool> heartbeat_moves;
  FileFact bundle;
  FileFact thermal_events;
};

struct SensorFacts {
  std::string hwmon;                   // "hwmon3"; empty: none
  std::optional<int64_t> temperature;  // in 1/1000 degrees Celsius
  std::optional<int64_t> limit;        // from here on the card slows down
};

struct CardFacts {
  PciFacts pci;
  NodeFacts node;
  PageFacts pages;
  FirmwareFacts firmware;
  SensorFacts sensors;
};

struct ModuleFacts {
  bool loaded = false;
  FileFact version;
  FileFact lockdown;                // "none [integrity] confidentiality"
  std::optional<bool> secure_boot;  // none: no UEFI, or the variable cannot be read
};

// Lowest limits of this process's cgroup and those above it, in bytes; none: no limit.
struct HugetlbLimits {
  std::optional<uint64_t> giant;
  std::optional<uint64_t> huge;
};

struct HostFacts {
  std::vector<CardFacts> cards;  // Blackhole cards on the PCI bus
  std::vector<std::string>
      others;  // "0000:04:00.0 (1e52:401e, Wormhole)": other devices of the vendor
  ModuleFacts module;
  std::string container;  // "Docker"; empty: none is known
  bool hwmon = false;     // has the kernel the interface?
  HugetlbLimits hugetlb;
};

}  // namespace ttfd::kmd
