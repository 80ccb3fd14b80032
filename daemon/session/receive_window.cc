// Charging, releasing and granting.
#include "daemon/session/receive_window.h"

#include <algorithm>
#include <utility>

#include "daemon/api/errors.h"

namespace ttfd {
namespace {

// A session that has held as much and holds nothing now: its memory is returned to the system.
constexpr uint64_t kReturnedBytes = 1 << 20;

}  // namespace

uint64_t WindowPool::Take(uint64_t want, uint64_t least, uint64_t most) {
  uint64_t before = taken_.load(std::memory_order_relaxed);
  uint64_t got = 0;
  do {
    got = std::max(least, std::min(want, most - std::min(most, before)));
  } while (!taken_.compare_exchange_weak(before, before + got, std::memory_order_relaxed));
  return got;
}

uint64_t LeastWindow(const SessionLimits& limits) {
  const uint64_t largest = std::max(limits.chunk_bytes, limits.inline_bytes);
  return std::max(limits.window_bytes / 16, largest + largest / 2);
}

void HeldCost::AddPayload(uint64_t cost, uint64_t bytes) {
  total += cost;
  payload += cost;
  payload_bytes += bytes;
}

uint64_t HeldCost::RemovePayload(uint64_t bytes) {
  bytes = std::min(bytes, payload_bytes);
  if (bytes == 0) return 0;
  // A chunk costs more than its payload: each byte has its part of that.
  const uint64_t cost = bytes == payload_bytes ? payload : payload * bytes / payload_bytes;
  payload_bytes -= bytes;
  payload -= cost;
  total -= cost;
  return cost;
}

ReceiveWindow::ReceiveWindow(const SessionLimits& limits, std::shared_ptr<WindowPool> pool,
                             std::function<void()> emptied)
    : limits_(limits), pool_(std::move(pool)), emptied_(std::move(emptied)) {
  Advance(0);
}

Status ReceiveWindow::Charge(uint64_t cost) {
  MutexLock lock(&mu_);
  const uint64_t held = charged_ - released_;
  if (cost > granted_ - charged_) {
    return ToStatus(LimitError("window_bytes", "window_bytes", granted_ - released_, held,
                               fmt::format("a message that costs {} bytes", cost)));
  }
  charged_ += cost;
  pool_->Hold(cost);
  peak_held_ = std::max(peak_held_, held + cost);
  return OkStatus();
}

void ReceiveWindow::Release(uint64_t cost) {
  MutexLock lock(&mu_);
  ReleaseLocked(cost);
}

void ReceiveWindow::ReleaseLocked(uint64_t cost) {
  cost = std::min(cost, charged_ - released_);
  if (cost == 0) return;
  released_ += cost;
  pool_->Drop(cost);
  pool_->Return(cost);
  if (charged_ == released_ && std::exchange(peak_held_, 0) >= kReturnedBytes) emptied_();
}

ReceiveWindow::Reading ReceiveWindow::Advance(uint64_t unsent_output, uint64_t release) {
  MutexLock lock(&mu_);
  ReleaseLocked(release);
  const uint64_t size = granted_ - released_;
  const uint64_t window = limits_.window_bytes - std::min(limits_.window_bytes, unsent_output);
  const uint64_t want = window - std::min(window, size);
  const uint64_t least = std::min(window, LeastWindow(limits_));
  const uint64_t got =
      pool_->Take(want, least - std::min(least, size), limits_.window_bytes_per_user);
  granted_ += got;
  reduced_ = got < want;
  return {granted_, granted_ - released_, reduced_};
}

void ReceiveWindow::Close() {
  MutexLock lock(&mu_);
  pool_->Drop(charged_ - released_);
  pool_->Return(granted_ - released_);
  charged_ = released_ = granted_;
}

uint64_t ReceiveWindow::granted() const {
  MutexLock lock(&mu_);
  return granted_;
}

uint64_t ReceiveWindow::held() const {
  MutexLock lock(&mu_);
  return charged_ - released_;
}

uint64_t ReceiveWindow::size() const {
  MutexLock lock(&mu_);
  return granted_ - released_;
}

bool ReceiveWindow::reduced() const {
  MutexLock lock(&mu_);
  return reduced_;
}

}  // namespace ttfd
