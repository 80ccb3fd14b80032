// A tile with two NIUs: its memory and its registers, as the NoC reaches them.
#pragma once

#include <array>
#include <cstdint>
#include <string>

#include "runtime/base/bytes.h"
#include "runtime/hw/grid.h"
#include "runtime/sim/fault.h"
#include "runtime/sim/machine.h"
#include "runtime/sim/niu.h"
#include "runtime/sim/tile_memory.h"

namespace ttfd::sim {

struct Hart;

// Origin of an access to a register: a hart of the tile, the NoC (the host included), or the peer of an Ethernet link.
struct Accessor {
  static constexpr uint32_t kNoc = ~0u;
  static constexpr uint32_t kLink = ~1u;
  uint32_t hart = kNoc;

  static Accessor Hart(uint32_t hart) { return {hart}; }
  static Accessor FromNoc() { return {}; }
  static Accessor FromLink() { return {kLink}; }
  bool from_noc() const { return hart == kNoc; }
};

class NocTile {
 public:
  NocTile() = default;
  virtual ~NocTile() = default;
  NocTile(const NocTile&) = delete;
  NocTile& operator=(const NocTile&) = delete;

  const TileMemory& memory() const { return memory_; }
  uint32_t l1_bytes() const { return l1_bytes_; }  // that anybody may write
  Machine& machine() const { return *machine_; }
  hw::Coordinate translated() const { return translated_; }
  hw::Coordinate physical() const { return physical_; }
  Niu& niu(uint32_t index) { return nius_[index]; }

  // Registers, and memory that has the width of registers: `address` is a multiple of 4 (Noc::IsRegister).
  virtual Refusal ReadRegister(Accessor who, uint32_t address, uint32_t* value) = 0;
  virtual Refusal WriteRegister(Accessor who, uint32_t address, uint32_t value) = 0;

  // To be called after every write to L1: drops decoded instructions, wakes harts that wait for it.
  void WroteMemory(uint32_t address, uint32_t length) {
    if (AnyMark(address >> kLineShift, (address + length - 1) >> kLineShift)) [[unlikely]] {
      OnWatchedWrite(address, length);
    }
  }

  // To be called after a register changed.
  void RegisterChanged(uint32_t address) {
    if (register_watchers_ != 0) WakeRegisterReaders(address);
  }

  // Stops `hart` with a fault, or, where no hart did it, reports one of the chip.
  void Fail(Hart* hart, uint32_t pc, const Refusal& refusal);

  // A packet may read these bytes of L1 from now on.
  virtual void ReadByNoc(uint32_t /*address*/, uint32_t /*length*/) {}

 protected:
  // `machine` outlives the tile. The tile must not move afterwards.
  void InitTile(Machine& machine, TileMemory memory, uint32_t l1_bytes, hw::Coordinate translated,
                hw::Coordinate physical);
  void ResetNius();

  static bool IsNiu(uint32_t address) { return address - hw::kNiuAddress < kNius * hw::kNiuStride; }
  Refusal ReadNiu(uint32_t address, uint32_t* value) const;
  // The NoC must not issue commands. `hart`: that of the tile which writes; null: none does.
  Refusal WriteNiu(Accessor who, Hart* hart, uint32_t address, uint32_t value);

  static constexpr uint32_t kNius = 2;
  Machine* machine_ = nullptr;
  TileMemory memory_;
  std::array<Niu, kNius> nius_;
  uint32_t register_watchers_ = 0;  // parked harts that wait for a register, one bit each

 private:
  // Is one of the lines marked? Eight at a time: a 16 KiB packet has 64 of them.
  bool AnyMark(uint32_t first, uint32_t last) const {
    const uint8_t* const marks = memory_.marks();
    uint64_t any = 0;
    for (; first + 7 <= last; first += 8) any |= LoadAt<uint64_t>(marks + first);
    for (; first <= last; ++first) any |= marks[first];
    return any != 0;
  }
  virtual void OnWatchedWrite(uint32_t address, uint32_t length) = 0;
  // Origin of a command that no hart issued, as text for a fault.
  virtual std::string CommandOrigin() const { return ""; }
  virtual void WakeRegisterReaders(uint32_t address) = 0;

  uint32_t l1_bytes_ = 0;
  hw::Coordinate translated_ = {0, 0};
  hw::Coordinate physical_ = {0, 0};
};

}  // namespace ttfd::sim
