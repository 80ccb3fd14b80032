// Folders and their files.
#include "runtime/device/kmd/pci.h"

#include <fmt/format.h>

#include <string_view>

#include "absl/strings/numbers.h"

namespace ttfd::kmd {

std::string PciId::ToString() const { return fmt::format("{:04x}:{:04x}", vendor, device); }

std::string PciFolder(const std::string& address) {
  return fmt::format("{}/{}", kPciDevices, address);
}

PciId ReadPciId(Files& files, const std::string& address) {
  const auto number = [&](const char* file) {
    uint32_t value = 0;
    const std::string text = files.ReadText(PciFolder(address) + file).value_or("");
    return absl::SimpleHexAtoi(text, &value) ? value : 0;
  };
  return {number("/vendor"), number("/device")};
}

std::vector<std::string> BlackholeCards(Files& files) {
  std::vector<std::string> cards;
  for (const std::string& address : files.List(kPciDevices)) {
    if (ReadPciId(files, address) == kBlackhole) cards.push_back(address);
  }
  return cards;
}

std::string PciAddressOf(const DeviceInfoCall& card) {
  const uint32_t bdf = card.bus_device_function;
  return fmt::format("{:04x}:{:02x}:{:02x}.{:x}", card.domain, bdf >> 8, bdf >> 3 & 0x1F, bdf & 7);
}

std::optional<std::string> NodeNumberOf(Files& files, const std::string& address) {
  constexpr std::string_view kPrefix = "tenstorrent!";  // "tenstorrent!3" is /dev/tenstorrent/3
  for (const std::string& name : files.List(PciFolder(address) + "/tenstorrent")) {
    if (name.starts_with(kPrefix)) return name.substr(kPrefix.size());
  }
  return std::nullopt;
}

}  // namespace ttfd::kmd
