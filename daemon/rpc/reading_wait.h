// How a call that shows the state of the card waits for the device thread to read it, without holding a thread.
#pragma once

#include "daemon/session/service.h"

namespace ttfd {

class ReadingWait {
 public:
  // The call looks whether the wait is over, and looks again after this time if it is not.
  static constexpr std::chrono::milliseconds kLookEvery{2};
  // The wait is over after so many looks even if the card was not read.
  static constexpr int kLooks = std::chrono::milliseconds(50) / kLookEvery;

  // Has the daemon read the card unless that was done just now. `daemon` outlives this.
  explicit ReadingWait(DaemonService& daemon)
      : daemon_(daemon), number_(daemon.RequestReading()) {}
  bool IsOver() { return looks_-- == 0 || daemon_.ReadingNumber() >= number_; }

 private:
  DaemonService& daemon_;
  uint64_t number_;  // of the reading that is waited for
  int looks_ = kLooks;
};

}  // namespace ttfd
