// A hart that comes back to a wait it was in before may be put to sleep without executing a trip of it:
// whatever would make that trip another one has to be noticed. Of interest where harts park.
#include "tests/conformance/device_fixture.h"

namespace ttfd::waiting_again_test {
namespace {

class WaitingAgain : public DeviceTest {
 protected:
  static constexpr uint32_t kFlag = 0x9000;
  static constexpr uint32_t kCount = 0x9800;
  static constexpr uint32_t kSeen = 0x9A00;
  static constexpr uint32_t kOwnWord = 0x9C00;  // nobody but the hart writes it

  void SetUp() override {
    DeviceTest::SetUp();
    if (!IsSkipped() && !device().info().reports_quiescence) {
      GTEST_SKIP() << "the backend does not report quiescence";
    }
  }

  void StartWaiting(const Rv32Asm& program) {
    for (const uint32_t address : {kFlag, kCount, kSeen, kOwnWord}) WriteWord(kTile, address, 0);
    Load(kTile, program);
    Start(kTile);
    ExpectAsleep();
  }
  void Signal(uint32_t value = 1) {
    WriteWord(kTile, kFlag, value);
    ExpectAsleep();
  }
  void ExpectAsleep() {
    const StatusOr<AdvanceResult> result = device().Advance(100000);
    ASSERT_TRUE(result.ok()) << result.status().ToString();
    EXPECT_TRUE(result->quiescent);
    EXPECT_LT(result->clocks, 2000u);
  }
  uint32_t count() { return ReadWord(kTile, kCount); }

  // The words every program here uses: kS0 the flag, kS1 the count.
  static Rv32Asm Begin() {
    Rv32Asm a;
    a.Li(kS0, kFlag);
    a.Li(kS1, kCount);
    return a;
  }
  // Takes the signal: clears the flag, counts.
  static void EmitTake(Rv32Asm& a) {
    a.Sw(kZero, kS0, 0);
    a.Lw(kT2, kS1, 0);
    a.Addi(kT2, kT2, 1);
    a.Sw(kT2, kS1, 0);
  }
};

TEST_P(WaitingAgain, ManyTimesMissesNothing) {
  Rv32Asm a = Begin();
  const Rv32Asm::Label loop = a.Here();
  a.Fence();
  a.Lw(kT0, kS0, 0);
  a.Beq(kT0, kZero, loop);
  EmitTake(a);
  a.Jump(loop);
  StartWaiting(a);
  for (uint32_t i = 1; i <= 20; ++i) {
    Signal(i);
    EXPECT_EQ(count(), i);
    WriteWord(kTile, kFlag, 0);  // wakes, and there is nothing
    ExpectAsleep();
    EXPECT_EQ(count(), i);
  }
}

// Waits until the flag differs from what t1 keeps, which is 5 after the first time and 0 after the
// second: the flag is 0 again both times, so the first time there is nothing to wait for.
TEST_P(WaitingAgain, WithAnotherRegisterIsAnotherWait) {
  Rv32Asm a = Begin();
  a.Li(kT1, 0);
  const Rv32Asm::Label loop = a.Here();
  a.Fence();
  a.Lw(kT0, kS0, 0);
  a.Beq(kT0, kT1, loop);
  EmitTake(a);
  a.Addi(kT1, kT0, 0);
  a.Jump(loop);
  StartWaiting(a);
  for (uint32_t i = 1; i <= 3; ++i) {
    Signal(5);
    EXPECT_EQ(count(), 2 * i);
  }
}

TEST_P(WaitingAgain, WithAnotherWordInMemoryIsAnotherWait) {
  for (const uint32_t remembered : {kOwnWord, hw::kLocalRamAddress + 0x100}) {
    ASSERT_TRUE(device().Reset().ok());
    Rv32Asm a = Begin();
    a.Li(kA0, remembered);
    a.Sw(kZero, kA0, 0);
    const Rv32Asm::Label loop = a.Here();
    a.Fence();
    a.Lw(kT0, kS0, 0);
    a.Lw(kT1, kA0, 0);
    a.Beq(kT0, kT1, loop);
    EmitTake(a);
    a.Sw(kT0, kA0, 0);
    a.Li(kT1, 0);  // as in the wait before
    a.Jump(loop);
    StartWaiting(a);
    for (uint32_t i = 1; i <= 3; ++i) {
      Signal(5);
      EXPECT_EQ(count(), 2 * i) << remembered;
    }
  }
}

TEST_P(WaitingAgain, StoresWhatATripStores) {
  // Each trip stores 0 to a word that holds something else when the hart comes back.
  Rv32Asm a = Begin();
  a.Li(kA0, kOwnWord);
  const Rv32Asm::Label loop = a.Here();
  a.Fence();
  a.Sw(kZero, kA0, 0);
  a.Lw(kT0, kS0, 0);
  a.Beq(kT0, kZero, loop);
  EmitTake(a);
  a.Sw(kS0, kA0, 0);
  a.Jump(loop);
  StartWaiting(a);
  for (uint32_t i = 1; i <= 3; ++i) {
    Signal();
    EXPECT_EQ(count(), i);
    EXPECT_EQ(ReadWord(kTile, kOwnWord), 0u);
  }
}

TEST_P(WaitingAgain, LeavesTheRegistersATripLeaves) {
  // t1 is set behind the way out, so whoever leaves has it from the trip before.
  Rv32Asm a = Begin();
  a.Li(kA0, kSeen);
  const Rv32Asm::Label loop = a.Here();
  a.Fence();
  a.Lw(kT0, kS0, 0);
  const Rv32Asm::Label out = a.Here();
  a.Bne(kT0, kZero, out);
  a.Li(kT1, 7);
  a.Jump(loop);
  a.BindBranch(out, a.Here());
  a.Sw(kT1, kA0, 0);
  EmitTake(a);
  a.Li(kT1, 99);
  a.Jump(loop);
  StartWaiting(a);
  for (int i = 0; i < 4; ++i) {
    WriteWord(kTile, kSeen, 0);
    Signal();
    EXPECT_EQ(ReadWord(kTile, kSeen), 7u);
  }
}

TEST_P(WaitingAgain, RunsTheCodeThatIsThereNow) {
  // What it does when it is woken replaces the wait's own branch by a jump out of the wait.
  constexpr uint32_t kOut = 0x4000;
  for (const bool by_itself : {true, false}) {
    ASSERT_TRUE(device().Reset().ok());
    WriteWord(kTile, kDone, 0);
    Rv32Asm out;
    EmitDone(out);
    Load(kTile, out, kOut);
    Rv32Asm a = Begin();
    a.Li(kA0, kOwnWord);
    const Rv32Asm::Label loop = a.Here();
    a.Fence();
    a.Lw(kT0, kS0, 0);
    const Rv32Asm::Label branch = a.Here();
    a.Beq(kT0, kZero, loop);
    EmitTake(a);
    Rv32Asm jump;
    jump.Jump(kOut - branch);
    if (by_itself) {
      a.Lw(kT0, kA0, 0);
      a.Sw(kT0, kZero, static_cast<int32_t>(branch));
    }
    a.Jump(loop);
    StartWaiting(a);
    WriteWord(kTile, kOwnWord, jump.words()[0]);
    Signal();
    if (!by_itself) {
      EXPECT_EQ(ReadWord(kTile, kDone), 0u);
      Load(kTile, jump, branch);
      ExpectAsleep();
    }
    EXPECT_EQ(ReadWord(kTile, kDone), 1u) << by_itself;
  }
}

TEST_P(WaitingAgain, AfterAnotherWaitIsFoundOutAnew) {
  // Two waits in turn, for two words.
  constexpr uint32_t kOtherFlag = kFlag + 0x40;
  WriteWord(kTile, kOtherFlag, 0);
  Rv32Asm a = Begin();
  const Rv32Asm::Label first = a.Here();
  a.Fence();
  a.Lw(kT0, kS0, 0);
  a.Beq(kT0, kZero, first);
  EmitTake(a);
  const Rv32Asm::Label second = a.Here();
  a.Fence();
  a.Lw(kT0, kS0, 0x40);
  a.Beq(kT0, kZero, second);
  a.Sw(kZero, kS0, 0x40);
  a.Jump(first);
  StartWaiting(a);
  for (uint32_t i = 1; i <= 5; ++i) {
    Signal();
    EXPECT_EQ(count(), 2 * i - 1);
    Signal();  // nobody waits for this one yet
    EXPECT_EQ(count(), 2 * i - 1);
    WriteWord(kTile, kOtherFlag, 1);
    ExpectAsleep();
    EXPECT_EQ(count(), 2 * i);
    WriteWord(kTile, kOtherFlag, 1);
    ExpectAsleep();
    EXPECT_EQ(count(), 2 * i);
  }
}

TTFD_FOR_EVERY_BACKEND(WaitingAgain);

}  // namespace
}  // namespace ttfd::waiting_again_test
