// Samples, compares, replies.
#include "daemon/rpc/status_methods.h"

#include <algorithm>
#include <chrono>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "daemon/api/errors.h"
#include "daemon/rpc/admin_conversion.h"

namespace ttfd {
namespace {

constexpr uint32_t kMinMs = 100, kMaxMs = 3'600'000, kDefaultMs = 1000;

constexpr Duration kSampleEvery = std::chrono::milliseconds(10);
// After so long the status is taken even if the card was not read: 50 ms are promised (admin.proto).
constexpr Duration kMaxWait = std::chrono::milliseconds(50) - Poller::kRound;

// Takes the status of the daemon once the cards were read.
struct StatusSampler {
  // Null: cards are being read, and on_due follows.
  std::optional<StatusReply> Sample() {
    StatusReply status = daemon.GetStatus();
    const TimePoint now = call.Now();
    if (!until) {
      until = now + kMaxWait;
      numbers.clear();
      for (const DeviceStatusReply& device : status.devices) {
        numbers.push_back(device.card.wanted);
      }
    }
    bool read = true;
    for (size_t i = 0; i < numbers.size(); ++i) {
      read = read && status.devices[i].card.number >= numbers[i];
    }
    if (read || now >= *until) {
      until.reset();
      return status;
    }
    call.WakeAt(std::min(now + kSampleEvery, *until));
    return std::nullopt;
  }

  ReplyCall& call;
  Admin& daemon;
  std::optional<TimePoint> until = std::nullopt;  // unset: the next sample is the first of a wait
  std::vector<uint64_t> numbers = {};             // of the readings that are waited for
};

}  // namespace

void SendStatus(ReplyCall& call, Admin& daemon) {
  call.on_due = [&call, sampler = StatusSampler{call, daemon}]() mutable {
    const std::optional<StatusReply> status = sampler.Sample();
    if (!status) return;
    v1::DaemonStatus message;
    ToProto(*status, &message);
    call.Reply(message);
    call.End(OkStatus());
  };
  call.on_due();
}

void WatchStatus(ReplyCall& call, Admin& daemon, const v1::WatchStatusRequest& request) {
  const uint32_t interval_ms = request.has_interval_ms() ? request.interval_ms() : kDefaultMs;
  if (interval_ms < kMinMs || interval_ms > kMaxMs) {
    return call.End(ToStatus(
        InvalidError("interval_ms", "{}; {} to {} are allowed", interval_ms, kMinMs, kMaxMs)));
  }
  const std::chrono::milliseconds interval(interval_ms);
  call.on_due = [&call, interval, sampler = StatusSampler{call, daemon},
                 written = std::string()]() mutable {
    std::optional<StatusReply> status = sampler.Sample();
    if (!status) return;
    v1::DaemonStatus message;
    ToProto(*status, &message);
    status->uptime_ms = 0;  // it changes by itself, as the ages of readings do
    for (DeviceStatusReply& device : status->devices) device.card.age_ms = 0;
    v1::DaemonStatus steady;
    ToProto(*status, &steady);
    std::string encoded = steady.SerializeAsString();
    if (encoded == written) return call.WakeAt(call.Now() + interval);
    written = std::move(encoded);
    call.Reply(message);
  };
  call.on_written = [&call, interval] { call.WakeAt(call.Now() + interval); };
  call.on_due();
}

}  // namespace ttfd
