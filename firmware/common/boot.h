// The boot handshake, the same for every hart: check what the host wrote, say ready or refuse.
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "firmware/common/io.h"
#include "firmware/common/status.h"
#include "runtime/abi/boot_block.h"
#include "runtime/abi/l1_map.h"
#include "runtime/abi/version.h"

namespace ttfd::firmware {

#define TTFD_BOOT(field) \
  ::ttfd::firmware::Load(::ttfd::abi::kBootBlockAddress + offsetof(::ttfd::abi::BootBlock, field))

// cfg0 bit 3: the L0 data cache off. Every wait here is right with it on as well; it is off because
// users' kernels poll too, and a forgotten fence would show as a rare stall on silicon only. gcc's
// rv32im has no CSR mnemonics, so this is `csrrs x0, 0x7c0, value` spelled out.
inline void SwitchOffDataCache() {
  const uint32_t value = hw::kCsrConfig0DataCacheOff;
  static_assert(hw::kCsrConfig0 == 0x7C0);
  asm volatile(".insn i 0x73, 2, x0, %0, 0x7C0" ::"r"(value) : "memory");
}

// Reports ready and returns, or reports refused and stops. `prepare` runs between check and report.
template <typename Prepare>
inline void Boot(abi::Role role, Prepare prepare) {
  SwitchOffDataCache();
  SetWaypoint(abi::kWaypointBoot);
  Store(kStatus + offsetof(abi::HartStatus, protocol_version), abi::kProtocolVersion);
  Store(kStatus + offsetof(abi::HartStatus, boot_nonce), TTFD_BOOT(boot_nonce));
  if (TTFD_BOOT(magic) != abi::kMagic || TTFD_BOOT(protocol_version) != abi::kProtocolVersion) {
    SetState(abi::kHartRefused);
    Park();
  }
  if (TTFD_BOOT(role) != role) {
    Fault(abi::kFaultBadBootBlock, offsetof(abi::BootBlock, role) / 4, TTFD_BOOT(role), role);
  }
  prepare();
  SetWaypoint(abi::kWaypointRun);
  SetState(abi::kHartReady);
}

// Checks one word of the boot block.
inline void RequireBootWord(bool good, uint32_t offset) {
  if (!good) {
    Fault(abi::kFaultBadBootBlock, offset / 4, Load(abi::kBootBlockAddress + offset), 0);
  }
}

#define TTFD_REQUIRE_BOOT(condition, field) \
  ::ttfd::firmware::RequireBootWord(condition, offsetof(::ttfd::abi::BootBlock, field))

}  // namespace ttfd::firmware
