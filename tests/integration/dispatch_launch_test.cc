// Launches through the booted firmware: what runs where, with which arguments, in which order, out
// of which memory.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <iterator>

#include "runtime/abi/kernel_image.h"
#include "runtime/abi/l1_map.h"
#include "runtime/command/record_text.h"
#include "tests/support/booted_card.h"
#include "tests/support/bump_counters.h"
#include "tests/support/random.h"
#include "tests/support/temporary_folder.h"
#include "tests/support/test_kernels.h"

namespace ttfd {
namespace {

uint32_t WordAt(const std::vector<std::byte>& bytes, size_t index) {
  return LoadAt<uint32_t>(bytes.data() + 4 * index);
}

StatusOr<std::vector<std::byte>> ReadL1(BootedCard& card, uint32_t worker, uint32_t address,
                                        uint32_t bytes) {
  const Region region{MemoryKind::kL1, static_cast<int32_t>(worker), address, 64, bytes};
  return card.Read(region, 0, bytes);
}

CoreRange Everywhere(const BootedCard& card) {
  const GridSize grid = card->description().grid;
  return {0, 0, grid.x - 1, grid.y - 1};
}

// Kernels on all five harts of some tiles, two of them elsewhere; every hart tells what it got.
TEST(DispatchLaunch, EveryHartGetsItsArgumentsOnEveryTile) {
  BootedCard card;
  const GridSize grid = card->description().grid;
  ProgramSpec spec;
  const char* names[] = {"probe_brisc", "probe_ncrisc", "probe_trisc0", "probe_trisc1",
                         "probe_trisc2"};
  for (uint32_t hart = 0; hart < hw::kHarts; ++hart) {
    const CoreRange everywhere = Everywhere(card);
    const CoreRange somewhere{2 * hart, hart, 2 * hart + 1, hart + 4};
    spec.kernels.push_back({TestKernel(names[hart]),
                            static_cast<hw::Hart>(hart),
                            {hart < 2 ? everywhere : somewhere}});
  }
  spec.semaphores.push_back({0, 4711, {{0, 0, grid.x - 1, 4}}});
  const auto program = TestProgram(spec, grid);
  std::vector<KernelArguments> arguments(5);
  for (uint32_t kernel = 0; kernel < 5; ++kernel) {
    KernelArguments& own = arguments[kernel];
    own.common = {abi::kBufferAddress, kernel + 100, kernel + 200, 1};
    own.words_per_core = 4 + kernel;
    for (uint32_t core = 0; core < KernelCoreCount(*program, kernel); ++core) {
      for (uint32_t word = 0; word < own.words_per_core; ++word) {
        own.per_core.push_back(kernel << 24 | core << 8 | word);
      }
    }
  }
  for (int run = 0; run < 3; ++run) {
    ASSERT_TRUE(card.Submit(LaunchCommand{program, arguments}).ok());
  }
  for (uint32_t kernel = 0; kernel < 5; ++kernel) {
    uint32_t core = 0;
    const CoreRange& range = spec.kernels[kernel].cores[0];
    for (uint32_t y = range.y0; y <= range.y1; ++y) {
      for (uint32_t x = range.x0; x <= range.x1; ++x, ++core) {
        const auto l1 = ReadL1(card, y * grid.x + x, abi::kBufferAddress + 64 * kernel, 64);
        ASSERT_TRUE(l1.ok()) << l1.status().ToString();
        EXPECT_EQ(WordAt(*l1, 0), kernel);
        EXPECT_EQ(WordAt(*l1, 1), x);
        EXPECT_EQ(WordAt(*l1, 2), y);
        EXPECT_EQ(WordAt(*l1, 3), 1u) << "data and bss are fresh in every run";
        EXPECT_EQ(WordAt(*l1, 4), kernel + 100);
        EXPECT_EQ(WordAt(*l1, 5), kernel + 200);
        EXPECT_EQ(WordAt(*l1, 6), 1u);
        for (uint32_t word = 0; word < 4; ++word) {
          EXPECT_EQ(WordAt(*l1, 7 + word), kernel << 24 | core << 8 | word);
        }
        EXPECT_EQ(WordAt(*l1, 11), y <= 4 ? 4711u : 0u);
      }
    }
  }
}

TEST(DispatchLaunch, CountsOnThroughTheEndOfTheWorkerCounter) {
  BootedCard card("sim:board=p150");
  BumpCounters counters(card);
  const CoreRange all = Everywhere(card);
  const auto program = counters.ProgramOn(all);
  // Past 2^17 completions, of all workers each: at launch 1009 on 130.
  const auto launches = static_cast<uint32_t>((1u << 17) / counters.expected.size() + 200);
  for (uint32_t i = 0; i < launches; ++i) {
    ASSERT_TRUE(counters.Add(program, all, 1).ok());
    if (i % 100 == 99) {
      const Status done = card.Finish();
      ASSERT_TRUE(done.ok()) << "launch " << i << ": " << done.ToString();
    }
  }
  counters.ExpectRight();
}

TEST(DispatchLaunch, AProgramOnOneTileWakesOneTile) {
  TTFD_ONLY_ON_THE_EMBEDDED_DEVICE("counts instructions");
  BootedCard card;
  BumpCounters counters(card);
  const CoreRange one{4, 4, 4, 4};
  const auto program = counters.ProgramOn(one);
  const auto retired = [&card](hw::Coordinate tile) {
    return card.chip->FindHart(tile, hw::kBrisc)->retired;
  };
  const hw::Coordinate busy{5, 6}, idle{6, 6};
  const uint64_t busy_before = retired(busy), idle_before = retired(idle);
  for (int i = 0; i < 10; ++i) ASSERT_TRUE(counters.Add(program, one, 1).ok());
  ASSERT_TRUE(card.Finish().ok());
  EXPECT_GT(retired(busy), busy_before + 500);
  EXPECT_EQ(retired(idle), idle_before);
  counters.ExpectRight();
}

TEST(DispatchLaunch, ConfigurationOfALaunchOutlivesTheNextOnes) {
  BootedCard card;
  BumpCounters counters(card);
  Random random(1);
  const CoreRange all = Everywhere(card);
  const CoreRange areas[] = {all, {3, 3, 3, 3}, {0, 0, 4, 4}, {5, 5, all.x1, all.y1}};
  std::vector<std::shared_ptr<const Program>> programs;
  for (const CoreRange& area : areas) programs.push_back(counters.ProgramOn(area));
  // The kernels read their words late, so the dispatcher runs ahead as far as it may.
  for (const uint32_t max_padding : {8u, 252u}) {
    for (int i = 0; i < 200; ++i) {
      const uint32_t which = random() % 4;
      const uint32_t padding = max_padding - random() % 8;
      ASSERT_TRUE(counters.Add(programs[which], areas[which], random(), 1500, padding).ok());
    }
  }
  counters.ExpectRight();
}

TEST(DispatchLaunch, LargeConfigurationsWaitForTheRingBeforeTheSlots) {
  BootedCard card;
  const GridSize grid = card->description().grid;
  const CoreRange cores{3, 3, 4, 4};
  ProgramSpec spec;
  spec.kernels.push_back({TestKernel("bump_brisc"), hw::kBrisc, {cores}});
  spec.kernels.push_back({TestKernel("probe_ncrisc"), hw::kNcrisc, {cores}});
  spec.kernels.push_back({TestKernel("probe_trisc0"), hw::kTrisc0, {cores}});
  const auto program = TestProgram(spec, grid);
  uint32_t sum = 0;
  for (uint32_t launch = 1; launch <= 60; ++launch) {
    // 5 KiB each: four fit, eight slots would be free.
    std::vector<KernelArguments> arguments(3);
    for (KernelArguments& own : arguments) {
      own.common.resize(abi::kMaxArgumentWords);
      own.words_per_core = abi::kMaxArgumentWords;
      own.per_core.resize(4 * abi::kMaxArgumentWords);
    }
    arguments[0].common[0] = 0x40000;
    arguments[0].common[1] = 64;
    arguments[0].common[2] = launch;
    arguments[0].common[3] = 3000;
    for (uint32_t core = 0; core < 4; ++core) {
      arguments[0].per_core[core * abi::kMaxArgumentWords] = core;
    }
    arguments[1].common[0] = arguments[2].common[0] = abi::kBufferAddress;
    sum += launch;
    ASSERT_TRUE(card.Submit(LaunchCommand{program, arguments}).ok());
  }
  const auto bytes = card.Read({MemoryKind::kDram, -1, 0x40000, 64, 256}, 0, 256);
  ASSERT_TRUE(bytes.ok()) << bytes.status().ToString();
  for (uint32_t core = 0; core < 4; ++core) EXPECT_EQ(WordAt(*bytes, 16 * core), sum);
}

TEST(DispatchLaunch, SeesEarlierWritesAndIsSeenByLaterReads) {
  BootedCard card;
  BumpCounters counters(card);
  Random random(2);
  const CoreRange all = Everywhere(card);
  const CoreRange areas[] = {all, {1, 1, 1, 1}, {0, all.y1, all.x1, all.y1}};
  std::vector<std::shared_ptr<const Program>> programs;
  for (const CoreRange& area : areas) programs.push_back(counters.ProgramOn(area));
  int checked = 0, wrong = 0;
  for (int step = 0; step < 600; ++step) {
    const uint32_t page = random() % static_cast<uint32_t>(counters.expected.size());
    switch (random() % 4) {
      case 0:
      case 1: {
        const uint32_t which = random() % 3;
        ASSERT_TRUE(counters.Add(programs[which], areas[which], random()).ok());
        break;
      }
      case 2: {
        std::vector<std::byte> line(16);
        StoreAt(line.data(), random());
        counters.expected[page] = LoadAt<uint32_t>(line.data());
        ASSERT_TRUE(
            card.Submit(WriteCommand{counters.region(), page * BumpCounters::kPage, line}).ok());
        break;
      }
      default: {
        const uint32_t expected = counters.expected[page];
        ReadCommand read{counters.region(), page * BumpCounters::kPage, 4, {}};
        read.sink = [&checked, &wrong, expected](uint64_t, ByteSpan data) {
          ++checked;
          if (LoadAt<uint32_t>(data.data()) != expected) ++wrong;
        };
        ASSERT_TRUE(card.Submit(read).ok());
      }
    }
  }
  counters.ExpectRight();
  EXPECT_GT(checked, 100);
  EXPECT_EQ(wrong, 0);
}

// The same image with another first word in its table.
std::shared_ptr<const KernelImage> Salted(const KernelImage& image, uint32_t salt) {
  auto copy = std::make_shared<KernelImage>(image);
  for (size_t at = 0; at + 4 <= copy->bytes.size(); at += 4) {
    if (LoadAt<uint32_t>(copy->bytes.data() + at) == 0x5A175A17) {
      StoreAt(copy->bytes.data() + at, salt);
      return copy;
    }
  }
  ADD_FAILURE() << "no table";
  return copy;
}

TEST(DispatchLaunch, NothingOfAnEvictedKernelIsAwaitedAfterABoot) {
  BootedCard card;
  const GridSize grid = card->description().grid;
  std::vector<std::shared_ptr<const Program>> programs;
  for (uint32_t i = 0; i < 5; ++i) {
    ProgramSpec spec;
    spec.kernels.push_back({Salted(*TestKernel("large_brisc"), i), hw::kBrisc, {Everywhere(card)}});
    programs.push_back(TestProgram(spec, grid));
  }
  KernelArguments arguments;
  arguments.common = {abi::kBufferAddress};
  for (const auto& program : programs) {
    ASSERT_TRUE(card.Submit(LaunchCommand{program, {arguments}}).ok());
  }
  ASSERT_TRUE(card.Finish().ok());
  ASSERT_TRUE(card->Boot().ok());
  ASSERT_TRUE(card.Submit(LaunchCommand{programs[0], {arguments}}).ok());
  const Status done = card.Finish();
  EXPECT_TRUE(done.ok()) << done.ToString();
}

TEST(DispatchLaunch, ImagesThatDoNotFitTogetherTakeTurns) {
  BootedCard card;
  const GridSize grid = card->description().grid;
  const auto brisc = TestKernel("large_brisc");
  const auto ncrisc = TestKernel("large_ncrisc");
  uint32_t base_sum = 0;
  for (uint32_t i = 0; i < 9999; ++i) base_sum += i * 2654435761u;
  struct Variant {
    std::shared_ptr<const Program> program;
    std::vector<uint32_t> workers;
    uint32_t salt;
    bool both;
  };
  // Three fit the cache; seven programs on different tiles, some with an image for each of two harts.
  std::vector<Variant> variants;
  for (uint32_t i = 0; i < 7; ++i) {
    Variant variant;
    variant.salt = 1000 + i;
    variant.both = i % 3 == 0;
    ProgramSpec spec;
    const std::vector<CoreRange> cores = {{i, i, i, i}, {i, 9, i + 2, 9}};
    spec.kernels.push_back({Salted(*brisc, variant.salt), hw::kBrisc, cores});
    if (variant.both) spec.kernels.push_back({Salted(*ncrisc, variant.salt), hw::kNcrisc, cores});
    variant.program = TestProgram(spec, grid, i);
    variant.workers = {i * grid.x + i, 9 * grid.x + i, 9 * grid.x + i + 1, 9 * grid.x + i + 2};
    variants.push_back(std::move(variant));
  }
  Random random(7);
  for (int round = 0; round < 12; ++round) {
    // Several in flight, each with a place of its own for its sum.
    constexpr uint32_t kInFlight = 6;
    std::vector<uint32_t> launched;
    for (uint32_t i = 0; i < kInFlight; ++i) {
      const Variant& variant = variants[launched.emplace_back(random() % 7)];
      std::vector<KernelArguments> arguments(variant.both ? 2 : 1);
      for (uint32_t k = 0; k < arguments.size(); ++k) {
        arguments[k].common = {abi::kBufferAddress + 128 * i + 64 * k};
      }
      const Status sent = card.Submit(LaunchCommand{variant.program, arguments});
      ASSERT_TRUE(sent.ok()) << sent.ToString();
    }
    for (uint32_t i = 0; i < kInFlight; ++i) {
      const Variant& variant = variants[launched[i]];
      for (const uint32_t worker : variant.workers) {
        const auto l1 = ReadL1(card, worker, abi::kBufferAddress + 128 * i, 128);
        ASSERT_TRUE(l1.ok()) << l1.status().ToString();
        ASSERT_EQ(WordAt(*l1, 0), base_sum + variant.salt) << "round " << round << " launch " << i;
        if (variant.both) {
          ASSERT_EQ(WordAt(*l1, 16), base_sum + variant.salt) << "NCRISC, round " << round;
        }
      }
    }
  }
}

TEST(DispatchLaunch, WorksThroughTinyRings) {
  CardOptions options;
  options.issue_ring_bytes = 32 * 1024;
  options.completion_ring_pages = 2;
  options.fetch_queue_entries = 16;
  options.command_ring_bytes = 8 * 1024;
  options.scratch_bytes = 512;
  options.dispatch_ring_pages = 4;
  options.dispatch_s_ring_pages = 4;
  BootedCard card("sim:board=p150", options);
  BumpCounters counters(card);
  Random random(3);
  const CoreRange areas[] = {Everywhere(card), {3, 3, 3, 3}, {0, 0, 3, 4}};
  std::vector<std::shared_ptr<const Program>> programs;
  for (const CoreRange& area : areas) programs.push_back(counters.ProgramOn(area));
  for (int i = 0; i < 100; ++i) {
    const uint32_t which = random() % 3;
    const Status sent = counters.Add(programs[which], areas[which], random(), random() % 254);
    ASSERT_TRUE(sent.ok()) << sent.ToString();
  }
  counters.ExpectRight();
}

TEST(DispatchLaunch, RefusesArgumentsThatDoNotFitTheProgram) {
  BootedCard card;
  BumpCounters counters(card);
  const auto program = counters.ProgramOn({0, 0, 1, 1});
  KernelArguments arguments;
  arguments.words_per_core = 1;
  arguments.per_core = {1, 2, 3};
  const auto refused = card->TrySubmit(LaunchCommand{program, {arguments}});
  EXPECT_EQ(refused.status().code(), StatusCode::kInvalidArgument);
  ASSERT_TRUE(counters.Add(program, {0, 0, 1, 1}, 5).ok());
  counters.ExpectRight();
}

TEST(DispatchLaunch, CapturesEveryRecordForTheDecoder) {
  const TemporaryFolder folder;
  const std::string path = folder.path() + "/capture.rec";
  CardOptions options;
  options.record_path = path;
  {
    BootedCard card("sim:board=p100a", options);
    BumpCounters counters(card);
    const CoreRange all = Everywhere(card);
    ASSERT_TRUE(counters.Add(counters.ProgramOn(all), all, 5).ok());
    ASSERT_TRUE(counters.Add(counters.ProgramOn({1, 0, 1, 0}), {1, 0, 1, 0}, 5).ok());
    counters.ExpectRight();
    ASSERT_TRUE(card->Shutdown().ok());
  }
  std::ifstream stream(path, std::ios::binary);
  const std::string file(std::istreambuf_iterator<char>(stream), {});
  std::string text;
  const Status decoded =
      FormatRecordFile({reinterpret_cast<const std::byte*>(file.data()), file.size()},
                       [&text](std::string_view line) {
                         text += line;
                         text += '\n';
                       });
  ASSERT_TRUE(decoded.ok()) << decoded.ToString();
  for (const char* name :
       {"WRITE_PACKED_LARGE", "WRITE_PACKED ", "SEND_GO_SIGNAL", "SET_GO_SIGNAL_NOC_DATA", "STALL",
        "RELAY_PAGED", "WRITE_LINEAR_H_HOST event 1", "NOTIFY_SUBORDINATE_GO_SIGNAL",
        "TERMINATE"}) {
    EXPECT_THAT(text, testing::HasSubstr(name));
  }
}

}  // namespace
}  // namespace ttfd
