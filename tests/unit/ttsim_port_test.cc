// A simulator library in a child process: what goes over, and what becomes of every way it can end.
#include "runtime/device/ttsim/ttsim_port.h"

#include <gmock/gmock.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>

#include <fstream>

#include "runtime/device/ttsim/refusal.h"
#include "runtime/device/ttsim/ttsim_device.h"
#include "tests/support/fake_simulator.h"

namespace ttfd {
namespace {

using ::testing::HasSubstr;

TtsimPort::Options OptionsFor(const std::string& library) {
  TtsimPort::Options options;
  options.library = library;
  options.child_program = DefaultChildProgram().value();
  return options;
}

std::string Text(const Status& status) { return std::string(StatusMessage(status)); }

class TtsimPortTest : public testing::Test {
 protected:
  void SetUp() override { Start(std::chrono::seconds(30)); }

  void Start(Duration patience) {
    TtsimPort::Options options = OptionsFor(TTFD_FAKE_SIMULATOR);
    options.patience = patience;
    auto ports = TtsimPort::Start(options);
    ASSERT_TRUE(ports.ok()) << ports.status().ToString();
    ASSERT_EQ(ports->size(), kFakeChips);
    port_ = std::move((*ports)[0]);
    other_ = std::move((*ports)[1]);
  }
  Status Tell(uint64_t when, Mishap mishap) { return port_->BarWrite(2, when, BytesOf(mishap)); }
  // Tells it, and lets 1,000 clocks pass.
  Status Cause(Mishap mishap) {
    RETURN_IF_ERROR(Tell(kMishapNext, mishap));
    return port_->Advance(1000).status();
  }
  uint32_t Word(uint64_t offset) {
    uint32_t word = 0;
    EXPECT_TRUE(port_->BarRead(0, offset, MutableBytesOf(word)).ok());
    return word;
  }

  // A page of this process that the library reaches at kFakeBusAddress.
  MutableByteSpan MapPage() {
    const UniqueFd file(memfd_create("page", MFD_CLOEXEC));
    EXPECT_EQ(ftruncate(file.get(), 4096), 0);
    void* const page = mmap(nullptr, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, file.get(), 0);
    EXPECT_NE(page, MAP_FAILED);
    const MutableByteSpan bytes(static_cast<std::byte*>(page), 4096);
    EXPECT_TRUE(port_->MapHostMemory(kFakeBusAddress, {bytes, file.get()}).ok());
    return bytes;
  }

  std::unique_ptr<TtsimPort> port_;
  std::unique_ptr<TtsimPort> other_;  // of the same simulator
};

TEST_F(TtsimPortTest, CarriesWritesOfEverySizeInOrder) {
  std::vector<std::byte> data((3 << 20) + 13);
  for (size_t i = 0; i < data.size(); ++i) data[i] = static_cast<std::byte>(i * 7 >> 3);
  ASSERT_TRUE(port_->BarWrite(0, 5, data).ok());
  for (uint32_t i = 0; i < 70000; ++i) {  // more than the mailbox holds
    ASSERT_TRUE(port_->BarWrite(0, 8, BytesOf(i)).ok());
  }
  StoreAt(data.data() + 3, uint32_t{69999});
  std::vector<std::byte> back(data.size());
  ASSERT_TRUE(port_->BarRead(0, 5, back).ok());
  EXPECT_EQ(back, data);
}

TEST_F(TtsimPortTest, RefusesWhatIsNoBar) {
  const uint32_t word = 1;
  EXPECT_EQ(port_->BarWrite(4, 0, BytesOf(word)).code(), StatusCode::kInvalidArgument);
  EXPECT_EQ(port_->BarWrite(0, uint64_t{512} << 20, BytesOf(word)).code(),
            StatusCode::kInvalidArgument);
  EXPECT_EQ(port_->BarWrite(2, ~uint64_t{0} - 1, BytesOf(word)).code(),
            StatusCode::kInvalidArgument);
  EXPECT_EQ(Word(0), 0u) << "and is none the worse for it";
}

TEST_F(TtsimPortTest, SharesHostMemoryAndComesBackWhenItWasWritten) {
  const MutableByteSpan page = MapPage();
  ASSERT_TRUE(Tell(kMishapNext, Mishap::kHostWrite).ok());
  const StatusOr<AdvanceResult> advanced = port_->Advance(1000);
  ASSERT_TRUE(advanced.ok()) << advanced.status().ToString();
  EXPECT_EQ(LoadAt<uint32_t>(page.data()), 0xFEEDu);
  EXPECT_GE(advanced->clocks, 100u);
  EXPECT_LT(advanced->clocks, 200u);
  EXPECT_FALSE(advanced->quiescent);
  EXPECT_EQ(port_->Advance(1000)->clocks, 1000u);
  StoreAt(page.data(), uint32_t{77});
  ASSERT_TRUE(Cause(Mishap::kHostRead).ok());
  EXPECT_EQ(Word(0), 77u);
}

TEST_F(TtsimPortTest, HostMemoryStaysMappedOverAReset) {
  const MutableByteSpan page = MapPage();
  ASSERT_TRUE(port_->BarWrite(0, 64, BytesOf(uint32_t{5})).ok());
  ASSERT_EQ(Word(64), 5u);
  const pid_t before = port_->child();
  ASSERT_TRUE(port_->Reset().ok());
  EXPECT_NE(port_->child(), before);
  EXPECT_EQ(Word(64), 0u) << "the chip is another one";
  ASSERT_TRUE(Cause(Mishap::kHostWrite).ok());
  EXPECT_EQ(LoadAt<uint32_t>(page.data()), 0xFEEDu);
  ASSERT_TRUE(port_->MapHostMemory(kFakeBusAddress, {}).ok());
  const Status unmapped = Cause(Mishap::kHostRead);
  EXPECT_EQ(unmapped.code(), StatusCode::kFailedPrecondition);
  EXPECT_THAT(Text(unmapped), HasSubstr("HostMemory: 4 bytes at bus address 0x10000000000"));
}

TEST_F(TtsimPortTest, AFreshChipIsNotStartedAgainByAReset) {
  const pid_t before = port_->child();
  ASSERT_TRUE(port_->Reset().ok());
  EXPECT_EQ(port_->child(), before);
}

TEST_F(TtsimPortTest, AResetOfOneChipLosesTheOthersUntilTheyAreReset) {
  const uint32_t word = 5;
  ASSERT_TRUE(port_->BarWrite(0, 64, BytesOf(word)).ok());
  ASSERT_TRUE(other_->Advance(1).ok());
  ASSERT_TRUE(port_->Reset().ok());
  const pid_t child = port_->child();
  EXPECT_EQ(Word(64), 0u);
  uint32_t read = 0;
  for (const Status& status : {other_->Advance(1).status(), other_->BarWrite(0, 0, BytesOf(word)),
                               other_->BarRead(0, 0, MutableBytesOf(read)),
                               other_->ConfigRead(0).status(), other_->CheckPresence()}) {
    EXPECT_EQ(status.code(), StatusCode::kUnavailable);
    EXPECT_THAT(Text(status), HasSubstr("chip 1 is lost until it is reset"));
  }
  ASSERT_TRUE(port_->BarWrite(0, 64, BytesOf(word)).ok());
  ASSERT_TRUE(other_->Reset().ok());
  EXPECT_TRUE(other_->CheckPresence().ok());
  EXPECT_TRUE(other_->Advance(1).ok());
  EXPECT_EQ(other_->child(), child);
  EXPECT_EQ(Word(64), 5u) << "the child that the first one had started";
  // One that ended takes all with it; whichever is reset first starts it.
  ASSERT_EQ(kill(child, SIGKILL), 0);
  EXPECT_EQ(port_->Advance(1).status().code(), StatusCode::kUnavailable);
  EXPECT_EQ(other_->Advance(1).status().code(), StatusCode::kUnavailable);
  ASSERT_TRUE(other_->Reset().ok());
  ASSERT_TRUE(port_->Reset().ok());
  EXPECT_EQ(port_->child(), other_->child());
  EXPECT_TRUE(port_->Advance(1).ok());
}

TEST_F(TtsimPortTest, ARefusalOfDeviceCodeIsTheAnswerUntilAReset) {
  const Status refused = Cause(Mishap::kRefusal);
  EXPECT_EQ(refused.code(), StatusCode::kFailedPrecondition);
  EXPECT_EQ(Text(refused), "device fault: UnimplementedFunctionality: fake: text=0x1f (clock 100)");
  std::byte byte{};
  EXPECT_EQ(port_->Advance(1).status(), refused);
  EXPECT_EQ(port_->BarRead(0, 0, {&byte, 1}), refused);
  EXPECT_EQ(port_->BarWrite(0, 0, {&byte, 1}), refused);
  EXPECT_EQ(port_->ConfigRead(0).status(), refused);
  ASSERT_TRUE(port_->Reset().ok());
  EXPECT_EQ(port_->Advance(10)->clocks, 10u);
}

TEST_F(TtsimPortTest, ARefusalOfTheHostsAccessIsItsMistake) {
  ASSERT_TRUE(Tell(kMishapNow, Mishap::kRefusal).ok()) << "writes are posted";
  const Status refused = port_->Advance(1).status();
  EXPECT_EQ(refused.code(), StatusCode::kInvalidArgument);
  EXPECT_THAT(Text(refused), HasSubstr("the host's write of 4 bytes at 0x120000000"));
  EXPECT_THAT(Text(refused), HasSubstr("UnimplementedFunctionality: fake: text=0x1f"));
}

TEST_F(TtsimPortTest, AnyOtherDeathIsALostChip) {
  const Status system = Cause(Mishap::kSystemError);
  EXPECT_EQ(system.code(), StatusCode::kUnavailable);
  EXPECT_THAT(Text(system), HasSubstr("SystemError"));
  ASSERT_TRUE(port_->Reset().ok());
  const Status aborted = Cause(Mishap::kAbort);
  EXPECT_EQ(aborted.code(), StatusCode::kUnavailable);
  EXPECT_THAT(Text(aborted), HasSubstr("signal 6"));
  ASSERT_TRUE(port_->Reset().ok());
  ASSERT_EQ(kill(port_->child(), SIGKILL), 0);
  EXPECT_EQ(port_->Advance(1).status().code(), StatusCode::kUnavailable);
  EXPECT_TRUE(port_->Reset().ok());
}

TEST_F(TtsimPortTest, AHangEndsWithPatience) {
  Start(std::chrono::seconds(1));
  const Status hung = Cause(Mishap::kHang);
  EXPECT_EQ(hung.code(), StatusCode::kUnavailable);
  EXPECT_THAT(Text(hung), HasSubstr("did not answer within 1 s"));
  EXPECT_THAT(Text(hung), HasSubstr("1000 clocks"));
  EXPECT_TRUE(port_->Reset().ok());
}

TEST_F(TtsimPortTest, WhatItPrintsDoesNotStopIt) {
  ASSERT_TRUE(Cause(Mishap::kTalk).ok());
  EXPECT_THAT(Text(Cause(Mishap::kRefusal)), HasSubstr("UnimplementedFunctionality"));
}

TEST_F(TtsimPortTest, TheChildGoesWithItsParentEvenInTheMiddleOfACall) {
  // Orphans come to us, so that their end can be waited for.
  ASSERT_EQ(prctl(PR_SET_CHILD_SUBREAPER, 1), 0);
  port_.reset();
  other_.reset();
  int ends[2];
  ASSERT_EQ(pipe(ends), 0);
  const pid_t parent = fork();
  ASSERT_GE(parent, 0);
  if (parent == 0) {
    Start(std::chrono::seconds(60));
    if (port_ == nullptr) _exit(1);
    const pid_t child = port_->child();
    if (write(ends[1], &child, sizeof(child)) == sizeof(child)) {
      Cause(Mishap::kHang).IgnoreError();
    }
    _exit(0);
  }
  close(ends[1]);  // or a child that fails is waited for
  pid_t child = 0;
  ASSERT_EQ(read(ends[0], &child, sizeof(child)), static_cast<ssize_t>(sizeof(child)));
  ASSERT_GT(child, 0);
  kill(parent, SIGKILL);
  ASSERT_EQ(waitpid(parent, nullptr, 0), parent);
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);  // the test's time limit is the deadline
  EXPECT_TRUE(WIFEXITED(status));
}

TEST(TtsimPortStart, SaysWhyItCannot) {
  const Status missing = TtsimPort::Start(OptionsFor("/nonexistent/libttsim.so")).status();
  EXPECT_EQ(missing.code(), StatusCode::kUnavailable);
  EXPECT_THAT(Text(missing), HasSubstr("/nonexistent/libttsim.so"));
  const Status other = TtsimPort::Start(OptionsFor("/lib/x86_64-linux-gnu/libm.so.6")).status();
  EXPECT_EQ(other.code(), StatusCode::kUnavailable);
  EXPECT_THAT(Text(other), HasSubstr("libttsim"));
  TtsimPort::Options options = OptionsFor(TTFD_FAKE_SIMULATOR);
  options.child_program = "/nonexistent/child";
  const Status program = TtsimPort::Start(options).status();
  EXPECT_EQ(program.code(), StatusCode::kUnavailable);
  EXPECT_THAT(Text(program), HasSubstr("/nonexistent/child"));
  options.child_program = "/bin/true";
  EXPECT_THAT(Text(TtsimPort::Start(options).status()), HasSubstr("exit status 0"));
}

TEST(TtsimOptionsTest, NameALibraryByItsPath) {
  EXPECT_EQ(ParseTtsimOptions("ttsim:/a/libttsim.so")->library, "/a/libttsim.so");
  EXPECT_EQ(ParseTtsimOptions("ttsim:./lib:ttsim.so")->library, "./lib:ttsim.so");
  EXPECT_EQ(ParseTtsimOptions("ttsim:/a/b,ports=2")->library, "/a/b");
  EXPECT_EQ(ParseTtsimOptions("ttsim:/a/b,ports=2")->ports, 2u);
  EXPECT_EQ(ParseTtsimOptions("ttsim:/a/b,ports=0").status().code(), StatusCode::kInvalidArgument);
  for (const char* wrong : {"ttsim", "ttsim:", "ttsim:libttsim.so", "sim:/a/b", ""}) {
    const Status status = ParseTtsimOptions(wrong).status();
    EXPECT_EQ(status.code(), StatusCode::kInvalidArgument) << wrong;
    EXPECT_THAT(Text(status), HasSubstr("ttsim:/path/to/libttsim.so"));
  }
}

TEST(TtsimRefusal, IsTheLastErrorLine) {
  const auto refusal = ttsim::FindRefusal(
      "noise\n[12] ERROR: First: a: b\n[345] ERROR: UndefinedBehavior: rv32_step: pc=0x0\n");
  ASSERT_TRUE(refusal.has_value());
  EXPECT_EQ(refusal->category, "UndefinedBehavior");
  EXPECT_EQ(refusal->text, "rv32_step: pc=0x0");
  EXPECT_EQ(refusal->clock, "345");
  EXPECT_FALSE(ttsim::FindRefusal("[12] 0.1 seconds\n").has_value());
  const auto bare = ttsim::FindRefusal("[7] ERROR: AssertionFailure");
  ASSERT_TRUE(bare.has_value());
  EXPECT_EQ(bare->category, "AssertionFailure");
  EXPECT_EQ(bare->text, "");
}

}  // namespace
}  // namespace ttfd
