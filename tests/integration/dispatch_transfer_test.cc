// What is written can be read: transfers through the booted firmware, across page, bank and ring
// ends, against a model of plain vectors.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <string.h>

#include <algorithm>
#include <cstring>

#include "runtime/abi/l1_map.h"
#include "runtime/command/command_check.h"
#include "tests/support/booted_card.h"
#include "tests/support/bump_counters.h"
#include "tests/support/late_device.h"
#include "tests/support/meddled_device.h"
#include "tests/support/random.h"
#include "tests/support/region_reference.h"
#include "tests/support/test_device.h"
#include "tests/support/test_kernels.h"

namespace ttfd {
namespace {

using ::testing::Contains;
using ::testing::HasSubstr;

struct Setup {
  const char* name;
  const char* board;
  CardOptions options;
};

void PrintTo(const Setup& setup, std::ostream* out) { *out << setup.name; }

// Rings so small that every one of them wraps all the time.
CardOptions Tiny() {
  CardOptions options;
  options.issue_ring_bytes = 32 * 1024;
  options.completion_ring_pages = 4;
  options.fetch_queue_entries = 16;
  options.command_ring_bytes = 8 * 1024;
  options.scratch_bytes = 512;
  options.dispatch_ring_pages = 4;
  options.dispatch_s_ring_pages = 4;
  return options;
}

// Odd sizes, so that wraps fall anywhere.
CardOptions Odd() {
  CardOptions options;
  options.issue_ring_bytes = 64 * 531;
  options.completion_ring_pages = 7;
  options.fetch_queue_entries = 17;
  options.command_ring_bytes = 64 * 205;
  options.scratch_bytes = 128 * 13;
  options.dispatch_ring_pages = 5;
  options.dispatch_s_ring_pages = 4;
  return options;
}

class DispatchTransfer : public testing::TestWithParam<Setup> {};
INSTANTIATE_TEST_SUITE_P(Rings, DispatchTransfer,
                         testing::Values(Setup{"DefaultP100a", "sim:board=p100a", {}},
                                         Setup{"DefaultP150", "sim:board=p150", {}},
                                         Setup{"TinyP100a", "sim:board=p100a", Tiny()},
                                         Setup{"TinyP150", "sim:board=p150", Tiny()},
                                         Setup{"OddP100a", "sim:board=p100a", Odd()}),
                         [](const auto& setup) { return std::string(setup.param.name); });

TEST_P(DispatchTransfer, ReadsBackAMegabyteAndShutsDown) {
  BootedCard card(GetParam().board, GetParam().options);
  const auto data = Pattern(1 << 20, 1);
  const Region region{MemoryKind::kDram, -1, 0x10000, 2048, data.size()};
  ASSERT_TRUE(card.Write(region, 0, data).ok());
  const auto read = card.Read(region, 0, data.size());
  ASSERT_TRUE(read.ok()) << read.status().ToString();
  EXPECT_TRUE(*read == data);
  EXPECT_TRUE(card->idle());
  const Status down = card->Shutdown();
  EXPECT_TRUE(down.ok()) << down.ToString();
}

// A region of the card and what it should hold.
struct Mirror {
  Region region;
  std::vector<std::byte> bytes;
};

// Random commands on a buffer of every layout that still finds room, one after the other in each bank.
class Traffic {
 public:
  Traffic(BootedCard& card, uint32_t seed, uint64_t max_bytes, uint32_t page_bytes)
      : card_(card), random_(seed), max_bytes_(max_bytes) {
    const CardDescription& description = card->description();
    uint64_t next[] = {0x40, description.l1_base};
    const uint64_t end[] = {64 << 20, description.l1_base + uint64_t{description.l1_bytes}};
    const uint32_t workers = description.grid.x * description.grid.y;
    for (size_t i = 0; i < std::size(kLayouts); ++i) {
      const Layout layout = kLayouts[(i + seed) % std::size(kLayouts)];
      // Some pages share one size, so that copies meet pages that lie alike.
      const uint32_t page =
          i % 3 == 2 ? kOtherPages[random_() % std::size(kOtherPages)] : page_bytes;
      const uint64_t size =
          page < 40 ? 1 + random_() % 5000 : 1 + random_() % std::max<uint64_t>(40'000, 2 * page);
      Region region = MakeRegion(layout, page, size, workers, random_);
      const auto kind = static_cast<size_t>(region.kind);
      const uint32_t banks = region.kind == MemoryKind::kDram ? description.dram_banks : workers;
      const uint64_t taken = SlotsPerBank(region, banks) * StrideOf(region.kind, page);
      if (next[kind] + taken > end[kind]) continue;
      region.base_address = static_cast<uint32_t>(next[kind]);
      next[kind] += taken;
      mirrors_.push_back({region, std::vector<std::byte>(size)});
    }
  }

  // Whatever was there before.
  Status Clear() {
    for (const Mirror& mirror : mirrors_) {
      for (uint64_t at = 0; at < mirror.bytes.size();) {
        const uint64_t left = mirror.bytes.size() - at;
        const uint64_t most = card_.MostBytes(mirror.region);
        const uint64_t size = left <= most ? left : CutAtUnit(mirror.region.page_bytes, at, most);
        RETURN_IF_ERROR(card_.Submit(FillCommand{mirror.region, at, size, 0}));
        at += size;
      }
    }
    return OkStatus();
  }

  Status Step() {
    switch (random_() % 5) {
      case 0:
        return Write();
      case 1:
        return Fill();
      case 2:
        return Copy();
      default:
        return Read();
    }
  }
  int reads_checked() const { return reads_checked_; }
  int mismatches() const { return mismatches_; }
  int copies() const { return copies_; }

 private:
  static constexpr uint32_t kOtherPages[] = {1, 64, 100, 192, 8192};

  Mirror& Any() { return mirrors_[random_() % mirrors_.size()]; }
  uint64_t MostOf(const Region& region) const {
    return std::min(max_bytes_, card_.MostBytes(region));
  }

  Status Write() {
    Mirror& to = Any();
    const auto [offset, size] = RandomRange(to.region, MostOf(to.region), true, random_);
    const auto data = Pattern(size, random_());
    std::copy(data.begin(), data.end(), to.bytes.begin() + static_cast<long>(offset));
    return card_.Submit(WriteCommand{to.region, offset, data});
  }
  Status Fill() {
    Mirror& to = Any();
    const auto [offset, size] = RandomRange(to.region, MostOf(to.region), true, random_);
    const uint32_t word = random_();
    for (uint64_t at = 0; at < size; ++at) {
      to.bytes[offset + at] = static_cast<std::byte>(word >> 8 * (at % 4));
    }
    return card_.Submit(FillCommand{to.region, offset, size, word});
  }
  // The first pair of ranges the card can copy.
  Status Copy() {
    for (int attempt = 0; attempt < 20; ++attempt) {
      const Mirror& from = Any();
      Mirror& to = Any();
      const auto [from_offset, from_size] =
          RandomRange(from.region, MostOf(from.region), true, random_);
      auto [to_offset, to_size] = RandomRange(to.region, MostOf(to.region), true, random_);
      if (from.region.page_bytes == to.region.page_bytes && random_() % 2 == 0) {
        to_offset = from_offset % from.region.page_bytes;
      }
      const uint64_t size = std::min(from_size, to_size);
      if (&from == &to && from_offset < to_offset + size && to_offset < from_offset + size)
        continue;
      const CopyCommand copy{from.region, from_offset, to.region, to_offset, size};
      if (!CheckCommand(Route(), copy, card_->geometry()).ok()) continue;
      std::memcpy(to.bytes.data() + to_offset, from.bytes.data() + from_offset, size);
      ++copies_;
      return card_.Submit(copy);
    }
    return OkStatus();
  }
  // Compares with what the model holds now: later commands must not be seen.
  Status Read() {
    const Mirror& from = Any();
    const auto [offset, size] = RandomRange(from.region, MostOf(from.region), false, random_);
    const auto begin = from.bytes.begin() + static_cast<long>(offset);
    auto expected =
        std::make_shared<std::vector<std::byte>>(begin, begin + static_cast<long>(size));
    auto missing = std::make_shared<uint64_t>(size);
    ReadCommand read{from.region, offset, size, {}};
    read.sink = [this, expected, missing](uint64_t at, ByteSpan data) {
      if (at + data.size() > expected->size() || data.size() > *missing ||
          !std::equal(data.begin(), data.end(), expected->begin() + static_cast<long>(at))) {
        ++mismatches_;
      }
      *missing -= data.size();
      if (*missing == 0) ++reads_checked_;
    };
    return card_.Submit(read);
  }

  BootedCard& card_;
  Random random_;
  const uint64_t max_bytes_;
  std::vector<Mirror> mirrors_;
  int reads_checked_ = 0;
  int mismatches_ = 0;
  int copies_ = 0;
};

TEST_P(DispatchTransfer, CommandsTakeEffectInTheOrderOfSubmissionInEveryLayout) {
  BootedCard card(GetParam().board, GetParam().options);
  uint32_t seed = 0;
  for (const uint32_t page : {16, 48, 64, 100, 1000, 2048, 4096 + 16, 300'000}) {
    ++seed;
    Traffic traffic(card, seed,
                    page > 100'000  ? kMaxTransferBytes
                    : seed % 3 == 0 ? 500
                                    : 20'000,
                    page);
    ASSERT_TRUE(traffic.Clear().ok());
    for (int step = 0; step < 300; ++step) {
      const Status status = traffic.Step();
      ASSERT_TRUE(status.ok()) << "page " << page << " step " << step << ": " << status.ToString();
      ASSERT_EQ(traffic.mismatches(), 0) << "page " << page << " step " << step;
    }
    const Status done = card.Finish();
    ASSERT_TRUE(done.ok()) << done.ToString();
    EXPECT_EQ(traffic.mismatches(), 0) << "page " << page;
    EXPECT_GT(traffic.reads_checked(), 20);
    EXPECT_GT(traffic.copies(), 5);
  }
  ASSERT_TRUE(card->Shutdown().ok());
}

TEST(DispatchTransferLimits, ReachTheLastByteOfABank) {
  BootedCard card;
  const CardDescription& description = card->description();
  const auto end = static_cast<uint32_t>(description.dram_base + description.dram_bank_bytes);
  const Region last{MemoryKind::kDram, 6, end - 128, 64, 128};
  const auto data = Pattern(128, 4);
  ASSERT_TRUE(card.Write(last, 0, data).ok());
  EXPECT_TRUE(*card.Read(last, 0, 128) == data);
  const Region l1{MemoryKind::kL1, 109, description.l1_base + description.l1_bytes - 64, 64, 64};
  ASSERT_TRUE(card.Write(l1, 0, ByteSpan(data).first(64)).ok());
  EXPECT_TRUE(std::equal(data.begin(), data.begin() + 64, card.Read(l1, 0, 64)->begin()));
}

TEST(DispatchTransferLimits, ACommandThatNeverFitsTheRingsIsRefused) {
  BootedCard card("sim:board=p100a", Tiny());
  const auto data = Pattern(kMaxTransferBytes, 6);
  const Region region{MemoryKind::kDram, -1, 0x100000, 2048, data.size()};
  const Status refused = card->TrySubmit(WriteCommand{region, 0, data}).status();
  EXPECT_EQ(refused.code(), StatusCode::kResourceExhausted) << refused.ToString();
  EXPECT_THAT(std::string(StatusMessage(refused)),
              HasSubstr("(issue_ring_bytes) has 32768 bytes and 16 entries"));
  ASSERT_TRUE(card.Write(region, 0, data).ok()) << "in smaller ones";
  EXPECT_TRUE(*card.Read(region, 0, data.size()) == data);
}

TEST(DispatchTransferLimits, RefusesBadCommandsAndStaysUsable) {
  BootedCard card;
  const Region region{MemoryKind::kDram, -1, 0, 64, 1024};
  const auto data = Pattern(32, 1);
  EXPECT_EQ(card->TrySubmit(WriteCommand{region, 1008, data}).status().code(),
            StatusCode::kInvalidArgument);
  EXPECT_EQ(card->submitted(0), 0u);
  ASSERT_TRUE(card.Write(region, 0, data).ok());
  EXPECT_TRUE(*card.Read(region, 0, 32) == data);
  EXPECT_EQ(card->completed(0), 2u);
}

// Half of it is on the ring by then, whatever the error's code says.
TEST(DispatchTransferLimits, AnErrorAmidACommand_LosesTheCard) {
  auto opened = OpenTestDevice("sim:board=p100a");
  ASSERT_TRUE(opened.ok()) << opened.status().ToString();
  LateDevice device(*std::move(opened));
  const auto card = *FirmwareCard::Create(device, SteadyClock(), {});
  ASSERT_TRUE(card->Boot().ok());
  const Region region{MemoryKind::kDram, -1, 0x100000, 2048, kMaxTransferBytes};
  const std::vector<std::byte> data = Pattern(kMaxTransferBytes, 1);  // more than one entry
  int writes = 0;
  device.before_write = [&writes](uint64_t) {
    return ++writes == 2 ? Error(StatusCode::kResourceExhausted, "no window is free") : OkStatus();
  };
  const Status failed = card->TrySubmit(WriteCommand{region, 0, data}).status();
  EXPECT_EQ(failed.code(), StatusCode::kResourceExhausted);
  EXPECT_EQ(card->TrySubmit(FillCommand{region, 0, 64, 1}).status(), failed);
  EXPECT_EQ(card->submitted(0), 0u);
  const Status booted = card->Boot();
  EXPECT_TRUE(booted.ok()) << booted.ToString();
}

TEST(DispatchTransferLimits, SaysSoBeforeBootAndAfterShutdown) {
  auto device = *OpenTestDevice("sim:board=p100a");
  auto card = *FirmwareCard::Create(*device, SteadyClock(), CardOptions());
  EXPECT_EQ(card->description().grid.x, device->info().tensix_columns.size() - 1);
  EXPECT_EQ(card->description().dram_banks, device->info().dram_port_xy[0].size());
  EXPECT_EQ(card->Poll().code(), StatusCode::kFailedPrecondition);
  EXPECT_TRUE(card->Shutdown().ok()) << "nothing to end";
  ASSERT_TRUE(card->Boot().ok());
  ASSERT_TRUE(card->RequestEvent({0, 0}).ok());
  ASSERT_TRUE(card->Shutdown().ok());
  EXPECT_EQ(card->RequestEvent({0, 0}).status().code(), StatusCode::kFailedPrecondition);
  EXPECT_TRUE(card->Shutdown().ok()) << "once more changes nothing";
  ASSERT_TRUE(card->Boot().ok()) << "and can be booted again";
}

// Samples of them.
bool HoldsAnyOf(ByteSpan memory, const std::vector<std::byte>& bytes) {
  constexpr size_t kSample = 16;
  for (size_t at = 0; at + kSample <= bytes.size(); at += 512) {
    if (memmem(memory.data(), memory.size(), &bytes[at], kSample) != nullptr) return true;
  }
  return false;
}

// The card writes the next page as soon as it knows that it is free, while the host still encodes the read.
TEST(DispatchTransferRings, AReadLargerThanTheRings_IsNotCleared) {
  auto opened = OpenTestDevice("sim:board=p100a");
  ASSERT_TRUE(opened.ok()) << opened.status().ToString();
  LateDevice device(*std::move(opened));
  CardOptions options = Tiny();
  options.issue_ring_bytes = 512 * 1024;
  options.fetch_queue_entries = 128;
  options.completion_ring_pages = 8;  // freed by two: one may be left when the host finds no more
  const auto card = *FirmwareCard::Create(device, SteadyClock(), options);
  ASSERT_TRUE(card->Boot().ok());
  // A record for each page.
  auto cores = std::make_shared<CoreLayout>();
  for (uint32_t worker = 0; worker < 110; ++worker) cores->workers.push_back(worker);
  const Region region{MemoryKind::kL1, -1, abi::kBufferAddress, 1024, 220 * 1024, cores};
  const std::vector<std::byte> data = Pattern(region.size_bytes, 4);
  ASSERT_TRUE(card->TrySubmit(WriteCommand{region, 0, data}).ok());
  ASSERT_TRUE(card->RequestEvent({0, card->submitted(0)}).ok());
  while (!card->idle()) ASSERT_TRUE(card->Poll().ok());
  for (const uint64_t clocks : {300, 500, 700, 1000, 1500, 2000, 3000, 5000}) {
    device.access_clocks = clocks;
    std::vector<std::byte> read_data(data.size());
    const auto sink = [&read_data](uint64_t at, ByteSpan bytes) {
      std::memcpy(read_data.data() + at, bytes.data(), bytes.size());
    };
    const auto read = card->TrySubmit(ReadCommand{region, 0, data.size(), sink});
    ASSERT_TRUE(read.ok()) << clocks << ": " << read.status().ToString();
    ASSERT_TRUE(card->RequestEvent({0, card->submitted(0)}).ok());
    while (!card->idle()) {
      const Status polled = card->Poll();
      ASSERT_TRUE(polled.ok()) << clocks << ": " << polled.ToString();
    }
    ASSERT_TRUE(read_data == data) << clocks;
  }
}

// A kernel on workers of its own runs all the time.
TEST(DispatchTransferRings, AreClearedAfterUseWhereTheCardIsNeverAtRest) {
  auto opened = OpenTestDevice("sim:board=p100a");
  ASSERT_TRUE(opened.ok()) << opened.status().ToString();
  MeddledDevice device(*std::move(opened));
  const auto card = *FirmwareCard::Create(device, SteadyClock(), {});
  ASSERT_TRUE(card->Boot().ok());
  ProgramSpec spec;
  spec.kernels.push_back({TestKernel("bump_brisc"), hw::kBrisc, {{5, 5, 5, 5}}});
  KernelArguments arguments;
  arguments.common = {0x40000, 64, 1, 0x4000'0000};  // so many clocks
  arguments.words_per_core = 1;
  arguments.per_core = {0};
  Route independent;
  independent.workers.set(5 * card->description().grid.x + 5);
  TileSet others;
  others.set(0);
  const LaunchCommand endless{TestProgram(spec, card->description().grid), {arguments}};
  ASSERT_TRUE(card->TrySubmit(independent, endless).ok());
  const Ticket kernel{0, card->submitted(0)};

  constexpr uint32_t kRounds = 16;
  constexpr size_t kBytes = 32 << 10;
  const Region region{MemoryKind::kDram, -1, 0x100000, 2048, kBytes};
  Ticket last;
  const auto submit = [&](const Command& command) {
    const auto ticket = card->TrySubmit({0, others}, command);
    ASSERT_TRUE(ticket.ok()) << ticket.status().ToString();
    ASSERT_TRUE(card->RequestEvent({0, **ticket}).ok());
    last = {0, **ticket};
  };
  const auto left_behind = [&] {
    int rounds = 0;
    for (const MutableByteSpan memory : device.host_memory) {
      for (uint32_t round = 0; round < kRounds; ++round) {
        rounds += HoldsAnyOf(memory, Pattern(kBytes, 100 + round)) ? 1 : 0;
      }
    }
    return rounds;
  };
  for (uint32_t round = 0; round < kRounds; ++round) {
    const std::vector<std::byte> bytes = Pattern(kBytes, 100 + round);
    submit(WriteCommand{region, 0, bytes});
    submit(ReadCommand{region, 0, kBytes, [](uint64_t, ByteSpan) {}});
    while (!card->IsDone(last)) ASSERT_TRUE(card->Poll().ok());
  }
  int looks = 0;
  while (left_behind() > 0 && ++looks < 100) {
    for (int poll = 0; poll < 10; ++poll) ASSERT_TRUE(card->Poll().ok());
  }
  EXPECT_EQ(left_behind(), 0);
  ASSERT_FALSE(card->IsDone(kernel)) << "the card is not at rest";
  const HostQueueRecord host = card->probe().HostRecord(0);
  EXPECT_THAT(host.records, Contains(HasSubstr("SEND_GO_SIGNAL")))
      << "what the kernel that runs was started with is told should it hang";
}

}  // namespace
}  // namespace ttfd
