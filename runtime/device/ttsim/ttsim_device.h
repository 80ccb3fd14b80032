// Opens a simulator library as a device: Tenstorrent's libttsim.so, or any other with its interface.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "runtime/device/device.h"

namespace ttfd {

struct TtsimOptions {
  std::string library;        // a path
  std::string child_program;  // empty: DefaultChildProgram()
};

// "ttsim:PATH". PATH has a '/' in it: the loader's search path is not asked.
StatusOr<TtsimOptions> ParseTtsimOptions(std::string_view text);

// ../libexec/ttfd/ttfd-ttsim-child, seen from the folder of the running program: so it lies in an
// installation and in a build.
StatusOr<std::string> DefaultChildProgram();

// The device, fresh. A reset of it loses DRAM and L1 (DeviceInfo::memory_survives_reset); it never
// reports quiescence (DeviceInfo::reports_quiescence).
StatusOr<std::unique_ptr<Device>> OpenTtsimDevice(const TtsimOptions& options);

}  // namespace ttfd
