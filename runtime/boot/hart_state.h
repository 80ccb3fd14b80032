// Status that a hart of ours publishes, read over PCIe and put into words.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

#include "runtime/abi/hart_status.h"
#include "runtime/base/status.h"
#include "runtime/device/device.h"
#include "runtime/hw/tensix.h"

namespace ttfd {

std::string_view HartName(uint32_t hart);             // "BRISC"
std::string_view HartStateName(uint32_t state);       // "ready"
std::string WaypointName(uint32_t waypoint);          // the four letters, without trailing blanks
std::string_view WaypointMeaning(uint32_t waypoint);  // "waits for a go signal"; "" if unknown

using TileStatus = std::array<abi::HartStatus, hw::kHarts>;

StatusOr<TileStatus> ReadTileStatus(Window& tile);
// ttsim ends its process on an access to a register it does not map.
inline bool HasPcSnapshots(const Device& device) { return device.info().backend != "ttsim"; }
// 0 where the backend has no PC snapshots.
uint32_t ReadPc(Device& device, Window& tile, uint32_t hart);

// "unknown command 77 at 0x1a040 (position 0x40)": what the firmware's fault record says.
std::string DescribeFault(const abi::HartStatus& status);

// Names what a hart at this waypoint waits for: "a semaphore". Empty: for nothing of its launch.
std::string_view AwaitedAt(uint32_t waypoint);
// Note of the kernel on a worker's hart: "task 777". Empty: none.
std::string NoteText(const abi::HartStatus& status);
// A hart's fault in a few words: "no circular buffer 3".
std::string BriefFault(const abi::HartStatus& status);
// Whether no firmware of ours wrote this: a kernel wrote over it.
bool IsOverwritten(const abi::HartStatus& status);
// The program that a worker began last, from the status of its BRISC. 0: none, or the status is overwritten.
uint32_t ProgramOf(const abi::HartStatus& brisc);
// L1 address of the image that a TRISC ran, of a status with kFaultEngineInUse; 0: it ran none.
uint32_t EngineFaultImage(const abi::HartStatus& status, uint32_t hart);

}  // namespace ttfd
