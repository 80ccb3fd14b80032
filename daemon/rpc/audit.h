// Trail of administrators' actions and of refused callers: one JSON object a line, in the log and, if configured, in
// a file of its own.
//
//   audit {"time":"2026-01-31T12:00:00.250Z","id":7,"action":"TerminateSession","outcome":"OK","uid":1000,
//          "user":"alice","certificate":"","pid":4242,"connection":12,"arguments":{"session":"3"},
//          "message":"","suppressed_count":0}                                                     (one line)
//
// The keys are always there and in this order; docs/ttfdctl.md explains them. An action that takes time has two lines
// with one id, the first with outcome STARTED.
//
// A thread of the trail's own writes the lines: callers, the device thread among them, do not wait for a disk or for
// standard error. At most kLinesWaiting lines wait to be written; administrative calls are refused while so many do.
#pragma once

#include <chrono>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>

#include "daemon/api/session_port.h"
#include "runtime/base/abandonable_thread.h"
#include "runtime/base/clock.h"
#include "runtime/base/mutex.h"
#include "runtime/base/status.h"
#include "runtime/base/unique_fd.h"

namespace ttfd {

struct AuditOptions {
  std::string file;  // lines are appended to it, besides the log; empty: the log alone
  // Lines a second of refused attempts of one user; more are counted in the next line that is written.
  uint32_t refusals_per_second = 5;
  // How often the writing thread looks for users whose last refused attempts have no line yet.
  Duration check_every = std::chrono::seconds(1);
  // The rest has the machine's own as default.
  // Writes a line to the log. False: not taken; it is called again. The writing thread's.
  std::function<bool(const std::string& line)> log;  // default: LogAlways
  std::function<int64_t()> unix_ms;                  // default: the time of day
  // Any thread; must not block.
  std::function<std::string(uint32_t uid)> user_name;  // default: the number
};

// Thread-safe; only Reopen and Flush wait for the disk.
class AuditTrail {
 public:
  static constexpr size_t kLinesWaiting = 4096;

  // One attempt, as its lines describe it.
  struct Action {
    uint64_t id = 0;
    std::string name;
    std::string who_and_what;  // the keys from "uid" to "arguments"
  };

  // Opens the file, which is made with mode 0640.
  static StatusOr<std::shared_ptr<AuditTrail>> Create(AuditOptions options);
  // Writes what waits, for half a second at most: a stop has a bound.
  ~AuditTrail();
  AuditTrail(const AuditTrail&) = delete;
  AuditTrail& operator=(const AuditTrail&) = delete;

  // UNAVAILABLE while too many lines wait to be written: an action that leaves no line is not done.
  Status Ready();

  // `arguments` is a JSON value of bounded size. No peer: the caller is unknown.
  Action Describe(std::string_view name, const std::optional<PeerIdentity>& peer,
                  std::string_view arguments);

  void Started(const Action& action) { Append(action, "STARTED", ""); }
  void Ended(const Action& action, const Status& status);
  // An attempt of a caller without the role. A few a second of each user get a line; `arguments` is called for those
  // alone, because anybody may be refused all day. The others are counted in the next line; the last of them gets a
  // line a little later, with null arguments.
  void Refused(std::string_view name, const std::optional<PeerIdentity>& peer,
               const std::function<std::string()>& arguments, const Status& status);

  // Opens the file again, after it was moved away. The old one is kept where that fails.
  Status Reopen();
  // Waits until every line so far is written. False: not within this time.
  bool Flush(Duration within);

 private:
  struct Refusals {
    int64_t second = 0;       // of the last attempt
    uint32_t lines = 0;       // in this second
    uint64_t suppressed = 0;  // attempts without a line, the last one included
    std::string last;         // the line of the last one, but for its end; empty: still being made
  };
  // State shared with the writing thread, which may outlive the trail where its disk does not answer.
  struct Shared {
    explicit Shared(AuditOptions its_options) : options(std::move(its_options)) {}

    // Whether an attempt of `uid` gets a line, and then how many before it have none.
    std::optional<uint64_t> CountRefusal(uint32_t uid) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu);
    Refusals& RefusalsOf(uint32_t uid) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu);
    void Push(std::string line) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu);
    // Gives the last attempts without a line theirs; with `silent` only those of users without an attempt in this
    // second.
    void PushSuppressed(bool silent) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu);
    void BeginSecond() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu);
    bool GivesUp() ABSL_LOCKS_EXCLUDED(mu);
    void Write(const std::string& line) ABSL_LOCKS_EXCLUDED(mu);
    void Main() ABSL_LOCKS_EXCLUDED(mu);

    const AuditOptions options;
    Mutex mu;
    CondVar changed;
    std::deque<std::string> lines ABSL_GUARDED_BY(mu);
    uint64_t pushed ABSL_GUARDED_BY(mu) = 0;  // lines
    uint64_t written ABSL_GUARDED_BY(mu) = 0;
    std::optional<TimePoint> stop_by ABSL_GUARDED_BY(mu);  // set when the trail ends
    uint64_t last_id ABSL_GUARDED_BY(mu) = 0;
    std::shared_ptr<UniqueFd> file ABSL_GUARDED_BY(mu);
    bool file_failed ABSL_GUARDED_BY(mu) = false;  // logged once, until a write succeeds again
    int64_t second ABSL_GUARDED_BY(mu) = 0;        // that `refusals` counts
    std::unordered_map<uint32_t, Refusals> refusals ABSL_GUARDED_BY(mu);
    bool file_torn = false;  // ends amid a line: the disk was full there; the writing thread's
  };

  explicit AuditTrail(AuditOptions options);
  // A line but for its end, which says how many attempts have none.
  std::string LineOf(const Action& action, std::string_view outcome,
                     std::string_view message) const;
  void Append(const Action& action, std::string_view outcome, std::string_view message);

  const std::shared_ptr<Shared> shared_;
  AbandonableThread writer_;
};

}  // namespace ttfd
