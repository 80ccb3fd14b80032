#include "runtime/base/clock.h"

namespace ttfd {
namespace {

class RealClock final : public Clock {
 public:
  TimePoint Now() override { return std::chrono::steady_clock::now(); }
};

}  // namespace

Clock& SteadyClock() {
  static RealClock clock;
  return clock;
}

}  // namespace ttfd
