// Names of this machine's users. The user database may be a server far away (LDAP, sssd) that answers late or never, so
// only a thread of its own asks it, and what it said is kept for a while.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "runtime/base/abandonable_thread.h"
#include "runtime/base/clock.h"

namespace ttfd {

struct UserNamesOptions {
  size_t users = 4096;  // kept; the one not asked for longest goes
  Duration lifetime =
      std::chrono::minutes(5);  // then a name is looked up again when it is asked for
  // How long all callers of Await together may wait in each `await_period`.
  Duration await_budget = std::chrono::milliseconds(250);
  Duration await_period = std::chrono::seconds(10);
  // Asks the user database; nothing: it has no such user. May block. Default: getpwuid_r.
  std::function<std::optional<std::string>(uint32_t uid)> look_up;
};

// Thread-safe.
class UserNames {
 public:
  // `clock` outlives this. Starts the thread.
  UserNames(Clock& clock, UserNamesOptions options);
  // A look-up that is under way may outlive this.
  ~UserNames();

  // The name; the number in decimal while the database has not answered, and where it knows no such user. Never waits:
  // a name that is missing or old is looked up meanwhile.
  std::string Of(uint32_t uid);
  // The same, but waits for a first answer as far as the budget allows: for a thread that may block, before others need
  // the name.
  void Await(uint32_t uid);

 private:
  struct Shared;
  const std::shared_ptr<Shared> shared_;
  AbandonableThread thread_;
};

}  // namespace ttfd
