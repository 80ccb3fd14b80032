// The packer: from Dst into L1.
//
// Source: tt-isa-documentation BlackholeA0/TensixTile/TensixCoprocessor/PACR.md; ttsim 1.10.0.
#pragma once

#include <cstdint>

#include "runtime/base/bytes.h"
#include "runtime/sim/tensix/config.h"
#include "runtime/sim/tensix/counters.h"
#include "runtime/sim/tensix/registers.h"
#include "runtime/sim/tensix/report.h"

namespace ttfd::sim::tensix {

class Packer {
 public:
  // All outlive the unit.
  Packer(MutableByteSpan l1, const Config& config, Adcs& counters, Dst& dst, Report& report)
      : l1_(l1), config_(config), counters_(counters), dst_(dst), report_(report) {}

  // Moves four rows. One whose `last` is 0 is continued by the next: its data follow those of this one.
  Outcome Execute(uint32_t thread, hw::tensix::PACR instruction);

 private:
  // A pair of formats that is modelled, and the width of Dst.
  struct Conversion {
    bool from_32_bit = false;
    hw::tensix::Format in = hw::tensix::Format::kFloat16B;
    hw::tensix::Format out = hw::tensix::Format::kFloat16B;
    uint32_t in_bytes() const { return in == hw::tensix::Format::kFloat32 ? 4 : 2; }
    uint32_t out_bytes() const { return out == hw::tensix::Format::kFloat32 ? 4 : 2; }
  };
  Outcome FindConversion(Conversion* conversion);
  // The first row of Dst, and the address of its first datum.
  Outcome Plan(const AddressCounters& at, const Conversion& conversion, uint32_t* row,
               uint32_t* address);
  // The bits that are written for a row: 16 or 32 of each.
  using PackedRow = uint32_t[kColumns];
  void ConvertRow(const Conversion& conversion, const DstBlock& row, PackedRow& to) const;
  // The edge mask (0 or 1) of row `row` of the series. Bit x of a mask is 0: column x is written as 0.
  uint32_t EdgeSet(uint32_t row) const;

  const MutableByteSpan l1_;
  const Config& config_;
  Adcs& counters_;
  Dst& dst_;
  Report& report_;
  // A series of PACRs up to the one whose `last` is 1.
  bool continues_ = false;
  uint32_t next_address_ = 0;
  uint32_t rows_ = 0;  // so far
};

}  // namespace ttfd::sim::tensix
