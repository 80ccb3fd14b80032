// Publishing.
#include "daemon/session/changed_sessions.h"

#include "daemon/session/session.h"

namespace ttfd {

bool ChangedSessions::PublishAll() {
  if (sessions_.empty()) return false;
  for (size_t i = 0; i < sessions_.size(); ++i) {
    const std::shared_ptr<Session> session = std::move(sessions_[i]);
    session->Publish();
  }
  sessions_.clear();
  return true;
}

}  // namespace ttfd
