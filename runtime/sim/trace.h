// A trace of what a chip executes and sends: events, taken from the calls of an Inspector.
#pragma once

#include <cstdint>
#include <functional>
#include <limits>
#include <variant>
#include <vector>

#include "runtime/hw/grid.h"
#include "runtime/hw/tensix.h"
#include "runtime/sim/fault.h"
#include "runtime/sim/hart.h"
#include "runtime/sim/inspector.h"

namespace ttfd::sim {

struct TraceAccess {
  uint32_t bytes = 0;  // 0: none
  uint32_t address = 0;
  uint32_t value = 0;
};

struct TraceInstruction {
  hw::Coordinate tile = {0, 0};  // translated, as everywhere here
  uint32_t hart = 0;
  uint64_t clock = 0;
  uint32_t pc = 0;
  uint32_t word = 0;
  uint32_t rd = 0;  // the register written; 0: none
  uint32_t rd_value = 0;
  TraceAccess load;
  TraceAccess store;
};

struct TraceState {
  hw::Coordinate tile = {0, 0};
  uint32_t hart = 0;
  uint64_t clock = 0;
  uint32_t pc = 0;
  HartState state = HartState::kHeld;
};

struct TraceReset {};

using TraceEvent = std::variant<TraceInstruction, NocView, TraceState, TraceReset, Fault>;

// Selection of the events that are wanted.
struct TraceFilter {
  bool instructions = true;
  bool memory =
      true;  // loads and stores; without `instructions`, of instructions only those that access memory
  bool noc = true;
  bool states = true;
  std::vector<hw::Coordinate> tiles;        // none: all. A NoC command belongs to its source.
  uint32_t harts = (1u << hw::kHarts) - 1;  // one bit each
  uint64_t from = 0;                        // clock
  uint64_t to = std::numeric_limits<uint64_t>::max();  // the first clock that is not wanted

  bool Wants(hw::Coordinate tile, uint64_t clock) const;
  bool WantsHart(hw::Coordinate tile, uint32_t hart, uint64_t clock) const {
    return (harts >> hart & 1) != 0 && Wants(tile, clock);
  }
};

// Hands the wanted events to `sink`, in the order in which the chip did them. What an instruction left in its register
// is known only when the next one is about to begin, so the last event is kept back until then, or until Settle().
class Tracer final : public Inspector {
 public:
  using Sink = std::function<void(const TraceEvent&)>;

  Tracer(TraceFilter filter, Sink sink) : filter_(std::move(filter)), sink_(std::move(sink)) {}

  // Hands over what was kept back. Between two calls of Advance only; `fault` is the chip's, if it has one.
  void Settle(const Fault* fault = nullptr);

  bool BeforeInstruction(const Hart& hart, uint32_t word) override;
  void OnLoad(const Hart& hart, uint32_t address, uint32_t bytes, uint32_t value) override;
  void OnStore(const Hart& hart, uint32_t address, uint32_t bytes, uint32_t value) override;
  void OnNoc(const NocView& view) override;
  void OnState(const Hart& hart) override;
  void OnReset() override;

 private:
  // The instruction that was executed last has done what it did; `fault` is the chip's, or null.
  void Finish(const Fault* fault);
  void Emit(const TraceEvent& event);

  const TraceFilter filter_;
  const Sink sink_;
  const Hart* hart_ = nullptr;  // executes `instruction_`; null: nobody
  TraceInstruction instruction_;
  std::vector<TraceEvent> behind_;  // what happened while it was executed
};

}  // namespace ttfd::sim
