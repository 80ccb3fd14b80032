#include "daemon/open_device.h"

#include <algorithm>
#include <optional>
#include <set>

#include "absl/strings/numbers.h"
#include "daemon/options.h"
#include "runtime/base/log.h"
#include "runtime/device/kmd/kmd_device.h"
#include "runtime/device/kmd/pci.h"
#include "runtime/device/ttsim/ttsim_device.h"

namespace ttfd {
namespace {

constexpr char kPossible[] =
    "auto, kmd:/dev/tenstorrent/0, kmd:0000:03:00.0, sim, sim:board=p100a, sim:board=p150 and "
    "ttsim:PATH "
    "are possible";

constexpr char kDeviceModel[] = "sim:board=p150";

// Behind "BACKEND:"; none: the text names another backend.
std::optional<std::string_view> After(std::string_view backend, std::string_view text) {
  if (text.substr(0, text.find(':')) != backend) return std::nullopt;
  return text.substr(std::min(text.size(), backend.size() + 1));
}

}  // namespace

Status CheckDeviceText(std::string_view text) {
  if (text == kAutoDevice) return OkStatus();
  if (After("ttsim", text)) return ParseTtsimOptions(text).status();
  if (After("sim", text)) return ParseSimOptions(text).status();
  if (const auto card = After("kmd", text)) return kmd::CheckCardName(*card);
  return InvalidArgument("'{}' is no device; {}", text, kPossible);
}

DeviceChoice ChooseDevice(std::string_view text, kmd::Files& files) {
  if (text != kAutoDevice) return {std::string(text), ""};
  std::set<uint32_t> numbers;
  for (const std::string& name : files.List(kmd::kNodeFolder)) {
    uint32_t number = 0;
    if (absl::SimpleAtoi(name, &number)) numbers.insert(number);
  }
  if (numbers.empty()) {
    const std::vector<std::string> cards = kmd::BlackholeCards(files);
    if (!cards.empty())
      return {fmt::format("kmd:{}", cards.front()), "auto: a card without a node"};
    return {kDeviceModel, "auto: the device model, because this host has no card"};
  }
  return {fmt::format("kmd:{}/{}", kmd::kNodeFolder, *numbers.begin()),
          numbers.size() == 1 ? "auto: the card of this host"
                              : fmt::format("auto: the first of {} cards", numbers.size())};
}

namespace {

StatusOr<std::vector<std::unique_ptr<Device>>> OpenPorts(std::string_view text,
                                                         const kmd::System& system,
                                                         uint64_t host_bytes,
                                                         Debugging* debugging) {
  std::vector<std::unique_ptr<Device>> devices;
  if (After("ttsim", text)) {
    ASSIGN_OR_RETURN(const TtsimOptions options, ParseTtsimOptions(text));
    return OpenTtsimDevices(options);
  }
  if (const auto card = After("kmd", text)) {
    ASSIGN_OR_RETURN(devices.emplace_back(),
                     KmdDevice::Open(std::string(*card), system, host_bytes));
    return devices;
  }
  ASSIGN_OR_RETURN(const SimOptions options, ParseSimOptions(text));
  if (!options.gdb.empty() && debugging->server != nullptr) {
    return InvalidArgument("'{}': another device has a debugger already; one may have one", text);
  }
  return OpenSimDevices(options, options.gdb.empty() ? nullptr : debugging);
}

}  // namespace

StatusOr<OpenedDevices> OpenDevices(std::span<const std::string> texts, const kmd::System& system,
                                    uint64_t host_bytes, std::span<const ChipId> remote_chips,
                                    Debugging* debugging) {
  OpenedDevices opened;
  for (const std::string& text : texts) {
    const bool debugged = debugging->server != nullptr;
    ASSIGN_OR_RETURN(auto ports, OpenPorts(text, system, host_bytes, debugging));
    if (!debugged && debugging->server != nullptr) opened.debugged = opened.devices.size();
    for (auto& port : ports) opened.devices.push_back(std::move(port));
  }
  opened.behind.resize(opened.devices.size());
  RemoteChips remote = FindRemoteChips(opened.devices, remote_chips, SteadyClock());
  for (const std::string& left_out : remote.left_out) LogInfo("{}", left_out);
  for (RemoteChips::Chip& chip : remote.chips) {
    opened.devices.push_back(std::move(chip.device));
    opened.behind.emplace_back(chip.behind);
  }
  if (opened.devices.size() > kMostDevices) {
    return InvalidArgument("{} devices; a daemon serves at most {}", opened.devices.size(),
                           kMostDevices);
  }
  return opened;
}

}  // namespace ttfd
