// Names of users from a database that may be slow: nothing but one thread waits for it.
#include "daemon/rpc/user_names.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <atomic>
#include <thread>

#include "runtime/base/mutex.h"

namespace ttfd::user_names_test {
namespace {

using std::chrono::hours;
using std::chrono::milliseconds;
using std::chrono::minutes;
using std::chrono::seconds;

// A user database whose answers wait until it is opened.
class Database {
 public:
  std::optional<std::string> LookUp(uint32_t uid) {
    MutexLock lock(&mu_);
    ++lookups_;
    changed_.NotifyAll();
    const TimePoint until = SteadyClock().Now() + seconds(20);
    while (!open_ && changed_.WaitUntil(&mu_, until)) continue;
    if (uid == kStranger) return std::nullopt;
    return prefix_ + std::to_string(uid);
  }
  void Open(const std::string& prefix = "user") {
    MutexLock lock(&mu_);
    open_ = true;
    prefix_ = prefix;
    changed_.NotifyAll();
  }
  int AwaitLookups(int count) {
    const TimePoint until = SteadyClock().Now() + seconds(20);
    MutexLock lock(&mu_);
    while (lookups_ < count && changed_.WaitUntil(&mu_, until)) continue;
    return lookups_;
  }
  static constexpr uint32_t kStranger = 999;

 private:
  Mutex mu_;
  CondVar changed_;
  bool open_ ABSL_GUARDED_BY(mu_) = false;
  std::string prefix_ ABSL_GUARDED_BY(mu_);
  int lookups_ ABSL_GUARDED_BY(mu_) = 0;
};

class UserNamesTest : public ::testing::Test {
 protected:
  UserNamesOptions Options() {
    UserNamesOptions options;
    options.await_budget = seconds(20);
    options.look_up = [database = database_](uint32_t uid) { return database->LookUp(uid); };
    return options;
  }
  // Until the thread has written an answer down.
  static std::string Eventually(UserNames& names, uint32_t uid, const std::string& expected) {
    const TimePoint until = SteadyClock().Now() + seconds(20);
    while (names.Of(uid) != expected && SteadyClock().Now() < until) {
      std::this_thread::sleep_for(milliseconds(1));
    }
    return names.Of(uid);
  }

  const std::shared_ptr<Database> database_ = std::make_shared<Database>();
  ManualClock clock_;
};

TEST_F(UserNamesTest, Of_DoesNotWaitForTheDatabase) {
  UserNames names(clock_, Options());
  EXPECT_EQ(names.Of(1), "1") << "the database has not answered";
  EXPECT_EQ(names.Of(1), "1");
  EXPECT_EQ(database_->AwaitLookups(1), 1);
  database_->Open();
  EXPECT_EQ(Eventually(names, 1, "user1"), "user1");
  EXPECT_EQ(database_->AwaitLookups(1), 1) << "one question a user";
}

TEST_F(UserNamesTest, Await_WaitsForTheFirstAnswer) {
  database_->Open();
  UserNames names(clock_, Options());
  names.Await(1);
  EXPECT_EQ(names.Of(1), "user1");
  names.Await(Database::kStranger);
  EXPECT_EQ(names.Of(Database::kStranger), "999");
  names.Await(Database::kStranger);
  EXPECT_EQ(database_->AwaitLookups(2), 2) << "that there is no such user is kept, too";
}

TEST_F(UserNamesTest, Await_IsBoundedForAllCallers) {
  UserNamesOptions options = Options();
  options.await_budget = milliseconds(100);
  options.await_period = hours(1);
  UserNames names(clock_, options);
  const TimePoint began = SteadyClock().Now();
  for (uint32_t uid = 0; uid < 100; ++uid) names.Await(uid);
  EXPECT_LT(SteadyClock().Now() - began, seconds(5)) << "a hundred times the budget is ten";
  database_->Open();
}

TEST_F(UserNamesTest, OldNames_AreShownWhileLookedUpAgain) {
  database_->Open();
  UserNames names(clock_, Options());
  names.Await(1);
  database_->Open("renamed");
  clock_.Advance(minutes(4));
  EXPECT_EQ(names.Of(1), "user1");
  EXPECT_EQ(database_->AwaitLookups(1), 1);
  clock_.Advance(minutes(2));
  EXPECT_EQ(names.Of(1), "user1") << "old, and better than none";
  EXPECT_EQ(Eventually(names, 1, "renamed1"), "renamed1");
}

TEST_F(UserNamesTest, Cache_DropsTheOldestUsers) {
  database_->Open();
  UserNamesOptions options = Options();
  options.users = 10;
  UserNames names(clock_, options);
  names.Await(0);
  for (uint32_t uid = 1; uid < 10; ++uid) {
    names.Await(uid);
    names.Of(0);
  }
  names.Await(100);  // in place of 1
  EXPECT_EQ(database_->AwaitLookups(11), 11);
  names.Await(0);
  EXPECT_EQ(database_->AwaitLookups(11), 11);
  names.Await(1);
  EXPECT_EQ(database_->AwaitLookups(12), 12);
}

TEST_F(UserNamesTest, End_DoesNotWaitForTheDatabase) {
  const TimePoint began = SteadyClock().Now();
  {
    UserNames names(clock_, Options());
    names.Of(1);
    database_->AwaitLookups(1);
  }
  EXPECT_LT(SteadyClock().Now() - began, seconds(10)) << "the database answers after 20 s";
}

TEST_F(UserNamesTest, Default_AsksTheMachine) {
  UserNamesOptions options;
  options.await_budget = seconds(20);
  UserNames names(clock_, options);
  names.Await(0);
  EXPECT_EQ(names.Of(0), "root");
}

}  // namespace
}  // namespace ttfd::user_names_test
