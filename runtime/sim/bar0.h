// BAR0: 202 windows of 2 MiB into the NoC's address space, the registers of these and of BAR4's
// windows, and the NODE_ID by which a driver learns where the PCIe tile is.
#pragma once

#include <array>
#include <cstdint>

#include "runtime/base/bytes.h"
#include "runtime/hw/pcie.h"
#include "runtime/sim/bar4.h"
#include "runtime/sim/fault.h"
#include "runtime/sim/host_path.h"

namespace ttfd::sim {

class Bar0 {
 public:
  // Both outlive the BAR.
  Bar0(HostPath& host, Bar4& bar4) : host_(host), bar4_(bar4) {}

  Refusal Read(uint64_t offset, MutableByteSpan to);
  Refusal Write(uint64_t offset, ByteSpan from);
  void Reset() { windows_ = {}; }

 private:
  struct Window {
    std::array<uint32_t, 3> words{};
    // Decoded when a word is written.
    uint64_t address = 0;
    HostWay way = {};
    const char* unusable = nullptr;  // why an access through it is refused
  };

  static void DecodeWindow(Window* window);
  Refusal FindWindow(uint64_t offset, uint64_t length, Window** window);
  Refusal ReadRegister(uint64_t offset, uint32_t* value) const;
  Refusal WriteRegister(uint64_t offset, uint32_t value);

  HostPath& host_;
  Bar4& bar4_;
  std::array<Window, hw::kTlbWindows2M> windows_{};
};

}  // namespace ttfd::sim
