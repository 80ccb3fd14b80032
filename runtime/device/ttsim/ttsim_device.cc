#include "runtime/device/ttsim/ttsim_device.h"

#include <unistd.h>

#include <filesystem>
#include <system_error>
#include <utility>

#include "runtime/device/port_device.h"
#include "runtime/device/ttsim/ttsim_port.h"

namespace ttfd {

StatusOr<TtsimOptions> ParseTtsimOptions(std::string_view text) {
  constexpr std::string_view kPrefix = "ttsim:";
  TtsimOptions options;
  if (text.starts_with(kPrefix)) options.library = text.substr(kPrefix.size());
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

StatusOr<std::unique_ptr<Device>> OpenTtsimDevice(const TtsimOptions& options) {
  TtsimPort::Options port;
  port.library = options.library;
  port.child_program = options.child_program;
  if (port.child_program.empty()) {
    ASSIGN_OR_RETURN(port.child_program, DefaultChildProgram());
  }
  ASSIGN_OR_RETURN(std::unique_ptr<TtsimPort> started, TtsimPort::Start(port));
  // A bus address that no memory was given for ends the child: as good as an IOMMU.
  const PortTraits traits = {.backend = "ttsim",
                             .memory_is_zero_after_power_on = true,
                             .iommu = true,
                             .memory_survives_reset = false,
                             .reports_quiescence = false};
  return PortDevice::Open(std::move(started), traits);
}

}  // namespace ttfd
