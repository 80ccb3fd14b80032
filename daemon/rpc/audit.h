// What administrators did, and who tried to: one JSON object a line, in the log and, if configured, in a
// file of its own.
//
//   audit {"time":"2026-01-31T12:00:00.250Z","id":7,"action":"EndSession","outcome":"OK","uid":1000,
//          "user":"alice","certificate":"","pid":4242,"connection":12,"arguments":{"session":"3"},
//          "message":"","untold":0}                                                           (one line)
//
// The keys are always there and in this order; docs/ttfdctl.md explains them. An action that takes time has two lines
// with one id, the first with outcome STARTED.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>

#include "daemon/session/service.h"
#include "runtime/base/clock.h"
#include "runtime/base/mutex.h"
#include "runtime/base/status.h"
#include "runtime/base/unique_fd.h"

namespace ttfd {

struct AuditOptions {
  std::string file;  // lines are appended to it, besides the log; empty: the log alone
  // Lines a second of refused attempts of one user; more are counted in the next line that is written.
  uint32_t refusals_per_second = 5;
  // What is the world's: default to the machine's own.
  std::function<void(const std::string& line)> log;    // default: LogAlways
  std::function<int64_t()> unix_ms;                    // default: the time of day
  std::function<std::string(uint32_t uid)> user_name;  // default: the user database
};

// Thread-safe.
class AuditTrail {
 public:
  // One attempt, as its lines tell it.
  struct Action {
    uint64_t id = 0;
    uint32_t uid = 0;
    std::string name;
    std::string who_and_what;  // the keys from "uid" to "arguments"
  };

  // Opens the file, which is made with mode 0640.
  static StatusOr<std::shared_ptr<AuditTrail>> Create(AuditOptions options);

  // `arguments` is a JSON value. No peer: nobody knows who it was.
  Action Describe(std::string_view name, const std::optional<PeerIdentity>& peer,
                  std::string_view arguments);

  void Started(const Action& action) { Write(action, "STARTED", ""); }
  void Ended(const Action& action, const Status& status);
  // Who asked may not. Limited: whoever may connect may ask all day.
  void Refused(const Action& action, const Status& status);

  // Opens the file again, after somebody has moved it away. The old one is kept where that fails.
  Status Reopen() ABSL_LOCKS_EXCLUDED(mu_);

 private:
  struct Refusals {
    uint32_t told = 0;
    uint64_t untold = 0;
  };

  explicit AuditTrail(AuditOptions options) : options_(std::move(options)) {}
  // `untold`: earlier refused attempts of this user that have no line.
  void Write(const Action& action, std::string_view outcome, std::string_view message,
             uint64_t untold = 0) ABSL_LOCKS_EXCLUDED(mu_);

  const AuditOptions options_;
  Mutex mu_;
  uint64_t last_id_ ABSL_GUARDED_BY(mu_) = 0;
  UniqueFd file_ ABSL_GUARDED_BY(mu_);
  bool file_failed_ ABSL_GUARDED_BY(mu_) = false;  // told once, until it works again
  bool file_torn_ ABSL_GUARDED_BY(mu_) = false;    // ends amid a line: the disk was full there
  int64_t second_ ABSL_GUARDED_BY(mu_) = 0;        // that `refusals_` counts
  std::unordered_map<uint32_t, Refusals> refusals_ ABSL_GUARDED_BY(mu_);
};

}  // namespace ttfd
