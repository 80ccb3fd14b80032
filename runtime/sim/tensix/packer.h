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
    bool operator==(const Conversion&) const = default;
    bool is_float32() const { return in == hw::tensix::Format::kFloat32; }
    bool has_exponents() const { return out == hw::tensix::Format::kBfp8B; }
  };
  static const Conversion kConversions[];
  Outcome FindConversion(Conversion* conversion);
  // Where rows go in L1. Rows of Bfp8_b have their shared exponents in a section before the data.
  struct Target {
    uint32_t data = 0;
    uint32_t exponents = 0;
  };
  // The first row of Dst, and where it goes.
  Outcome Plan(const AddressCounters& at, const Conversion& conversion, uint32_t* row,
               Target* target);
  Outcome CheckConfig();
  // A row on its way, in the bits of the in format: 16 or 32 of each.
  using PackedRow = uint32_t[kColumns];
  void ReadRow(const Conversion& conversion, const DstBlock& row, PackedRow& to) const;
  void WriteRow(const Conversion& conversion, const PackedRow& row, const Target& to);
  // Fills the last 16 bytes of the exponents of a series with zeros.
  void PadExponents(uint32_t end);
  // The edge masks of an instruction's rows. Bit x of a mask is 0: column x is written as 0.
  using Masks = uint32_t[kPackedRows];
  Outcome FindMasks(Masks& masks);

  const MutableByteSpan l1_;
  const Config& config_;
  Adcs& counters_;
  Dst& dst_;
  Report& report_;
  // A series of PACRs up to the one whose `last` is 1.
  bool continues_ = false;
  Target next_;
  uint32_t rows_ = 0;  // so far
};

}  // namespace ttfd::sim::tensix
