// Memory as a hart sees it, without disturbing anything.
#include <algorithm>
#include <cstring>

#include "runtime/debug/debug_target.h"
#include "runtime/hw/noc.h"
#include "runtime/hw/tensix.h"
#include "runtime/hw/tensix_config.h"
#include "runtime/sim/tensix_tile.h"

namespace ttfd::debug {
namespace {

// Reading the clock latches another register; reading kSync waits, with hazards.
bool MayRead(uint32_t address) {
  return address != hw::kWallClockLow && address != hw::tensix::kSync;
}

// How many of `bytes` at `address` lie in [start, start + size).
size_t Within(uint32_t address, size_t bytes, uint32_t start, uint32_t size) {
  const uint32_t offset = address - start;
  return offset < size ? std::min<size_t>(bytes, size - offset) : 0;
}

}  // namespace

size_t DebugTarget::ReadMemory(Thread thread, uint32_t address, MutableByteSpan to) {
  const sim::Hart& one = hart(thread);
  if (const size_t part = Within(address, to.size(), 0, hw::kL1Bytes); part != 0) {
    std::memcpy(to.data(), one.tile->memory().l1() + address, part);
    return part;
  }
  if (const size_t part = Within(address, to.size(), hw::kLocalRamAddress, one.local_ram_bytes);
      part != 0) {
    std::memcpy(to.data(), one.local_ram + (address - hw::kLocalRamAddress), part);
    return part;
  }
  size_t done = 0;
  while (done < to.size() && address >= hw::kFirstRegisterAddress) {
    const uint32_t word = address & ~3u;
    uint32_t value = 0;
    if (!MayRead(word) || one.tile->ReadRegister(sim::Accessor::Hart(one.index), word, &value))
      break;
    const size_t part = std::min<size_t>(to.size() - done, 4 - address % 4);
    std::memcpy(to.data() + done, reinterpret_cast<const std::byte*>(&value) + address % 4, part);
    done += part;
    address += static_cast<uint32_t>(part);
    if (address == 0) break;  // the end of the address space
  }
  return done;
}

bool DebugTarget::WriteMemory(Thread thread, uint32_t address, ByteSpan from) {
  if (from.empty()) return true;
  sim::Hart& one = MutableHart(thread);
  if (Within(address, from.size(), 0, hw::kL1Bytes) == from.size()) {
    std::memcpy(one.tile->memory().l1() + address, from.data(), from.size());
    one.tile->WroteMemory(address, static_cast<uint32_t>(from.size()));
    return true;
  }
  if (Within(address, from.size(), hw::kLocalRamAddress, one.local_ram_bytes) == from.size()) {
    std::memcpy(one.local_ram + (address - hw::kLocalRamAddress), from.data(), from.size());
    Rouse(thread);  // nobody else can tell it
    return true;
  }
  return false;
}

}  // namespace ttfd::debug
