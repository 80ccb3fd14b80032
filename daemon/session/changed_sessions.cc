// Publishing.
#include "daemon/session/changed_sessions.h"

#include <algorithm>

#include "daemon/session/session.h"

namespace ttfd {

bool ChangedSessions::Publish(TimePoint now) {
  size_t kept = 0;
  for (size_t i = 0; i < changed_.size(); ++i) {  // grows while it is walked
    Changed one = std::move(changed_[i]);
    const bool continues = now != TimePoint::max() && one.session->continues();
    if (continues) one.due = std::min(one.due, now + kInterval);
    if (continues && now < one.due) {
      changed_[kept++] = std::move(one);
    } else {
      one.session->Publish();
    }
  }
  const bool published = kept != changed_.size();
  changed_.resize(kept);
  return published;
}

}  // namespace ttfd
