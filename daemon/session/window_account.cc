#include "daemon/session/window_account.h"

#include <algorithm>
#include <utility>

namespace ttfd {
namespace {

// A session that has held as much and holds nothing now: its memory is returned to the system.
constexpr uint64_t kReturnedBytes = 1 << 20;

}  // namespace

WindowAccount::WindowAccount(SessionEnvironment& environment, const Outbox& outbox, SessionUse& use,
                             std::shared_ptr<WindowPool> pool)
    : environment_(environment),
      outbox_(outbox),
      use_(use),
      window_(environment.limits, std::move(pool)) {}

void WindowAccount::EndMessage() {
  window_.Release(std::exchange(message_cost_, 0));
  Count();
}

uint64_t WindowAccount::TakeCost(uint64_t cost) {
  cost = std::min(cost, message_cost_);
  message_cost_ -= cost;
  return cost;
}

void WindowAccount::ReleaseEnded(uint64_t cost) {
  if (outbox_.has_results()) {
    unreported_cost_ += cost;
  } else {
    window_.Release(cost);
  }
}

void WindowAccount::ResultsTaken() {
  window_.Release(std::exchange(unreported_cost_, 0));
  Count();
}

void WindowAccount::Count() {
  use_.Set(Resource::kWindowBytes, window_.held());
  peak_held_ = std::max(peak_held_, window_.held());
  if (window_.held() > 0) return;
  if (std::exchange(peak_held_, 0) >= kReturnedBytes) environment_.host->MemoryFreed();
}

void WindowAccount::Close() {
  window_.Close();
  unreported_cost_ = 0;
}

}  // namespace ttfd
