// The simulator library: the functions it exports, loaded. In the child process only.
//
// The functions are those of libttsim.so (libttsim_api.md of its documents): not reentrant, one thread, one
// library a process, whose chips are PCI devices from 0 on, time moves in clock() alone, a violation ends the process.
#pragma once

#include <cstdint>

#include "runtime/base/status.h"

namespace ttfd::ttsim {

struct SimulatorLibrary {
  using HostRead = void(uint64_t address, void* to, uint32_t size);
  using HostWrite = void(uint64_t address, const void* from, uint32_t size);

  void (*set_host_memory)(HostRead*, HostWrite*) = nullptr;  // before init
  void (*init)() = nullptr;
  uint32_t (*config_read)(uint32_t bus_device_function, uint32_t offset) = nullptr;
  void (*read)(uint64_t address, void* to, uint32_t size) = nullptr;
  void (*write)(uint64_t address, const void* from, uint32_t size) = nullptr;
  void (*clock)(uint32_t clocks) = nullptr;

  // Loads `path`; it stays loaded. FAILED_PRECONDITION: not a simulator library.
  static StatusOr<SimulatorLibrary> Load(const char* path);
};

}  // namespace ttfd::ttsim
