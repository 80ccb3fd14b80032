// BAR4: eight windows of 4 GiB into the NoC's address space. Their registers follow those of the 2 MiB
// windows in BAR0.
#pragma once

#include <array>
#include <cstdint>

#include "runtime/base/bytes.h"
#include "runtime/hw/pcie.h"
#include "runtime/sim/fault.h"
#include "runtime/sim/host_path.h"

namespace ttfd::sim {

class Bar4 {
 public:
  // `host` outlives the BAR.
  explicit Bar4(HostPath& host) : host_(host) {}

  Refusal Read(uint64_t offset, MutableByteSpan to);
  Refusal Write(uint64_t offset, ByteSpan from);

  // Register word `word`, counted from the first word of the first 4 GiB window.
  uint32_t ReadWord(uint64_t word) const { return windows_[word / 3][word % 3]; }
  void WriteWord(uint64_t word, uint32_t value) { windows_[word / 3][word % 3] = value; }
  void Reset() { windows_ = {}; }

 private:
  // Finds what the access reaches.
  Refusal Translate(uint64_t offset, uint64_t length, HostWay* way, uint64_t* address) const;

  HostPath& host_;
  std::array<std::array<uint32_t, 3>, hw::kTlbWindows4G> windows_{};
};

}  // namespace ttfd::sim
