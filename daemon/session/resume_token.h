// The secret with which a client resumes its session.
#pragma once

#include <string>
#include <utility>

#include "daemon/session/secret.h"

namespace ttfd {

// Every Welcome has another. The one before stays good until the client has proved by a message that it received the
// newest: a Welcome can be lost with its connection. Not thread-safe: guarded by the lock of its inbox.
class ResumeToken {
 public:
  explicit ResumeToken(std::string first) : newest_(std::move(first)) {}

  // Takes the same time whichever of them it is, or neither.
  bool Accepts(const std::string& token) const {
    const bool newest = SameSecret(token, newest_);
    const bool used = SameSecret(token, used_);
    return newest || used;
  }
  // `used` was presented; `next` is in the Welcome that answers it.
  void Replace(std::string used, std::string next) {
    used_ = std::move(used);
    newest_ = std::move(next);
  }
  void ConfirmNewest() { used_.clear(); }

 private:
  std::string newest_;
  std::string used_;
};

}  // namespace ttfd
