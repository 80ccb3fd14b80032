// What is written can be read: transfers through the booted firmware, across page, bank and ring
// ends, against a model of plain vectors.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>

#include "runtime/abi/l1_map.h"
#include "tests/support/booted_card.h"
#include "tests/support/random.h"

namespace ttfd {
namespace {

struct Setup {
  const char* name;
  const char* board;
  DispatcherOptions options;
};

// Rings so small that every one of them wraps all the time.
DispatcherOptions Tiny() {
  DispatcherOptions options;
  options.issue_ring_bytes = 8 * 1024;
  options.completion_ring_pages = 4;
  options.fetch_queue_entries = 3;
  options.command_ring_bytes = 8 * 1024;
  options.scratch_bytes = 512;
  options.dispatch_ring_pages = 4;
  options.dispatch_s_ring_pages = 4;
  return options;
}

// Odd sizes, so that wraps fall anywhere.
DispatcherOptions Odd() {
  DispatcherOptions options;
  options.issue_ring_bytes = 64 * 331;
  options.completion_ring_pages = 7;
  options.fetch_queue_entries = 5;
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
  EXPECT_TRUE(card.dispatcher->idle());
  const Status down = card.dispatcher->Shutdown();
  EXPECT_TRUE(down.ok()) << down.ToString();
}

// A region of the card and what it should hold.
struct Mirror {
  Region region;
  std::vector<std::byte> bytes;
};

class Traffic {
 public:
  Traffic(BootedCard& card, uint32_t seed, uint32_t max_bytes)
      : card_(card), random_(seed), max_bytes_(max_bytes) {
    const uint32_t page_sizes[] = {64, 192, 1024, 4096, 8192};
    const auto add = [&](MemoryKind kind, int32_t bank, uint32_t base, uint32_t page) {
      const uint64_t size = 40'000 + random_() % 64;
      mirrors_.push_back({{kind, bank, base, page, size}, std::vector<std::byte>(size)});
    };
    add(MemoryKind::kDram, -1, 0x40, page_sizes[random_() % 5]);
    add(MemoryKind::kDram, 3, 0x100000, 64);
    add(MemoryKind::kDram, -1, 0x200000, page_sizes[random_() % 5]);
    add(MemoryKind::kL1, -1, abi::kBufferAddress, page_sizes[random_() % 5]);
    add(MemoryKind::kL1, 77, abi::kBufferAddress + 0x10000, 128);
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

 private:
  Mirror& Any() { return mirrors_[random_() % mirrors_.size()]; }
  // A range of the mirror, aligned.
  std::pair<uint64_t, uint64_t> Range(const Mirror& mirror, uint32_t alignment) {
    const uint64_t most = std::min<uint64_t>(max_bytes_, mirror.bytes.size());
    const uint64_t size = (1 + random_() % (most / alignment)) * alignment;
    const uint64_t slots = (mirror.bytes.size() - size) / alignment + 1;
    return {random_() % slots * alignment, size};
  }

  Status Write() {
    Mirror& to = Any();
    const auto [offset, size] = Range(to, 16);
    const auto data = Pattern(size, random_());
    std::copy(data.begin(), data.end(), to.bytes.begin() + static_cast<long>(offset));
    return card_.Submit(WriteCommand{to.region, offset, data});
  }
  Status Fill() {
    Mirror& to = Any();
    const auto [offset, size] = Range(to, 16);
    const uint32_t word = random_();
    for (uint64_t at = 0; at < size; at += 4) StoreAt(to.bytes.data() + offset + at, word);
    return card_.Submit(FillCommand{to.region, offset, size, word});
  }
  Status Copy() {
    Mirror& from = Any();
    Mirror& to = Any();
    if (&from == &to) return OkStatus();
    const auto [offset, size] = Range(from, 64);
    const uint64_t to_offset = random_() % ((to.bytes.size() - size) / 64 + 1) * 64;
    std::memcpy(to.bytes.data() + to_offset, from.bytes.data() + offset, size);
    return card_.Submit(CopyCommand{from.region, offset, to.region, to_offset, size});
  }
  // Compares with what the model holds now: later commands must not be seen.
  Status Read() {
    const Mirror& from = Any();
    const auto [offset, size] = Range(from, 1);
    const auto begin = from.bytes.begin() + static_cast<long>(offset);
    auto expected =
        std::make_shared<std::vector<std::byte>>(begin, begin + static_cast<long>(size));
    auto next = std::make_shared<uint64_t>(0);
    ReadCommand read{from.region, offset, size, {}};
    read.sink = [this, expected, next](uint64_t at, ByteSpan data) {
      if (at != *next || at + data.size() > expected->size() ||
          !std::equal(data.begin(), data.end(), expected->begin() + static_cast<long>(at))) {
        ++mismatches_;
      }
      *next = at + data.size();
      if (*next == expected->size()) ++reads_checked_;
    };
    return card_.Submit(read);
  }

  BootedCard& card_;
  Random random_;
  const uint32_t max_bytes_;
  std::vector<Mirror> mirrors_;
  int reads_checked_ = 0;
  int mismatches_ = 0;
};

TEST_P(DispatchTransfer, CommandsTakeEffectInTheOrderOfSubmission) {
  BootedCard card(GetParam().board, GetParam().options);
  for (uint32_t seed = 1; seed <= 3; ++seed) {
    Traffic traffic(card, seed, seed == 3 ? 500 : 20'000);
    for (int step = 0; step < 250; ++step) {
      // Device memory starts as zero, mirrors of later rounds do too.
      const Status status = traffic.Step();
      ASSERT_TRUE(status.ok()) << "step " << step << ": " << status.ToString();
      ASSERT_EQ(traffic.mismatches(), 0) << "step " << step << " seed " << seed;
    }
    const Status done = card.Finish();
    ASSERT_TRUE(done.ok()) << done.ToString();
    EXPECT_EQ(traffic.mismatches(), 0);
    EXPECT_GT(traffic.reads_checked(), 50);
    ASSERT_TRUE(card.dispatcher->Shutdown().ok());
    ASSERT_TRUE(card.dispatcher->Boot().ok());
    for (const auto& [kind, base, bytes] : {std::tuple{MemoryKind::kDram, 0x0u, 0x40000u},
                                            {MemoryKind::kDram, 0x100000u, 0x10000u},
                                            {MemoryKind::kDram, 0x200000u, 0x10000u},
                                            {MemoryKind::kL1, 0xB0000u, 0x20000u}}) {
      const Region region{kind, -1, base, 4096,
                          uint64_t{bytes} * (kind == MemoryKind::kDram ? 8 : 110)};
      for (uint64_t at = 0; at < region.size_bytes; at += kMaxTransferBytes) {
        const uint64_t size = std::min(kMaxTransferBytes, region.size_bytes - at);
        ASSERT_TRUE(card.Submit(FillCommand{region, at, size, 0}).ok());
      }
    }
  }
}

TEST(DispatchTransferLimits, ReachTheLastByteOfABank) {
  BootedCard card;
  const CardDescription& description = card.dispatcher->card();
  const auto end = static_cast<uint32_t>(description.dram_base + description.dram_bank_bytes);
  const Region last{MemoryKind::kDram, 6, end - 128, 64, 128};
  const auto data = Pattern(128, 4);
  ASSERT_TRUE(card.Write(last, 0, data).ok());
  EXPECT_TRUE(*card.Read(last, 0, 128) == data);
  const Region l1{MemoryKind::kL1, 109, description.l1_base + description.l1_bytes - 64, 64, 64};
  ASSERT_TRUE(card.Write(l1, 0, ByteSpan(data).first(64)).ok());
  EXPECT_TRUE(std::equal(data.begin(), data.begin() + 64, card.Read(l1, 0, 64)->begin()));
}

TEST(DispatchTransferLimits, RefusesBadCommandsAndStaysUsable) {
  BootedCard card;
  const Region region{MemoryKind::kDram, -1, 0, 64, 1024};
  const auto data = Pattern(32, 1);
  EXPECT_EQ(card.dispatcher->Submit(WriteCommand{region, 1008, data}).status().code(),
            StatusCode::kInvalidArgument);
  EXPECT_EQ(card.dispatcher->submitted(0), 0u);
  ASSERT_TRUE(card.Write(region, 0, data).ok());
  EXPECT_TRUE(*card.Read(region, 0, 32) == data);
  EXPECT_EQ(card.dispatcher->completed(0), 2u);
}

TEST(DispatchTransferLimits, SaysSoBeforeBootAndAfterShutdown) {
  auto device = *OpenSimDevice(sim::DefaultOptions(sim::Board::kP100a));
  auto dispatcher = *Dispatcher::Create(*device, SteadyClock(), DispatcherOptions());
  EXPECT_EQ(dispatcher->card().grid.x, 11u);
  EXPECT_EQ(dispatcher->card().dram_banks, 7u);
  EXPECT_EQ(dispatcher->Poll().code(), StatusCode::kFailedPrecondition);
  EXPECT_TRUE(dispatcher->Shutdown().ok()) << "nothing to end";
  ASSERT_TRUE(dispatcher->Boot().ok());
  ASSERT_TRUE(dispatcher->Event().ok());
  ASSERT_TRUE(dispatcher->Shutdown().ok());
  EXPECT_EQ(dispatcher->Event().code(), StatusCode::kFailedPrecondition);
  EXPECT_TRUE(dispatcher->Shutdown().ok()) << "once more changes nothing";
  ASSERT_TRUE(dispatcher->Boot().ok()) << "and can be booted again";
}

}  // namespace
}  // namespace ttfd
