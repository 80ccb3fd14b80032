#include "runtime/device/ttsim/ttsim_device.h"

#include <unistd.h>

#include <filesystem>
#include <system_error>
#include <utility>

#include "absl/strings/numbers.h"
#include "runtime/device/port_device.h"
#include "runtime/device/ttsim/ttsim_port.h"

namespace ttfd {

StatusOr<TtsimOptions> ParseTtsimOptions(std::string_view text) {
  constexpr std::string_view kPrefix = "ttsim:", kPorts = ",ports=";
  TtsimOptions options;
  if (text.starts_with(kPrefix)) options.library = text.substr(kPrefix.size());
  if (const size_t at = options.library.rfind(kPorts); at != std::string::npos) {
    uint32_t ports = 0;
    if (!absl::SimpleAtoi(options.library.substr(at + kPorts.size()), &ports) || ports == 0) {
      return InvalidArgument("'{}': ports is a number of chips, from 1", text);
    }
    options.ports = ports;
    options.library.resize(at);
  }
  if (options.library.find('/') == std::string::npos) {
    return InvalidArgument("\"{}\" does not name a simulator library (ttsim:/path/to/libttsim.so)",
                           text);
  }
  return options;
}

StatusOr<std::string> DefaultChildProgram() {
  std::error_code error;
  const std::filesystem::path self = std::filesystem::read_symlink("/proc/self/exe", error);
  if (error) return Internal("/proc/self/exe: {}", error.message());
  const std::filesystem::path child =
      self.parent_path().parent_path() / "libexec" / "ttfd" / "ttfd-ttsim-child";
  if (access(child.c_str(), X_OK) != 0) {
    return Error(StatusCode::kUnavailable, "{}, which runs simulator libraries, is not there",
                 child.string());
  }
  return child.string();
}

StatusOr<std::vector<std::unique_ptr<Device>>> OpenTtsimDevices(const TtsimOptions& options) {
  TtsimPort::Options start;
  start.library = options.library;
  start.child_program = options.child_program;
  if (start.child_program.empty()) {
    ASSIGN_OR_RETURN(start.child_program, DefaultChildProgram());
  }
  ASSIGN_OR_RETURN(std::vector<std::unique_ptr<TtsimPort>> ports, TtsimPort::Start(start));
  if (options.ports.value_or(1) > ports.size()) {
    return InvalidArgument("{} has {} chips with PCIe ports, not {}", options.library, ports.size(),
                           *options.ports);
  }
  ports.resize(options.ports.value_or(ports.size()));
  std::vector<std::unique_ptr<Device>> devices;
  for (std::unique_ptr<TtsimPort>& port : ports) {
    // A bus address that no memory was given for ends the child: as good as an IOMMU.
    const PortTraits traits = {.backend = "ttsim",
                               .memory_is_zero_after_power_on = true,
                               .iommu = true,
                               .memory_survives_reset = false,
                               .reports_quiescence = false,
                               .number = static_cast<uint32_t>(devices.size())};
    ASSIGN_OR_RETURN(devices.emplace_back(), PortDevice::Open(std::move(port), traits));
  }
  return devices;
}

StatusOr<std::unique_ptr<Device>> OpenTtsimDevice(TtsimOptions options) {
  options.ports = 1;
  ASSIGN_OR_RETURN(std::vector<std::unique_ptr<Device>> devices, OpenTtsimDevices(options));
  return std::move(devices.front());
}

}  // namespace ttfd
