// What kernels print arrives: whole, in order, with the launch it belongs to, before that is reported done.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cinttypes>
#include <cstdio>
#include <map>
#include <tuple>

#include "firmware/kernel_elfs.h"
#include "runtime/abi/l1_map.h"
#include "runtime/boot/kernel_elf.h"
#include "runtime/command/program_layout.h"
#include "tests/support/booted_card.h"

namespace ttfd {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

// A card whose prints are watched: none comes after its launch was reported done.
struct PrintingCard : BootedCard {
  using BootedCard::BootedCard;

  Status FinishWatching() {
    for (uint32_t queue = 0; queue < kHardwareQueues; ++queue) {
      RETURN_IF_ERROR(Event(queue));
    }
    uint64_t reported[kHardwareQueues] = {};
    while (!(*this)->idle()) {
      const size_t before = heard.size();
      RETURN_IF_ERROR(Poll());
      for (size_t i = before; i < heard.size(); ++i) {
        const Ticket& ticket = heard[i].ticket;
        EXPECT_GT(ticket.number, reported[ticket.hardware_queue]) << "reported done before";
      }
      for (uint32_t queue = 0; queue < kHardwareQueues; ++queue) {
        reported[queue] = (*this)->completed(queue);
      }
    }
    return OkStatus();
  }

  std::vector<std::string> Texts() const {
    std::vector<std::string> texts;
    for (const CardOutput::Print& one : heard) texts.push_back(one.print.text);
    return texts;
  }

  std::vector<CardOutput::Print>& heard = output.prints;
};

std::shared_ptr<const KernelImage> Embedded(const std::string& name) {
  const auto image = LoadKernel(KernelElf(name), name);
  EXPECT_TRUE(image.ok()) << image.status().ToString();
  return *image;
}

constexpr const char* kPrintKernels[] = {"print_brisc", "print_ncrisc", "print_trisc0",
                                         "print_trisc1", "print_trisc2"};

std::shared_ptr<const Program> ProgramOf(BootedCard& card, const ProgramSpec& spec) {
  const auto program = BuildProgram(11, spec, card->description().grid);
  EXPECT_TRUE(program.ok()) << program.status().ToString();
  return *program;
}

std::shared_ptr<const Program> OneKernel(BootedCard& card, const std::string& name, hw::Hart hart,
                                         CoreRange cores) {
  ProgramSpec spec;
  spec.kernels.push_back({Embedded(name), hart, {cores}});
  spec.semaphores.push_back({0, 0, {cores}});
  return ProgramOf(card, spec);
}

LaunchCommand Launching(const std::shared_ptr<const Program>& program,
                        std::vector<uint32_t> common) {
  LaunchCommand launch{program, {}};
  launch.arguments.resize(KernelCount(*program));
  for (KernelArguments& arguments : launch.arguments) arguments.common = common;
  return launch;
}

template <typename... Values>
std::string Printed(const char* format, Values... values) {
  char text[2000];
  std::snprintf(text, sizeof(text), format, values...);
  return text;
}

std::vector<std::string> WhatPrintAllSays(uint32_t a, int32_t b, uint32_t high) {
  const uint64_t wide = uint64_t{high} << 32 | a;
  std::string local;
  for (int i = 0; i < 64; ++i) local += static_cast<char>('a' + i % 26);
  std::string copied = "from .data";
  copied[5] = static_cast<char>('A' + (a & 7));
  return {
      "no arguments",
      Printed("%u %d %i %x %X %o %#x %c", a, b, b, a, a, a, a, 'q'),
      Printed("[%8u] [%-8u] [%08u] [%+d] [% d] [%.5u] [%*d] [%-*d]", a, a, a, b, b, a, 6, b, 6, b),
      Printed("%" PRIu64 " %" PRId64 " %" PRIx64 " %u", wide, static_cast<int64_t>(wide), wide, a),
      Printed("%u %u %d %d %u", a & 0xFF, a & 0xFFFF, static_cast<int8_t>(a),
              static_cast<int8_t>(b), static_cast<uint16_t>(b)),
      "constant|     right|left      |cut |a constant string may be as long as it likes, because "
      "only its address is sent and the host has the rest of it, too",
      copied + " " + local + "... (null)",
      "0x0 0xb0000 yes 100%",
      "two\nlines and the last end is dropped",
  };
}

TEST(KernelPrints, EveryConversionArrivesAsPrintfWouldWriteIt) {
  PrintingCard card;
  const auto fast = OneKernel(card, "print_all", hw::kBrisc, {2, 1, 2, 1});
  const auto small = OneKernel(card, "print_all_small", hw::kTrisc2, {3, 1, 3, 1});
  for (const auto& program : {fast, small}) {
    for (const auto& [a, b, high] :
         {std::tuple{0xDEADBEEFu, -42, 0x12345678u}, std::tuple{0u, 0, 0u},
          std::tuple{1u, 0x7FFFFFFF, 0xFFFFFFFFu}}) {
      card.heard.clear();
      ASSERT_TRUE(card.Submit(Launching(program, {a, static_cast<uint32_t>(b), high})).ok());
      const Status finished = card.FinishWatching();
      ASSERT_TRUE(finished.ok()) << finished.ToString();
      const auto expected = WhatPrintAllSays(a, b, high);
      EXPECT_EQ(card.Texts(), expected);
      ASSERT_FALSE(card.heard.empty());
      EXPECT_EQ(card.heard[0].print.hart, program == fast ? hw::kBrisc : hw::kTrisc2);
      EXPECT_EQ(card.heard[0].print.kernel_name, program == fast ? "print_all" : "print_all_small");
    }
  }
}

TEST(KernelPrints, ARingThatIsFullHoldsItsHartUpAndLosesNothing) {
  constexpr uint32_t kLines = 150;  // 32 bytes each: the ring is full after 32
  PrintingCard card;
  const GridSize grid = card->description().grid;
  ProgramSpec spec;
  for (uint32_t hart = 0; hart < hw::kHarts; ++hart) {
    spec.kernels.push_back({Embedded(kPrintKernels[hart]),
                            static_cast<hw::Hart>(hart),
                            {{0, 0, grid.x - 1, grid.y - 1}}});
  }
  const auto program = ProgramOf(card, spec);
  ASSERT_TRUE(card.Submit(Launching(program, {kLines, 0, 77})).ok());
  const Status finished = card.FinishWatching();
  ASSERT_TRUE(finished.ok()) << finished.ToString();
  std::map<std::tuple<uint32_t, uint32_t, uint32_t>, uint32_t> next;
  for (const CardOutput::Print& one : card.heard) {
    const KernelPrint& print = one.print;
    const uint32_t line = next[{print.x, print.y, print.hart}]++;
    ASSERT_EQ(print.text, Printed("line %u of (%u,%u) hart %u: 77", line, print.x, print.y,
                                  static_cast<uint32_t>(print.hart)));
    ASSERT_EQ(print.kernel, static_cast<uint32_t>(print.hart));
  }
  EXPECT_EQ(next.size(), grid.x * grid.y * hw::kHarts);
  for (const auto& [place, lines] : next) ASSERT_EQ(lines, kLines);
}

TEST(KernelPrints, BelongToTheirLaunchThoughTheNextIsOnTheCardAlready) {
  PrintingCard card;
  const auto program = OneKernel(card, "print_brisc", hw::kBrisc, {0, 0, 3, 0});
  constexpr uint32_t kLaunches = 40;
  for (uint32_t i = 0; i < kLaunches; ++i) {
    ASSERT_TRUE(card.Submit(Launching(program, {i % 3, 0, 1000 + i})).ok());
  }
  ASSERT_TRUE(card.FinishWatching().ok());
  std::map<uint64_t, uint32_t> lines;
  for (const CardOutput::Print& one : card.heard) {
    const auto launch = static_cast<uint32_t>(one.ticket.number - 1);
    EXPECT_THAT(one.print.text, HasSubstr(Printed(": %u", 1000 + launch)));
    ++lines[launch];
  }
  for (uint32_t i = 0; i < kLaunches; ++i) EXPECT_EQ(lines[i], 4 * (i % 3)) << i;
}

TEST(KernelPrints, TellTheQueueTheSubDeviceAndTheLaunchOfATrace) {
  PrintingCard card;
  Route left, right;
  left.workers = TilesOf({0, 0, 1, 0}, card->description().grid);
  right.workers = TilesOf({4, 0, 5, 0}, card->description().grid);
  right.hardware_queue = 1;
  const auto here = OneKernel(card, "print_ncrisc", hw::kNcrisc, {0, 0, 1, 0});
  const auto there = OneKernel(card, "print_brisc", hw::kBrisc, {4, 0, 5, 0});
  const std::vector<Duration> each(3, Duration(1));  // two launches a segment
  auto built = BuildTrace(
      card->geometry(), left,
      {Launching(here, {1, 0, 500}), Launching(here, {0, 0, 0}), Launching(here, {2, 0, 502})},
      {Duration(2), each});
  ASSERT_TRUE(built.ok()) << built.status().ToString();
  const std::shared_ptr<Trace> trace = *built;
  ASSERT_TRUE(card.Record(left, trace, 0).ok());
  std::map<uint64_t, int> replays;  // by the last segment
  for (int i = 0; i < 6; ++i) {
    ASSERT_TRUE(card.Submit(right, Launching(there, {1, 0, 900})).ok());
    ASSERT_TRUE(card.Replay(left, trace).ok());
    replays[card.Last(0).number] = 0;
  }
  ASSERT_TRUE(card.FinishWatching().ok());
  int on_the_right = 0;
  for (const CardOutput::Print& one : card.heard) {
    if (one.ticket.hardware_queue == 1) {
      ++on_the_right;
      EXPECT_GE(one.print.x, 4u);
      EXPECT_THAT(one.print.text, HasSubstr(": 900"));
      continue;
    }
    const uint64_t last = one.ticket.number + (one.print.launch < 2 ? 1 : 0);
    ASSERT_EQ(replays.count(last), 1u);
    ++replays[last];
    EXPECT_THAT(one.print.text, HasSubstr(Printed(": %u", 500 + one.print.launch)));
  }
  EXPECT_EQ(on_the_right, 12);
  for (const auto& [number, lines] : replays) EXPECT_EQ(lines, 6) << "replay " << number;
}

TEST(KernelPrints, OfAKernelThatHangsAreSalvaged) {
  PrintingCard card;
  const auto program = OneKernel(card, "print_brisc", hw::kBrisc, {1, 1, 1, 1});
  ASSERT_TRUE(card.Submit(Launching(program, {3, 1, 5})).ok());
  ASSERT_FALSE(card.FinishWatching().ok());
  card->Halt(&card.output);
  EXPECT_THAT(card.Texts(), ElementsAre("line 0 of (1,1) hart 0: 5", "line 1 of (1,1) hart 0: 5",
                                        "line 2 of (1,1) hart 0: 5"));
  // And the next boot begins with empty rings.
  ASSERT_TRUE(card->Boot().ok());
  card.heard.clear();
  ASSERT_TRUE(card.Submit(Launching(program, {1, 0, 6})).ok());
  ASSERT_TRUE(card.FinishWatching().ok());
  EXPECT_THAT(card.Texts(), ElementsAre("line 0 of (1,1) hart 0: 6"));
}

TEST(KernelPrints, OfAKernelThatFaultsAreSalvaged) {
  PrintingCard card;
  const auto program = OneKernel(card, "print_trisc1", hw::kTrisc1, {1, 1, 1, 1});
  ASSERT_TRUE(card.Submit(Launching(program, {2, 2, 5})).ok());
  ASSERT_FALSE(card.FinishWatching().ok());
  card->Halt(&card.output);
  EXPECT_THAT(card.Texts(), ElementsAre("line 0 of (1,1) hart 3: 5", "line 1 of (1,1) hart 3: 5"));
  EXPECT_TRUE(card->Boot().ok());
}

TEST(KernelPrints, AreKnownFromTheElfWhereverItsConstantsEnd) {
  const auto image = Embedded("tile_report");  // its strings end within a word, and it has no data
  EXPECT_TRUE(image->prints);
  EXPECT_FALSE(Embedded("empty")->prints);
}

// Overwrites the write position of a hart's ring, as a stray kernel could.
void Corrupt(BootedCard& card, CoreRange core, uint32_t hart, uint32_t written) {
  const hw::Coordinate tile =
      card->geometry().WorkerTile(core.y0 * card->description().grid.x + core.x0);
  auto window = card.device->OpenWindow(UnicastTarget(tile));
  ASSERT_TRUE(window.ok());
  ASSERT_TRUE(WriteWord(**window, abi::PrintPositionAddress(hart), written).ok());
}

TEST(KernelPrints, NoRingIsLookedAtForKernelsThatDoNotPrint) {
  PrintingCard card;
  Corrupt(card, {0, 0, 0, 0}, 0, 999);
  const auto program = OneKernel(card, "echo_brisc", hw::kBrisc, {0, 0, 0, 0});
  EXPECT_TRUE(program->printing.none());
  ASSERT_TRUE(card.Submit(Launching(program, {abi::kBufferAddress, 1})).ok());
  ASSERT_TRUE(card.FinishWatching().ok());
  EXPECT_THAT(card.heard, IsEmpty());
}

TEST(KernelPrints, ARingThatWasWrittenOverIsToldAndUsedAgain) {
  for (const uint32_t written : {8000u, 0xFFFFFFF0u, 64u}) {
    PrintingCard card;
    const auto program = OneKernel(card, "print_brisc", hw::kBrisc, {0, 0, 0, 0});
    Corrupt(card, {0, 0, 0, 0}, 0, written);
    for (int i = 0; i < 2; ++i) ASSERT_TRUE(card.Submit(Launching(program, {1, 0, 5})).ok());
    ASSERT_TRUE(card.Finish().ok());
    ASSERT_FALSE(card.heard.empty());
    EXPECT_THAT(card.heard[0].print.text, HasSubstr("written over"));
    card.heard.clear();
    ASSERT_TRUE(card.Submit(Launching(program, {1, 0, 6})).ok());
    ASSERT_TRUE(card.Finish().ok());
    EXPECT_THAT(card.Texts(), ElementsAre("line 0 of (0,0) hart 0: 6"));
  }
}

}  // namespace
}  // namespace ttfd
