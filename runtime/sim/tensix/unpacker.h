// The two unpackers: from L1 into SrcA and SrcB.
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
            Report& report)
      : l1_(l1), config_(config), counters_(counters), sources_{&a, &b}, report_(report) {}

  Outcome Execute(uint32_t thread, hw::tensix::UNPACR instruction);
  // Fills the unpacker's bank with zeros, or SrcA's with the smallest number.
  Outcome Execute(uint32_t thread, hw::tensix::UNPACR_NOP instruction);

 private:
  // Datums, in the order in which they are in L1, and where they go.
  struct Transfer {
    uint32_t address = 0;  // of the first one
    uint32_t count = 0;
    uint32_t row = 0;  // the first one's
  };
  Outcome Plan(uint32_t unpacker, const AddressCounters& at, Transfer* transfer);
  Outcome CheckConfig(uint32_t thread, uint32_t unpacker);
  void HandOver(uint32_t unpacker);
  static uint32_t EventOf(uint32_t unpacker) { return unpacker == 0 ? kSrcAEvent : kSrcBEvent; }

  const ByteSpan l1_;
  const Config& config_;
  Adcs& counters_;
  SourceFile* const sources_[2];
  Report& report_;
};

}  // namespace ttfd::sim::tensix
