// Requests of other threads to the device thread, its sleep, and its role, which one other thread may borrow while it
// sleeps.
#pragma once

#include <atomic>
#include <functional>
#include <thread>
#include <utility>
#include <vector>

#include "runtime/base/clock.h"
#include "runtime/base/mutex.h"
#include "runtime/base/status.h"

namespace ttfd {

class DeviceRequests {
 public:
  // Called once, by the device thread. An error: the daemon has stopped, and does nothing for it any more.
  using Request = std::function<void(const Status& stopped)>;

  // ---- Any thread.

  // Adds a request, which is called at the start of a round, and wakes the device thread.
  void Add(Request request) ABSL_LOCKS_EXCLUDED(mu_) {
    MutexLock lock(&mu_);
    requests_.push_back(std::move(request));
    added_.store(true, std::memory_order_release);
    if (asleep()) wake_.NotifyOne();
  }
  // Has the device thread look for work. `brief`: it probably takes little time. If the borrower calls this for brief
  // work while the role is lent, it has the role then, and no thread is woken. After any other call the role is not
  // lent again before the next sleep. Without a lock, but to wake a thread that sleeps.
  void Wake(bool brief) ABSL_LOCKS_EXCLUDED(mu_) {
    woken_.store(true);
    const bool borrows = brief && std::this_thread::get_id() == borrower_.load();
    Holder holder = holder_.load();
    if (holder == Holder::kLent &&
        holder_.compare_exchange_strong(holder, borrows ? Holder::kBorrower : Holder::kNone) &&
        borrows) {
      return;
    }
    if (holder == Holder::kDeviceThread || holder == Holder::kBorrower) return;
    MutexLock lock(&mu_);
    wake_.NotifyOne();
  }
  // The device thread is to end once nothing is left to do, or at this time.
  void Stop(TimePoint by) ABSL_LOCKS_EXCLUDED(mu_) {
    SetStopTime(by);
    MutexLock lock(&mu_);
    stopping_.store(true, std::memory_order_release);
    if (asleep()) wake_.NotifyOne();
  }
  void SetStopTime(TimePoint by) {
    stop_by_.store(by.time_since_epoch().count(), std::memory_order_relaxed);
  }
  bool stopping() const { return stopping_.load(std::memory_order_acquire); }
  bool StopIsOverdue(TimePoint now) const {
    return stopping() && now.time_since_epoch().count() >= stop_by_.load(std::memory_order_relaxed);
  }

  // ---- The borrower.

  // `calling`: the calling thread promises to look whether it has the role after every Wake that it calls, and to
  // return it soon. Else there is no such thread any more.
  void SetBorrower(bool calling) {
    borrower_ = calling ? std::this_thread::get_id() : std::thread::id();
  }
  bool borrowed() const { return holder_.load() == Holder::kBorrower; }
  // Returns the role. `more`: there is something left to do. `until`: when there is, at the latest. A device thread
  // that is wanted is woken, and the role is not lent again before its next sleep: borrowing does not keep it waiting.
  void Return(bool more, TimePoint until) ABSL_LOCKS_EXCLUDED(mu_) {
    MutexLock lock(&mu_);
    holder_ = Holder::kNone;  // before it looks: a Wake that comes after that notifies
    if (more || returns_ || pending() || stopping() || until < until_) {
      wake_.NotifyOne();
    } else {
      holder_ = Holder::kLent;
    }
  }

  // ---- The holder of the role.

  // Woken, or something was added, since the last Take.
  bool pending() const { return woken_.load() || added_.load(std::memory_order_acquire); }
  // It has been woken, and looks for work now. What was added stays.
  void TakeWake() { woken_.store(false); }

  // ---- Device thread.

  std::vector<Request> Take() ABSL_LOCKS_EXCLUDED(mu_) {
    TakeWake();
    if (!added_.load(std::memory_order_acquire)) return {};
    MutexLock lock(&mu_);
    added_.store(false, std::memory_order_relaxed);
    return std::exchange(requests_, {});
  }
  // Until it is woken. `busy`: there is work, for which a thread that is to stop continues. `lend`: the borrower may
  // have the role meanwhile.
  void Sleep(TimePoint until, bool busy, bool lend) ABSL_LOCKS_EXCLUDED(mu_) {
    MutexLock lock(&mu_);
    until_ = until;
    // Before it looks: a Wake that comes after that notifies.
    holder_ = lend ? Holder::kLent : Holder::kNone;
    if (!pending() && (busy || !stopping())) wake_.WaitUntil(&mu_, until);
    returns_ = true;
    while (!TakeRole()) wake_.WaitUntil(&mu_, TimePoint::max());  // the borrower returns it soon
    returns_ = false;
  }

 private:
  // Holder of the role of the device thread.
  enum class Holder {
    kDeviceThread,
    kNone,  // it sleeps
    kLent,  // it sleeps, and the borrower may take the role
    kBorrower,
  };

  bool asleep() const { return holder_.load() != Holder::kDeviceThread; }
  bool TakeRole() {
    Holder holder = holder_.load();
    return holder != Holder::kBorrower &&
           holder_.compare_exchange_strong(holder, Holder::kDeviceThread);
  }

  std::atomic<bool> woken_{false};
  std::atomic<bool> added_{false};  // set under mu_
  std::atomic<Holder> holder_{Holder::kDeviceThread};
  std::atomic<std::thread::id> borrower_{};
  std::atomic<bool> stopping_{false};
  std::atomic<TimePoint::rep> stop_by_{TimePoint::max().time_since_epoch().count()};
  Mutex mu_;
  CondVar wake_;
  std::vector<Request> requests_ ABSL_GUARDED_BY(mu_);
  TimePoint until_ ABSL_GUARDED_BY(mu_);       // of the sleep
  bool returns_ ABSL_GUARDED_BY(mu_) = false;  // the sleep is over but for the borrower
};

}  // namespace ttfd
