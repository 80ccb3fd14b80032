// The card as the host programs it: windows into its address space, memory it can reach, reset,
// time.
//
// One conformance suite (tests/conformance) runs on every backend.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "absl/functional/function_ref.h"
#include "runtime/base/bytes.h"
#include "runtime/base/clock.h"
#include "runtime/base/status.h"
#include "runtime/device/card_health.h"
#include "runtime/device/kernel_bounds.h"
#include "runtime/device/pcie_port.h"
#include "runtime/hw/grid.h"

namespace ttfd {

// Called between two polls of a card that something waits for, on the thread that waits. An error ends the wait.
using Tick = absl::FunctionRef<Status()>;
inline Status NoTick() { return OkStatus(); }

// The part of the card that a boot resets first: the harts, which leaves DRAM and L1 as they are (Device::Reset), or
// the whole chip (Device::ResetChip).
enum class ResetStrength { kHarts, kChip };

// The chip as its telemetry and its neighbours name it.
struct ChipId {
  uint64_t board = 0;  // 0: not reported
  uint64_t asic = 0;   // 0: not reported
  bool operator==(const ChipId&) const = default;
};

// Read from the card once; constant afterwards.
struct DeviceInfo {
  std::string board;  // "p100a", "p150"
  ChipId id;
  std::string backend;  // "embedded", "ttsim", "kmd"
  std::vector<uint32_t>
      tensix_columns;  // translated x of the usable Tensix columns, ascending; rows are y 2..11
  std::vector<uint32_t>
      dram_port_xy[2];  // [noc][logical bank]: translated NocXy of the port to use on that NoC
  // [logical bank]: translated, the Tensix tile next to dram_port_xy[0].
  std::vector<hw::Coordinate> dram_neighbors;
  // Channels of the enabled Ethernet tiles, ascending; the tile of the nth is at translated (kEthTranslatedX + n,
  // kEthTranslatedY).
  std::vector<uint32_t> ethernet_channels;
  uint64_t dram_bank_bytes = 0;
  uint64_t clock_hz = 0;
  bool memory_is_zero_after_power_on = false;  // the model's memory is; silicon's is not
  bool iommu = false;  // is host memory the card was not given out of its reach?
  // Do DRAM and L1 keep their contents over a Reset? Not where the chip is a process that can only be
  // started again.
  bool memory_survives_reset = true;
  // Can ResetChip be called?
  bool resets_chip = false;
  // Does Advance say when nothing can happen any more? Where it does not, a wait ends by its deadline.
  bool reports_quiescence = false;
  // Does the card run without Advance? Then a thread that waits for it pauses between polls.
  bool runs_by_itself = false;
  bool operator==(const DeviceInfo&) const = default;
};

enum class WindowOrdering { kRelaxed, kStrict };

// Where a window looks. For multicast, `start` and `end` span a rectangle of Tensix tiles, write
// only.
struct WindowTarget {
  hw::Coordinate start;  // translated; unicast: equal to end
  hw::Coordinate end;
  bool multicast = false;
  WindowOrdering ordering = WindowOrdering::kStrict;
};

inline WindowTarget UnicastTarget(hw::Coordinate tile) {
  return {tile, tile, false, WindowOrdering::kStrict};
}

// INVALID_ARGUMENT: no such tiles, or more than one without multicast.
Status CheckTarget(const WindowTarget& target);

// A view of a tile's 64-bit address space, addressed absolutely: the window moves by itself when an
// access leaves its 2 MiB. Register space (>= 0xFF000000 of a Tensix tile) takes 4 aligned bytes at
// a time; memory takes any size and alignment.
class Window {
 public:
  virtual ~Window() = default;
  virtual Status Read(uint64_t address, MutableByteSpan to) = 0;
  virtual Status Write(uint64_t address, ByteSpan from) = 0;
};

// Memory of this process that the card reads and writes: pinned, physically reachable. Freed with
// the object.
class HostMemory {
 public:
  virtual ~HostMemory() = default;
  virtual MutableByteSpan bytes() = 0;
  virtual uint64_t noc_address() const = 0;  // at the PCIe tile, kHostMemoryNocBase + offset
};

class Device {
 public:
  virtual ~Device() = default;
  virtual const DeviceInfo& info() const = 0;
  virtual StatusOr<std::unique_ptr<Window>> OpenWindow(const WindowTarget& target) = 0;
  // Can the chip access memory of AllocateHostMemory? Where it cannot, that is memory of this process alone, and its
  // NoC address is 0.
  virtual bool reaches_host_memory() const { return true; }
  // Zeroed, 4 KiB aligned. Must not outlive the device.
  virtual StatusOr<std::unique_ptr<HostMemory>> AllocateHostMemory(uint64_t size_bytes) = 0;
  // Holds every hart in reset and forgets a fault. Windows and host memory stay valid; DRAM and L1
  // keep their contents if info().memory_survives_reset, and hold nothing anybody knows otherwise.
  // A lost card (CheckPresence) is looked for once. If it is back, DRAM and L1 hold unknown contents, and host
  // memory may have other NoC addresses; if not, the card stays lost.
  virtual Status Reset() = 0;
  // The stronger reset, of the whole chip and its firmware; takes seconds, in which `tick` is called. Afterwards every
  // hart is held, DRAM and L1 hold unknown contents, host memory may have other NoC addresses, and windows stay
  // valid. A chip that does not come back is lost (CheckPresence). REQUIRES info().resets_chip.
  virtual Status ResetChip(Clock& /*clock*/, Tick /*tick*/) {
    return Error(StatusCode::kUnimplemented, "this backend resets no chip");
  }
  // Waits until every write so far has taken effect. A chip that is reached through another loses what is still on its
  // way when that is reset.
  virtual Status Settle() { return OkStatus(); }
  // Calls of Reset and ResetChip so far, those that failed among them. After one nothing is known of the chip's
  // registers.
  virtual uint64_t resets() const { return 0; }
  // Has all harts of these tiles (translated), in place of those named before, held when this process ends in whatever
  // way. Does nothing where no driver outlives the process.
  virtual Status HoldOnExit(std::span<const hw::Coordinate> /*tiles*/) { return OkStatus(); }
  // Raises the card's clock while there are users of it, or lets it fall. A wish: where it fails, that is logged.
  virtual void SetInUse(bool /*in_use*/) {}
  // The card's sensors, clocks, link and versions: about a dozen reads through a window. None: there is no card.
  virtual std::optional<CardHealth> ReadHealth() { return std::nullopt; }
  // UNAVAILABLE: the card is lost, because another process has reset or removed it. DATA_LOSS: lost, because it reads
  // all ones, which ResetChip may end. Every other call but these resets fails with it until one of them has found the
  // card again. Takes one read through a window.
  virtual Status CheckPresence() { return OkStatus(); }
  // Where the card runs by itself, as silicon does, the call returns at once, with 0 clocks and never quiescent.
  virtual StatusOr<AdvanceResult> Advance(uint64_t clocks) = 0;
  // Has the next call of Advance return `fault`, which a call returned to a caller that waited for another chip.
  virtual void ReturnFault(const Status& /*fault*/) {}
  // The first fault of a hart since the last Reset, where the backend reports it. It has stopped that hart, and was the
  // result of the Advance in which it happened; the rest of the card continues. Silicon does not report it.
  virtual std::optional<DeviceFault> fault() const { return std::nullopt; }
  // The wait of a hart of a Tensix tile (translated) in the tile's engine. None: it does not wait there, or the
  // backend cannot look inside. Silicon cannot.
  virtual std::optional<EngineWait> WaitOf(hw::Coordinate /*tile*/, uint32_t /*hart*/) const {
    return std::nullopt;
  }
  // The table by which the backend checks what kernels access, owned by the device. Null: it cannot. Silicon cannot.
  virtual KernelBounds* kernel_bounds() { return nullptr; }
  // Samples call stacks as long as the result lives, which the device must outlive. UNIMPLEMENTED: the
  // backend cannot watch harts execute. Silicon cannot.
  virtual StatusOr<std::unique_ptr<StackSampler>> SampleStacks(const SampleOptions& /*options*/) {
    return Error(StatusCode::kUnimplemented, "this backend does not watch harts execute");
  }
};

inline Status Reset(Device& device, ResetStrength strength, Clock& clock, Tick tick) {
  return strength == ResetStrength::kChip ? device.ResetChip(clock, tick) : device.Reset();
}

inline StatusOr<uint32_t> ReadWord(Window& window, uint64_t address) {
  uint32_t value = 0;
  RETURN_IF_ERROR(window.Read(address, MutableBytesOf(value)));
  return value;
}
inline Status WriteWord(Window& window, uint64_t address, uint32_t value) {
  return window.Write(address, BytesOf(value));
}

}  // namespace ttfd
