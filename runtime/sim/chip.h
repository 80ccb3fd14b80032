// A Blackhole chip in software, seen from its PCIe slot.
//
// Functional, untimed and deterministic: equal calls give equal results. Not thread-safe: one
// thread is the only caller. What it does not model it refuses (fault.h). It has been checked
// against Tenstorrent's documents and simulator, never against silicon.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>

#include "runtime/base/bytes.h"
#include "runtime/base/status.h"
#include "runtime/hw/grid.h"
#include "runtime/sim/fault.h"
#include "runtime/sim/hart.h"
#include "runtime/sim/host_memory.h"
#include "runtime/sim/memory_guard.h"
#include "runtime/sim/options.h"

namespace ttfd::sim {

class EthernetTile;
class Inspector;
class TensixTile;

class Chip {
 public:
  static StatusOr<std::unique_ptr<Chip>> Create(const ChipOptions& options);
  ~Chip();

  // The physical surface; see runtime/device/pcie_port.h. A fault stops its hart until that is reset, and is
  // what the call of Advance in which it happened answers with; everything else continues. A refusal of the
  // host's own access is the answer to that call only.
  StatusOr<uint32_t> ConfigRead(uint32_t offset);
  Status ConfigWrite(uint32_t offset, uint32_t value);
  Status BarRead(int bar, uint64_t offset, MutableByteSpan to);
  Status BarWrite(int bar, uint64_t offset, ByteSpan from);
  Status MapHostMemory(uint64_t bus_address, MutableByteSpan memory);
  // Instead of mapped memory: `access`, which outlives the chip, serves every packet to the host.
  void SetHostAccess(HostAccess* access);
  Status Reset();

  struct Progress {
    uint64_t clocks = 0;
    bool quiescent = false;  // no hart is runnable and nothing is on its way
    bool halted = false;     // an inspector stopped the chip; then it is not quiescent
  };
  StatusOr<Progress> Advance(uint64_t clocks);
  // Lets time pass on a chip that Advance() left quiescent, for a caller whose clock goes on.
  void Idle(uint64_t clocks);

  // `inspector` watches from now on, until it is detached; it outlives that. Between two calls of
  // Advance only. Harts run slower meanwhile.
  void Attach(Inspector* inspector);
  void Detach(Inspector* inspector);

  // From now on `guard` checks what the harts of Tensix tile `index` access; null: everything is allowed. It outlives
  // the last call of Advance. Between two calls of Advance only.
  void Guard(uint32_t index, MemoryGuard* guard);

  // For a debugger, which changes what it looks at; between two calls of Advance only.
  TensixTile& tile(uint32_t index);
  const TensixTile& tile(uint32_t index) const;
  // From now on a fault stops the chip as an inspector does: Advance answers `halted`, the host's accesses go on.
  // False: the fault that was held, if there is one, is what the next call of Advance answers with.
  void HoldFaults(bool hold);

  // For tests and tools. They look, they never change.
  const std::optional<Fault>& fault() const;
  const Refusal& last_refusal() const;  // why the host's last refused access was refused
  uint32_t tensix_count() const;
  hw::Coordinate TensixCoordinate(uint32_t index) const;                 // translated
  const Hart* FindHart(hw::Coordinate translated, uint32_t hart) const;  // null: no Tensix tile
  uint64_t retired_instructions() const;  // of all harts since they were created
  uint64_t runnable_harts() const;
  uint64_t clock() const;
  // Scheduler::NextWork.
  uint64_t NextWork() const;
  // When the host last wrote a register of a transmit queue; none: not since the chip was reset.
  std::optional<uint64_t> host_link_clock() const;

  // Ethernet tiles, to be connected (Cluster); by channel, null: it is not enabled.
  std::span<EthernetTile> ethernet();
  EthernetTile* FindEthernet(uint32_t channel);

 private:
  struct Bars;
  struct Tiles;
  struct Parts;
  explicit Chip(std::unique_ptr<Parts> parts);

  std::unique_ptr<Parts> parts_;
};

}  // namespace ttfd::sim
