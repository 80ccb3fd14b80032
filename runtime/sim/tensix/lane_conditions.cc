// Condition codes and their stack.
#include "runtime/sim/tensix/lane_conditions.h"

namespace ttfd::sim::tensix {

void LaneConditions::Apply() {
  if (enabled_) {
    active_ = codes_;
  } else {
    active_.fill(~0u);
  }
}

void LaneConditions::Set(const Lanes& condition) {
  for (uint32_t lane = 0; lane < kLanes; ++lane) {
    if (active_[lane] != 0) codes_[lane] = MaskIf(condition[lane] != 0);
  }
  Apply();
}

void LaneConditions::Reset(bool value, bool enabled) {
  codes_.fill(MaskIf(value));
  enabled_ = enabled;
  Apply();
}

bool LaneConditions::Push() {
  if (depth_ == stack_.size()) return false;
  stack_[depth_++] = {enabled_, codes_};
  return true;
}

bool LaneConditions::Pop() {
  if (depth_ == 0) return false;
  const State& state = stack_[--depth_];
  enabled_ = state.enabled;
  codes_ = state.codes;
  Apply();
  return true;
}

bool LaneConditions::Complement() {
  if (!enabled_ || (depth_ != 0 && !stack_[depth_ - 1].enabled)) return false;
  for (uint32_t lane = 0; lane < kLanes; ++lane) {
    const uint32_t outer = depth_ == 0 ? ~0u : stack_[depth_ - 1].codes[lane];
    codes_[lane] = outer & ~codes_[lane];
  }
  Apply();
  return true;
}

}  // namespace ttfd::sim::tensix
