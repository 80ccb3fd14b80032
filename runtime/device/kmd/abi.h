// The ioctl interface of tt-kmd, as far as the backend uses it, and the stand-in of the tests answers it.
//
// Request numbers carry no size, so a driver with another layout would misread a call silently: the version is
// checked before any call whose layout has changed (driver_version.h). Calls are input and output back to back; a
// call with `output_bytes` names how many bytes of output it has space for.
//
// Sources of numbers, sizes and offsets: tt-kmd ioctl.h of versions 2.0.0 to 2.10.0, sizes and offsets by
// compiling it; the layout of the window calls is that of 1.34 and later. Never run against silicon.
#pragma once

#include <cstddef>
#include <cstdint>

namespace ttfd::kmd {

enum Request : uint32_t {
  kGetDeviceInfo = 0xFA00,
  kGetDriverInfo = 0xFA05,
  kResetDevice = 0xFA06,
  kPinPages = 0xFA07,
  kLockControl = 0xFA08,
  kUnpinPages = 0xFA0A,
  kAllocateWindow = 0xFA0B,
  kFreeWindow = 0xFA0C,
  kConfigureWindow = 0xFA0D,
  kSetNocCleanup = 0xFA0E,
  kSetPowerState = 0xFA0F,
};

// Which card it is. All versions.
struct DeviceInfoCall {
  uint32_t output_bytes = 0;
  uint32_t written_bytes = 0;
  uint16_t vendor = 0;
  uint16_t device = 0;
  uint16_t subsystem_vendor = 0;
  uint16_t subsystem_device = 0;
  uint16_t bus_device_function = 0;  // bus 15:8, device 7:3, function 2:0
  uint16_t max_dma_buffer_log2 = 0;
  uint16_t domain = 0;
  uint16_t reserved = 0;
};
inline constexpr uint32_t kDeviceInfoOutput = 20;
static_assert(sizeof(DeviceInfoCall) == 4 + kDeviceInfoOutput);
static_assert(offsetof(DeviceInfoCall, vendor) == 8);
static_assert(offsetof(DeviceInfoCall, bus_device_function) == 16);
static_assert(offsetof(DeviceInfoCall, domain) == 20);

// The driver's version. Before 2.0 it writes 8 bytes, without major, minor and patch.
struct DriverInfoCall {
  uint32_t output_bytes = 0;
  uint32_t written_bytes = 0;
  uint32_t api = 0;  // 2 from 2.0 on
  uint8_t major = 0;
  uint8_t minor = 0;
  uint8_t patch = 0;
  uint8_t reserved = 0;
};
inline constexpr uint32_t kDriverInfoOutput = 12;
inline constexpr uint32_t kDriverInfoOutputBefore2 = 8;
static_assert(sizeof(DriverInfoCall) == 4 + kDriverInfoOutput);
static_assert(offsetof(DriverInfoCall, api) == 8);
static_assert(offsetof(DriverInfoCall, major) == 12);

// Pins pages of the process; with kPinForNoc (2.0) an outbound iATU region leads to them.
struct PinPagesCall {
  uint32_t output_bytes = 0;
  uint32_t flags = 0;
  uint64_t address = 0;  // multiples of the page
  uint64_t bytes = 0;
  uint64_t bus_address = 0;  // output: an IOVA, or a physical address without IOMMU
  uint64_t noc_address = 0;  // output: at the PCIe tile
};
inline constexpr uint32_t kPinPagesOutput = 16;
inline constexpr uint32_t kPinContiguous = 1;  // a promise without effect today
inline constexpr uint32_t kPinForNoc = 2;      // the lowest free NoC addresses
inline constexpr uint32_t kPinTopDown = 4;     // the highest; by itself from 2.4 on
inline constexpr uint32_t kPinReadOnly = 8;    // 2.9, with IOMMU
static_assert(sizeof(PinPagesCall) == 24 + kPinPagesOutput);
static_assert(offsetof(PinPagesCall, address) == 8);
static_assert(offsetof(PinPagesCall, bus_address) == 24);
static_assert(offsetof(PinPagesCall, noc_address) == 32);

// Undoes one pinning, named by exactly its address and size.
struct UnpinPagesCall {
  uint64_t address = 0;
  uint64_t bytes = 0;
  uint64_t reserved = 0;  // 0
};
static_assert(sizeof(UnpinPagesCall) == 24);

// 64 flags a device, owned by descriptors.
struct LockControlCall {
  uint32_t output_bytes = 0;
  uint32_t operation = 0;
  uint8_t index = 0;
  uint8_t reserved[3] = {};
  uint8_t value = 0;  // output; kLockAcquire: 1 acquired, 0 busy
  uint8_t padding[3] = {};
};
inline constexpr uint32_t kLockControlOutput = 1;
inline constexpr uint32_t kLockAcquire = 0;
inline constexpr uint32_t kLockRelease = 1;
inline constexpr uint32_t kLockTest = 2;  // bit 0: held by this descriptor; bit 1: by any
inline constexpr uint32_t kLocks = 64;
// A ttfd has it while it serves the card. By convention 0 to 15 belong to Ethernet tiles.
inline constexpr uint8_t kOwnerLock = 63;
static_assert(sizeof(LockControlCall) == 16);
static_assert(offsetof(LockControlCall, index) == 8);
static_assert(offsetof(LockControlCall, value) == 12);

// Reserves a hardware window for this descriptor.
struct AllocateWindowCall {
  uint64_t bytes = 0;  // exactly 2 MiB or 4 GiB
  uint64_t reserved = 0;
  uint32_t id = 0;  // output from here on
  uint32_t padding = 0;
  uint64_t uncached_offset = 0;  // for mmap
  uint64_t write_combining_offset = 0;
  uint64_t reserved_output = 0;
};
static_assert(sizeof(AllocateWindowCall) == 48);
static_assert(offsetof(AllocateWindowCall, id) == 16);
static_assert(offsetof(AllocateWindowCall, uncached_offset) == 24);
static_assert(offsetof(AllocateWindowCall, write_combining_offset) == 32);

// Refused while the window is mapped.
struct FreeWindowCall {
  uint32_t id = 0;
};
static_assert(sizeof(FreeWindowCall) == 4);

// Where a window looks. Unicast: the tile in `end`, 0 in `start`.
struct WindowConfig {
  uint64_t address = 0;  // a multiple of the window's size
  uint16_t x_end = 0;
  uint16_t y_end = 0;
  uint16_t x_start = 0;
  uint16_t y_start = 0;
  uint8_t noc = 0;
  uint8_t multicast = 0;
  uint8_t ordering = 0;
  uint8_t linked = 0;
  uint8_t static_vc = 0;
  uint8_t reserved[11] = {};
  bool operator==(const WindowConfig&) const = default;
};
inline constexpr uint8_t kOrderingRelaxed = 0;
inline constexpr uint8_t kOrderingStrict = 1;
static_assert(sizeof(WindowConfig) == 32);
static_assert(offsetof(WindowConfig, x_end) == 8);
static_assert(offsetof(WindowConfig, noc) == 16);
static_assert(offsetof(WindowConfig, static_vc) == 20);

struct ConfigureWindowCall {
  uint32_t id = 0;
  uint32_t reserved = 0;
  WindowConfig config;
  uint64_t reserved_output = 0;
};
static_assert(sizeof(ConfigureWindowCall) == 48);
static_assert(offsetof(ConfigureWindowCall, config) == 8);

// Resets the card in two calls (2.4.1): kResetAsic, from which on every other descriptor is of no use, then kPostReset
// when the card is back. Until then the driver answers only these and the first two requests.
struct ResetDeviceCall {
  uint32_t output_bytes = 0;
  uint32_t flags = 0;
  uint32_t written_bytes = 0;
  uint32_t result = 0;  // output; 0: done
};
inline constexpr uint32_t kResetDeviceOutput = 8;
inline constexpr uint32_t kResetAsic = 4;
inline constexpr uint32_t kPostReset = 6;
static_assert(sizeof(ResetDeviceCall) == 16);
static_assert(offsetof(ResetDeviceCall, result) == 12);

// The word that the driver writes to the card when it closes this descriptor, also that of a process that was killed
// (2.2). One for each descriptor.
struct NocCleanupCall {
  uint32_t bytes = 0;  // of this structure
  uint32_t flags = 0;
  uint8_t enabled = 0;
  uint8_t x = 0;
  uint8_t y = 0;
  uint8_t noc = 0;
  uint32_t reserved = 0;
  uint64_t address = 0;  // a multiple of 4
  uint64_t data = 0;     // the low 32 bits
};
static_assert(sizeof(NocCleanupCall) == 32);
static_assert(offsetof(NocCleanupCall, enabled) == 8);
static_assert(offsetof(NocCleanupCall, noc) == 11);
static_assert(offsetof(NocCleanupCall, address) == 16);
static_assert(offsetof(NocCleanupCall, data) == 24);

// Requests power for the card (2.6); a part of it has power if any descriptor requests it.
struct PowerStateCall {
  uint32_t bytes = 0;  // of this structure
  uint32_t flags = 0;
  uint8_t reserved = 0;
  uint8_t validity = 0;  // how many of power_flags count, 3:0, and of settings, 7:4
  uint16_t power_flags = 0;
  uint16_t settings[14] = {};
};
inline constexpr uint8_t kPowerFlags = 4;
inline constexpr uint16_t kPowerHighClock = 1;  // AICLK at its maximum
inline constexpr uint16_t kPowerDram = 2;
inline constexpr uint16_t kPowerTensix = 4;
inline constexpr uint16_t kPowerL2Cpu = 8;
inline constexpr uint16_t kPowerOfAnOpenNode = kPowerDram | kPowerTensix | kPowerL2Cpu;
static_assert(sizeof(PowerStateCall) == 40);
static_assert(offsetof(PowerStateCall, validity) == 9);
static_assert(offsetof(PowerStateCall, power_flags) == 10);
static_assert(offsetof(PowerStateCall, settings) == 12);

}  // namespace ttfd::kmd
