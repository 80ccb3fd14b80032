// The vector unit: 32 lanes that work on data of Dst.
//
// Arithmetic is ttsim 1.10.0's (lane_math.h). Source: tt-isa-documentation BlackholeA0/TensixTile/TensixCoprocessor/SFPU.md
// and the pages of its instructions.
#pragma once

#include <array>
#include <cstdint>

#include "runtime/sim/tensix/config.h"
#include "runtime/sim/tensix/counters.h"
#include "runtime/sim/tensix/registers.h"
#include "runtime/sim/tensix/report.h"

namespace ttfd::sim::tensix {

inline constexpr uint32_t kLanes = 32;
using Lanes = std::array<uint32_t, kLanes>;

// Lanes that execute: those whose condition code is set, or all while condition codes are off.
class LaneConditions {
 public:
  LaneConditions();

  const Lanes& active() const { return active_; }  // ~0 or 0 a lane
  bool enabled() const { return enabled_; }

  // The condition code of each active lane becomes whether its word of `condition` is not 0.
  void Set(const Lanes& condition);
  // All codes become `value`; codes count if `enabled`.
  void Reset(bool value, bool enabled);
  // False: the stack of eight is full, or empty.
  bool Push();
  bool Pop();
  // "Else": the codes become those of the enclosing condition, but for the lanes that are set. False: no codes count.
  bool Complement();

 private:
  struct State {
    bool enabled = true;
    Lanes codes{};  // ~0 or 0
  };
  void Apply();

  bool enabled_ = true;
  Lanes codes_{};
  Lanes active_{};
  std::array<State, 8> stack_{};
  size_t depth_ = 0;
};

class Sfpu {
 public:
  // All outlive the unit.
  Sfpu(const Config& config, ThreadRows& rows, Dst& dst, Report& report);

  // Executes an instruction of this unit (hw::tensix::Unit::kSfpu).
  Outcome Execute(uint32_t thread, uint32_t instruction);

 private:
  Outcome Load(uint32_t thread, hw::tensix::SFPLOAD instruction);
  Outcome Store(uint32_t thread, hw::tensix::SFPSTORE instruction);
  Outcome LoadImmediate(hw::tensix::SFPLOADI instruction);
  Outcome MultiplyAddLanes(uint32_t instruction);
  Outcome AddInteger(hw::tensix::SFPIADD instruction);
  Outcome Shift(hw::tensix::SFPSHFT instruction);
  Outcome ShiftBy(hw::tensix::SFPSHFT2 instruction);
  Outcome SetCondition(hw::tensix::SFPSETCC instruction);
  Outcome ExtractExponent(hw::tensix::SFPEXEXP instruction);
  Outcome CountLeadingZeros(hw::tensix::SFPLZ instruction);
  Outcome Compare(uint32_t instruction);
  Outcome Swap(hw::tensix::SFPSWAP instruction);
  Outcome Round(hw::tensix::SFP_STOCH_RND instruction);
  Outcome LookUp(hw::tensix::SFPLUT instruction);
  Outcome LookUpFloat(hw::tensix::SFPLUTFP32 instruction);
  Outcome Logic(uint32_t instruction);
  Outcome ChangeField(uint32_t instruction);
  Outcome ChangeConditions(uint32_t instruction);

  // Sets general register `dest` of the active lanes to f(lane).
  template <typename Function>
  Outcome Write(uint32_t dest, Function&& f);
  // Register 0 to 15 of a lane: 8 and above are constants.
  const Lanes& lreg(uint32_t index) const { return registers_[index]; }
  // The rows and column of Dst that an access works on, as ttsim assigns them to lanes.
  Outcome FindRow(uint32_t thread, uint32_t address, uint32_t* row);
  // Which of the modes of SFPLOAD and SFPSTORE mode 0 stands for.
  uint32_t ConfiguredMode() const;

  const Config& config_;
  ThreadRows& rows_;
  Dst& dst_;
  Report& report_;
  std::array<Lanes, 16> registers_{};
  LaneConditions conditions_;
};

}  // namespace ttfd::sim::tensix
