// Programs are checked when they are built and laid out by groups of equal tiles; launches become
// the right words at the right places.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "runtime/abi/kernel_image.h"
#include "runtime/abi/l1_map.h"
#include "runtime/command/kernel_needs.h"
#include "runtime/command/launch_encoder.h"
#include "runtime/command/launch_records.h"
#include "runtime/command/ordering.h"
#include "runtime/command/program_layout.h"
#include "runtime/command/tile_format.h"
#include "tests/support/test_batch.h"

namespace ttfd::command_program_test {
namespace {

using testing::HasSubstr;

constexpr GridSize kGrid = {12, 10};

std::shared_ptr<const KernelImage> Image(size_t bytes = 64) {
  auto image = std::make_shared<KernelImage>();
  image->name = "test";
  image->bytes.resize(bytes, std::byte{0x11});
  return image;
}

void ExpectRefused(const ProgramSpec& spec, const std::string& reason,
                   StatusCode code = StatusCode::kInvalidArgument) {
  const auto program = BuildProgram(1, spec, kGrid);
  ASSERT_FALSE(program.ok()) << reason;
  EXPECT_EQ(program.status().code(), code);
  EXPECT_THAT(std::string(StatusMessage(program.status())), HasSubstr(reason));
}

ProgramSpec OneKernel() {
  ProgramSpec spec;
  spec.kernels.push_back({Image(), hw::kBrisc, {{0, 0, 11, 9}}});
  return spec;
}

TEST(Program, RefusesWhatDoesNotFit) {
  ExpectRefused({}, "at least one kernel");
  ProgramSpec spec = OneKernel();
  spec.kernels[0].cores = {{0, 0, 12, 9}};
  ExpectRefused(spec, "not a rectangle inside the worker grid (0,0)-(11,9)");
  spec.kernels[0].cores = {{3, 0, 2, 0}};
  ExpectRefused(spec, "not a rectangle");
  spec.kernels[0].cores.clear();
  ExpectRefused(spec, "names no cores");
  spec = OneKernel();
  spec.kernels.push_back({Image(), hw::kBrisc, {{5, 5, 5, 5}}});
  ExpectRefused(spec, "kernels 0 and 1 both want BRISC of core (5,5)");
  spec = OneKernel();
  spec.kernels[0].image = nullptr;
  ExpectRefused(spec, "has no image");
  spec.kernels[0].image = Image(abi::kMaxKernelImageBytes + 16);
  ExpectRefused(spec, "kernel image test has");
  spec = {};
  for (uint32_t hart = 0; hart < 3; ++hart) {
    spec.kernels.push_back(
        {Image(abi::kMaxKernelImageBytes), static_cast<hw::Hart>(hart), {{0, 0, 0, 0}}});
  }
  ExpectRefused(spec, "all of them together may take 131072");
}

// On the tiles where they run, by what these get.
TEST(Program, RefusesKernelsThatNeedWhatItDoesNotGive) {
  auto image = std::make_shared<KernelImage>(*Image());
  image->name = "scale.elf";
  image->needs = {{abi::kCircularBuffer, 1, "scale.cc:12"}, {abi::kSemaphore, 0, ""}};
  ProgramSpec spec;
  spec.kernels.push_back({image, hw::kBrisc, {{1, 2, 2, 2}}});
  ExpectRefused(spec,
                "kernel 'scale' uses circular buffer 1 at scale.cc:12, which it is not given\n"
                "core (1,2) of the program has none");
  spec.circular_buffers.push_back({0, 1, 64, {{0, 0, 11, 9}}});
  spec.circular_buffers.push_back({1, 1, 64, {{0, 0, 1, 9}}});
  ExpectRefused(spec,
                "kernel 'scale' uses semaphore 0, which it is not given\ncore (1,2) of the "
                "program has none");
  spec.semaphores.push_back({0, 0, {{0, 0, 11, 9}}});
  ExpectRefused(spec,
                "kernel 'scale' uses circular buffer 1 at scale.cc:12, which it is not given\n"
                "core (2,2) of the program has only 0");
  spec.circular_buffers[1].cores = {{1, 2, 2, 2}};
  EXPECT_TRUE(BuildProgram(1, spec, kGrid).ok());
}

TEST(Program, RefusesCallablesWithoutCallersAndWithArgumentsOfTheLaunch) {
  ProgramSpec spec;
  spec.kernels.push_back({Image(), hw::kBrisc, {{0, 0, 0, 0}}});
  spec.kernels.push_back({Image(), hw::kNcrisc, {{0, 0, 0, 0}}, true});
  ExpectRefused(spec,
                "kernel 1 is callable on NCRISC of core (0,0), where the program starts no kernel "
                "that could call it");
  spec.kernels[1].hart = hw::kBrisc;
  const auto program = BuildProgram(1, spec, kGrid);
  ASSERT_TRUE(program.ok()) << program.status().ToString();
  const std::vector<KernelArguments> arguments = {{{}, 0, {}}, {{1}, 0, {}}};
  EXPECT_EQ(StatusMessage(CheckArguments(**program, arguments)),
            "kernel 1 is callable; a launch gives it no arguments");
  spec.kernels.resize(1 + abi::kMaxCallables, spec.kernels[1]);
  EXPECT_TRUE(BuildProgram(1, spec, kGrid).ok());
  spec.kernels.push_back(spec.kernels[1]);
  ExpectRefused(spec, "kernel 65 is one callable kernel more than the 64 that a program may have");
}

TEST(Program, LeavesTheNeedsOfConfiguredCallablesToTheirCaller) {
  auto image = std::make_shared<KernelImage>(*Image());
  image->needs = {{abi::kCommonArgument, 3, ""}, {abi::kCircularBuffer, 2, ""}};
  ProgramSpec spec;
  spec.kernels.push_back({Image(), hw::kBrisc, {{0, 0, 0, 0}}});
  spec.kernels.push_back({image, hw::kBrisc, {{0, 0, 0, 0}}, true});
  EXPECT_FALSE(BuildProgram(1, spec, kGrid).ok());
  spec.kernels[1].configured = true;
  EXPECT_TRUE(BuildProgram(1, spec, kGrid).ok());
  spec.kernels[0].configured = true;
  ExpectRefused(spec,
                "kernel 0 is configured and not callable; a kernel that is started is not "
                "configured by another");
}

TEST(Program, SaysWhichArgumentsALaunchDoesNotGive) {
  auto image = std::make_shared<KernelImage>(*Image());
  image->needs = {{abi::kArgument, 2, "scale.cc:9"}, {abi::kCommonArgument, 0, "scale.cc:7"}};
  ProgramSpec spec;
  spec.kernels.push_back({image, hw::kBrisc, {{0, 0, 0, 0}}});
  const auto program = BuildProgram(1, spec, kGrid);
  ASSERT_TRUE(program.ok());
  const auto check = [&](const KernelArguments& arguments) {
    return std::string(StatusMessage(CheckArgumentNeeds(**program, 0, arguments)));
  };
  EXPECT_EQ(check({{1}, 2, {1, 2}}),
            "kernel 'test' uses argument 2 at scale.cc:9, which it is not given\n"
            "the launch has 2 words per core");
  EXPECT_EQ(check({{}, 3, {1, 2, 3}}),
            "kernel 'test' uses common argument 0 at scale.cc:7, which it is not given\n"
            "the launch has no common words");
  EXPECT_EQ(check({{1}, 3, {1, 2, 3}}), "");
}

TEST(Program, RefusesBadCircularBuffersAndSemaphores) {
  ProgramSpec spec = OneKernel();
  spec.circular_buffers.push_back({32, 1, 64, {{0, 0, 0, 0}}});
  ExpectRefused(spec, "index 32 is not below 32");
  spec.circular_buffers[0] = {0, 1, 24, {{0, 0, 0, 0}}};
  ExpectRefused(spec, "the page a multiple of 16");
  spec.circular_buffers[0] = {0, 0x80001, 16, {{0, 0, 0, 0}}};
  ExpectRefused(spec, "do not fit");
  for (const TileFormat& format : kTileFormats) {
    SCOPED_TRACE(format.name);
    spec.circular_buffers[0] = {0, 1, 1024, {{0, 0, 0, 0}}, format.word()};
    ExpectRefused(spec, fmt::format("pages of 1024 bytes; a page of format {} is one tile of {} ",
                                    format.name, format.tile_bytes));
  }
  spec.circular_buffers[0].format = 2;  // float16
  ExpectRefused(spec, "format 2 is not known; float32 and int32 (4096 bytes), ",
                StatusCode::kUnimplemented);
  spec.circular_buffers[0] = {0, 1, 64, {{0, 0, 1, 0}}};
  spec.circular_buffers.push_back({0, 1, 64, {{1, 0, 1, 0}}});
  ExpectRefused(spec, "both want index 0 of core (1,0)");
  spec.circular_buffers.clear();
  spec.semaphores.push_back({16, 0, {{0, 0, 0, 0}}});
  ExpectRefused(spec, "index 16 is not below 16");
  spec.semaphores[0] = {1, 0, {{0, 0, 0, 0}}};
  spec.semaphores.push_back({1, 0, {{0, 0, 3, 3}}});
  ExpectRefused(spec, "both want index 1 of core (0,0)");
}

TEST(Program, GroupsTilesThatAreEqual) {
  ProgramSpec spec = OneKernel();
  spec.kernels.push_back({Image(), hw::kNcrisc, {{0, 0, 11, 0}}});
  spec.circular_buffers.push_back({1, 4, 256, {{0, 0, 5, 9}}});
  spec.semaphores.push_back({0, 42, {{0, 0, 11, 9}}});
  const auto program = BuildProgram(1, spec, kGrid);
  ASSERT_TRUE(program.ok()) << program.status().ToString();
  EXPECT_EQ((*program)->groups.size(), 4u);
  EXPECT_EQ((*program)->workers.size(), 120u);
  EXPECT_EQ((*program)->circular_buffer_count, 2u);
  TileSet covered;
  for (const ProgramGroup& group : (*program)->groups) {
    for (const CoreRange& range : group.rectangles) {
      const TileSet tiles = TilesOf(range, kGrid);
      EXPECT_TRUE((covered & tiles).none()) << "a tile is in two groups";
      covered |= tiles;
    }
    ASSERT_EQ(group.circular_buffers.size(), 2u);
    EXPECT_EQ(group.circular_buffers[0].pages, 0u);
    EXPECT_EQ(group.semaphores[0].value, 42u);
  }
  EXPECT_EQ(covered, (*program)->tiles);
}

TEST(Program, FormatsOfCircularBuffers_ReachTheirConfiguration) {
  ProgramSpec spec = OneKernel();
  uint32_t index = 0;
  for (const TileFormat& format : kTileFormats) {
    spec.circular_buffers.push_back(
        {index++, 2, format.tile_bytes, {{0, 0, 11, 9}}, format.word()});
  }
  spec.circular_buffers.push_back({index++, 2, 64, {{0, 0, 11, 9}}});
  const auto program = BuildProgram(1, spec, kGrid);
  ASSERT_TRUE(program.ok()) << program.status().ToString();
  std::vector<uint32_t> words;
  for (const auto& buffer : (*program)->groups[0].circular_buffers) words.push_back(buffer.format);
  EXPECT_EQ(words, (std::vector<uint32_t>{1, 6, 7, 9, 10, 0})) << "hardware codes + 1, 0 for none";
}

TEST(Program, ACircularBufferWithAnAddress_LiesThereAndTakesNothingOfTheLaunchsMemory) {
  constexpr uint32_t kAddress = 0x123450;
  ProgramSpec spec = OneKernel();
  const auto add = [&spec](uint32_t pages, uint32_t address) {
    const auto index = static_cast<uint32_t>(spec.circular_buffers.size());
    spec.circular_buffers.push_back({index, pages, 64, {{0, 0, 1, 0}}, 0, address});
  };
  add(1, 0);
  add(3 * abi::kCircularBufferBytes / 64, kAddress);
  add(2, kAddress);
  add(abi::kCircularBufferBytes / 64 - 1, 0);  // all that the first one left
  const auto program = BuildProgram(1, spec, kGrid);
  ASSERT_TRUE(program.ok()) << program.status().ToString();
  std::vector<uint32_t> addresses;
  for (const auto& one : (*program)->groups.back().circular_buffers)
    addresses.push_back(one.address);
  EXPECT_EQ(addresses, (std::vector<uint32_t>{abi::kCircularBufferAddress, kAddress, kAddress,
                                              abi::kCircularBufferAddress + 64}));
  add(1, 0);
  ExpectRefused(
      spec,
      "64 bytes do not fit; the circular buffers of one core may take 524288 bytes, 0 are left");
}

TEST(Program, GivesCircularBuffersOfOneTileDifferentMemory) {
  ProgramSpec spec = OneKernel();
  spec.circular_buffers.push_back({0, 2, 1024, {{0, 0, 1, 0}}});
  spec.circular_buffers.push_back({1, 2, 1024, {{2, 0, 3, 0}}});  // elsewhere: may share
  spec.circular_buffers.push_back({2, 1, 16, {{1, 0, 2, 0}}});    // meets both
  const auto program = BuildProgram(1, spec, kGrid);
  ASSERT_TRUE(program.ok());
  for (const ProgramGroup& group : (*program)->groups) {
    const auto& buffers = group.circular_buffers;
    for (size_t a = 0; a < buffers.size(); ++a) {
      for (size_t b = a + 1; b < buffers.size(); ++b) {
        if (buffers[a].pages == 0 || buffers[b].pages == 0) continue;
        const uint32_t a_end = buffers[a].address + buffers[a].pages * buffers[a].page_bytes;
        const uint32_t b_end = buffers[b].address + buffers[b].pages * buffers[b].page_bytes;
        EXPECT_TRUE(a_end <= buffers[b].address || b_end <= buffers[a].address);
      }
    }
  }
}

TEST(Program, CoversAnyTileSetWithDisjointRectangles) {
  for (uint32_t seed = 1; seed < 50; ++seed) {
    TileSet tiles;
    uint32_t state = seed;
    for (uint32_t tile = 0; tile < 120; ++tile) {
      state = state * 1664525 + 1013904223;
      if (state >> 28 < seed % 15) tiles.set(tile);
    }
    TileSet covered;
    for (const CoreRange& range : CoverWithRectangles(tiles, kGrid)) {
      EXPECT_TRUE((covered & TilesOf(range, kGrid)).none());
      covered |= TilesOf(range, kGrid);
    }
    EXPECT_EQ(covered, tiles);
    if (tiles.any()) {
      EXPECT_EQ(tiles & ~TilesOf(BoundingBox(tiles, kGrid), kGrid), TileSet());
    }
  }
}

TEST(LaunchArguments, AreCheckedAgainstTheProgram) {
  const auto program = *BuildProgram(1, OneKernel(), kGrid);
  const auto check = [&program](std::vector<KernelArguments> arguments) {
    return CheckArguments(*program, arguments);
  };
  EXPECT_TRUE(check({KernelArguments{}}).ok());
  EXPECT_FALSE(check({}).ok());
  EXPECT_FALSE(check({{std::vector<uint32_t>(257), 0, {}}}).ok());
  EXPECT_FALSE(check({{{}, 257, std::vector<uint32_t>(257 * 120)}}).ok());
  EXPECT_FALSE(check({{{}, 2, std::vector<uint32_t>(239)}}).ok());
  EXPECT_TRUE(check({{std::vector<uint32_t>(256), 256, std::vector<uint32_t>(256 * 120)}}).ok());
}

// Carries out the configuration records on the L1 of every worker.
class ConfigMemory {
 public:
  explicit ConfigMemory(const CardGeometry& card) : card_(card), l1_(card.worker_count()) {
    for (auto& l1 : l1_) l1.resize(0x20000, std::byte{0xCC});
  }

  void Execute(TestBatch& batch) {
    const auto commands = batch.Decode();
    ASSERT_TRUE(commands.ok()) << commands.status().ToString();
    for (const DecodedCommand& command : *commands) {
      const DecodedDispatch& dispatch = *command.dispatch;
      size_t at = 0;
      if (const auto* packed = std::get_if<abi::WritePacked>(&dispatch.header)) {
        for (const DecodedTarget& target : dispatch.targets) {
          Write(target.noc_word, target.receivers, packed->address,
                dispatch.data.subspan(at, packed->size));
          if ((packed->flags & abi::kPackedNoStride) == 0) at += (packed->size + 15u) & ~15u;
        }
      } else {
        for (const auto& target : dispatch.large_targets) {
          Write(target.rectangle, target.num_mcast_dests, target.address,
                dispatch.data.subspan(at, target.length));
          at += (target.length + 15u) & ~15u;
        }
      }
    }
  }
  uint32_t Word(uint32_t worker, uint32_t address) const {
    return LoadAt<uint32_t>(l1_[worker].data() + address);
  }

 private:
  void Write(uint32_t noc_word, uint32_t receivers, uint32_t address, ByteSpan data) {
    uint32_t reached = 0;
    const uint32_t start = receivers == 0 ? noc_word : noc_word >> 12;
    for (uint32_t worker = 0; worker < card_.worker_count(); ++worker) {
      const hw::Coordinate tile = card_.WorkerTile(worker);
      if (tile.x < hw::NocX(start) || tile.x > hw::NocX(noc_word)) continue;
      if (tile.y < hw::NocY(start) || tile.y > hw::NocY(noc_word)) continue;
      ++reached;
      std::memcpy(l1_[worker].data() + address, data.data(), data.size());
    }
    EXPECT_EQ(reached, std::max(receivers, 1u))
        << "the count of receivers is what the firmware awaits";
  }
  const CardGeometry& card_;
  std::vector<std::vector<std::byte>> l1_;
};

CardGeometry Card(uint32_t max_record_bytes) {
  return CardGeometry({1, 2, 3, 4, 5, 6, 7, 10, 11, 12, 13, 14}, {hw::NocXy(17, 12)},
                      {{{15, 3}, {15, 5}}}, max_record_bytes);
}

// Small entries cut lists and packets; large ones do not.
class LaunchWords : public testing::TestWithParam<uint32_t> {};
INSTANTIATE_TEST_SUITE_P(EntryBytes, LaunchWords, testing::Values(2048, 131072));

// Words that say kernel, core and number.
void AddWordsOfCores(const Program& program, uint32_t kernel, uint32_t words,
                     KernelArguments* arguments) {
  arguments->words_per_core = words;
  for (uint32_t core = 0; core < KernelCoreCount(program, kernel); ++core) {
    for (uint32_t word = 0; word < words; ++word) {
      arguments->per_core.push_back(kernel << 24 | core << 12 | word);
    }
  }
}

TEST_P(LaunchWords, ReachEveryTileWhereTheMessageSays) {
  ProgramSpec spec;
  spec.kernels.push_back({Image(), hw::kBrisc, {{0, 0, 11, 9}}});
  spec.kernels.push_back({Image(), hw::kNcrisc, {{3, 2, 4, 4}, {7, 7, 7, 7}}});
  spec.kernels.push_back({Image(), hw::kNcrisc, {{0, 0, 1, 0}}});
  spec.circular_buffers.push_back({2, 4, 256, {{3, 2, 4, 4}}});
  spec.semaphores.push_back({1, 5, {{0, 0, 11, 9}}});
  const auto program = *BuildProgram(9, spec, kGrid);
  std::vector<KernelArguments> arguments(3);
  arguments[0].common = {100, 101};
  arguments[1].common = std::vector<uint32_t>(256, 0x77);
  arguments[2].common = {300};
  for (uint32_t kernel = 0; kernel < 3; ++kernel) {
    AddWordsOfCores(*program, kernel, kernel == 0 ? 200 : 3, &arguments[kernel]);
  }
  ASSERT_TRUE(CheckArguments(*program, arguments).ok());
  const CardGeometry card = Card(GetParam());
  const LaunchRecords records(*program, arguments, true, card);
  LaunchPlace place;
  place.slot = 3;
  place.config_address = 0xA100;
  place.image_addresses = {0x10000, 0x11000, 0x12000};
  place.new_code = true;
  TestBatch batch(GetParam());
  records.Append(place, arguments, card, batch);

  ConfigMemory memory(card);
  memory.Execute(batch);
  for (uint32_t kernel = 0; kernel < 3; ++kernel) {
    const hw::Hart hart = spec.kernels[kernel].hart;
    uint32_t core = 0;
    for (const CoreRange& range : spec.kernels[kernel].cores) {
      for (uint32_t y = range.y0; y <= range.y1; ++y) {
        for (uint32_t x = range.x0; x <= range.x1; ++x, ++core) {
          const uint32_t worker = y * kGrid.x + x;
          const uint32_t message = abi::LaunchMessageAddress(3);
          const auto word = [&](size_t offset) {
            return memory.Word(worker, message + static_cast<uint32_t>(offset));
          };
          EXPECT_NE(word(offsetof(abi::LaunchMessage, enables)) & 1u << hart, 0u);
          EXPECT_EQ(word(offsetof(abi::LaunchMessage, kernel_address) + 4 * hart),
                    place.image_addresses[kernel]);
          EXPECT_EQ(word(offsetof(abi::LaunchMessage, program_id)), 9u);
          if (kernel == 2) {
            EXPECT_NE(word(offsetof(abi::LaunchMessage, enables)) & abi::kLaunchNewCode, 0u);
          }
          const uint32_t base = word(offsetof(abi::LaunchMessage, config_address));
          ASSERT_EQ(base, 0xA100u);
          const size_t own =
              offsetof(abi::LaunchMessage, arguments) + hart * sizeof(abi::LaunchArguments);
          const uint32_t offsets = word(own);
          EXPECT_EQ(word(own + 4),
                    arguments[kernel].common.size() | arguments[kernel].words_per_core << 16);
          EXPECT_EQ(memory.Word(worker, base + (offsets & 0xFFFF)), arguments[kernel].common[0]);
          const uint32_t last = arguments[kernel].words_per_core - 1;
          EXPECT_EQ(memory.Word(worker, base + (offsets >> 16) + 4 * last),
                    kernel << 24 | core << 12 | last)
              << "kernel " << kernel << " core " << core;
          const uint32_t semaphores = word(offsetof(abi::LaunchMessage, semaphore_offset)) & 0xFFFF;
          EXPECT_EQ(memory.Word(worker, base + semaphores + 16), 5u);
          if (kernel == 1 && x < 5) {
            EXPECT_EQ(memory.Word(worker, base + 2 * 16 + 4), 4u) << "pages of the circular buffer";
          }
        }
      }
    }
  }
}

// Each worker has kernels, arguments and circular buffers of its own.
TEST(LaunchRecordsSize, TheLargestLaunchFitsHalfOfTheIssueRing) {
  constexpr uint32_t kIssueRingBytes = 4 << 20;  // the default, and the least of the daemon's
  ProgramSpec spec;
  const auto image = Image();
  for (uint32_t y = 0; y < kGrid.y; ++y) {
    for (uint32_t x = 0; x < kGrid.x; ++x) {
      for (uint32_t hart = 0; hart < hw::kHarts; ++hart) {
        spec.kernels.push_back({image, static_cast<hw::Hart>(hart), {{x, y, x, y}}});
      }
      for (uint32_t index = 27; index < abi::kMaxCircularBuffers; ++index) {
        spec.circular_buffers.push_back({index, 1 + x + y, 64, {{x, y, x, y}}});
      }
    }
  }
  for (uint32_t index = 0; index < 27; ++index) {
    spec.circular_buffers.push_back({index, 1, 64, {{0, 0, 11, 9}}});
  }
  for (uint32_t index = 0; index < abi::kMaxSemaphores; ++index) {
    spec.semaphores.push_back({index, 1, {{0, 0, 11, 9}}});
  }
  const auto program = *BuildProgram(9, spec, kGrid);
  std::vector<KernelArguments> arguments(spec.kernels.size());
  for (uint32_t kernel = 0; kernel < arguments.size(); ++kernel) {
    arguments[kernel].common.resize(abi::kMaxArgumentWords);
    arguments[kernel].words_per_core = abi::kMaxArgumentWords;
    arguments[kernel].per_core.resize(abi::kMaxArgumentWords * KernelCoreCount(*program, kernel));
  }
  ASSERT_TRUE(CheckArguments(*program, arguments).ok());
  const LaunchRecords records(*program, arguments, true, Card(128 << 10));
  EXPECT_GT(records.bytes(), 1u << 20);
  // The images of its kernels come with it: what the caches hold, once for each rectangle.
  EXPECT_LE(records.bytes() + kMaxImageRectangles * abi::kKernelCacheBytes, kIssueRingBytes / 2);
}

constexpr Ordering::StreamMask kAll = Ordering::kAllStreams;

TEST(Ordering, WaitsOnlyForWhatIsOutstanding) {
  const auto flags = [](TestBatch& batch) {
    const auto commands = batch.Decode();
    return std::get<abi::Wait>((*commands)[0].dispatch->header).flags;
  };
  Ordering ordering;
  TestBatch none;
  ordering.BeforeWrite(none, kAll);
  ordering.BeforeRead(none, kAll);
  ordering.BeforeTelling(none, ordering.Now());
  EXPECT_TRUE(none.empty()) << "nothing has happened yet";

  ordering.Wrote();
  TestBatch event;
  ordering.BeforeTelling(event, ordering.Now());
  EXPECT_EQ(flags(event), abi::kWaitBarrier);
  TestBatch read;
  ordering.BeforeRead(read, kAll);
  EXPECT_EQ(flags(read), abi::kWaitBarrier | abi::kWaitNotifyPrefetch);
  TestBatch again;
  ordering.BeforeRead(again, kAll);
  EXPECT_TRUE(again.empty()) << "a read after a read waits for nothing";

  ordering.Launched(0, 130);
  TestBatch write;
  ordering.BeforeWrite(write, kAll);
  EXPECT_EQ(flags(write), abi::kWaitStream);
  TestBatch second;
  ordering.BeforeWrite(second, kAll);
  EXPECT_TRUE(second.empty()) << "the second write after a launch waits for nothing";
  TestBatch after;
  ordering.BeforeRead(after, kAll);
  EXPECT_EQ(flags(after), abi::kWaitBarrier | abi::kWaitNotifyPrefetch)
      << "the prefetcher still runs ahead of the dispatcher's wait";
}

TEST(Ordering, WaitsForNoKernelsOfOtherSubDevices) {
  Ordering ordering;
  ordering.Launched(1, 10);
  ordering.Launched(3, 7);
  TestBatch other;
  ordering.BeforeWrite(other, 1u << 2);
  ordering.BeforeRead(other, 1u << 2);
  EXPECT_TRUE(other.empty());
  TestBatch own;
  ordering.BeforeRead(own, 1u << 3);
  auto wait = std::get<abi::Wait>((*own.Decode())[0].dispatch->header);
  EXPECT_EQ(wait.stream, abi::kFirstWorkerStream + 3);
  EXPECT_EQ(wait.count, 7u);
  TestBatch both;
  ordering.BeforeTelling(both, ordering.Now());
  wait = std::get<abi::Wait>((*both.Decode())[0].dispatch->header);
  EXPECT_EQ(wait.stream, abi::kFirstWorkerStream + 1) << "the other was waited for";
  EXPECT_EQ(both.Decode()->size(), 1u);
}

TEST(Ordering, CountsFromZeroAfterARestart) {
  Ordering ordering;
  ordering.Launched(0, 1000);
  TestBatch restart;
  ordering.Restart(restart, 0);
  auto wait = std::get<abi::Wait>((*restart.Decode())[0].dispatch->header);
  EXPECT_EQ(wait.flags, abi::kWaitStream | abi::kWaitClearStream);
  EXPECT_EQ(wait.count, 1000u);
  ordering.Launched(0, 5);
  TestBatch write;
  ordering.BeforeWrite(write, kAll);
  wait = std::get<abi::Wait>((*write.Decode())[0].dispatch->header);
  EXPECT_EQ(wait.count, 5u);
}

TEST(Ordering, CompletionsOutstanding_StayWithinReachOfTheCounters) {
  Ordering ordering;
  ordering.Launched(2, hw::kStreamCounterReach);
  EXPECT_TRUE(ordering.HasCompletionsFor(0));
  EXPECT_FALSE(ordering.HasCompletionsFor(1));
  Ordering::Mark mark;
  mark.workers[2] = 10'000;
  ordering.Happened(mark);
  EXPECT_EQ(ordering.outstanding(2), hw::kStreamCounterReach - 10'000);
  EXPECT_TRUE(ordering.HasCompletionsFor(10'000));
  EXPECT_FALSE(ordering.HasCompletionsFor(10'001));
}

TEST(Ordering, AnEventTheHostSawNeedsNoMoreWaits) {
  Ordering ordering;
  ordering.Launched(0, 3);
  ordering.Wrote();
  const Ordering::Mark mark = ordering.Now();
  EXPECT_FALSE(ordering.Saw(mark));
  ordering.Happened(mark);
  EXPECT_TRUE(ordering.Saw(mark));
  TestBatch batch;
  ordering.BeforeRead(batch, kAll);
  ordering.BeforeWrite(batch, kAll);
  ordering.BeforeTelling(batch, mark);
  EXPECT_TRUE(batch.empty());
}

}  // namespace
}  // namespace ttfd::command_program_test
