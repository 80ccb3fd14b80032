// Kernels that do what no kernel may: the error names the hart, the code and its owner, and the card is put right
// under everybody else's feet without the daemon being started again.
#include <gmock/gmock.h>

#include <thread>
#include <tuple>

#include "tests/support/daemon_on_device.h"

namespace ttfd {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::MatchesRegex;
using ::testing::Not;

constexpr const char* kOwner = "of session [0-9]+ .client 'threaded', user [^,)]+.";

// The error that the client of a bad kernel received.
struct Report {
  std::string reason;
  std::string message;
};

// The first error that the client gets.
ErrorReply AwaitError(ThreadedClient& client) {
  const TimePoint deadline = SteadyClock().Now() + std::chrono::seconds(20);
  while (SteadyClock().Now() < deadline) {
    SessionOutputBatch batch = client.session().TakeOutput(1 << 20);
    if (!batch.errors.empty()) return batch.errors[0].error;
    std::this_thread::yield();
  }
  return ErrorReply();
}

class BadKernels : public DaemonOnDevice {
 protected:
  void SetUp() override {
    DaemonOnDevice::SetUp();
    good_ = std::make_unique<Adder>(*core, 1'000'000);
  }
  void TearDown() override {
    good_.reset();
    DaemonOnDevice::TearDown();
  }

  Report Launch(const char* kernel, hw::Hart hart, std::vector<uint32_t> arguments,
                std::optional<uint32_t> timeout_ms = {}) {
    ThreadedClient bad(*core);
    CreateProgramRequest program;
    program.handle = 3;
    program.kernels.push_back({2, true, hart, {{3, 2, 3, 2}}});
    program.circular_buffers.push_back(
        {.index = 0, .pages = 2, .page_bytes = 2048, .cores = {{3, 2, 3, 2}}});
    program.semaphores.push_back({0, 0, {{3, 2, 3, 2}}});
    LaunchRequest launch = LaunchOf(3, timeout_ms);
    if (!arguments.empty()) launch.arguments.push_back({0, std::move(arguments), {}, 0, {}});
    bad.Send({KernelOf(2, kernel), program, launch});
    bad.WaitFor(3);
    if (bad.errors().size() != 1u) {
      ADD_FAILURE() << bad.errors().size() << " errors";
      return {};
    }
    const ErrorReply& error = bad.errors()[0].error;
    EXPECT_EQ(bad.errors()[0].first_value, 3u);
    EXPECT_EQ(error.code, StatusCode::kAborted) << error.message;
    EXPECT_THAT(error.message, HasSubstr("worker (3,2) tile (4,4) "));
    EXPECT_THAT(error.message,
                MatchesRegex(std::string(".*it ran program [0-9]+ ") + kOwner + ".*"));
    EXPECT_TRUE(AwaitResets(*core, ++resets_));
    EXPECT_EQ(core->admin().GetStatus().devices[0].last_error, error.message)
        << "the administrator sees the same";
    return {error.reason, error.message};
  }

  // A client that was there before computes on, and its results are right.
  void ExpectHealthy(uint32_t resets) {
    EXPECT_TRUE(AwaitResets(*core, resets));
    for (int round = 0; round < 2; ++round) {
      good_->Send();
      EXPECT_TRUE(good_->Right());
    }
    EXPECT_TRUE(good_->client.errors().empty());
    EXPECT_EQ(core->admin().GetStatus().state, DaemonState::kReady);
  }

  std::unique_ptr<Adder> good_;
  uint32_t resets_ = 0;
};

TEST_F(BadKernels, OneThatJumpsIntoZeros) {
  const Report report = Launch("fault", hw::kBrisc, {});
  EXPECT_EQ(report.reason, "DEVICE_FAULT");
  EXPECT_THAT(report.message, HasSubstr("Tensix instruction at tile (4,4)"));
  EXPECT_THAT(report.message, MatchesRegex(".*BRISC: runs a kernel.*pc 0x[0-9a-f]+ in the data of "
                                           "zeros\\+0x0, which is no code in kernel 'fault'.*"));
  ExpectHealthy(1);
}

TEST_F(BadKernels, OneWhoseTensixInstructionIsRefused) {
  const Report report = Launch("wrong_dst_trisc1", hw::kTrisc1, {});
  EXPECT_EQ(report.reason, "DEVICE_FAULT");
  EXPECT_THAT(
      report.message,
      MatchesRegex(".*Tensix instruction at tile \\(4,4\\) .* T1 ELWADD.*: dst: the row .*"));
  EXPECT_THAT(
      report.message,
      MatchesRegex(
          ".*TRISC1: [^;]*inlined into ttfd::compute::copy_tile at ttfd/compute/copy.h:[0-9]+, "
          "inlined into kernel_main\\+0x[0-9a-f]+ at wrong_dst.cc:9 .*"));
  ExpectHealthy(1);
}

TEST_F(BadKernels, OneThatRunsOffItsText) {
  const Report report = Launch("runs_off", hw::kBrisc, {});
  EXPECT_EQ(report.reason, "DEVICE_FAULT");
  EXPECT_THAT(report.message, HasSubstr("illegal instruction"));
  EXPECT_THAT(
      report.message,
      MatchesRegex(".*pc 0x[0-9a-f]+ in the data of behind_the_code\\+0x0, which is no code "
                   "in kernel 'runs_off'.*"));
  ExpectHealthy(1);
}

TEST_F(BadKernels, OneThatOverflowsItsStack) {
  uint32_t resets = 0;
  for (const auto& [kernel, hart, name] :
       {std::tuple("overflow_stack", hw::kBrisc, "BRISC"),
        std::tuple("overflow_stack_trisc0", hw::kTrisc0, "TRISC0")}) {
    const Report report = Launch(kernel, hart, {1000});
    EXPECT_EQ(report.reason, "DEVICE_FAULT");
    EXPECT_THAT(report.message,
                HasSubstr("the stack has overflowed: it left the hart's local RAM"));
    EXPECT_THAT(report.message, MatchesRegex(std::string(".*") + name +
                                             ": [^;]*pc 0x[0-9a-f]+ Deeper\\+0x[0-9a-f]+ at "
                                             "overflow_stack.cc:[0-9]+ in kernel '" +
                                             kernel + "'.*"));
    ExpectHealthy(++resets);
    // One that only comes down to the last word is found when it returns.
    const Report caught = Launch(kernel, hart, {0});
    EXPECT_EQ(caught.reason, "DEVICE_FAULT");
    EXPECT_THAT(caught.message, AllOf(HasSubstr(std::string(name) +
                                                ": stopped on a fault: the stack of its kernel"),
                                      HasSubstr("overflowed: the guard word below it holds 0x0")));
    ExpectHealthy(++resets);
  }
}

TEST_F(BadKernels, DeepStacksThatFitAreNoFault) {
  ThreadedClient client(*core);
  LaunchRequest launch = LaunchOf(3);
  launch.arguments.push_back({0, {40}, {}, 0, {}});
  client.Send({KernelOf(2, "overflow_stack"), ProgramOf(3, 2, {1, 1, 1, 1}), launch});
  client.WaitFor(3);
  EXPECT_TRUE(client.errors().empty());
  ExpectHealthy(0);
}

TEST_F(BadKernels, OneThatSpinsForEver) {
  const Report report = Launch("spin", hw::kBrisc, {0x9F000}, 200);
  EXPECT_EQ(report.reason, "HANG");
  EXPECT_THAT(report.message, HasSubstr("did not end within its kernel timeout of 200 ms"));
  EXPECT_THAT(report.message,
              MatchesRegex(".*BRISC: runs a kernel, program [0-9]+ .waypoint KRUN, pc "
                           "0x[0-9a-f]+ kernel_main\\+0x[0-9a-f]+ at spin.cc:[0-9]+ "
                           "in kernel 'spin'.*"));
  ExpectHealthy(1);
}

TEST_F(BadKernels, OneThatWaitsForEver) {
  const Report report = Launch("wait_forever", hw::kBrisc, {});
  EXPECT_EQ(report.reason, "HANG");
  EXPECT_THAT(report.message,
              MatchesRegex(".*waits for a semaphore.*inlined into kernel_main\\+0x.* at "
                           "wait_forever.cc:[0-9]+ in kernel 'wait_forever'.*"));
  ExpectHealthy(1);
}

TEST_F(BadKernels, OneThatWaitsForEverInTheEngine) {
  const auto [reason, message] = Launch("wait_in_engine", hw::kTrisc1, {});
  EXPECT_EQ(reason, "HANG");
  EXPECT_THAT(message, HasSubstr("nothing can move any more")) << "found at once";
  EXPECT_THAT(message, MatchesRegex(".*TRISC1: runs a kernel; waits at SEMWAIT [^:;]*: semaphore 7 "
                                    "is 0, program [0-9]+ .*wait_in_engine.cc:[0-9]+.*"));
  ExpectHealthy(1);
}

TEST_F(BadKernels, OneThatWritesOverTheFirmware) {
  const Report report = Launch("overwrite_firmware", hw::kBrisc, {});
  EXPECT_EQ(report.reason, "DEVICE_FAULT");
  EXPECT_THAT(report.message,
              MatchesRegex(".*BRISC: .*pc 0x1[0-9a-f]+ .*in worker BRISC firmware.*"));
  EXPECT_THAT(report.message, HasSubstr("worker (3,2) tile (4,4) BRISC firmware was overwritten at "
                                        "0x1000: 0x0 instead of 0x"));
  ExpectHealthy(1);
}

TEST_F(BadKernels, OneThatWritesOverTheFirmwareOfAnotherTile) {
  ThreadedClient bad(*core);
  CreateProgramRequest program;
  program.handle = 3;
  program.kernels.push_back({2, true, hw::kBrisc, {{3, 2, 4, 2}}});
  LaunchRequest launch = LaunchOf(3);
  launch.arguments.push_back({0, {0x9F000}, {1, 0}, 1, {}});
  bad.Send({KernelOf(2, "overwrite_neighbour"), program, launch});
  bad.WaitFor(3);
  ASSERT_EQ(bad.errors().size(), 1u);
  const ErrorReply& error = bad.errors()[0].error;
  EXPECT_EQ(error.reason, "DEVICE_FAULT");
  EXPECT_THAT(error.message,
              MatchesRegex(".*worker .4,2. tile [^;]*BRISC: [^;]*in worker BRISC firmware.*"));
  EXPECT_THAT(error.message, HasSubstr("worker (4,2) tile (5,4) BRISC firmware was overwritten"));
  EXPECT_THAT(error.message, MatchesRegex(std::string(".*it ran program [0-9]+ ") + kOwner + ".*"));
  ExpectHealthy(1);
}

TEST_F(BadKernels, OneThatLoadsFromAnOddAddress) {
  const Report report = Launch("misaligned", hw::kNcrisc, {});
  EXPECT_EQ(report.reason, "DEVICE_FAULT");
  EXPECT_THAT(report.message,
              MatchesRegex(".*misaligned access.*NCRISC: [^;]*pc 0x[0-9a-f]+ LoadOdd at "
                           "misaligned.cc:[0-9]+, inlined into kernel_main\\+0x[0-9a-f]+ at "
                           "misaligned.cc:[0-9]+ in kernel 'misaligned'.*"));
  ExpectHealthy(1);
}

// Two sessions on workers of their own: the elder one is innocent.
TEST_F(BadKernels, TheWorkerTellsWhoseItIs) {
  ThreadedClient elder(*core);
  ThreadedClient offender(*core);
  const auto start = [](ThreadedClient& client, const char* kernel, CoreRange cores) {
    LaunchRequest launch = LaunchOf(3, 60'000);
    launch.arguments.push_back({0, {0x9F000}, {}, 0, {}});
    client.OpenQueue({1, 0, 0, {cores}});
    client.Send({KernelOf(2, kernel), ProgramOf(3, 2, cores)});
    client.WaitFor(2);
    BatchRequest batch;
    batch.queue = 1;
    batch.first_value = 1;
    batch.waits = {{0, 2}};
    batch.commands.push_back(launch);
    client.Submit(std::move(batch));
  };
  start(elder, "spin", {0, 0, 0, 0});
  start(offender, "fault", {5, 5, 5, 5});
  const ErrorReply guilty = AwaitError(offender);
  EXPECT_EQ(guilty.reason, "DEVICE_FAULT") << guilty.message;
  EXPECT_THAT(guilty.message, HasSubstr("in kernel 'fault'"));
  const ErrorReply innocent = AwaitError(elder);
  EXPECT_EQ(innocent.reason, "DEVICE_RESET") << innocent.message;
  EXPECT_TRUE(innocent.retryable);
  EXPECT_THAT(innocent.message, Not(HasSubstr("kernel 'fault'"))) << "other people's code";
  EXPECT_THAT(innocent.message, Not(HasSubstr("pid")));
  ExpectHealthy(1);
}

// Two users load the same file, and the card has one copy of it.
TEST_F(BadKernels, ReportsNameTheUsersOwnKernel) {
  const auto peer = [](uint32_t uid) {
    PeerIdentity identity;
    identity.uid = uid;
    return identity;
  };
  ThreadedClient his(*core, peer(1001));
  ThreadedClient hers(*core, peer(1002));
  const auto start = [](ThreadedClient& client, const char* name, CoreRange cores, uint32_t ms) {
    LoadKernelRequest kernel = KernelOf(2, "spin");
    kernel.name = name;
    LaunchRequest launch = LaunchOf(3, ms);
    launch.arguments.push_back({0, {0x9F000}, {}, 0, {}});
    client.OpenQueue({1, 0, 0, {cores}});
    client.Send({std::move(kernel), ProgramOf(3, 2, cores)});
    client.WaitFor(2);
    BatchRequest batch;
    batch.queue = 1;
    batch.first_value = 1;
    batch.waits = {{0, 2}};
    batch.commands.push_back(launch);
    client.Submit(std::move(batch));
  };
  start(his, "his_kernel", {0, 0, 0, 0}, 500);
  start(hers, "her_kernel", {5, 5, 5, 5}, 60'000);
  const ErrorReply error = AwaitError(his);
  EXPECT_EQ(error.reason, "HANG") << error.message;
  EXPECT_THAT(error.message, HasSubstr("spin.cc:9 in kernel 'his_kernel'"));
  EXPECT_THAT(error.message, HasSubstr("another program's kernel+0x")) << "where hers was";
  EXPECT_THAT(error.message, Not(HasSubstr("her_kernel")));
  EXPECT_EQ(AwaitError(hers).reason, "DEVICE_RESET");
  ExpectHealthy(1);
}

TEST_F(BadKernels, WrongProcessor_IsRefused) {
  ThreadedClient client(*core);
  CreateProgramRequest program;
  program.handle = 3;
  program.kernels.push_back({2, true, hw::kBrisc, {{3, 2, 3, 2}}});
  program.kernels.push_back({2, true, hw::kNcrisc, {{3, 2, 3, 2}}});
  client.Send({KernelOf(2, "vector_add"), program});
  client.WaitFor(2);
  ASSERT_EQ(client.errors().size(), 1u);
  const ErrorReply& error = client.errors()[0].error;
  EXPECT_EQ(error.reason, "KERNEL_REFUSED");
  EXPECT_EQ(error.field, "create_program.kernels[1].processor");
  EXPECT_THAT(error.message, HasSubstr("was built for BRISC and is used on NCRISC"));
  ExpectHealthy(0);
}

}  // namespace
}  // namespace ttfd
