// A card that is reset by another process or removed: how it shows, that it stays lost, and how it is found again.
#include <cerrno>

#include "tests/support/kmd_fixture.h"

namespace ttfd::kmd_lost_test {
namespace {

class KmdLost : public KmdTest {
 protected:
  void SetUp() override {
    Open();
    Hold();
  }
  void TearDown() override { Drop(); }
  void Hold() {
    window_ = OpenWindow(kTile);
    memory_ = device().AllocateHostMemory(4096).value();
    ASSERT_TRUE(WriteWord(*window_, 0x200, 5).ok());
  }
  void Drop() {
    window_.reset();
    memory_.reset();
  }
  Window& window() { return *window_; }
  HostMemory& memory() { return *memory_; }

  void ExpectLost(const std::string& symptom) { ExpectLost(StatusCode::kUnavailable, symptom); }
  void ExpectLost(StatusCode code, const std::string& symptom) {
    const Status lost = device().Advance(1).status();
    EXPECT_EQ(device().CheckPresence(), lost);
    ExpectRefusal(lost, code, symptom);
    EXPECT_EQ(WriteWord(window(), 0x200, 1), lost);
    EXPECT_EQ(ReadWord(window(), 0x200).status(), lost);
    EXPECT_EQ(ReadWord(*OpenWindow({2, 3}), 0x200).status(), lost);
    EXPECT_EQ(device().AllocateHostMemory(4096).status(), lost);
  }

 private:
  std::unique_ptr<Window> window_;
  std::unique_ptr<HostMemory> memory_;
};

constexpr char kWithdrawn[] = "has withdrawn the mapping";
constexpr char kNoDevice[] = "answers ENODEV";
constexpr char kOnes[] = "read all ones";

TEST_F(KmdLost, TheFirstCallThatMeetsItSaysHowItShowed) {
  std::vector<std::byte> bulk(4096);
  const struct {
    const char* what;
    std::function<Status()> act;
    const char* symptom;
  } kCases[] = {
      {"load", [&] { return ReadWord(window(), 0x200).status(); }, kWithdrawn},
      {"store", [&] { return WriteWord(window(), 0x200, 1); }, kWithdrawn},
      {"narrow store", [&] { return window().Write(0x201, ByteSpan(bulk).first(1)); }, kWithdrawn},
      {"bulk store", [&] { return window().Write(0x200, bulk); }, kWithdrawn},
      {"move", [&] { return ReadWord(window(), 4 << 20).status(); }, kNoDevice},
      {"new window",
       [&] {
         return ReadWord(*OpenWindow({3, 3}), 0).status();
       },
       kNoDevice},
  };
  for (const auto& test : kCases) {
    SCOPED_TRACE(test.what);
    Drop();
    Open();
    Hold();
    ASSERT_TRUE(window().Write(0x200, bulk).ok());  // maps the window for bulk writes
    standin().ResetByAnother();
    ExpectRefusal(test.act(), StatusCode::kUnavailable, test.symptom);
    ExpectLost(test.symptom);
  }
}

TEST_F(KmdLost, AMappingThatIsNeededAfterwardsShowsIt) {
  standin().ResetByAnother();
  const std::vector<std::byte> bulk(4096);
  ExpectRefusal(window().Write(0x200, bulk), StatusCode::kUnavailable, kNoDevice);
}

TEST_F(KmdLost, OldDriversShowItAsAllOnes) {
  for (const kmd::DriverVersion& version :
       {kmd::DriverVersion{2, 0, 0}, kmd::DriverVersion{2, 6, 0}}) {
    Drop();
    Open({.version = version});
    Hold();
    standin().ResetByAnother();
    EXPECT_TRUE(WriteWord(window(), 0x200, 1).ok());  // posted into nothing
    const bool dead_descriptor = version >= kmd::DriverVersion{2, 6, 0};
    const char* const symptom = dead_descriptor ? kNoDevice : kOnes;
    ExpectRefusal(ReadWord(window(), 0x200).status(), StatusCode::kUnavailable, symptom);
    ExpectLost(symptom);
  }
}

// The driver still serves it. A reset of the harts opens its node anew, and finds it no better.
TEST_F(KmdLost, AChipThatFallsSilentIsRepairedByItsReset) {
  ManualClock clock;
  for (const kmd::DriverVersion& version :
       {kmd::DriverVersion{2, 4, 1}, kmd::DriverVersion{2, 10, 0}}) {
    SCOPED_TRACE(version.ToString());
    Drop();
    Open({.version = version});
    Hold();
    for (const bool looked_for : {false, true, false}) {
      standin().Silence();
      std::vector<std::byte> bytes(4096);
      ExpectRefusal(window().Read(0x200, bytes), StatusCode::kDataLoss, "answers all ones");
      ExpectLost(StatusCode::kDataLoss, "otherwise run tt-smi -r");
      if (looked_for) {
        EXPECT_EQ(device().Reset(), device().CheckPresence());
      }
      const Status reset = device().ResetChip(clock, NoTick);
      ASSERT_TRUE(reset.ok()) << reset.ToString();
      EXPECT_TRUE(device().CheckPresence().ok());
      ASSERT_TRUE(WriteWord(window(), 0x200, 7).ok());
      EXPECT_EQ(*ReadWord(window(), 0x200), 7u);
    }
  }
}

TEST_F(KmdLost, AChipThatIsSilentAfterItsResetIsLost) {
  ManualClock clock;
  standin().OnReset([&] { standin().Silence(); });
  standin().Silence();
  EXPECT_EQ(device().CheckPresence().code(), StatusCode::kDataLoss);
  const Status reset = device().ResetChip(clock, NoTick);
  ExpectRefusal(reset, StatusCode::kUnavailable, "could not be ended (the card answers all ones)");
  EXPECT_EQ(device().ResetChip(clock, NoTick), reset) << "once";
  EXPECT_EQ(device().Reset(), reset);
  standin().Silence(false);
  EXPECT_TRUE(device().Reset().ok());
  standin().Silence();
  EXPECT_EQ(device().CheckPresence().code(), StatusCode::kDataLoss) << "it has served since";
}

TEST_F(KmdLost, MemoryOfAllOnesIsNot) {
  const std::vector<std::byte> ones(4096, std::byte{0xFF});
  ASSERT_TRUE(window().Write(0x1000, ones).ok());
  std::vector<std::byte> back(4096);
  EXPECT_TRUE(window().Read(0x1000, back).ok());
  EXPECT_EQ(back, ones);
  EXPECT_TRUE(device().Advance(1).ok());
}

TEST_F(KmdLost, AResetFindsItAgainUnderAnotherNumber) {
  for (const kmd::DriverVersion& version :
       {kmd::DriverVersion{2, 0, 0}, kmd::DriverVersion{2, 6, 0}, kmd::DriverVersion{2, 10, 0}}) {
    SCOPED_TRACE(version.ToString());
    Drop();
    Open({.version = version});
    Hold();
    EXPECT_TRUE(device().CheckPresence().ok());
    standin().Remove();
    const Status lost = device().CheckPresence();
    EXPECT_EQ(lost.code(), StatusCode::kUnavailable);
    ExpectRefusal(device().Reset(), StatusCode::kUnavailable, "no node for the card");
    EXPECT_EQ(device().CheckPresence(), lost) << "as lost as before";

    standin().ComeBackAs(3);
    ASSERT_TRUE(device().Reset().ok());
    EXPECT_TRUE(device().CheckPresence().ok());
    EXPECT_EQ(standin().open_files(), 1u);
    EXPECT_EQ(standin().pins().count(), 1u);
    EXPECT_EQ(memory().noc_address() >> 32, 0x13FF'FFFFu);
    ASSERT_TRUE(WriteWord(window(), 0x200, 7).ok()) << "windows serve again";
    EXPECT_EQ(*ReadWord(window(), 0x200), 7u);
  }
}

// The driver keeps the pages of a lost card pinned, and its users may still access them.
TEST_F(KmdLost, ItsHostMemoryStaysUntilTheDeviceIsClosed) {
  const MutableByteSpan bytes = memory().bytes();
  standin().ResetByAnother();
  EXPECT_FALSE(ReadWord(window(), 0x200).ok());
  std::fill(bytes.begin(), bytes.end(), std::byte{7});
  EXPECT_EQ(standin().pins().count(), 1u);
  EXPECT_EQ(standin().memory().mappings(), 1u);
  Drop();
  Close();
  EXPECT_EQ(standin().pins().count(), 0u);
  EXPECT_EQ(standin().memory().mappings(), 0u);
}

}  // namespace
}  // namespace ttfd::kmd_lost_test
