// The profile that is being taken of the card.
#include "daemon/card/profiler.h"

#include <utility>

#include "daemon/session/session.h"

namespace ttfd {
namespace {

// Programs whose owners are remembered while a profile is taken; beyond it they have only a number.
constexpr size_t kNamedPrograms = 4096;

}  // namespace

bool Profiler::Start(Request request, const Status& card) {
  Status started = card;
  if (started.ok() && active()) {
    started = Error(StatusCode::kFailedPrecondition, "a profile is being taken; one at a time");
  }
  if (started.ok()) {
    request.options.program_name = [this](uint32_t program) {
      const auto found = active_->program_names.find(program);
      return found != active_->program_names.end() ? found->second
                                                   : fmt::format("program {}", program);
    };
    started = probe_.StartProfile(request.options);
  }
  if (!started.ok()) {
    request.done(started);
    return false;
  }
  active_ = Active{clock_.Now() + request.duration, std::move(request), {}};
  return true;
}

void Profiler::Check() {
  if (!active()) return;
  const bool cancelled = active_->request.cancelled->load(std::memory_order_relaxed);
  if (cancelled || clock_.Now() >= active_->end) End();
}

void Profiler::End() {
  if (!active()) return;
  ProfileResult result = probe_.StopProfile();
  const auto done = std::move(active_->request.done);
  active_.reset();
  done(std::move(result));
}

void Profiler::NameProgramsOf(const Slice& slice) {
  if (!active() || !slice.runs_kernels()) return;
  auto& names = active_->program_names;
  for (const uint32_t program : *slice.programs) {
    if (names.size() == kNamedPrograms) return;
    names.try_emplace(
        program, fmt::format("program {} of {}", program, slice.share().owner->client().Text()));
  }
}

}  // namespace ttfd
