// What administrators did, and who tried to: one JSON object a line, in the log and, if configured, in a
// file of its own.
//
//   audit {"time":"2026-01-31T12:00:00.250Z","id":7,"action":"EndSession","outcome":"OK","uid":1000,
//          "user":"alice","certificate":"","pid":4242,"connection":12,"arguments":{"session":"3"},
//          "message":"","untold":0}                                                           (one line)
//
// The keys are always there and in this order; docs/ttfdctl.md explains them. An action that takes time has two lines
// with one id, the first with outcome STARTED.
//
// Lines are written by a thread of their own: a disk or log that does not answer holds up nobody who has something to
// tell, the device thread least of all. So many may wait; then administrators may do nothing more until it answers.
#pragma once

#include <chrono>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <thread>
#include <unordered_map>
#include <utility>

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
  // How often a silent user's refused attempts that have no line are looked at.
  Duration look_every = std::chrono::seconds(1);
  // What is the world's: default to the machine's own.
  std::function<void(const std::string& line)> log;    // default: LogAlways
  std::function<int64_t()> unix_ms;                    // default: the time of day
  std::function<std::string(uint32_t uid)> user_name;  // default: the user database
};

// Thread-safe; nothing waits for the disk but Reopen and Flush.
class AuditTrail {
 public:
  static constexpr size_t kLinesWaiting = 4096;

  // One attempt, as its lines tell it.
  struct Action {
    uint64_t id = 0;
    uint32_t uid = 0;
    std::string name;
    std::string who_and_what;  // the keys from "uid" to "arguments"
  };

  // Opens the file, which is made with mode 0640.
  static StatusOr<std::shared_ptr<AuditTrail>> Create(AuditOptions options);
  // Writes what waits, for half a second at most: a stop has a bound.
  ~AuditTrail();
  AuditTrail(const AuditTrail&) = delete;
  AuditTrail& operator=(const AuditTrail&) = delete;

  // UNAVAILABLE while too many lines wait to be written: what cannot be told must not be done.
  Status Ready();

  // `arguments` is a JSON value. No peer: nobody knows who it was.
  Action Describe(std::string_view name, const std::optional<PeerIdentity>& peer,
                  std::string_view arguments);

  void Started(const Action& action) { Tell(action, "STARTED", ""); }
  void Ended(const Action& action, const Status& status);
  // Who asked may not. Limited: whoever may connect may ask all day. The last of those that found no place gets its
  // line a little later, and says how many there were.
  void Refused(const Action& action, const Status& status);

  // Opens the file again, after somebody has moved it away. The old one is kept where that fails.
  Status Reopen();
  // Waits until everything told so far is written. False: not within this time.
  bool Flush(Duration within);

 private:
  struct Refusals {
    int64_t tried = 0;    // the second of the last attempt
    uint32_t told = 0;    // in this second
    uint64_t untold = 0;  // `last` included
    std::string last;     // the line of the last attempt that has none, but for its end
  };
  // What the writing thread uses, which may outlive the trail where its disk does not answer.
  struct Shared {
    explicit Shared(AuditOptions its_options) : options(std::move(its_options)) {}

    void Write(const std::string& line) ABSL_LOCKS_EXCLUDED(mu);
    void TellSilent() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu);
    void TellUntold(bool silent) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu);
    void BeginSecond() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu);
    void Main() ABSL_LOCKS_EXCLUDED(mu);

    const AuditOptions options;
    Mutex mu;
    CondVar changed;
    std::deque<std::string> lines ABSL_GUARDED_BY(mu);
    uint64_t told ABSL_GUARDED_BY(mu) = 0;
    uint64_t written ABSL_GUARDED_BY(mu) = 0;
    bool stop ABSL_GUARDED_BY(mu) = false;
    bool ended ABSL_GUARDED_BY(mu) = false;
    uint64_t last_id ABSL_GUARDED_BY(mu) = 0;
    std::shared_ptr<UniqueFd> file ABSL_GUARDED_BY(mu);
    bool file_failed ABSL_GUARDED_BY(mu) = false;  // told once, until it works again
    int64_t second ABSL_GUARDED_BY(mu) = 0;        // that `refusals` counts
    std::unordered_map<uint32_t, Refusals> refusals ABSL_GUARDED_BY(mu);
    bool file_torn = false;  // ends amid a line: the disk was full there; the writing thread's
  };

  explicit AuditTrail(AuditOptions options);
  // A line but for its end, which says how many attempts have none.
  std::string LineOf(const Action& action, std::string_view outcome,
                     std::string_view message) const;
  void Tell(const Action& action, std::string_view outcome, std::string_view message);

  const std::shared_ptr<Shared> shared_;
  std::thread writer_;
};

}  // namespace ttfd
