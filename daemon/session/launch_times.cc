// How long the launches of a program take.
#include "daemon/session/launch_times.h"

#include <span>
#include <utility>

namespace ttfd {

void LearnLaunchTimes(const Operation& op, const Slice& slice, Duration guess) {
  if (slice.times.device_time == Duration::zero()) return;
  const auto known = [guess](const ProgramObject& program) {
    return program.launch_time != Duration::zero() ? program.launch_time : guess;
  };
  const auto learn = [](ProgramObject& program, Duration time) {
    Duration& mean = program.launch_time;
    mean = mean == Duration::zero() ? time : (3 * mean + time) / 4;
  };
  if (const auto* launch = std::get_if<LaunchOperation>(&op.body)) {
    return learn(*launch->program, slice.times.device_time);
  }
  const auto* replay = std::get_if<ReplayTraceOperation>(&op.body);
  if (replay == nullptr) return;
  const auto& command = std::get<ReplayTraceCommand>(slice.command);
  const SegmentExtent extent = TraceSegmentExtent(*command.trace, command.segment);
  const std::span<const std::shared_ptr<ProgramObject>> programs =
      std::span(replay->trace->programs).subspan(extent.begin, extent.end - extent.begin);
  Duration expected{};
  for (const auto& program : programs) expected += known(*program);
  const double slower =
      static_cast<double>(slice.times.device_time.count()) / static_cast<double>(expected.count());
  for (const ProgramObject* last = nullptr; const auto& program : programs) {
    if (std::exchange(last, program.get()) == program.get()) continue;
    learn(*program, std::chrono::duration_cast<Duration>(known(*program) * slower));
  }
}

}  // namespace ttfd
