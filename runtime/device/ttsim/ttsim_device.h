// Opens a simulator library as a device: Tenstorrent's libttsim.so, or any other with its interface.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/device/device.h"

namespace ttfd {

struct TtsimOptions {
  std::string library;        // a path
  std::string child_program;  // empty: DefaultChildProgram()
  // Chips whose PCIe ports the host uses, the first ones. The others are reached through links. Unset: all that the
  // library has.
  std::optional<uint32_t> ports = {};
};

// "ttsim:PATH" or "ttsim:PATH,ports=N". PATH has a '/' in it: the loader's search path is not asked.
StatusOr<TtsimOptions> ParseTtsimOptions(std::string_view text);

// ../libexec/ttfd/ttfd-ttsim-child, seen from the folder of the running program: so it lies in an
// installation and in a build.
StatusOr<std::string> DefaultChildProgram();

// The chips that have ports, fresh, at least one. A reset of one loses DRAM and L1 of all
// (DeviceInfo::memory_survives_reset), and the others are lost until they are reset, too. They never report quiescence
// (DeviceInfo::reports_quiescence).
StatusOr<std::vector<std::unique_ptr<Device>>> OpenTtsimDevices(const TtsimOptions& options);
// The first alone.
StatusOr<std::unique_ptr<Device>> OpenTtsimDevice(TtsimOptions options);

}  // namespace ttfd
