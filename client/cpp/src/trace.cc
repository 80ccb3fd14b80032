// Traces: recording in segments that fit into a message, and the patches of a replay.
#include "ttfd/trace.h"

#include <algorithm>

#include "client/cpp/src/command_size.h"
#include "client/cpp/src/convert.h"
#include "client/cpp/src/session_core.h"
#include "ttfd/queue.h"

namespace ttfd::client {
namespace {

// Cost of a message besides its segment.
constexpr uint64_t kMessageCost = 1 << 10;

struct Segment {
  std::span<const LaunchRequest> launches;
  MessageSize size;
};

// As many launches in each as fit, but at least one. No launches are one segment, which the daemon refuses.
std::vector<Segment> Split(std::span<const LaunchRequest> launches, const MessageLimits& limits) {
  const uint64_t most = std::max(limits.guaranteed_cost, 2 * kMessageCost) - kMessageCost;
  std::vector<Segment> segments;
  do {
    Segment segment{{}, kRecordTrace};
    size_t count = 0;
    while (count < launches.size()) {
      const MessageSize more = segment.size + SizeInTrace(launches[count]);
      if (count != 0 && (limits.Cost(more) > most || !limits.Check(more).ok())) {
        break;
      }
      segment.size = more;
      ++count;
    }
    segment.launches = launches.first(count);
    launches = launches.subspan(count);
    segments.push_back(segment);
  } while (!launches.empty());
  return segments;
}

void FillRecordTrace(uint64_t handle, std::span<const LaunchRequest> launches, bool more,
                     v1::RecordTrace* record) {
  record->set_handle(handle);
  record->set_more(more);
  for (const LaunchRequest& launch : launches) {
    ToProto(launch, record->add_launches());
  }
}

}  // namespace

ReplayRequest& ReplayRequest::Patch(uint32_t launch, const LaunchRequest& arguments) {
  for (const LaunchRequest::Arguments& one : arguments.arguments()) {
    patches_.push_back({launch, one});
  }
  return *this;
}

Result<Trace> Queue::RecordTrace(std::span<const LaunchRequest> launches) {
  if (core_ == nullptr) {
    return Status(Code::kFailedPrecondition, "this queue belongs to no session");
  }
  const uint64_t handle = core_->WithHandles([](Handles& handles) { return handles.New(); });
  const std::vector<Segment> segments = Split(launches, core_->message_limits());
  std::vector<MessageSize> sizes;
  for (const Segment& segment : segments) {
    sizes.push_back(segment.size);
  }
  // Half a trace would be continued by the next one, so one that found no space is ended and freed.
  bool abandoned = false;
  const Result<Position> first = core_->EnqueueSequence(
      id_, sizes,
      [&](size_t i, v1::Command* command) {
        FillRecordTrace(handle, segments[i].launches, i + 1 != segments.size(),
                        command->mutable_record_trace());
      },
      [&](v1::Command* command) {
        FillRecordTrace(handle, {}, false, command->mutable_record_trace());
        abandoned = true;
      });
  Status status = first.status();
  for (size_t i = 0; i < segments.size() && status.ok(); ++i) {
    status = core_->WaitAndClear({id_, first->value + i});
  }
  if (!status.ok()) {
    if (abandoned) {
      core_->FreeResource(handle);
    }
    return status;
  }
  core_->WithHandles([handle](Handles& handles) { handles.Add(handle, ResourceKind::kTrace); });
  return Trace(core_, handle, launches.size());
}

}  // namespace ttfd::client
