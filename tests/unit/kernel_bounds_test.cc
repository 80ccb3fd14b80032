// Which buffers kernels may access, and the words about those that they may not.
#include "runtime/device/kernel_bounds.h"

#include <gmock/gmock.h>

namespace ttfd::kernel_bounds_test {
namespace {

using ::testing::Optional;
using ::testing::StartsWith;

using Memory = KernelBounds::Memory;

class Table final : public KernelBounds {
 public:
  void SetLayout(const Layout& /*layout*/) override {}
  std::optional<std::string> Read(uint32_t program, uint64_t begin, uint64_t end,
                                  Memory memory = Memory::kDram) {
    return Check(program, {{memory, begin, end}, /*writes=*/false});
  }
};

constexpr uint64_t kAlice = 1, kBob = 2;
constexpr uint32_t kProgram = 7, kOther = 8;

class KernelBoundsTest : public ::testing::Test {
 protected:
  KernelBoundsTest() {
    table.Add({Memory::kDram, 100, 200}, kAlice, 11);
    table.Add({Memory::kDram, 200, 300}, kBob, 11);
    table.Add({Memory::kDram, 400, 500}, kAlice, 12);
    table.Begin(std::vector{kProgram}, kAlice);
    table.Begin(std::vector{kOther}, kBob);
  }

  Table table;
};

TEST_F(KernelBoundsTest, AllowsWhatTheOwnerOfTheProgramHas) {
  for (int again = 0; again < 2; ++again) {
    EXPECT_EQ(table.Read(kProgram, 100, 200), std::nullopt);
    EXPECT_EQ(table.Read(kProgram, 499, 500), std::nullopt);
    EXPECT_EQ(table.Read(kOther, 200, 300), std::nullopt);
    EXPECT_EQ(table.Read(9, 0, 1000), std::nullopt) << "of no owner";
  }
}

TEST_F(KernelBoundsTest, NamesTheNearestBufferOfTheOwnerAndTheDistance) {
  const struct {
    uint64_t begin, end;
    const char* text;
  } kCases[] = {
      {200, 216,
       "read 16 B past buffer 11: addresses 0xc8 to 0xd8 of DRAM; the buffer has 0x64 to 0xc8 "
       "in each bank"},
      {190, 201, "read 1 B past buffer 11: "},
      {290, 300, "read 100 B past buffer 11: "},
      {310, 320, "read 90 B before buffer 12: "},
      {99, 101, "read 1 B before buffer 11: "},
      {500, 510, "read 10 B past buffer 12: "},
      {500 + (20 << 10), 510 + (20 << 10), "read 20 KiB past buffer 12: "},
      {500 + (20 << 20), 510 + (20 << 20), "read 20 MiB past buffer 12: "},
  };
  for (const auto& one : kCases) {
    EXPECT_THAT(table.Read(kProgram, one.begin, one.end), Optional(StartsWith(one.text)));
  }
  EXPECT_THAT(table.Read(kProgram, 100, 200, Memory::kL1),
              Optional(StartsWith("read L1 outside of buffers: ")));
}

TEST_F(KernelBoundsTest, ABufferThatIsRemovedMayNotBeAccessed) {
  EXPECT_EQ(table.Read(kProgram, 100, 200), std::nullopt);
  table.Remove({Memory::kDram, 100, 200});
  EXPECT_NE(table.Read(kProgram, 100, 200), std::nullopt);
  table.Add({Memory::kDram, 100, 200}, kBob, 12);
  EXPECT_NE(table.Read(kProgram, 100, 200), std::nullopt);
  EXPECT_EQ(table.Read(kOther, 100, 200), std::nullopt);
}

TEST_F(KernelBoundsTest, AProgramHasItsOwnerWhileALaunchOfItIsOnTheCard) {
  table.Begin(std::vector{kProgram}, kAlice);
  table.Ended(std::vector{kProgram});
  EXPECT_NE(table.Read(kProgram, 200, 300), std::nullopt);
  EXPECT_EQ(table.Read(kProgram, 100, 200), std::nullopt);
  table.Ended(std::vector{kProgram});
  table.Begin(std::vector{kProgram}, kBob);
  EXPECT_NE(table.Read(kProgram, 100, 200), std::nullopt) << "the number has another owner";
  table.EndAll();
  EXPECT_EQ(table.Read(kProgram, 100, 200), std::nullopt);
}

}  // namespace
}  // namespace ttfd::kernel_bounds_test
