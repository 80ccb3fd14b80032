// Profiles of the card: stacks are those of the code that runs, equal runs give equal profiles, and nothing changes
// for those whose kernels are watched.
#include <gtest/gtest.h>

#include <thread>

#include "runtime/boot/kernel_elf.h"
#include "tests/support/booted_card.h"
#include "tests/support/daemon_on_device.h"

namespace ttfd {
namespace {

std::shared_ptr<const KernelImage> Image(const char* name) {
  auto image = LoadKernel(KernelElf(name), name);
  EXPECT_TRUE(image.ok()) << image.status().ToString();
  return image.ok() ? *image : nullptr;
}

// Deep calls on two tiles, two of their harts, profiled on a card of its own.
ProfileResult ProfileOfDeepCalls(const ProfileOptions& options, int launches = 20) {
  BootedCard card;
  ProgramSpec spec;
  spec.kernels.push_back({Image("overflow_stack"), hw::kBrisc, {{3, 2, 4, 2}}});
  spec.kernels.push_back({Image("overflow_stack_trisc0"), hw::kTrisc0, {{3, 2, 4, 2}}});
  const auto program = BuildProgram(42, spec, card->description().grid);
  EXPECT_TRUE(program.ok()) << program.status().ToString();
  KernelArguments arguments;
  arguments.common = {12};
  EXPECT_TRUE(card->probe().StartProfile(options).ok());
  EXPECT_EQ(card->probe().StartProfile(options).code(), StatusCode::kFailedPrecondition);
  for (int i = 0; i < launches; ++i) {
    EXPECT_TRUE(card.Submit(LaunchCommand{*program, {arguments, arguments}}).ok());
  }
  EXPECT_TRUE(card.Finish().ok());
  return card->probe().StopProfile();
}

uint64_t Total(const ProfileResult& result, const std::string& what) {
  uint64_t count = 0;
  for (const auto& [stack, own] : result.stacks) {
    if (stack.find(what) != stack.npos) count += own;
  }
  return count;
}

TEST(Profile, ShowsWhoCalledWhom) {
  ProfileOptions options;
  options.interval_clocks = 20;
  const ProfileResult result = ProfileOfDeepCalls(options);
  EXPECT_TRUE(result.whole_stacks);
  EXPECT_EQ(result.lost, 0u);
  // kernel_main ends with the first call, which takes its place.
  const std::string root = "program 42;overflow_stack;BRISC";
  EXPECT_GT(Total(result, root + ";Deeper;Deeper;Deeper"), 20u) << "calls inside calls";
  EXPECT_GT(Total(result, "program 42;overflow_stack_trisc0;TRISC0;"), 20u);
  EXPECT_GT(Total(result, "dispatch;dispatcher firmware;BRISC;"), 0u);
  EXPECT_EQ(Total(result, "idle;"), 0u);
  std::string deepest = root;
  for (int i = 0; i < 13; ++i) deepest += ";Deeper";
  EXPECT_GT(Total(result, deepest), 0u);
  EXPECT_EQ(Total(result, deepest + ";Deeper"), 0u) << "no deeper than it goes";
  uint64_t sum = 0;
  for (const auto& [stack, count] : result.stacks) sum += count;
  EXPECT_EQ(sum, result.samples);
}

TEST(Profile, EqualRunsGiveEqualProfiles) {
  ProfileOptions options;
  options.interval_clocks = 100;
  options.idle = true;
  const ProfileResult first = ProfileOfDeepCalls(options);
  EXPECT_EQ(first.stacks, ProfileOfDeepCalls(options).stacks);
  EXPECT_GT(Total(first, "idle;"), 0u);
  EXPECT_GT(Total(first, ";(waits)"), 0u);
}

TEST(Profile, IsOfTheWorkersAskedFor) {
  ProfileOptions options;
  options.interval_clocks = 20;
  options.workers.set(2 * 11 + 3);
  const ProfileResult one = ProfileOfDeepCalls(options);
  EXPECT_EQ(Total(one, "dispatch;"), 0u);
  options.workers.set(2 * 11 + 4);
  const ProfileResult both = ProfileOfDeepCalls(options);
  EXPECT_GT(both.samples, one.samples);
  EXPECT_LT(both.samples, one.samples * 3);
}

TEST(Profile, ProgramCountersShowTheInnermostFunction) {
  ProfileOptions options;
  options.snapshots = true;
  options.snapshot_interval = Duration::zero();
  const ProfileResult result = ProfileOfDeepCalls(options, /*launches=*/200);  // longer than a Poll
  EXPECT_FALSE(result.whole_stacks);
  EXPECT_GT(result.samples, 0u);
  EXPECT_EQ(Total(result, "Deeper;Deeper"), 0u);
}

// Names in a client's ELF file reach the stacks: none may add a frame or a line.
TEST(Profile, NamesFromKernelFiles_AreEscaped) {
  const ByteSpan file = KernelElf("overflow_stack");
  std::string elf(reinterpret_cast<const char*>(file.data()), file.size());
  const std::string name = "Deeper";
  for (size_t at = elf.find(name); at != elf.npos; at = elf.find(name, at)) {
    elf.replace(at, name.size(), "De;\ner");
  }
  const auto image = LoadKernel(std::as_bytes(std::span(elf)), "deep;calls");
  ASSERT_TRUE(image.ok()) << image.status().ToString();
  ProfileOptions options;
  options.interval_clocks = 20;
  options.program_name = [](uint32_t) { return "mine;\nall"; };
  BootedCard card;
  ProgramSpec spec;
  spec.kernels.push_back({*image, hw::kBrisc, {{3, 2, 3, 2}}});
  const auto program = BuildProgram(42, spec, card->description().grid);
  ASSERT_TRUE(program.ok()) << program.status().ToString();
  ASSERT_TRUE(card->probe().StartProfile(options).ok());
  EXPECT_TRUE(card.Submit(LaunchCommand{*program, {{{12}, 0, {}}}}).ok());
  EXPECT_TRUE(card.Finish().ok());
  const ProfileResult result = card->probe().StopProfile();
  EXPECT_GT(Total(result, "mine\\x3b\\nall;deep\\x3bcalls;BRISC;"), 0u);
  EXPECT_GT(Total(result, ";De\\x3b\\ner;De\\x3b\\ner"), 0u);
  EXPECT_EQ(Total(result, "\n"), 0u);
}

class ProfileOfDaemon : public DaemonOnDevice {};

TEST_F(ProfileOfDaemon, NamesOwnersAndLeavesResultsRight) {
  Adder adder(*core, 5'000'000);
  const auto cancelled = std::make_shared<std::atomic<bool>>(false);
  std::atomic<bool> done{false};
  StatusOr<ProfileResult> result = ProfileResult();
  ProfileQuery query;
  query.duration_ms = 60'000;
  query.interval_clocks = 100;
  ASSERT_TRUE(core->admin()
                  .Profile(query, cancelled,
                           [&](StatusOr<ProfileResult> answer) {
                             result = std::move(answer);
                             done = true;
                           })
                  .ok());
  for (int round = 0; round < 3; ++round) {
    adder.Send();
    EXPECT_TRUE(adder.Right());
  }
  cancelled->store(true);
  const TimePoint deadline = SteadyClock().Now() + std::chrono::seconds(20);
  while (!done && SteadyClock().Now() < deadline) std::this_thread::yield();
  ASSERT_TRUE(done) << "a cancelled profile ends long before its time";
  ASSERT_TRUE(result.ok()) << result.status().ToString();
  EXPECT_GT(Total(*result, "vector_add;BRISC;ttfd_start_and_await;kernel_main"), 0u);
  EXPECT_GT(Total(*result, " of session 1 (client 'threaded'"), 0u);
}

TEST_F(ProfileOfDaemon, RefusesWhatIsOutOfBounds) {
  const auto cancelled = std::make_shared<std::atomic<bool>>(false);
  const auto refused = [&](const ProfileQuery& query) {
    return core->admin()
        .Profile(query, cancelled, [](const StatusOr<ProfileResult>&) { FAIL(); })
        .code();
  };
  ProfileQuery query;
  query.duration_ms = 60'001;
  EXPECT_EQ(refused(query), StatusCode::kInvalidArgument);
  query = {};
  query.interval_clocks = 1;
  EXPECT_EQ(refused(query), StatusCode::kInvalidArgument);
  query = {};
  query.cores = {{0, 0, 11, 0}};
  EXPECT_EQ(refused(query), StatusCode::kInvalidArgument);
}

}  // namespace
}  // namespace ttfd
