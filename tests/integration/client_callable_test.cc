// Kernels that other kernels call, through libttfd and the real daemon.
#include <gmock/gmock.h>

#include <algorithm>

#include "tests/support/client_fixture.h"

namespace ttfd::client::client_callable_test {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

class ClientCallables : public ttfd::testing::ClientFixture {
 protected:
  static constexpr uint32_t kCores = 3;
  static constexpr uint32_t kReportBytes = 32;
  static constexpr uint32_t kCalls = 3;

  Kernel Load(const std::string& name) {
    Result<Kernel> kernel = session_->LoadKernelFile(ttfd::testing::KernelPath(name));
    EXPECT_TRUE(kernel.ok()) << kernel.status().ToString();
    return kernel.ok() ? std::move(*kernel) : Kernel();
  }
  // call.cc with called.cc as callable kernel 0, called_print.cc as 1.
  ProgramBuilder Calling(uint32_t semaphores = 1) {
    call_ = Load("call");
    called_ = Load("called");
    prints_ = Load("called_print");
    ProgramBuilder builder;
    EXPECT_EQ(builder.AddCallable(called_, Processor::kBrisc, cores_), 0u);
    builder.AddKernel(call_, Processor::kBrisc, cores_);
    EXPECT_EQ(builder.AddCallable(prints_, Processor::kBrisc, cores_), 1u);
    if (semaphores != 0) builder.AddSemaphore(0, 4711, cores_);
    return builder;
  }
  // Each core calls 0, then `second`, then 0.
  LaunchRequest LaunchOf(const Program& program, uint32_t second) const {
    LaunchRequest launch(program);
    launch.Common(1, {0, 0, 0, 0, 0}).Address(1, 0, reports_);
    std::vector<uint32_t> words;
    for (uint32_t core = 0; core < kCores; ++core) {
      words.insert(words.end(), {kCalls, 0, second, 0});
    }
    return launch.PerCore(1, 4, words);
  }
  std::vector<uint32_t> Reports() {
    std::vector<uint32_t> words(kCores * kCalls * kReportBytes / 4);
    const Status status =
        session_->queue().Read(reports_, 0, std::as_writable_bytes(std::span(words)));
    EXPECT_TRUE(status.ok()) << status.ToString();
    return words;
  }
  void Allocate() {
    Result<Buffer> buffer = session_->AllocateL1(
        kCores * kCalls * kReportBytes, {.page_bytes = kCalls * kReportBytes, .cores = cores_});
    ASSERT_TRUE(buffer.ok()) << buffer.status().ToString();
    reports_ = std::move(*buffer);
  }

  const std::vector<CoreRange> cores_ = {{1, 2, 1, 4}};
  Kernel call_, called_, prints_;
  Buffer reports_;
};

// Launched and replayed from a trace; the print is of the callable kernel.
TEST_F(ClientCallables, RunWithTheArgumentsOfTheirCaller) {
  Allocate();
  std::vector<KernelPrint> lines;
  session_->OnPrint([&lines](const KernelPrint& line) { lines.push_back(line); });
  Result<Program> program = session_->CreateProgram(Calling());
  ASSERT_TRUE(program.ok()) << program.status().ToString();
  Queue queue = session_->queue();
  const LaunchRequest launch = LaunchOf(*program, 1);
  Result<Trace> trace = queue.RecordTrace(std::span(&launch, 1));
  ASSERT_TRUE(trace.ok()) << trace.status().ToString();
  for (const bool replay : {false, true}) {
    EXPECT_TRUE(queue.Fill(reports_, 0, reports_.size_bytes(), 0).ok());
    const Status status = replay ? queue.Replay(ReplayRequest(*trace)) : queue.Launch(launch);
    EXPECT_TRUE(status.ok()) << status.ToString();
    const std::vector<uint32_t> words = Reports();
    for (uint32_t core = 0; core < kCores; ++core) {
      for (const uint32_t call : {0u, 2u}) {
        const auto report = std::span(words).subspan((core * kCalls + call) * 8, 8);
        EXPECT_THAT(report, ElementsAre(100 + call, 42, 1, 4711, 100 + call, 42, 1, 100 + call));
      }
    }
  }
  ASSERT_EQ(lines.size(), 2 * kCores);
  for (const KernelPrint& line : lines) {
    EXPECT_EQ(line.text, "called with 101");
    EXPECT_EQ(line.kernel, "called_print.elf");
  }
}

// A number that the program does not have stops the caller with a fault that names it.
TEST_F(ClientCallables, ThatTheProgramDoesNotHaveAreAFault) {
  Allocate();
  Result<Program> program = session_->CreateProgram(Calling());
  ASSERT_TRUE(program.ok()) << program.status().ToString();
  EXPECT_THAT(session_->queue().Launch(LaunchOf(*program, 2)).ToString(),
              HasSubstr("its kernel uses callable kernel 2; the program gives indices below 2"));
}

TEST_F(ClientCallables, AreRefusedWhereTheyCouldNotRun) {
  ProgramBuilder without = Calling(0);
  EXPECT_THAT(session_->CreateProgram(without).status().ToString(),
              HasSubstr("kernel 'called' uses semaphore 0 at called.cc:16, which it is not given"));
  ProgramBuilder alone;
  alone.AddKernel(call_, Processor::kBrisc, {{1, 2, 1, 2}});
  alone.AddCallable(prints_, Processor::kBrisc, cores_);
  EXPECT_THAT(session_->CreateProgram(alone).status().ToString(),
              HasSubstr("kernel 1 is callable on BRISC of core (1,3), where the program starts no "
                        "kernel that could call it"));
  ProgramBuilder common;
  const Kernel echo = Load("echo_brisc");
  common.AddKernel(call_, Processor::kBrisc, cores_);
  common.AddCallable(echo, Processor::kBrisc, cores_);
  EXPECT_THAT(session_->CreateProgram(common).status().ToString(),
              HasSubstr("a callable kernel has the arguments of its caller only"));
  Result<Program> program = session_->CreateProgram(Calling());
  ASSERT_TRUE(program.ok()) << program.status().ToString();
  EXPECT_THAT(
      session_->queue().Launch(LaunchRequest(*program).Common(0, {1})).ToString(),
      HasSubstr("kernel 0 is callable; its caller gives it arguments, a launch gives none"));
}

}  // namespace
}  // namespace ttfd::client::client_callable_test
