// Interface of a simulated chip: the physical surface of a PCIe card and a clock. Nothing else
// crosses this seam.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "runtime/base/bytes.h"
#include "runtime/base/status.h"
#include "runtime/device/kernel_bounds.h"
#include "runtime/device/stack_sampler.h"
#include "runtime/hw/grid.h"

namespace ttfd {

struct AdvanceResult {
  // How far the device got by this call (one instruction of every runnable hart = one clock).
  uint64_t clocks = 0;
  bool quiescent = false;  // nothing can happen any more unless the host acts
  bool halted = false;     // a debugger stopped the device; then it is not quiescent
};

// Memory of this process for a chip to reach. `file` is what the bytes are a mapping of, from its
// start: a chip in another process maps it too. It may be closed after the call it was passed to.
struct HostPages {
  MutableByteSpan bytes;
  int file = -1;
};

// Fault of device code that stopped the chip.
struct DeviceFault {
  hw::Coordinate tile = {0, 0};  // translated
  uint32_t hart = 0;             // hw::Hart
  uint32_t pc = 0;
  uint32_t return_address = 0;  // register ra then
  std::string what;             // in a few words: "misaligned access to 0x30001"
  std::string text;             // what Advance answers with
};

// The wait of a parked hart in its tile's Tensix engine.
struct EngineWait {
  std::string instruction;  // "SEMWAIT wait_sem_cond=1 sem_sel=128 stall_res=66"
  std::string condition;    // "semaphore 7 is 0"
  bool operator==(const EngineWait&) const = default;
};

// Errors: INVALID_ARGUMENT for an access of the host that was refused, FAILED_PRECONDITION for a fault of
// device code, UNAVAILABLE when the chip is gone. A fault of device code stops its hart; where a backend cannot
// continue after one, it answers every later call with it until it is reset. Not thread-safe: one thread, the
// device thread, is the only caller.
class PciePort {
 public:
  virtual ~PciePort() = default;

  virtual StatusOr<uint32_t> ConfigRead(uint32_t offset) = 0;
  virtual Status BarRead(int bar, uint64_t offset, MutableByteSpan to) = 0;
  virtual Status BarWrite(int bar, uint64_t offset, ByteSpan from) = 0;

  // Lets the chip reach `pages` at bus addresses [bus_address, bus_address + size). The memory
  // outlives the port or the call that maps no bytes there.
  virtual Status MapHostMemory(uint64_t bus_address, const HostPages& pages) = 0;

  // The fundamental reset (PERST#): every hart held, registers at their reset values, DRAM and L1
  // keep their contents, a fault is forgotten. Host memory stays mapped; TLB and iATU registers do
  // not. A chip that cannot be reset is replaced by a new one, with other memory; see
  // DeviceInfo::memory_survives_reset.
  virtual Status Reset() = 0;

  // As Device::CheckPresence. UNAVAILABLE: another port's reset has taken the chip away, until this one's.
  virtual Status CheckPresence() { return OkStatus(); }

  // Lets every runnable hart execute up to `clocks` instructions. May come back after fewer.
  virtual StatusOr<AdvanceResult> Advance(uint64_t clocks) = 0;

  // As Device::fault().
  virtual std::optional<DeviceFault> fault() const { return std::nullopt; }

  // `tile` is translated, `hart` a hw::Hart. None: it does not wait there, or the backend cannot look inside.
  virtual std::optional<EngineWait> WaitOf(hw::Coordinate /*tile*/, uint32_t /*hart*/) const {
    return std::nullopt;
  }

  // As Device::kernel_bounds().
  virtual KernelBounds* kernel_bounds() { return nullptr; }

  // Samples call stacks from now on. UNIMPLEMENTED: the backend cannot watch harts execute.
  virtual StatusOr<std::unique_ptr<StackSampler>> SampleStacks(const SampleOptions& /*options*/) {
    return Error(StatusCode::kUnimplemented, "this backend does not watch harts execute");
  }
};

}  // namespace ttfd
