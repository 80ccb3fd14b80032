// The lanes of the vector unit that execute.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace ttfd::sim::tensix {

inline constexpr uint32_t kLanes = 32;
// A word a lane; vectors of the host do not straddle its cache lines.
struct alignas(64) Lanes : std::array<uint32_t, kLanes> {};

// ~0 or 0, as a lane's condition code.
constexpr uint32_t MaskIf(bool condition) { return condition ? ~0u : 0; }

// Lanes execute whose condition code is set, or all while condition codes are off.
class LaneConditions {
 public:
  LaneConditions() { Reset(true, true); }

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

}  // namespace ttfd::sim::tensix
