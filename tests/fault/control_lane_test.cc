// Health and administrators are answered while the device thread is stuck: with a card that does not come back, and
// with one that does not even let itself be looked at.
#include <gmock/gmock.h>

#include <thread>

#include "daemon/core/daemon.h"
#include "tests/support/bystander_bound.h"
#include "tests/support/fake_card.h"
#include "tests/support/one_card.h"
#include "tests/support/rpc_test_server.h"
#include "tests/support/temporary_folder.h"
#include "tests/support/threaded_client.h"
#include "ttfd/admin.h"

namespace ttfd {
namespace {

using client::Admin;

// Holds whoever comes in until it is opened.
class Barrier {
 public:
  void Pass() {
    MutexLock lock(&mu_);
    ++waiting_;
    changed_.NotifyAll();
    while (!open_) changed_.WaitUntil(&mu_, SteadyClock().Now() + std::chrono::seconds(1));
  }
  bool AwaitSomebody() {
    const TimePoint deadline = SteadyClock().Now() + std::chrono::seconds(20);
    MutexLock lock(&mu_);
    while (waiting_ == 0) {
      if (!changed_.WaitUntil(&mu_, deadline)) return false;
    }
    return true;
  }
  void Open() {
    MutexLock lock(&mu_);
    open_ = true;
    changed_.NotifyAll();
  }

 private:
  Mutex mu_;
  CondVar changed_;
  int waiting_ ABSL_GUARDED_BY(mu_) = 0;
  bool open_ ABSL_GUARDED_BY(mu_) = false;
};

class ControlLane : public ::testing::Test {
 protected:
  void SetUp() override {
    auto fake = std::make_unique<FakeCard>(FakeCard::Behaviour());
    card_ = fake.get();
    DaemonOptions options;
    options.hang_reports.folder = folder_.path();
    core_ = *Daemon::Create(OneCard(std::move(fake)), SteadyClock(), options);
    ASSERT_TRUE(core_->Boot().ok());
  }
  void TearDown() override {
    barrier_.Open();
    server_.reset();
    core_->Stop(SteadyClock().Now() + std::chrono::seconds(10)).IgnoreError();
  }

  // A client's command makes the card be repaired, in which the device thread gets stuck.
  void GetStuck() {
    card_->next_poll = Error(StatusCode::kDeadlineExceeded, "nothing can move any more");
    ASSERT_TRUE(core_->Start().ok());
    server_ = std::make_unique<RpcTestServer>(RpcOptions(), core_.get());
    client_ = std::make_unique<ThreadedClient>(*core_);
    AllocateRequest buffer;
    buffer.handle = 1;
    buffer.size_bytes = buffer.page_bytes = 1024;
    buffer.place = BufferPlace::kDramInterleaved;
    client_->Send({buffer, FillRequest{1, 0, 1024, 7}});
    ASSERT_TRUE(barrier_.AwaitSomebody());
  }

  // The card was reset once, which nobody notices who had sent commands.
  void ExpectSpared(const std::vector<const ThreadedClient*>& clients) {
    BystanderCounts counts;
    counts.resets = core_->admin().GetStatus().devices[0].stats.resets;
    EXPECT_EQ(counts.resets, 1u);
    for (const ThreadedClient* client : clients) {
      counts.operations += client->sent();
      counts.retries += client->errors().size();
    }
    ExpectBystandersSpared(counts);
  }

  // What waited for the device thread would never be answered.
  void ExpectAnswers(client::DaemonState state, size_t sessions) {
    Admin admin = Admin::Connect("unix:" + server_->socket_path(), std::chrono::seconds(30));
    for (int i = 0; i < 5; ++i) {
      const auto status = admin.GetStatus();
      ASSERT_TRUE(status.ok()) << status.status().ToString();
      EXPECT_EQ(status->state, state);
    }
    for (const char* service : {"", "ttfd.v1.DeviceService", "ttfd.v1.AdminService"}) {
      const auto health = admin.Health(service);
      ASSERT_TRUE(health.ok()) << health.status().ToString();
      EXPECT_EQ(*health, "SERVING") << service;
    }
    const auto reports = admin.ListHangReports();
    ASSERT_TRUE(reports.ok()) << reports.status().ToString();
    ASSERT_EQ(reports->size(), 1u);
    EXPECT_FALSE(reports->at(0).complete);
    std::string host;
    const auto read = admin.GetHangReport(
        std::nullopt, [&host](const std::string& name, const std::string& bytes) {
          if (name == "host.json") host += bytes;
        });
    EXPECT_TRUE(read.ok()) << read.ToString();
    EXPECT_THAT(host, ::testing::HasSubstr("nothing can move any more"));
    const auto listed = admin.ListSessions();
    ASSERT_TRUE(listed.ok()) << listed.status().ToString();
    EXPECT_EQ(listed->size(), sessions);
    EXPECT_TRUE(admin.SetTimeouts(client::Timeouts{}).ok());
    EXPECT_TRUE(admin.SetLogLevel(client::LogLevel::kInfo).ok());
  }

  TemporaryFolder folder_;
  Barrier barrier_;
  FakeCard* card_ = nullptr;
  std::unique_ptr<Daemon> core_;
  std::unique_ptr<RpcTestServer> server_;
  std::unique_ptr<ThreadedClient> client_;
};

TEST_F(ControlLane, AnswersWhileTheCardIsBooted) {
  card_->on_boot = [this] { barrier_.Pass(); };
  GetStuck();
  ASSERT_NO_FATAL_FAILURE(ExpectAnswers(client::DaemonState::kRecovering, 1));
  ThreadedClient newcomer(*core_);  // may come, and sends what it likes
  newcomer.Send({BarrierRequest{}});
  ASSERT_NO_FATAL_FAILURE(ExpectAnswers(client::DaemonState::kRecovering, 2));
  barrier_.Open();
  client_->WaitFor(2);
  newcomer.WaitFor(1);
  EXPECT_EQ(core_->admin().GetStatus().state, DaemonState::kReady);
  ExpectSpared({client_.get(), &newcomer});
}

TEST_F(ControlLane, AnswersWhileTheCardIsLookedAt) {
  card_->on_diagnose = [this] { barrier_.Pass(); };
  GetStuck();
  ASSERT_NO_FATAL_FAILURE(ExpectAnswers(client::DaemonState::kReady, 1));
  barrier_.Open();
  client_->WaitFor(2);
  ExpectSpared({client_.get()});
}

}  // namespace
}  // namespace ttfd
