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
      const auto found = profile_->program_names.find(program);
      return found != profile_->program_names.end() ? found->second
                                                    : fmt::format("program {}", program);
    };
    started = dispatcher_->StartProfile(request.options);
  }
  if (!started.ok()) {
    request.done(started);
    return;
  }
  profile_ = Profiling{clock_.Now() + request.duration, std::move(request), {}};
  for (const HardwareQueue& queue : queues_) {
    for (const WorkInFlight& entry : queue.in_flight) NameProgramsOf(entry.work);
  }
}

void Engine::CheckProfile() {
  const ProfileRequest& request = profile_->request;
  if (clock_.Now() < profile_->end && !request.cancelled->load(std::memory_order_relaxed)) return;
  ProfileResult result = dispatcher_->StopProfile();
  const auto done = std::move(profile_->request.done);
  profile_.reset();
  done(std::move(result));
}

void Engine::NameProgramsOf(const Work& work) {
  if (!work.runs_kernels()) return;
  auto& names = profile_->program_names;
  for (const uint32_t program : *work.programs) {
    if (names.size() == kNamedPrograms) return;
    names.try_emplace(program, fmt::format("program {} of {}", program, work.owner->Name()));
  }
}

}  // namespace ttfd
