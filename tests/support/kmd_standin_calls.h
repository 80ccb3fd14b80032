// The calls that the backend makes, in order: recorded, and made to fail.
#pragma once

#include <cstdint>
#include <functional>
#include <utility>
#include <vector>

namespace ttfd {

struct StandinEvent {
  enum Kind {
    kOpen,
    kClose,
    kIoctl,
    kMap,
    kUnmap,
    kMapMemory,
    kUnmapMemory,
    kLoad,
    kStore,
    kBulkStore,
    kFence,
  } kind = kIoctl;
  uint32_t id = 0;  // kIoctl: the request; of an access the hardware window
  uint64_t offset = 0;
  uint64_t bytes = 0;
};

// A failure in the answer of an ioctl that succeeds: a lock is busy, a reset has a result other than 0.
inline constexpr int kRefusedInAnswer = -1;

class StandinCalls {
 public:
  // Called before each call. The errno (or kRefusedInAnswer) with which it fails; 0: it does not. Accesses, releases of
  // mappings and memory, and fences cannot fail. A descriptor is closed all the same, as on Linux.
  using Act = std::function<int(const StandinEvent&)>;

  void Record(std::vector<StandinEvent>* log) { log_ = log; }  // null: no more
  void BeforeEach(Act act) { act_ = std::move(act); }          // null: no more

  int Begin(const StandinEvent& event) {
    if (log_ != nullptr) log_->push_back(event);
    return act_ ? act_(event) : 0;
  }

 private:
  std::vector<StandinEvent>* log_ = nullptr;
  Act act_;
};

}  // namespace ttfd
