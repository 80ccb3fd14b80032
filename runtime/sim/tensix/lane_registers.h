// Registers of the vector unit: 16 words a lane, of which the last eight are constants.
#pragma once

#include <array>
#include <cstdint>

#include "runtime/sim/tensix/lane_conditions.h"
#include "runtime/sim/tensix/report.h"

namespace ttfd::sim::tensix {

inline constexpr uint32_t kGeneralRegisters = 8;
inline constexpr uint32_t kZeroRegister = 9;
inline constexpr uint32_t kOneRegister = 10;

class LaneRegisters {
 public:
  explicit LaneRegisters(Report& report);

  const Lanes& operator[](uint32_t index) const { return registers_[index]; }
  LaneConditions& conditions() { return conditions_; }
  const LaneConditions& conditions() const { return conditions_; }

  // Sets general register `dest` of the active lanes to f(lane).
  template <typename Function>
  Outcome Write(uint32_t dest, Function&& f) {
    if (dest >= kGeneralRegisters) return RefuseDest();
    Lanes result;
    for (uint32_t lane = 0; lane < kLanes; ++lane) result[lane] = f(lane);
    const Lanes& active = conditions_.active();
    Lanes& to = registers_[dest];
    for (uint32_t lane = 0; lane < kLanes; ++lane) {
      to[lane] = (result[lane] & active[lane]) | (to[lane] & ~active[lane]);
    }
    return Outcome::kDone;
  }
  // The register, to be changed in active lanes only; null: refused.
  Lanes* Change(uint32_t dest);
  // Sets it in all lanes.
  Outcome WriteAll(uint32_t dest, const Lanes& value);
  // Exchanges two registers in the active lanes in which `which` is not 0; a constant stays as it is.
  void Exchange(uint32_t a, uint32_t b, const Lanes& which);

 private:
  Outcome RefuseDest();

  Report& report_;
  std::array<Lanes, 16> registers_{};
  LaneConditions conditions_;
};

}  // namespace ttfd::sim::tensix
