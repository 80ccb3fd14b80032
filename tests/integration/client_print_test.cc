// What kernels print reaches the client that launched them, through libttfd and the real daemon.
#include <gmock/gmock.h>

#include <map>
#include <tuple>

#include "tests/support/client_fixture.h"
#include "tests/support/test_device_text.h"

namespace ttfd::client::client_print_test {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

class ClientPrints : public ttfd::testing::ClientFixture {
 protected:
  static std::function<void(const KernelPrint&)> Into(std::vector<KernelPrint>* lines) {
    return [lines](const KernelPrint& print) { lines->push_back(print); };
  }

  static std::vector<std::string> Texts(const std::vector<KernelPrint>& lines) {
    std::vector<std::string> texts;
    for (const KernelPrint& line : lines) texts.push_back(line.text);
    return texts;
  }

  static LaunchRequest Printing(const Program& program, uint32_t lines, uint32_t then,
                                uint32_t word) {
    return LaunchRequest(program).Common(0, {lines, then, word});
  }
};

TEST_F(ClientPrints, OfEveryTileAreHeardBeforeTheLaunchHasEnded) {
  std::vector<KernelPrint> lines;
  session_->OnPrint(Into(&lines));
  const Program program = MakeProgram(session_.get(), "print_brisc", {{0, 0, 3, 4}});
  for (uint32_t round = 1; round <= 3; ++round) {
    lines.clear();
    Result<Position> position = session_->queue().EnqueueLaunch(Printing(program, 50, 0, round));
    ASSERT_TRUE(position.ok());
    ASSERT_TRUE(session_->queue().Wait(*position).ok());
    std::map<std::tuple<uint32_t, uint32_t>, uint32_t> next;
    for (const KernelPrint& line : lines) {
      const uint32_t number = next[{line.core.x, line.core.y}]++;
      ASSERT_EQ(line.text, "line " + std::to_string(number) + " of (" +
                               std::to_string(line.core.x) + "," + std::to_string(line.core.y) +
                               ") hart 0: " + std::to_string(round));
      ASSERT_EQ(line.position, *position);
      ASSERT_EQ(line.kernel, "print_brisc.elf");
      ASSERT_EQ(line.processor, Processor::kBrisc);
      ASSERT_EQ(line.lost, 0u);
    }
    EXPECT_EQ(next.size(), 20u);
    for (const auto& [tile, count] : next) EXPECT_EQ(count, 50u);
  }
}

TEST_F(ClientPrints, AreTheSessionsOwn) {
  Session other = Connect("other");
  std::vector<KernelPrint> here, there;
  session_->OnPrint(Into(&here));
  other.OnPrint(Into(&there));
  const Program mine = MakeProgram(session_.get(), "print_brisc", {{0, 0, 1, 1}});
  const Program theirs = MakeProgram(&other, "print_brisc", {{0, 0, 1, 1}});
  for (int i = 0; i < 20; ++i) {
    ASSERT_TRUE(session_->queue().EnqueueLaunch(Printing(mine, 3, 0, 1111)).ok());
    ASSERT_TRUE(other.queue().EnqueueLaunch(Printing(theirs, 2, 0, 2222)).ok());
    ASSERT_TRUE(session_->queue().Flush().ok());
    ASSERT_TRUE(other.queue().Flush().ok());
  }
  ASSERT_TRUE(session_->queue().Finish().ok());
  ASSERT_TRUE(other.queue().Finish().ok());
  EXPECT_EQ(here.size(), 20u * 4 * 3);
  EXPECT_EQ(there.size(), 20u * 4 * 2);
  for (const std::string& text : Texts(here)) EXPECT_THAT(text, HasSubstr(": 1111"));
  for (const std::string& text : Texts(there)) EXPECT_THAT(text, HasSubstr(": 2222"));
}

TEST_F(ClientPrints, BeforeAHangAndBeforeAFaultAreHeard) {
  TTFD_ONLY_ON_THE_EMBEDDED_DEVICE(kResetsEndSessions);
  std::vector<KernelPrint> lines;
  session_->OnPrint(Into(&lines));
  Result<Kernel> kernel = session_->LoadKernelFile(ttfd::testing::KernelPath("print_brisc"));
  ASSERT_TRUE(kernel.ok()) << kernel.status().ToString();
  ProgramBuilder builder;
  builder.AddKernel(*kernel, Processor::kBrisc, {{2, 1, 2, 1}});
  builder.AddSemaphore(0, 0, {{2, 1, 2, 1}});  // what it waits for
  Result<Program> made = session_->CreateProgram(builder);
  ASSERT_TRUE(made.ok()) << made.status().ToString();
  const Program& program = *made;
  const Status hung = session_->queue().Launch(Printing(program, 2, 1, 5));
  EXPECT_EQ(hung.reason(), "HANG") << hung.ToString();
  EXPECT_THAT(Texts(lines), ElementsAre("line 0 of (2,1) hart 0: 5", "line 1 of (2,1) hart 0: 5"));
  lines.clear();
  const Status died = session_->queue().Launch(Printing(program, 1, 2, 6));
  EXPECT_EQ(died.reason(), "DEVICE_FAULT") << died.ToString();
  EXPECT_THAT(Texts(lines), ElementsAre("line 0 of (2,1) hart 0: 6"));
  lines.clear();
  EXPECT_TRUE(session_->queue().Launch(Printing(program, 1, 0, 7)).ok());
  EXPECT_THAT(Texts(lines), ElementsAre("line 0 of (2,1) hart 0: 7"));
}

// A card that has faulted has to be reset before it says what was printed last.
TEST_F(ClientPrints, ALaunchThatPrintsAndFaultsBehindOneThatEndedRunsOnce) {
  TTFD_ONLY_ON_THE_EMBEDDED_DEVICE(kResetsEndSessions);
  std::vector<KernelPrint> lines;
  session_->OnPrint(Into(&lines));
  const Program program = MakeProgram(session_.get(), "print_brisc", {{2, 1, 2, 1}});
  ASSERT_TRUE(session_->queue().Launch(Printing(program, 1, 0, 5)).ok());
  lines.clear();
  const Status died = session_->queue().Launch(Printing(program, 1, 2, 6));
  EXPECT_EQ(died.reason(), "DEVICE_FAULT") << died.ToString();
  EXPECT_THAT(Texts(lines), ElementsAre("line 0 of (2,1) hart 0: 6"));
}

TEST_F(ClientPrints, OfATraceTellTheLaunchInIt) {
  std::vector<KernelPrint> lines;
  session_->OnPrint(Into(&lines));
  const Program program = MakeProgram(session_.get(), "print_brisc", {{0, 0, 0, 0}});
  Queue queue = session_->queue();
  const LaunchRequest launches[] = {Printing(program, 1, 0, 10), Printing(program, 2, 0, 11)};
  Result<Trace> trace = queue.RecordTrace(launches);
  ASSERT_TRUE(trace.ok()) << trace.status().ToString();
  for (int i = 0; i < 3; ++i) {
    lines.clear();
    ASSERT_TRUE(queue.Replay(ReplayRequest(*trace)).ok());
    EXPECT_THAT(Texts(lines),
                ElementsAre("line 0 of (0,0) hart 0: 10", "line 0 of (0,0) hart 0: 11",
                            "line 1 of (0,0) hart 0: 11"));
    ASSERT_EQ(lines.size(), 3u);
    EXPECT_EQ(lines[0].launch, 0u);
    EXPECT_EQ(lines[2].launch, 1u);
  }
}

TEST_F(ClientPrints, GoToStandardErrorIfNobodyAsksAndNowhereIfToldSo) {
  const Program program = MakeProgram(session_.get(), "print_brisc", {{1, 0, 1, 0}});
  ::testing::internal::CaptureStderr();
  ASSERT_TRUE(session_->queue().Launch(Printing(program, 2, 0, 9)).ok());
  EXPECT_EQ(::testing::internal::GetCapturedStderr(),
            "[print_brisc.elf (1,0) brisc] line 0 of (1,0) hart 0: 9\n"
            "[print_brisc.elf (1,0) brisc] line 1 of (1,0) hart 0: 9\n");
  session_->OnPrint(nullptr);
  ::testing::internal::CaptureStderr();
  ASSERT_TRUE(session_->queue().Launch(Printing(program, 2, 0, 9)).ok());
  EXPECT_THAT(::testing::internal::GetCapturedStderr(), IsEmpty());
}

// 120 tiles and 400 lines of some 60 bytes are 10 times what the daemon keeps for a session.
TEST_F(ClientPrints, AClientThatDoesNotReadLosesOldLinesAndHoldsNobodyUp) {
  Session idle = Connect("idle");
  std::vector<KernelPrint> lines;
  idle.OnPrint(Into(&lines));
  const Program program = MakeProgram(&idle, "print_brisc", {{0, 0, 11, 9}});
  Result<Position> position = idle.queue().EnqueueLaunch(Printing(program, 400, 0, 3));
  ASSERT_TRUE(position.ok());
  ASSERT_TRUE(idle.queue().Flush().ok());  // and then it does not read
  const Program empty = MakeProgram(session_.get(), "empty", {{0, 0, 0, 0}});
  ASSERT_TRUE(session_->queue().Launch(LaunchRequest(empty)).ok()) << "others go on";
  ASSERT_TRUE(idle.queue().Wait(*position).ok());
  uint64_t lost = 0;
  for (const KernelPrint& line : lines) lost += line.lost;
  EXPECT_EQ(lines.size() + lost, 120u * 400);
  EXPECT_GT(lost, 0u);
  EXPECT_THAT(lines.back().text, HasSubstr("line 399"));
}

}  // namespace
}  // namespace ttfd::client::client_print_test
