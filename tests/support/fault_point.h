// One fault at one operation of a seam: what every decorator of this folder that injects faults is driven by.
#pragma once

#include <cstdint>

namespace ttfd {

enum class FaultAction {
  kNone,
  kFail,     // the operation does nothing and says so
  kDelay,    // it happens, but late
  kCorrupt,  // it happens with other bytes than it should
  kKill,     // neither it nor any later one happens, until Heal
};

constexpr const char* FaultActionName(FaultAction action) {
  constexpr const char* kNames[] = {"none", "fail", "delay", "corrupt", "kill"};
  return kNames[static_cast<int>(action)];
}

// Not thread-safe: guarded by whoever owns the seam.
class FaultPoint {
 public:
  // The nth operation from now on, from 1.
  void Arm(FaultAction action, uint64_t nth) {
    Heal();
    action_ = action;
    nth_ = nth;
    operations_ = 0;
    fired_ = false;
  }
  // Everything works again.
  void Heal() {
    action_ = FaultAction::kNone;
    killed_ = false;
  }

  // What the operation that begins has to do.
  FaultAction Next() {
    ++operations_;
    if (killed_) return FaultAction::kKill;
    if (action_ == FaultAction::kNone || operations_ != nth_) return FaultAction::kNone;
    fired_ = true;
    killed_ = action_ == FaultAction::kKill;
    return action_;
  }

  uint64_t operations() const { return operations_; }  // since Arm
  bool fired() const { return fired_; }
  bool killed() const { return killed_; }
  uint64_t nth() const { return nth_; }

 private:
  FaultAction action_ = FaultAction::kNone;
  uint64_t nth_ = 0;
  uint64_t operations_ = 0;
  bool fired_ = false;
  bool killed_ = false;
};

}  // namespace ttfd
