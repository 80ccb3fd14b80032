// Address counters of unpackers and packer (ADC), and row counters of the matrix unit (RWC), of all threads.
//
// Each counter has a copy, "carriage return" (cr): where the counter returns to. Source: tt-isa-documentation
// WormholeB0/TensixTile/TensixCoprocessor/{ADCs,RWCs}.md; ttsim 1.10.0.
#pragma once

#include <array>
#include <cstdint>

#include "runtime/hw/tensix_config.h"
#include "runtime/sim/tensix/config.h"
#include "runtime/sim/tensix/report.h"

namespace ttfd::sim::tensix {

enum Dimension : uint32_t { kX, kY, kZ, kW };

// A position in a tile, in datums, rows, faces and tiles.
struct AddressCounter {
  std::array<uint32_t, 4> at{};  // by Dimension
  std::array<uint32_t, 4> cr{};

  void Set(Dimension dimension, uint32_t value);
  void Add(Dimension dimension, uint32_t value);
};

// Counters of one thread and one unit. `source`: where it reads; `dest`: where it writes. The x of `dest` is the last
// datum.
struct AddressCounters {
  AddressCounter source;
  AddressCounter dest;
};

enum AddressUnit : uint32_t { kUnpack0, kUnpack1, kPack };

class Adcs {
 public:
  explicit Adcs(Report& report) : report_(report) {}

  AddressCounters& of(uint32_t thread, AddressUnit unit) { return counters_[thread][unit]; }

  Outcome Execute(uint32_t thread, hw::tensix::SETADC instruction);
  Outcome Execute(uint32_t thread, hw::tensix::SETADCXX instruction);
  Outcome Execute(uint32_t thread, hw::tensix::SETADCXY instruction);
  Outcome Execute(uint32_t thread, hw::tensix::SETADCZW instruction);

 private:
  Outcome CheckUnits(uint32_t cnt_set_mask);
  template <typename Instruction>
  Outcome SetPair(uint32_t thread, Instruction instruction, Dimension first);

  Report& report_;
  std::array<std::array<AddressCounters, 3>, hw::tensix::kThreads> counters_{};
};

// Row counters of one thread.
class Rwcs {
 public:
  uint32_t src_a() const { return a_.at; }
  uint32_t src_b() const { return b_.at; }
  uint32_t dst() const { return dst_.at; }
  uint32_t fidelity() const { return fidelity_; }

  void Set(hw::tensix::SETRWC instruction);
  void Increment(hw::tensix::INCRWC instruction);
  // A step by an address modifier: its words of SrcA and SrcB, and of Dst.
  void StepRows(uint32_t ab, uint32_t dst);
  void StepFidelity(uint32_t dst);

 private:
  struct Counter {
    uint32_t at = 0;
    uint32_t cr = 0;
    void SetTo(uint32_t value, bool relative_to_cr, uint32_t mask);
    void Step(uint32_t increment, bool to_cr, bool clear, uint32_t mask);
  };
  Counter a_;
  Counter b_;
  Counter dst_;
  uint32_t fidelity_ = 0;
};

// The row counters of all threads, and the row of Dst that they lead to.
class ThreadRows {
 public:
  ThreadRows(const Config& config, Report& report) : config_(config), report_(report) {}

  Rwcs& of(uint32_t thread) { return rows_[thread]; }
  const Rwcs& of(uint32_t thread) const { return rows_[thread]; }
  // The row that an instruction with the field `dst` works on.
  uint32_t Dst(uint32_t thread, uint32_t dst) const;
  // The same before it wraps at the end of Dst.
  uint32_t DstSum(uint32_t thread, uint32_t dst) const;
  // Whether the step by this address modifier is one that the model takes.
  Outcome CheckModifier(uint32_t thread, uint32_t section);

  // The step after an instruction of the matrix unit, by the thread's address modifier `section`; the vector unit's
  // leaves the fidelity phase alone.
  void Advance(uint32_t thread, uint32_t section);
  void AdvanceRows(uint32_t thread, uint32_t section);

 private:
  const Config& config_;
  Report& report_;
  std::array<Rwcs, hw::tensix::kThreads> rows_;
};

// Steps the packer's counters after a PACR, by an address modifier of the packer.
void AdvancePack(uint32_t mod, AddressCounters* at);

}  // namespace ttfd::sim::tensix
