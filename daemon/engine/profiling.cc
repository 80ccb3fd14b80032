// What the device thread does while somebody profiles the card.
#include <utility>

#include "daemon/engine/engine.h"

namespace ttfd {
namespace {

// Programs whose owners are remembered while a profile is taken; beyond it they have only a number.
constexpr size_t kNamedPrograms = 4096;

}  // namespace

void Engine::StartProfile(ProfileRequest request) {
  Status started = lost_;
  if (started.ok() && profile_.has_value()) {
    started = Error(StatusCode::kFailedPrecondition, "a profile is being taken; one at a time");
  }
  if (started.ok()) {
    request.options.program_name = [this](uint32_t program) {
      const auto found = program_names_.find(program);
      return found != program_names_.end() ? found->second : fmt::format("program {}", program);
    };
    started = dispatcher_->StartProfile(request.options);
  }
  if (!started.ok()) {
    request.done(started);
    return;
  }
  profile_end_ = clock_.Now() + request.duration;
  profile_ = std::move(request);
  for (const HardwareQueue& queue : queues_) {
    for (const WorkInFlight& entry : queue.in_flight) NameProgramsOf(entry.work);
  }
}

void Engine::CheckProfile() {
  if (clock_.Now() < profile_end_ && !profile_->cancelled->load(std::memory_order_relaxed)) return;
  ProfileRequest request = std::move(*profile_);
  ProfileResult result = dispatcher_->StopProfile();
  profile_.reset();
  program_names_.clear();
  request.done(std::move(result));
}

void Engine::NameProgramsOf(const Work& work) {
  if (!work.runs_kernels()) return;
  for (const uint32_t program : *work.programs) {
    if (program_names_.size() == kNamedPrograms) return;
    program_names_.try_emplace(program,
                               fmt::format("program {} of {}", program, work.owner->Name()));
  }
}

}  // namespace ttfd
