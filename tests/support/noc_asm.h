// NoC commands for hand-assembled programs.
#pragma once

#include <cstdint>

#include "runtime/hw/grid.h"
#include "runtime/hw/noc.h"
#include "runtime/hw/tensix.h"
#include "tests/support/rv32_asm.h"

namespace ttfd {

constexpr uint32_t Xy(hw::Coordinate at) { return hw::NocXy(at.x, at.y); }

// The registers of a command buffer.
struct NocFields {
  uint64_t target = 0;
  uint32_t target_xy = 0;
  uint64_t ret = 0;
  uint32_t return_xy = 0;
  uint32_t control = 0;
  uint32_t length = 0;
  uint32_t data = 0;
  uint32_t tag = 0;
  uint32_t niu = 0;
  uint32_t buffer = 0;
};

inline constexpr uint32_t kReadControl = hw::kNocResponse | hw::kNocStaticVc;
inline constexpr uint32_t kWriteControl = hw::kNocWrite | hw::kNocResponse | hw::kNocStaticVc;
inline constexpr uint32_t kInlineControl = kWriteControl | hw::kNocInline;
inline constexpr uint32_t kAtomicControl = hw::kNocAtomic | hw::kNocResponse | hw::kNocStaticVc;
inline constexpr uint32_t kMulticastControl = kWriteControl | hw::kNocMulticast |
                                              hw::kNocPathReserve |
                                              hw::kNocMulticastVc << hw::kNocVcShift;

inline NocFields NocRead(hw::Coordinate self, hw::Coordinate from, uint64_t address, uint32_t to,
                         uint32_t length) {
  return {.target = address,
          .target_xy = Xy(from),
          .ret = to,
          .return_xy = Xy(self),
          .control = kReadControl,
          .length = length};
}
inline NocFields NocWrite(hw::Coordinate self, uint32_t from, hw::Coordinate to, uint64_t address,
                          uint32_t length) {
  return {.target = from,
          .target_xy = Xy(self),
          .ret = address,
          .return_xy = Xy(to),
          .control = kWriteControl,
          .length = length};
}
inline NocFields NocInline(hw::Coordinate self, hw::Coordinate to, uint64_t address,
                           uint32_t value) {
  return {.target = address,
          .target_xy = Xy(to),
          .return_xy = Xy(self),
          .control = kInlineControl,
          .data = value};
}
inline NocFields NocIncrement(hw::Coordinate self, hw::Coordinate to, uint64_t address, uint32_t by,
                              uint32_t old_value_to) {
  return {.target = address,
          .target_xy = Xy(to),
          .ret = old_value_to,
          .return_xy = Xy(self),
          .control = kAtomicControl,
          .length = hw::kNocAtomicIncrement,
          .data = by};
}
inline NocFields NocMulticast(hw::Coordinate self, uint32_t from, hw::Coordinate start,
                              hw::Coordinate end, uint64_t address, uint32_t length) {
  return {.target = from,
          .target_xy = Xy(self),
          .ret = address,
          .return_xy = hw::NocRectangle(Xy(start), Xy(end)),
          .control = kMulticastControl,
          .length = length};
}

// Writes the command buffer and issues it; uses t5 and t6.
inline void EmitNoc(Rv32Asm& a, const NocFields& fields) {
  a.Li(kT6,
       hw::kNiuAddress + fields.niu * hw::kNiuStride + fields.buffer * hw::kNiuCommandBufferStride);
  const auto put = [&a](uint32_t offset, uint32_t value) {
    a.Li(kT5, value);
    a.Sw(kT5, kT6, static_cast<int32_t>(offset));
  };
  put(hw::kNocTargetLow, static_cast<uint32_t>(fields.target));
  put(hw::kNocTargetMid, static_cast<uint32_t>(fields.target >> 32));
  put(hw::kNocTargetHigh, fields.target_xy);
  put(hw::kNocReturnLow, static_cast<uint32_t>(fields.ret));
  put(hw::kNocReturnMid, static_cast<uint32_t>(fields.ret >> 32));
  put(hw::kNocReturnHigh, fields.return_xy);
  put(hw::kNocPacketTag, fields.tag);
  put(hw::kNocControl, fields.control);
  put(hw::kNocLength, fields.length);
  put(hw::kNocData, fields.data);
  put(hw::kNocCommand, 1);
}

// Copies a status counter of `niu` to L1; uses t5 and t6.
inline void EmitReadCounter(Rv32Asm& a, uint32_t niu, uint32_t counter, uint32_t to) {
  a.Li(kT6, hw::kNiuAddress + niu * hw::kNiuStride + hw::kNocStatus + 4 * counter);
  a.Lw(kT5, kT6, 0);
  a.Li(kT6, to);
  a.Sw(kT5, kT6, 0);
}

}  // namespace ttfd
