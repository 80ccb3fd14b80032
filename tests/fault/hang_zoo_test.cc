// Kernels that bring the card down in every way known. Each is noticed, explained with the place where it stood, named
// where that is proven, and repaired, while two other clients compute on and check every result.
#include <gmock/gmock.h>

#include <atomic>
#include <thread>

#include "firmware/images.h"
#include "runtime/elf/symbol_table.h"
#include "tests/support/bystander_bound.h"
#include "tests/support/daemon_on_device.h"
#include "tests/support/temporary_folder.h"
#include "tests/support/zoo_kernel.h"

namespace ttfd {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::MatchesRegex;

// Computes on the whole grid, over and over. What the card's repair took from it, it sends again; anything else that it
// is told, and any wrong result, is a failure.
class Bystander {
 public:
  Bystander(DaemonService& core, uint32_t seed) : adder_(core, seed) {
    thread_ = std::thread([this] { Run(); });
  }
  ~Bystander() { Stop(); }

  void Stop() {
    stop_ = true;
    if (thread_.joinable()) thread_.join();
  }
  int rounds() const { return rounds_; }
  uint64_t operations() const { return adder_.client.sent(); }  // once the thread has ended
  uint64_t retries() const { return retries_; }                 // the same
  const std::vector<std::string>& failures() const { return failures_; }

 private:
  void Run() {
    uint64_t clears = 0;
    while (!stop_ && failures_.empty()) {
      const size_t errors = adder_.client.errors().size();
      adder_.Send(clears);
      const bool right = adder_.Right();
      clears = 0;
      if (adder_.client.errors().size() == errors) {
        if (!right) failures_.push_back("a result was wrong");
        ++rounds_;
        continue;
      }
      for (size_t i = errors; i < adder_.client.errors().size(); ++i) {
        const ErrorReply& error = adder_.client.errors()[i].error;
        const bool follows = error.cause.value != 0;
        if (follows) continue;
        if (error.retryable && error.reason == "DEVICE_RESET") {
          ++retries_;
          continue;
        }
        failures_.push_back(error.reason + ": " + error.message);
      }
      clears = adder_.client.sent();
    }
  }

  Adder adder_;
  std::atomic<bool> stop_{false};
  std::atomic<int> rounds_{0};
  // Read once the thread has ended.
  std::vector<std::string> failures_;
  uint64_t retries_ = 0;
  std::thread thread_;
};

class HangZoo : public ::testing::Test {
 protected:
  void SetUp() override {
    auto device = OpenTestDevice("sim:board=p100a");
    ASSERT_TRUE(device.ok()) << device.status().ToString();
    reports_quiescence_ = (*device)->info().reports_quiescence;
    if (!(*device)->info().memory_survives_reset) GTEST_SKIP() << "a repair takes everything";
    DaemonOptions options;
    // They end what is hung where the device does not say that nothing moves.
    if (!reports_quiescence_) options.timeouts.operation_ms = options.timeouts.kernel_ms = 3000;
    options.hang_reports.folder = folder_.path();
    options.hangs.quarantine_hangs = 0;  // all are of one user
    // What is behind a launch on the card decides what its damage does, also where a launch seems to take long because
    // the machine is busy or a sanitizer slows it down.
    options.card.overlap = std::chrono::seconds(10);
    CoreOnDevice made = MakeCoreOn(std::move(device), options);
    ASSERT_NE(made.core, nullptr);
    device_ = std::move(made.device);
    core_ = std::move(made.core);
    const Status started = core_->Start();
    ASSERT_TRUE(started.ok()) << StatusMessage(started);
    bystanders_.push_back(std::make_unique<Bystander>(*core_, 1'000'000));
    bystanders_.push_back(std::make_unique<Bystander>(*core_, 2'000'000));
    AwaitRounds();
  }

  void TearDown() override {
    if (core_ == nullptr) return;
    bystanders_.clear();
    const Status stopped = core_->Stop(SteadyClock().Now() + std::chrono::seconds(10));
    EXPECT_TRUE(stopped.ok()) << StatusMessage(stopped);
    const StatusReply status = core_->admin().GetStatus();
    for (const MemoryUseReply& use : status.devices[0].memory)
      EXPECT_EQ(use.used_bytes, 0u) << static_cast<int>(use.kind);
  }

  // Until each bystander has computed twice more.
  void AwaitRounds() {
    const TimePoint deadline = SteadyClock().Now() + std::chrono::seconds(20);
    for (const auto& one : bystanders_) {
      const int until = one->rounds() + 2;
      while (one->rounds() < until && SteadyClock().Now() < deadline) {
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
      }
      EXPECT_GE(one->rounds(), until);
    }
  }

  // What came of a kernel of the zoo on worker (3,2).
  struct Outcome {
    std::vector<CommandErrorReply> errors;
    std::string report;   // for people
    std::string session;  // "session 3"
  };

  // The commands of handles 2 (kernel) and up, all in one batch.
  Outcome Let(std::vector<Request> commands) {
    ThreadedClient client(*core_);
    client.Send(std::move(commands));
    client.WaitFor(client.sent());
    AwaitRepair();
    Outcome outcome;
    outcome.errors = client.errors();
    outcome.session = fmt::format("session {}", client.session().welcome().session);
    // It is written when the card is ready again.
    const TimePoint deadline = SteadyClock().Now() + std::chrono::seconds(20);
    while (outcome.report.empty() && SteadyClock().Now() < deadline) {
      const auto files = core_->admin().GetHangReport({});
      if (!files.ok()) continue;  // it is being written
      for (const HangStore::File& file : *files) {
        if (file.name == "report.txt") outcome.report = file.bytes;
      }
    }
    EXPECT_FALSE(outcome.report.empty());
    return outcome;
  }

  // Until the card was reset once more, and the report of that is complete.
  void AwaitRepair() {
    const TimePoint deadline = SteadyClock().Now() + std::chrono::seconds(20);
    ++repairs_;
    const auto repaired = [this] {
      if (core_->admin().GetStatus().devices[0].stats.resets < repairs_) return false;
      const auto reports = core_->admin().ListHangReports();
      return reports.ok() && !reports->empty() && reports->back().complete;
    };
    while (!repaired()) {
      if (SteadyClock().Now() > deadline) return ADD_FAILURE() << "nothing was noticed";
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
  }

  // One launch of it was aborted, and its session is named as the cause.
  static void ExpectNamed(const Outcome& outcome) {
    ASSERT_FALSE(outcome.errors.empty()) << outcome.report;
    const ErrorReply& error = outcome.errors[0].error;
    EXPECT_EQ(error.code, StatusCode::kAborted) << error.message;
    EXPECT_FALSE(error.hang_report.empty());
    EXPECT_THAT(error.message,
                MatchesRegex(".*it ran programs? [0-9, ]+ of " + outcome.session + ".*"));
    EXPECT_THAT(outcome.report,
                MatchesRegex("(.|\n)*\ncaused by: [^\n]* of " + outcome.session + " (.|\n)*"));
  }

  // No launch is shown to have done it. Its launch ended well, or is to be sent again, and the report lists it.
  static void ExpectListedOnly(const Outcome& outcome) {
    for (const CommandErrorReply& one : outcome.errors) {
      EXPECT_EQ(one.error.reason, "DEVICE_RESET") << one.error.message;
      EXPECT_TRUE(one.error.retryable);
    }
    EXPECT_THAT(outcome.report, HasSubstr("no launch is proven to be the cause"));
    EXPECT_THAT(outcome.report, MatchesRegex("(.|\n)*\nwhat was on the card\n(.|\n)* " +
                                             outcome.session + " (.|\n)*"));
  }

  // The card was reset for what the test did and for nothing else, and the bystanders compute on.
  void ExpectRepaired() {
    AwaitRounds();
    BystanderCounts counts;
    for (const auto& one : bystanders_) {
      one->Stop();
      EXPECT_THAT(one->failures(), ::testing::IsEmpty());
      counts.operations += one->operations();
      counts.retries += one->retries();
    }
    const StatusReply status = core_->admin().GetStatus();
    EXPECT_EQ(status.state, DaemonState::kReady);
    EXPECT_EQ(status.devices[0].stats.resets, repairs_);
    EXPECT_EQ(core_->admin().ListHangReports()->size(),
              std::min<size_t>(repairs_, HangStoreOptions().reports));
    counts.resets = status.devices[0].stats.resets;
    ExpectBystandersSpared(counts);
  }

  static std::vector<Request> One(const char* kernel) {
    return {ZooKernel(2, kernel), ProgramOf(3, 2, {3, 2, 3, 2}), LaunchOf(3)};
  }
  // In a trace, so that nobody else's launch comes in between.
  static std::vector<Request> Two(const char* kernel) {
    return {ZooKernel(2, kernel), ProgramOf(3, 2, {3, 2, 3, 2}),
            RecordTraceRequest{4, {LaunchOf(3), LaunchOf(3)}, false}, ReplayTraceRequest{4, {}}};
  }

  // So long that its kernel runs by then, also where the device thread gets no core: a launch that has not begun is
  // resubmitted, which costs another reset.
  static std::vector<Request> Spin(uint32_t timeout_ms = 2000) {
    LaunchRequest launch = LaunchOf(3, timeout_ms);
    launch.arguments.push_back({0, {0x30000}, {}, 0, {}});
    return {KernelOf(2, "spin"), ProgramOf(3, 2, {3, 2, 3, 2}), launch};
  }
  static std::vector<Request> Deadlock() {
    CreateProgramRequest program = ProgramOf(4, 2, {3, 2, 3, 2});
    program.kernels.push_back({3, true, hw::kNcrisc, {{3, 2, 3, 2}}});
    program.semaphores.push_back({1, 0, {{3, 2, 3, 2}}});
    return {ZooKernel(2, "deadlock_brisc"), ZooKernel(3, "deadlock_ncrisc"), program, LaunchOf(4)};
  }

  TemporaryFolder folder_;
  std::unique_ptr<Device> device_;
  std::unique_ptr<Daemon> core_;
  std::vector<std::unique_ptr<Bystander>> bystanders_;
  bool reports_quiescence_ = true;
  uint64_t repairs_ = 0;  // waited for
};

TEST_F(HangZoo, Spins) {
  const Outcome outcome = Let(Spin());
  ASSERT_NO_FATAL_FAILURE(ExpectNamed(outcome));
  EXPECT_THAT(outcome.report, HasSubstr("HANG"));
  EXPECT_THAT(outcome.report,
              MatchesRegex("(.|\n)*worker .3,2. tile .4,4. BRISC: [^\n]*pc 0x[0-9a-f]+ "
                           "kernel_main[^\n]* at spin.cc:[0-9]+(.|\n)*"));
  ExpectRepaired();
}

TEST_F(HangZoo, WaitsForTheOtherHartThatWaitsForIt) {
  const Outcome outcome = Let(Deadlock());
  ASSERT_NO_FATAL_FAILURE(ExpectNamed(outcome));
  for (const char* hart : {"BRISC", "NCRISC"}) {
    EXPECT_THAT(outcome.report,
                MatchesRegex(std::string("(.|\n)*worker .3,2. tile .4,4. ") + hart +
                             ": [^\n]*waits for a semaphore[^\n]* at deadlock.cc:[0-9]+(.|\n)*"));
  }
  ExpectRepaired();
}

TEST_F(HangZoo, EndsAndNeverSaysSo) {
  const Outcome outcome = Let(One("never_answer_brisc"));
  ExpectListedOnly(outcome);
  EXPECT_THAT(outcome.report, HasSubstr("so 1 workers are not done"));
  EXPECT_THAT(outcome.report, HasSubstr("an answer was lost"));
  ExpectRepaired();
}

TEST_F(HangZoo, CorruptsALaunchMessage) {
  const Outcome outcome = Let(Two("corrupt_message_brisc"));
  ASSERT_NO_FATAL_FAILURE(ExpectNamed(outcome));
  // The hart has faulted, which a card does not report.
  EXPECT_THAT(outcome.errors[0].error.reason, reports_quiescence_ ? "DEVICE_FAULT" : "HANG");
  EXPECT_THAT(outcome.report,
              MatchesRegex("(.|\n)*worker .3,2. tile .4,4. BRISC: [^\n]*pc 0x(.|\n)*"));
  ExpectRepaired();
}

// The launch ends well; the next one's go is never sent, whosever it is: nobody can be shown to have done it, and the
// report says whose ended last.
TEST_F(HangZoo, WritesOverTheDispatchersMailbox) {
  const Outcome outcome = Let(One("overwrite_mailbox_brisc"));
  EXPECT_THAT(outcome.report, HasSubstr("waits for the dispatcher's NOTIFY"));
  EXPECT_THAT(outcome.report,
              MatchesRegex("(.|\n)*dispatch [^\n]* control block was overwritten at 0x[^\n]*: "
                           "0xc0000000 instead of 0x0(.|\n)*"));
  ExpectListedOnly(outcome);
  ExpectRepaired();
}

TEST_F(HangZoo, WritesOverTheDispatchersCode) {
  const Outcome outcome = Let(One("overwrite_dispatcher_brisc"));
  ExpectListedOnly(outcome);
  EXPECT_THAT(outcome.report,
              MatchesRegex("(.|\n)*dispatch [^\n]* BRISC firmware was overwritten at 0x1(.|\n)*"));
  ExpectRepaired();
}

// The prefetcher stalls under what comes behind the launch.
TEST_F(HangZoo, HasThePrefetcherMissANotify) {
  std::vector<Request> commands = One("forget_notify_brisc");
  commands.insert(commands.begin(), BufferOf(1, kPage));
  commands.push_back(Write(1, Numbers(kPage / 4, 7)));
  commands.push_back(ReadRequest{1, 0, kPage});
  const Outcome outcome = Let(std::move(commands));
  EXPECT_THAT(outcome.report,
              HasSubstr("prefetcher is stalled until the dispatcher has notified it"));
  EXPECT_THAT(outcome.report,
              MatchesRegex("(.|\n)*prefetch [^\n]* control block was overwritten(.|\n)*"));
  ExpectListedOnly(outcome);
  ExpectRepaired();
}

TEST_F(HangZoo, LeavesNoRoomForCompletions) {
  const Outcome outcome = Let(One("fill_completions_brisc"));
  ExpectListedOnly(outcome);
  EXPECT_THAT(outcome.report, HasSubstr("waits for room in the completion queue"));
  EXPECT_THAT(outcome.report,
              MatchesRegex("(.|\n)*dispatch [^\n]* control block was overwritten(.|\n)*"));
  ExpectRepaired();
}

TEST_F(HangZoo, ManyResets_SpareBystanders) {
  constexpr int kRounds = 13;
  for (int round = 0; round < kRounds && !HasFailure(); ++round) {
    Let(Spin(500));
    Let(Deadlock());
    Let(Two("corrupt_message_brisc"));
    for (const char* kernel :
         {"never_answer_brisc", "overwrite_mailbox_brisc", "overwrite_dispatcher_brisc",
          "forget_notify_brisc", "fill_completions_brisc"}) {
      Let(One(kernel));
    }
  }
  EXPECT_GE(repairs_, 100u);
  ExpectRepaired();
}

// Where the base firmware begins a launch that has something to prepare: a worker at rest is nowhere near.
uint32_t RunAnyAddress() {
  for (const FirmwareImage& image : FirmwareImages()) {
    if (image.name != "worker_brisc") continue;
    const auto elf = ElfFile::Parse(image.names, 64);
    EXPECT_TRUE(elf.ok()) << StatusMessage(elf.status());
    const auto symbols = SymbolTable::Read(*elf);
    for (uint32_t at = image.load_address; at < image.load_address + image.bytes.size(); at += 4) {
      const SymbolPlace place = symbols->Find(at);
      if (place.kind != SymbolPlace::Kind::kCode || place.offset != 0) continue;
      if (place.frames.back().function.find("RunAny") != std::string::npos)
        return AlignUp(at, uint32_t{hw::kL1Alignment});
    }
  }
  ADD_FAILURE() << "the firmware has no such function any more";
  return 0;
}

// A launch that ends well leaves the firmware of another tile overwritten. The session that uses that tile next may
// send again, and is never taken for the offender, however often that happens to it.
TEST_F(HangZoo, ASessionThatMeetsWithAnothersDamageIsNotTheOffender) {
  for (const auto& one : bystanders_) one->Stop();
  ThreadedClient guilty(*core_), innocent(*core_);
  LaunchRequest poke = LaunchOf(3);
  poke.arguments.push_back({0, {5, 5, RunAnyAddress(), 64}, {}, 0, {}});
  guilty.Send({ZooKernel(2, "poke_brisc"), ProgramOf(3, 2, {3, 2, 3, 2})});
  innocent.Send({KernelOf(2, "empty"), ProgramOf(3, 2, {5, 5, 5, 5})});
  const auto once = [&]() -> ErrorReply {
    guilty.Send({poke});
    guilty.WaitFor(guilty.sent());
    EXPECT_TRUE(guilty.errors().empty());
    const size_t known = innocent.errors().size();
    innocent.Send({LaunchOf(3)}, known == 0 ? 0 : innocent.sent());
    innocent.WaitFor(innocent.sent());
    AwaitRepair();
    if (innocent.errors().size() == known) {
      ADD_FAILURE() << "nothing was noticed";
      return {};
    }
    return innocent.errors().back().error;
  };
  for (const int round : {1, 2, 3}) {
    const ErrorReply error = once();
    EXPECT_EQ(error.code, StatusCode::kUnavailable) << round << ": " << error.message;
    EXPECT_EQ(error.reason, "DEVICE_RESET");
    EXPECT_TRUE(error.retryable);
    EXPECT_THAT(
        error.message,
        HasSubstr("firmware or a kernel was overwritten, by a kernel of yours or an earlier one"));
  }
  EXPECT_THAT(core_->admin().GetStatus().devices[0].last_error,
              AllOf(HasSubstr("worker (5,5) tile (6,7) BRISC firmware was overwritten at"),
                    HasSubstr(fmt::format("ended last: program 3 of session {}",
                                          guilty.session().welcome().session))));
}

}  // namespace
}  // namespace ttfd
