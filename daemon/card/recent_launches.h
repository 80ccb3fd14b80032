// The launches that ended last, for the next hang report: who did damage a while ago is to be among them. Pure data
// structure.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <vector>

#include "daemon/session/slice.h"

namespace ttfd {

class RecentLaunches {
 public:
  struct Launch {
    uint32_t hardware_queue = 0;
    uint64_t session = 0;
    uint32_t queue = 0;
    uint64_t value = 0;
    std::shared_ptr<const std::vector<uint32_t>> programs;  // ascending
  };

  // All firmware is loaded anew: what ran before has left nothing behind.
  void CardBooted() {
    sole_session_ = 0;
    of_many_ = false;
  }
  // A slice that ran kernels has ended. Programs are there once, whatever the number of launches; segments of one
  // replay are one entry.
  void Add(uint32_t hardware_queue, const Slice& slice);
  // The newest last.
  const std::deque<Launch>& launches() const { return launches_; }
  // Has no launch ended since the boot but of this session?
  bool OnlyOf(uint64_t session) const {
    return !of_many_ && (sole_session_ == 0 || sole_session_ == session);
  }

 private:
  static constexpr size_t kMostLaunches = 8;
  std::deque<Launch> launches_;
  uint64_t sole_session_ = 0;  // of the first launch since the boot; 0: none has ended
  bool of_many_ = false;       // there was one of another session
};

}  // namespace ttfd
