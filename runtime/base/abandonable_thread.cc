#include "runtime/base/abandonable_thread.h"

#include <pthread.h>

#include <csignal>
#include <utility>

namespace ttfd {

AbandonableThread::AbandonableThread(std::function<void()> main) {
  std::promise<void> end;
  ended_ = end.get_future();
  // A thread inherits the mask: signals are for threads that expect them.
  sigset_t all;
  sigset_t before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  thread_ = std::thread([main = std::move(main), end = std::move(end)]() mutable {
    main();
    end.set_value();
  });
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

AbandonableThread::~AbandonableThread() {
  if (thread_.joinable()) thread_.detach();
}

bool AbandonableThread::JoinUntil(TimePoint deadline) {
  if (!thread_.joinable()) return false;
  if (ended_.wait_until(deadline) != std::future_status::ready) {
    thread_.detach();
    return false;
  }
  thread_.join();
  return true;
}

}  // namespace ttfd
