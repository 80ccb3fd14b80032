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

// The peak is raised last: a Release that finds nothing held any more has not seen this message.
Status ReceiveWindow::Charge(uint64_t cost) {
  const uint64_t charged = charged_;
  const uint64_t held = charged - released_;
  if (cost > granted_ - charged) {
    return ToStatus(LimitError("window_bytes", "window_bytes", granted_ - charged + held, held,
                               fmt::format("a message that costs {} bytes", cost)));
  }
  pool_->Hold(cost);
  charged_ = charged + cost;
  if (held + cost > peak_held_) peak_held_ = held + cost;
  return OkStatus();
}

void ReceiveWindow::Release(uint64_t cost) {
  uint64_t released = released_;
  uint64_t charged = 0;
  uint64_t part = 0;
  do {
    charged = charged_;
    part = std::min(cost, charged - released);
    if (part == 0) return;
  } while (!released_.compare_exchange_weak(released, released + part));
  pool_->Drop(part);
  pool_->Return(part);
  if (charged == released + part && peak_held_.exchange(0) >= kReturnedBytes) emptied_();
}

ReceiveWindow::Reading ReceiveWindow::Advance(uint64_t unsent_output) {
  const uint64_t granted = granted_;
  const uint64_t size = granted - released_;
  const uint64_t window = limits_.window_bytes - std::min(limits_.window_bytes, unsent_output);
  const uint64_t want = window - std::min(window, size);
  const uint64_t least = std::min(window, LeastWindow(limits_));
  const uint64_t got =
      pool_->Take(want, least - std::min(least, size), limits_.window_bytes_per_user);
  granted_ = granted + got;
  reduced_ = got < want;
  return {granted + got, size + got, got < want};
}

void ReceiveWindow::Close() {
  const uint64_t granted = granted_;
  const uint64_t charged = charged_.exchange(granted);
  const uint64_t released = released_.exchange(granted);
  pool_->Drop(charged - released);
  pool_->Return(granted - released);
}

uint64_t ReceiveWindow::held() const {
  const uint64_t released = released_;  // first: it never passes what is charged then
  return charged_ - released;
}

uint64_t ReceiveWindow::size() const {
  const uint64_t released = released_;
  return granted_ - released;
}

}  // namespace ttfd
