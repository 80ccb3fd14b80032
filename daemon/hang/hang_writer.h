// Hang reports are written by a thread of their own: a disk that stands still must not hold up the repair of the card.
//
// Each part of a report is handed over before the next is collected, and written in that order. The repair waits until
// the part is on the disk, because evidence comes first; but no longer than the disk is given for a report. Later
// parts are written when the disk answers again.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

#include "daemon/hang/hang_report.h"
#include "runtime/base/abandonable_thread.h"
#include "runtime/base/clock.h"

namespace ttfd {

struct HangWriterOptions {
  // How long a repair waits for the disk in all.
  Duration patience = std::chrono::seconds(2);
  // Parts of reports that wait for the disk, three of each; what is more is not kept.
  size_t parts = 24;
};

class HangWriter final : public HangKeeper {
 public:
  // `store` says where to; it is called on the thread, but for NewId. Starts the thread.
  HangWriter(std::shared_ptr<HangKeeper> store, const HangWriterOptions& options);
  // Writes what it was given. A disk that stands still keeps the thread, and what it needs.
  ~HangWriter() override;

  // ---- device thread. False also: not known to be on the disk.
  std::string NewId() override { return store_->NewId(); }
  bool KeepHostSide(const HangReport& report) override;
  bool KeepDeviceSide(const HangReport& report) override;
  void KeepOutcome(const HangReport& report) override;

  // ---- any thread
  bool Holds(const std::string& id) override;
  void WaitNoLongerThan(TimePoint deadline) override;
  // Until what was handed over is on the disk. False: it was not within a second.
  bool Settle() const;

 private:
  struct Shared;
  enum class Side { kHost, kDevice, kOutcome };
  struct Part;
  static void ThreadMain(const std::shared_ptr<Shared>& shared);
  bool Hand(Side side, const HangReport& report, TimePoint until);

  const std::shared_ptr<HangKeeper> store_;
  const HangWriterOptions options_;
  const std::shared_ptr<Shared> shared_;
  Duration left_{};  // of the patience for this report; device thread only
  AbandonableThread thread_;
};

}  // namespace ttfd
