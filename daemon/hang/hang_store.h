// Hang reports on disk: a folder for each, named by its number, in it one file after the other as things become known.
//
//   <folder>/hang-7/host.json     operations on the card, by the host's records
//                   records.txt   records announced to the card and not done, decoded
//                   log.txt       the daemon's last lines
//                   device.json   what the card showed
//                   report.json   all of it, and what came of it
//                   report.txt    the same for people
//                   summary.json  what a list has of it
//
// Each file is on the disk before the next thing is done, so that a crash in the middle, of the daemon or of the host,
// leaves the earlier ones. The oldest reports go when there are too many, or too many bytes.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "daemon/hang/hang_summary.h"
#include "runtime/base/mutex.h"
#include "runtime/base/status.h"

namespace ttfd {

struct HangStoreOptions {
  std::string folder;                   // empty: reports are not kept
  uint32_t reports = 32;                // kept
  uint64_t bytes = uint64_t{64} << 20;  // of all of them
  uint32_t file_bytes = 4 << 20;        // of one file; what is longer is cut
};

// An id of a report; unset: the newest.
using HangReportId = std::optional<std::string>;

class HangStore final : public HangKeeper {
 public:
  // Looks what there is of daemons before.
  explicit HangStore(HangStoreOptions options);

  // ---- the thread that writes, but for NewId. A failure is logged: a card is repaired also where there is no disk.
  std::string NewId() override ABSL_LOCKS_EXCLUDED(mu_);
  bool KeepHostSide(const HangReport& report) override;
  bool KeepDeviceSide(const HangReport& report) override;
  void KeepOutcome(const HangReport& report) override;

  // ---- any thread
  bool Holds(const std::string& id) override ABSL_LOCKS_EXCLUDED(mu_);
  // The oldest first. The headline of an incomplete one says which files are missing.
  std::vector<HangSummary> List() const;
  struct File {
    std::string name;
    std::string bytes;
  };
  // Files of a report. NOT_FOUND says which there are, or that nothing of this one
  // could be kept. FAILED_PRECONDITION: no reports are kept.
  StatusOr<std::vector<File>> Read(const HangReportId& id) const;
  // The newest report of which something is kept; empty: there is none. Touches no disk.
  std::string last() const ABSL_LOCKS_EXCLUDED(mu_);

 private:
  // Ids of what is there, the oldest first.
  std::vector<std::string> Ids() const;
  std::string FolderOf(const std::string& id) const;
  Status Write(const std::string& id, const char* name, std::string text);
  bool Keep(const HangReport& report, const char* name, std::string text);
  void MakeRoom(const std::string& newest, size_t most_others);

  const HangStoreOptions options_;
  mutable Mutex mu_;
  std::string last_ ABSL_GUARDED_BY(mu_);     // of which something is kept
  uint64_t newest_ ABSL_GUARDED_BY(mu_) = 0;  // id that was given
};

}  // namespace ttfd
