// How a call that shows the state of the card waits for the device thread to read it, without holding a thread.
#pragma once

#include "daemon/api/admin.h"

namespace ttfd {

class ReadingWait {
 public:
  // The call samples the status, and once more after this time if the wait is not over.
  static constexpr std::chrono::milliseconds kSampleEvery{10};
  // The wait is over after so many samples even if the card was not read.
  static constexpr int kSamples = std::chrono::milliseconds(50) / kSampleEvery;

  // Whether the wait is over with this sample.
  bool IsOver(const StatusReply& sample) {
    if (samples_++ == 0) number_ = sample.card.wanted;
    return samples_ > kSamples || sample.card.number >= number_;
  }

 private:
  uint64_t number_ = 0;  // of the reading that is waited for
  int samples_ = 0;
};

}  // namespace ttfd
