// Cards as the kernel shows them: PCI devices in /sys, and the nodes that the driver has made for them.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "runtime/device/kmd/abi.h"
#include "runtime/device/kmd/system.h"
#include "runtime/hw/pcie.h"

namespace ttfd::kmd {

inline constexpr char kPciDevices[] = "/sys/bus/pci/devices";
inline constexpr char kNodeFolder[] = "/dev/tenstorrent";

struct PciId {
  uint32_t vendor = 0;
  uint32_t device = 0;
  std::string ToString() const;  // "1e52:b140"
  bool operator==(const PciId&) const = default;
};
inline constexpr PciId kBlackhole = {hw::kPciVendorId, hw::kPciDeviceId};
inline constexpr PciId kWormhole = {hw::kPciVendorId, 0x401E};  // tt-kmd's table of PCI ids

// Addresses are texts such as "0000:03:00.0".
std::string PciFolder(const std::string& address);
// Numbers that cannot be read are 0.
PciId ReadPciId(Files& files, const std::string& address);
std::vector<std::string> BlackholeCards(Files& files);
std::string PciAddressOf(const DeviceInfoCall& card);
// N of /dev/tenstorrent/N. None: the driver has made no node for the device.
std::optional<std::string> NodeNumberOf(Files& files, const std::string& address);

}  // namespace ttfd::kmd
