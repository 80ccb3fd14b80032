// The two unpackers: from L1 into SrcA and SrcB, and of unpacker 0 into Dst.
//
// Source: tt-isa-documentation BlackholeA0/TensixTile/TensixCoprocessor/{UNPACR,UNPACR_NOP}.md; ttsim 1.10.0.
#pragma once

#include <cstdint>

#include "runtime/base/bytes.h"
#include "runtime/sim/tensix/config.h"
#include "runtime/sim/tensix/counters.h"
#include "runtime/sim/tensix/registers.h"
#include "runtime/sim/tensix/report.h"

namespace ttfd::sim::tensix {

class Unpackers {
 public:
  // All outlive the unit.
  Unpackers(ByteSpan l1, const Config& config, Adcs& counters, SourceFile& a, SourceFile& b,
            Dst& dst, Report& report)
      : l1_(l1),
        config_(config),
        counters_(counters),
        sources_{&a, &b},
        dst_(dst),
        report_(report) {}

  Outcome Execute(uint32_t thread, hw::tensix::UNPACR instruction);
  // Fills the unpacker's bank with zeros, or SrcA's with the smallest number.
  Outcome Execute(uint32_t thread, hw::tensix::UNPACR_NOP instruction);

 private:
  // Datums, in the order in which they are in L1, and where they go.
  struct Transfer {
    uint32_t address = 0;    // of the first one
    uint32_t exponents = 0;  // address of the first one's shared exponent
    uint32_t datum = 0;      // number of the first one among the 16 that share it
    uint32_t count = 0;
    uint32_t row = 0;  // the first one's
  };
  struct Conversion;
  static const Conversion kConversions[];
  // Null: refused.
  const Conversion* FindConversion(uint32_t thread, uint32_t unpacker);
  Outcome Plan(uint32_t unpacker, const Conversion& conversion, const AddressCounters& at,
               Transfer* transfer);
  Outcome PlanSource(uint32_t unpacker, const Conversion& conversion, const AddressCounters& at,
                     Transfer* transfer);
  Outcome PlanTarget(uint32_t unpacker, const Conversion& conversion, const AddressCounters& at,
                     Transfer* transfer);
  void MoveToSource(uint32_t unpacker, const Conversion& conversion, const Transfer& transfer);
  void MoveToDst(const Conversion& conversion, const Transfer& transfer);
  void HandOver(uint32_t unpacker);
  static uint32_t EventOf(uint32_t unpacker) { return unpacker == 0 ? kSrcAEvent : kSrcBEvent; }

  const ByteSpan l1_;
  const Config& config_;
  Adcs& counters_;
  SourceFile* const sources_[2];
  Dst& dst_;
  Report& report_;
};

}  // namespace ttfd::sim::tensix
