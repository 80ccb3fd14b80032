// A disk that stands still costs hang reports, and the repair no more than its time.
#include "daemon/hang/hang_writer.h"

#include <gmock/gmock.h>

#include <thread>

#include "runtime/base/mutex.h"
#include "tests/support/core_fixture.h"

namespace ttfd::hang_writer_test {
namespace {

using std::chrono::hours;
using std::chrono::milliseconds;
using std::chrono::seconds;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::SizeIs;

TimePoint Now() { return SteadyClock().Now(); }

// A disk that takes nothing while it stands.
class StandingDisk final : public HangKeeper {
 public:
  explicit StandingDisk(bool stands) : stands_(stands) {}

  std::string NewId() override { return std::to_string(++ids_); }
  bool KeepHostSide(const HangReport& report) override {
    return Take("host " + report.id + (report.stall.text.empty() ? "" : " and more"));
  }
  bool KeepDeviceSide(const HangReport& report) override { return Take("device " + report.id); }
  void KeepOutcome(const HangReport& report) override { Take("outcome " + report.id); }
  bool Holds(const std::string& id) override {
    MutexLock lock(&mu_);
    return std::any_of(taken_.begin(), taken_.end(),
                       [&id](const std::string& what) { return what.ends_with(" " + id); });
  }

  void Go() {
    MutexLock lock(&mu_);
    stands_ = false;
    changed_.NotifyAll();
  }
  void Fill() {
    MutexLock lock(&mu_);
    full_ = true;
  }
  std::vector<std::string> taken() {
    MutexLock lock(&mu_);
    return taken_;
  }
  std::vector<std::string> Await(size_t parts) {
    const TimePoint until = Now() + seconds(20);
    MutexLock lock(&mu_);
    while (taken_.size() < parts && changed_.WaitUntil(&mu_, until)) continue;
    return taken_;
  }

 private:
  bool Take(std::string what) {
    const TimePoint until = Now() + seconds(60);
    MutexLock lock(&mu_);
    while (stands_ && changed_.WaitUntil(&mu_, until)) continue;
    taken_.push_back(std::move(what));
    changed_.NotifyAll();
    return !full_;
  }

  int ids_ = 0;
  Mutex mu_;
  CondVar changed_;
  bool stands_ ABSL_GUARDED_BY(mu_);
  bool full_ ABSL_GUARDED_BY(mu_) = false;
  std::vector<std::string> taken_ ABSL_GUARDED_BY(mu_);
};

HangReport Report(const std::string& id) {
  HangReport report;
  report.id = id;
  return report;
}

TEST(HangWriter, IsDoneWithOneThingBeforeTheNextIsAskedFor) {
  const auto disk = std::make_shared<StandingDisk>(false);
  HangWriter writer(disk, {hours(1), 24});
  EXPECT_EQ(writer.NewId(), "1");
  EXPECT_TRUE(writer.KeepHostSide(Report("1")));
  EXPECT_THAT(disk->taken(), ElementsAre("host 1"));
  EXPECT_TRUE(writer.KeepDeviceSide(Report("1")));
  EXPECT_THAT(disk->taken(), ElementsAre("host 1", "device 1"));
  writer.KeepOutcome(Report("1"));
  disk->Await(3);
  writer.Settle();
  EXPECT_THAT(disk->taken(), ElementsAre("host 1", "device 1", "outcome 1"));
  disk->Fill();
  EXPECT_FALSE(writer.KeepHostSide(Report("2")));
}

TEST(HangWriter, TimeThatTheCardWasLookedAtIsNotTheDisks) {
  const auto disk = std::make_shared<StandingDisk>(false);
  HangWriter writer(disk, {seconds(3), 24});
  EXPECT_TRUE(writer.KeepHostSide(Report("1")));
  std::this_thread::sleep_for(milliseconds(3100));
  EXPECT_TRUE(writer.KeepDeviceSide(Report("1")));
}

TEST(HangWriter, WaitsForADiskThatStandsStillNoLongerThanItMayForOneReport) {
  const auto disk = std::make_shared<StandingDisk>(true);
  HangWriter writer(disk, {seconds(2), 24});
  const TimePoint began = Now();
  EXPECT_FALSE(writer.KeepHostSide(Report("1")));
  EXPECT_GE(Now() - began, seconds(2)) << "evidence comes first";
  EXPECT_FALSE(writer.KeepDeviceSide(Report("1")));
  writer.KeepOutcome(Report("1"));
  EXPECT_LT(Now() - began, seconds(20));
  EXPECT_THAT(disk->taken(), IsEmpty());
  disk->Go();
  EXPECT_THAT(disk->Await(3), ElementsAre("host 1", "device 1", "outcome 1")) << "late is kept too";
  EXPECT_TRUE(writer.KeepHostSide(Report("2")));
}

TEST(HangWriter, KeepsSoMuchForADiskThatStandsStillAndNoMore) {
  const auto disk = std::make_shared<StandingDisk>(true);
  HangWriter writer(disk, {milliseconds(1), 4});
  for (const char* id : {"1", "2", "3"}) {
    EXPECT_FALSE(writer.KeepHostSide(Report(id)));
    EXPECT_FALSE(writer.KeepDeviceSide(Report(id)));
    writer.KeepOutcome(Report(id));
  }
  disk->Go();
  disk->Await(4);
  writer.KeepOutcome(Report("4"));
  EXPECT_THAT(disk->Await(5),
              ElementsAre("host 1", "device 1", "outcome 1", "host 2", "outcome 4"));
}

TEST(HangWriter, AStopEndsItsWait) {
  const auto disk = std::make_shared<StandingDisk>(true);
  HangWriter writer(disk, {hours(1), 24});
  std::thread stop([&writer] {
    std::this_thread::sleep_for(milliseconds(20));
    writer.WaitNoLongerThan(Now());
  });
  const TimePoint began = Now();
  EXPECT_FALSE(writer.KeepHostSide(Report("1")));
  EXPECT_LT(Now() - began, seconds(20));
  stop.join();
  disk->Go();
}

TEST(HangWriter, ItsEndWaitsForADiskThatWorksAndForNoOther) {
  const auto disk = std::make_shared<StandingDisk>(true);
  const auto end = [&disk](Duration patience) {
    HangWriter writer(disk, {patience, 24});
    writer.KeepOutcome(Report("1"));
    if (patience > seconds(1)) disk->Go();
  };
  const TimePoint began = Now();
  end(milliseconds(1));
  EXPECT_THAT(disk->taken(), IsEmpty());
  end(seconds(60));
  EXPECT_THAT(disk->taken(), Not(IsEmpty()));
  EXPECT_THAT(disk->Await(2), SizeIs(2));
  EXPECT_LT(Now() - began, seconds(40));
}

class HangOnAStandingDisk : public CoreTest {};

TEST_F(HangOnAStandingDisk, TheCardIsRepairedAndTheReportComesLater) {
  const auto disk = std::make_shared<StandingDisk>(true);
  HangWriter writer(disk, {milliseconds(20), 24});
  options.card.hangs = &writer;
  Start();
  card->stall.text = "dispatcher waits for stream 48";
  auto offender = Connect(), other = Connect();
  for (TestClient* client : {offender.get(), other.get()}) {
    client->Send(InlineKernel(2), OneKernelProgram(3, 2));
    client->Run();
  }
  offender->Send(Launch(3));
  other->Send(Launch(3));
  card->next_poll = Error(StatusCode::kDeadlineExceeded, "nothing can move any more");
  const TimePoint began = Now();
  offender->Run();
  other->Run();
  EXPECT_LT(Now() - began, seconds(20));
  EXPECT_EQ(card->boots, 2);
  EXPECT_EQ(core->admin().GetStatus().state, DaemonState::kReady);
  EXPECT_EQ(offender->ErrorOf(3).hang_report, "1");
  EXPECT_THAT(offender->ErrorOf(3).message, HasSubstr("not all of the hang report could be kept"));
  EXPECT_THAT(other->errors, IsEmpty());
  EXPECT_THAT(disk->taken(), IsEmpty());
  disk->Go();
  EXPECT_THAT(disk->Await(3), ElementsAre("host 1", "device 1", "outcome 1"));
  offender.reset();
  other.reset();
  core.reset();  // it knows the writer
}

}  // namespace
}  // namespace ttfd::hang_writer_test
