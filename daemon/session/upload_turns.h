// Who may send more data now, when more sessions want to than it takes to keep the machine busy.
//
// A client that has used up its credit sleeps until it is told more. So few that send at a time leave the cores, and
// gRPC's threads, to everybody else; all of them would queue up there, and a light session behind them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <vector>

#include "runtime/base/clock.h"
#include "runtime/base/mutex.h"

namespace ttfd {

struct UploadTurnOptions {
  // An upload keeps two cores at work: its client, and here who reads it and who gives it to the card.
  size_t at_once = 1;
  // Whoever does not send what it was told for so long holds up nobody any more.
  Duration longest = std::chrono::milliseconds(5);
};

// Thread-safe. First come, first served.
class UploadTurns {
 public:
  explicit UploadTurns(const UploadTurnOptions& options) : options_(options) {}

  // `session` wants to be told of more credit, which ends a turn it had. True: it has one from now on. False: it waits
  // in line for Next to name it.
  bool Take(uint64_t session, TimePoint now) ABSL_LOCKS_EXCLUDED(mu_);
  // It has sent what it may, or wants nothing any more. True: others wait.
  bool Release(uint64_t session) ABSL_LOCKS_EXCLUDED(mu_);
  struct Changes {
    std::vector<uint64_t> over;  // had a turn for the longest time without a Release
    std::vector<uint64_t> come;  // have one from now on
  };
  // `again`: when to ask again, unless there is a Release before.
  Changes Next(TimePoint now, TimePoint* again) ABSL_LOCKS_EXCLUDED(mu_);

 private:
  struct Turn {
    uint64_t session = 0;
    TimePoint until;
  };

  // Turns that are over keep nobody waiting, though only Next takes them away.
  bool Free(TimePoint now) const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);

  const UploadTurnOptions options_;
  Mutex mu_;
  std::vector<Turn> held_ ABSL_GUARDED_BY(mu_);
  std::deque<uint64_t> waiting_ ABSL_GUARDED_BY(mu_);
};

}  // namespace ttfd
