#include "daemon/rpc/user_names.h"

#include <pwd.h>

#include <algorithm>
#include <deque>
#include <unordered_map>
#include <utility>
#include <vector>

#include "runtime/base/mutex.h"

namespace ttfd {
namespace {

// For a look-up that is under way at the end.
constexpr Duration kEndTimeout = std::chrono::milliseconds(100);

std::optional<std::string> AskDatabase(uint32_t uid) {
  std::vector<char> space(16 * 1024);
  passwd entry{};
  passwd* found = nullptr;
  getpwuid_r(uid, &entry, space.data(), space.size(), &found);
  if (found == nullptr) return std::nullopt;
  return std::string(found->pw_name);
}

}  // namespace

// Also the thread's, which a database that does not answer keeps.
struct UserNames::Shared {
  Shared(Clock& its_clock, UserNamesOptions its_options)
      : clock(its_clock), options(std::move(its_options)) {}

  struct User {
    std::string name;         // or the number
    bool answered = false;    // by the database, at some time
    bool wanted = false;      // is in `wanted`, or being looked up
    TimePoint answered_at{};  // if `answered`
    uint64_t asked_for = 0;   // the newest has the highest
  };

  // Entry of the user; has the name read, unless the last answer is new or a request is under way.
  User& Find(uint32_t uid) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu);
  void DropOldest() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu);
  void Main() ABSL_LOCKS_EXCLUDED(mu);

  Clock& clock;
  const UserNamesOptions options;
  Mutex mu;
  CondVar changed;
  std::unordered_map<uint32_t, User> users ABSL_GUARDED_BY(mu);
  std::deque<uint32_t> wanted ABSL_GUARDED_BY(mu);  // the first is being looked up
  uint64_t asked_for ABSL_GUARDED_BY(mu) = 0;
  TimePoint period_begin ABSL_GUARDED_BY(mu){};
  Duration waited ABSL_GUARDED_BY(mu){};  // in this period
  bool stop ABSL_GUARDED_BY(mu) = false;
};

UserNames::UserNames(Clock& clock, UserNamesOptions options)
    : shared_([&] {
        if (!options.look_up) options.look_up = AskDatabase;
        return std::make_shared<Shared>(clock, std::move(options));
      }()),
      thread_([shared = shared_] { shared->Main(); }) {}

UserNames::~UserNames() {
  {
    MutexLock lock(&shared_->mu);
    shared_->stop = true;
    shared_->changed.NotifyAll();
  }
  thread_.JoinUntil(SteadyClock().Now() + kEndTimeout);
}

std::string UserNames::Of(uint32_t uid) {
  MutexLock lock(&shared_->mu);
  return shared_->Find(uid).name;
}

void UserNames::Await(uint32_t uid) {
  MutexLock lock(&shared_->mu);
  if (shared_->Find(uid).answered) return;
  const TimePoint began = SteadyClock().Now();
  if (began - shared_->period_begin >= shared_->options.await_period) {
    shared_->period_begin = began;
    shared_->waited = Duration::zero();
  }
  const TimePoint until = began + (shared_->options.await_budget - shared_->waited);
  while (!shared_->Find(uid).answered && shared_->changed.WaitUntil(&shared_->mu, until)) continue;
  shared_->waited += SteadyClock().Now() - began;
}

UserNames::Shared::User& UserNames::Shared::Find(uint32_t uid) {
  auto found = users.find(uid);
  if (found == users.end()) {
    if (users.size() >= options.users) DropOldest();
    found = users.emplace(uid, User{std::to_string(uid)}).first;
  }
  User& user = found->second;
  user.asked_for = ++asked_for;
  const bool is_new = user.answered && clock.Now() - user.answered_at < options.lifetime;
  if (!is_new && !user.wanted && wanted.size() < options.users) {
    user.wanted = true;
    wanted.push_back(uid);
    changed.NotifyAll();
  }
  return user;
}

void UserNames::Shared::DropOldest() {
  users.erase(std::min_element(users.begin(), users.end(), [](const auto& a, const auto& b) {
    return a.second.asked_for < b.second.asked_for;
  }));
}

void UserNames::Shared::Main() {
  MutexLock lock(&mu);
  while (!stop) {
    if (wanted.empty()) {
      changed.WaitUntil(&mu, SteadyClock().Now() + kIdleWait);
      continue;
    }
    const uint32_t uid = wanted.front();
    mu.Unlock();
    const std::optional<std::string> name = options.look_up(uid);
    mu.Lock();
    if (stop) return;  // the clock may be gone
    wanted.pop_front();
    if (const auto user = users.find(uid); user != users.end()) {
      if (name) user->second.name = *name;
      user->second.answered = true;
      user->second.wanted = false;
      user->second.answered_at = clock.Now();
    }
    changed.NotifyAll();
  }
}

}  // namespace ttfd
