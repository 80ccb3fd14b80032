// Profiles of a booted card: one at a time.
#include <utility>

#include "runtime/dispatch/card_dispatcher.h"

namespace ttfd {

Status CardDispatcher::StartProfile(const ProfileOptions& options) {
  if (profile_ != nullptr) {
    return Error(StatusCode::kFailedPrecondition, "a profile is being taken; one at a time");
  }
  ASSIGN_OR_RETURN(profile_, Profile::Start(device_, clock_, plans_, code_, options));
  return OkStatus();
}

ProfileResult CardDispatcher::StopProfile() {
  if (profile_ == nullptr) return {};
  ProfileResult result = profile_->Finish();
  profile_.reset();
  return result;
}

}  // namespace ttfd
