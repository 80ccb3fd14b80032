// The thread that writes hang reports.
#include "daemon/hang/hang_writer.h"

#include <algorithm>
#include <deque>
#include <utility>

#include "runtime/base/log.h"
#include "runtime/base/mutex.h"

namespace ttfd {
namespace {

// The disk's time, whatever clock the card has.
TimePoint Now() { return std::chrono::steady_clock::now(); }

// At the end, when the time to stop is over already: a disk that works has this.
constexpr Duration kLastWrites = std::chrono::milliseconds(250);
// A thread that waits answers nobody else meanwhile.
constexpr Duration kAskersPatience = std::chrono::seconds(1);

}  // namespace

struct HangWriter::Part {
  Side side = Side::kHost;
  HangReport report;
  bool done = false;  // guarded by Shared::mu
  bool kept = false;
};

// Also the thread's, for as long as the disk keeps that.
struct HangWriter::Shared {
  explicit Shared(std::shared_ptr<HangKeeper> its_store) : store(std::move(its_store)) {}

  const std::shared_ptr<HangKeeper> store;
  Mutex mu;
  CondVar changed;
  std::deque<std::shared_ptr<Part>> parts ABSL_GUARDED_BY(mu);  // the first is being written
  TimePoint latest ABSL_GUARDED_BY(mu) = TimePoint::max();      // of all waits
  bool ends ABSL_GUARDED_BY(mu) = false;
};

HangWriter::HangWriter(std::shared_ptr<HangKeeper> store, const HangWriterOptions& options)
    : store_(std::move(store)),
      options_(options),
      shared_(std::make_shared<Shared>(store_)),
      thread_([shared = shared_] { ThreadMain(shared); }) {}

HangWriter::~HangWriter() {
  TimePoint until;
  {
    MutexLock lock(&shared_->mu);
    shared_->ends = true;
    shared_->changed.NotifyAll();
    until = std::min(Now() + options_.patience, std::max(shared_->latest, Now() + kLastWrites));
  }
  if (thread_.JoinUntil(until)) return;
  LogError("the disk does not take the hang reports; what was not written is lost");
}

void HangWriter::ThreadMain(const std::shared_ptr<Shared>& shared) {
  for (;;) {
    std::shared_ptr<Part> part;
    {
      MutexLock lock(&shared->mu);
      while (shared->parts.empty() && !shared->ends) {
        shared->changed.WaitUntil(&shared->mu, Now() + kIdleWait);
      }
      if (shared->parts.empty()) return;
      part = shared->parts.front();
    }
    bool kept = true;
    if (part->side == Side::kHost) {
      kept = shared->store->KeepHostSide(part->report);
    } else if (part->side == Side::kDevice) {
      kept = shared->store->KeepDeviceSide(part->report);
    } else {
      shared->store->KeepOutcome(part->report);
    }
    MutexLock lock(&shared->mu);
    part->done = true;
    part->kept = kept;
    shared->parts.pop_front();
    shared->changed.NotifyAll();
  }
}

bool HangWriter::Hand(Side side, const HangReport& report, TimePoint until) {
  auto part = std::make_shared<Part>();
  part->side = side;
  part->report = report;
  MutexLock lock(&shared_->mu);
  if (shared_->parts.size() >= options_.parts) {
    LogError("hang report {}: not kept, {} parts of reports wait for the disk already", report.id,
             shared_->parts.size());
    return false;
  }
  shared_->parts.push_back(part);
  shared_->changed.NotifyAll();
  if (until == TimePoint{}) return true;
  while (!part->done && Now() < std::min(until, shared_->latest)) {
    shared_->changed.WaitUntil(&shared_->mu, std::min(until, shared_->latest));
  }
  if (part->done) return part->kept;
  LogError("hang report {}: the disk is not waited for any longer (hangs.disk_ms)", report.id);
  return false;
}

bool HangWriter::KeepHostSide(const HangReport& report) {
  const TimePoint begin = Now();
  const bool kept = Hand(Side::kHost, report, begin + options_.patience);
  left_ = std::max(options_.patience - (Now() - begin), Duration::zero());
  return kept;
}

// Waits for the time that the host's side left: a disk that did not take that side is not waited for again. The time
// for which the card was read meanwhile is not the disk's.
bool HangWriter::KeepDeviceSide(const HangReport& report) {
  return Hand(Side::kDevice, report, Now() + left_);
}

void HangWriter::KeepOutcome(const HangReport& report) {
  Hand(Side::kOutcome, report, TimePoint{});
}

bool HangWriter::Holds(const std::string& id) {
  {
    MutexLock lock(&shared_->mu);
    const auto is_of = [&id](const auto& part) { return part->report.id == id; };
    if (std::any_of(shared_->parts.begin(), shared_->parts.end(), is_of)) return true;
  }
  return store_->Holds(id);
}

void HangWriter::WaitNoLongerThan(TimePoint deadline) {
  MutexLock lock(&shared_->mu);
  shared_->latest = deadline;
  shared_->changed.NotifyAll();
}

bool HangWriter::Settle() const {
  const TimePoint until = Now() + kAskersPatience;
  MutexLock lock(&shared_->mu);
  while (!shared_->parts.empty() && Now() < until) {
    shared_->changed.WaitUntil(&shared_->mu, until);
  }
  return shared_->parts.empty();
}

}  // namespace ttfd
