// Transfers become records that move exactly the bytes asked for: the records are carried out on a
// map of bytes and compared with the definition of a region.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "runtime/command/command_check.h"
#include "runtime/command/region_view.h"
#include "runtime/command/transfer_encoder.h"
#include "tests/support/random.h"
#include "tests/support/region_reference.h"
#include "tests/support/test_batch.h"

namespace ttfd::command_transfer_test {
namespace {

const CardGeometry& Card() {
  static const CardGeometry card = [] {
    std::vector<uint32_t> dram;
    for (uint32_t bank = 0; bank < 7; ++bank) dram.push_back(hw::NocXy(17 + bank / 4, 12 + bank));
    return CardGeometry({1, 2, 3}, dram, {{{16, 3}, {16, 5}}});
  }();
  return card;
}

// Memory of all tiles, byte by byte, that knows which bytes were ever written.
class Memory {
 public:
  void Set(std::pair<uint32_t, uint64_t> place, std::byte value) {
    auto& tile = tiles_[place.first];
    if (tile.size() <= place.second) tile.resize(place.second + 4096, kNever);
    if (tile[place.second] == kNever) ++size_;
    tile[place.second] = static_cast<int16_t>(value);
  }
  std::byte at(std::pair<uint32_t, uint64_t> place) const {
    const auto tile = tiles_.find(place.first);
    const bool there = tile != tiles_.end() && place.second < tile->second.size() &&
                       tile->second[place.second] != kNever;
    EXPECT_TRUE(there) << "byte " << place.second << " was never written";
    return there ? static_cast<std::byte>(tile->second[place.second]) : std::byte{0};
  }
  // Padding may never have been written.
  std::byte Get(std::pair<uint32_t, uint64_t> place) const {
    const auto tile = tiles_.find(place.first);
    if (tile == tiles_.end() || place.second >= tile->second.size()) return std::byte{0xEE};
    return static_cast<std::byte>(tile->second[place.second]);
  }
  bool Has(std::pair<uint32_t, uint64_t> place) const {
    const auto tile = tiles_.find(place.first);
    return tile != tiles_.end() && place.second < tile->second.size() &&
           tile->second[place.second] != kNever;
  }
  size_t size() const { return size_; }

 private:
  static constexpr int16_t kNever = -1;
  std::map<uint32_t, std::vector<int16_t>> tiles_;
  size_t size_ = 0;
};

// Tile and address of every byte of a region, by the naive reference.
class Places {
 public:
  explicit Places(const Region& region)
      : kind_(region.kind), reference_(region, Card().Banks(region.kind)) {}
  std::pair<uint32_t, uint64_t> operator()(uint64_t offset) const {
    const auto [bank, address] = reference_.At(offset);
    return {Card().BankXy(kind_, bank), address};
  }

 private:
  const MemoryKind kind_;
  const RegionReference reference_;
};

// What firmware does with the bytes of a paged or linear command.
std::pair<uint32_t, uint64_t> PagedPlace(bool is_dram, uint32_t start, uint64_t base,
                                         uint32_t page_size, uint64_t at) {
  const MemoryKind kind = is_dram ? MemoryKind::kDram : MemoryKind::kL1;
  const uint64_t page = start + at / page_size;
  const uint32_t banks = Card().Banks(kind);
  return {Card().BankXy(kind, static_cast<uint32_t>(page % banks)),
          base + page / banks * page_size + at % page_size};
}

std::vector<std::byte> Relay(const DecodedCommand& command, const Memory& memory) {
  std::vector<std::byte> data;
  if (const auto* linear = std::get_if<abi::RelayLinear>(&command.prefetch)) {
    EXPECT_EQ(linear->address % 16, 0u);
    for (uint64_t at = 0; at < linear->length; ++at) {
      data.push_back(memory.Get({uint32_t{linear->noc_xy}, linear->address + at}));
    }
    return data;
  }
  const auto& paged = std::get<abi::RelayPaged>(command.prefetch);
  EXPECT_EQ((paged.page_size | paged.base_address) % 64, 0u);
  for (uint64_t at = 0; at < uint64_t{paged.pages} * paged.page_size; ++at) {
    data.push_back(
        memory.Get(PagedPlace((paged.flags & abi::kRelayPagedIsDram) != 0, paged.start_page,
                              paged.base_address, paged.page_size, at)));
  }
  return data;
}

// Carries out write commands; a header without data takes it from the relay behind it.
void Execute(TestBatch& batch, Memory& memory) {
  const auto commands = batch.Decode();
  ASSERT_TRUE(commands.ok()) << commands.status().ToString();
  for (size_t i = 0; i < commands->size(); ++i) {
    const DecodedDispatch& dispatch = *(*commands)[i].dispatch;
    const auto& relay = std::get<abi::RelayInline>((*commands)[i].prefetch);
    std::vector<std::byte> data(dispatch.data.begin(), dispatch.data.end());
    if (relay.id == abi::PrefetchId::kRelayInlineNoflush) data = Relay((*commands)[++i], memory);
    if (const auto* linear = std::get_if<abi::WriteLinear>(&dispatch.header)) {
      ASSERT_EQ(data.size(), linear->length);
      ASSERT_EQ(linear->address % 16, 0u);
      for (size_t at = 0; at < data.size(); ++at) {
        memory.Set({uint32_t{linear->noc_xy}, linear->address + at}, data[at]);
      }
    } else {
      const auto& paged = std::get<abi::WritePaged>(dispatch.header);
      ASSERT_EQ(data.size(), uint64_t{paged.pages} * paged.page_size);
      ASSERT_EQ((paged.page_size | paged.base_address) % 16, 0u);
      for (size_t at = 0; at < data.size(); ++at) {
        memory.Set(PagedPlace(paged.is_dram != 0, paged.start_page, paged.base_address,
                              paged.page_size, at),
                   data[at]);
      }
    }
  }
}

constexpr uint32_t kPages[] = {1, 16, 48, 64, 100, 1000, 2048, 4096 + 16, 30000};

Region RandomRegion(Random& random) {
  const uint32_t page = kPages[random() % std::size(kPages)];
  const uint64_t size = page < 16 ? 700 : 1 + random() % 60000;
  Region region = MakeRegion(kLayouts[random() % std::size(kLayouts)], page, size, 12, random);
  region.base_address = static_cast<uint32_t>(random() % 64) * SlotAlignment(region.kind);
  return region;
}

// Every byte of memory that a command may have changed besides its own: what pads the pages.
uint64_t BytesOutside(const Memory& memory, const Region& region, const Places& places,
                      uint64_t offset, uint64_t size) {
  uint64_t outside = 0;
  for (uint64_t at = 0; at < region.size_bytes; ++at) {
    if (at >= offset && at < offset + size) continue;
    outside += memory.Has(places(at)) ? 1 : 0;
  }
  return outside;
}

TEST(RegionPlaces, AreWhereDealingPagesOneByOnePutsThem) {
  Random random(7);
  for (int round = 0; round < 400; ++round) {
    const Region region = RandomRegion(random);
    const uint32_t banks = Card().Banks(region.kind);
    const RegionReference reference(region, banks);
    const RegionView view(region, Card());
    uint64_t slots = 0;
    std::set<uint32_t> used;
    for (uint64_t page = 0; page < reference.pages(); ++page) {
      const PagePlace place = PlaceOfPage(region, banks, page);
      const RegionReference::Page expected = reference.page(page);
      ASSERT_EQ(place.bank, expected.bank);
      ASSERT_EQ(region.base_address + place.slot * StrideOf(region.kind, region.page_bytes),
                expected.address);
      slots = std::max(slots, place.slot + 1);
      used.insert(place.bank);
      const uint64_t offset = page * region.page_bytes;
      const RegionView::Place merged = view.PlaceOf(offset / view.page_bytes());
      ASSERT_EQ(merged.noc_xy, Card().BankXy(region.kind, expected.bank));
      ASSERT_EQ(merged.address + offset % view.page_bytes(), expected.address);
    }
    EXPECT_LE(slots, SlotsPerBank(region, banks));
    EXPECT_LE(used.size(), BanksUsed(region, banks));
  }
}

// A small limit makes entries end within pages; a large one takes whole transfers.
class Transfer : public testing::TestWithParam<uint32_t> {};
INSTANTIATE_TEST_SUITE_P(EntryBytes, Transfer, testing::Values(2048, 4096, 131072));

TEST_P(Transfer, WritesLandWhereTheRegionSays) {
  Random random(1);
  for (int round = 0; round < 150; ++round) {
    const Region region = RandomRegion(random);
    const auto [offset, size] = RandomRange(region, 20000, true, random);
    std::vector<std::byte> data(size);
    for (std::byte& byte : data) byte = static_cast<std::byte>(random());
    TestBatch batch(GetParam());
    const WriteCommand command{region, offset, data};
    ASSERT_TRUE(CheckCommand(Route(), command, Card()).ok())
        << CheckCommand(Route(), command, Card()).ToString();
    EncodeWrite(command, Card(), batch);
    Memory memory;
    Execute(batch, memory);
    const Places places(region);
    for (uint64_t at = 0; at < size; ++at) {
      ASSERT_EQ(memory.at(places(offset + at)), data[at]) << "byte " << at;
    }
    ASSERT_EQ(BytesOutside(memory, region, places, offset, size), 0u);
  }
}

TEST_P(Transfer, FillsRepeatTheWord) {
  Random random(2);
  for (int round = 0; round < 60; ++round) {
    const Region region = RandomRegion(random);
    const auto [offset, size] = RandomRange(region, 9000, true, random);
    const uint32_t word = round == 0 ? 0 : static_cast<uint32_t>(random());
    TestBatch batch(GetParam());
    EncodeFill({region, offset, size, word}, Card(), batch);
    Memory memory;
    Execute(batch, memory);
    const Places places(region);
    for (uint64_t at = 0; at < size; ++at) {
      ASSERT_EQ(memory.at(places(offset + at)), static_cast<std::byte>(word >> 8 * (at % 4)));
    }
    ASSERT_EQ(BytesOutside(memory, region, places, offset, size), 0u);
  }
}

TEST_P(Transfer, ReadsDeliverEveryByteOnce) {
  Random random(3);
  const uint32_t max_piece = GetParam();
  for (int round = 0; round < 150; ++round) {
    const Region region = RandomRegion(random);
    const auto [offset, size] = RandomRange(region, 20000, false, random);
    const Places places(region);
    Memory memory;
    for (uint64_t at = 0; at < region.size_bytes; ++at) {
      memory.Set(places(at), static_cast<std::byte>(at * 7 + at / 251));
    }
    TestBatch batch;
    std::vector<ReadPiece> pieces;
    const ReadCommand command{region, offset, size, [](uint64_t, ByteSpan) {}};
    ASSERT_TRUE(CheckCommand(Route(), command, Card()).ok());
    EncodeRead(command, max_piece, Card(), 1, &pieces, batch);
    const auto commands = batch.Decode();
    ASSERT_TRUE(commands.ok()) << commands.status().ToString();
    ASSERT_EQ(commands->size(), 2 * pieces.size());
    std::vector<bool> seen(size);
    for (size_t i = 0; i < pieces.size(); ++i) {
      const auto& header = std::get<abi::WriteLinearHHost>((*commands)[2 * i].dispatch->header);
      EXPECT_EQ(header.check, i + 1);
      const auto data = Relay((*commands)[2 * i + 1], memory);
      ASSERT_EQ(data.size(), pieces[i].shape.stored_bytes);
      ASSERT_EQ(header.length, 16 + data.size());
      ASSERT_LE(data.size(), max_piece);
      ForEachStretch(pieces[i].shape, size,
                     [&, begin = offset](uint32_t from, uint64_t to, uint32_t length) {
                       for (uint32_t at = 0; at < length; ++at) {
                         const uint64_t byte = begin + to + at;
                         ASSERT_FALSE(seen[to + at]);
                         seen[to + at] = true;
                         ASSERT_EQ(data[from + at], static_cast<std::byte>(byte * 7 + byte / 251));
                       }
                     });
    }
    EXPECT_EQ(std::count(seen.begin(), seen.end(), true), static_cast<int64_t>(size));
  }
}

TEST(TransferRead, SmallPagesShareRecords) {
  const auto records = [](const Region& region, uint64_t offset, uint64_t size) {
    TestBatch batch;
    std::vector<ReadPiece> pieces;
    const ReadCommand command{region, offset, size, [](uint64_t, ByteSpan) {}};
    EncodeRead(command, 1 << 20, Card(), 0, &pieces, batch);
    return pieces.size();
  };
  EXPECT_EQ(records({MemoryKind::kDram, -1, 0, 100, 100'000}, 1050, 90'000), 1u);
  EXPECT_EQ(records({MemoryKind::kL1, 3, 0, 100, 100'000}, 1050, 90'000), 1u);
  Region cores{MemoryKind::kL1, -1, 0, 100, 100'000};
  auto layout = std::make_shared<CoreLayout>();
  layout->workers = {1, 5, 9, 2};
  cores.cores = layout;
  EXPECT_EQ(records(cores, 1050, 90'000), 4u);
  layout->row_pages = 10;  // shards of five pages by fifty rows
  layout->shard_row_pages = 5;
  layout->shard_rows = 50;
  EXPECT_EQ(records(cores, 0, 100'000), 4u);
}

TEST(TransferWrite, LargePagesOverTheBanksTakeOnePagedCommandAnEntry) {
  const std::vector<std::byte> data(kMaxTransferBytes);
  const Region region{MemoryKind::kDram, -1, 0, 2048, 1 << 20};
  TestBatch batch;
  EncodeWrite({region, 4096, data}, Card(), batch);
  EXPECT_EQ(batch.Bytes().size(), 3u);  // 63, 63 and 2 pages
}

TEST(TransferCopy, MovesBytesBetweenAnyTwoLayouts) {
  Random random(4);
  int copies = 0;
  for (int round = 0; round < 4000 && copies < 150; ++round) {
    const Region from = RandomRegion(random);
    Region to = RandomRegion(random);
    if (round % 3 == 0) to.page_bytes = from.page_bytes;
    to.size_bytes = std::min<uint64_t>(to.size_bytes, to.page_bytes < 16 ? 700 : 60000);
    to.base_address += 1 << 20;
    const auto [from_offset, from_size] = RandomRange(from, 20000, true, random);
    const auto [to_offset, to_size] = RandomRange(to, 20000, true, random);
    const uint64_t size = std::min(from_size, to_size);
    const CopyCommand command{from, from_offset, to, to_offset, size};
    if (!CheckCommand(Route(), command, Card()).ok()) continue;
    ++copies;
    const Places from_places(from);
    const Places to_places(to);
    Memory memory;
    for (uint64_t at = 0; at < from.size_bytes; ++at) {
      memory.Set(from_places(at), static_cast<std::byte>(at * 13 + at / 251));
    }
    TestBatch batch;
    EncodeCopy(command, Card(), batch);
    Execute(batch, memory);
    for (uint64_t at = 0; at < size; ++at) {
      const uint64_t source = from_offset + at;
      ASSERT_EQ(memory.at(to_places(to_offset + at)),
                static_cast<std::byte>(source * 13 + source / 251));
    }
    ASSERT_EQ(BytesOutside(memory, to, to_places, to_offset, size), 0u);
  }
  EXPECT_EQ(copies, 150);
}

TEST(TransferCopy, KeepsTheUnitsOrIsRefused) {
  EXPECT_TRUE(CopyKeepsUnits(48, 16, 64, 32, 10'000));
  EXPECT_TRUE(CopyKeepsUnits(100, 16, 100, 216, 10'000));
  EXPECT_TRUE(CopyKeepsUnits(100, 116, 64, 128, 64));
  EXPECT_FALSE(CopyKeepsUnits(100, 0, 64, 0, 200));
  EXPECT_FALSE(CopyKeepsUnits(100, 0, 100, 16, 200));
}

TEST(TransferUnits, ATransferMayBeCutWhereAUnitBegins) {
  Random random(5);
  for (int round = 0; round < 1000; ++round) {
    const uint32_t page = 1 + random() % 5000;
    const uint64_t offset = random() % 100 * page + random() % page / 16 * 16;
    const uint64_t most = 16 + random() % 9000;
    const uint64_t cut = CutAtUnit(page, offset, most);
    EXPECT_TRUE(IsUnitBoundary(page, ~uint64_t{0}, offset + cut));
    EXPECT_GT(cut, 0u);
    EXPECT_LE(cut, most);
    EXPECT_GT(cut + 16, most);
  }
}

TEST(CommandCheck, RefusesWhatTheRulesForbid) {
  const Region region{MemoryKind::kDram, -1, 0, 64, 1000};
  const std::vector<std::byte> data(32);
  const auto code = [](const Command& command) {
    return CheckCommand(Route(), command, Card()).code();
  };
  const auto invalid = StatusCode::kInvalidArgument;
  EXPECT_EQ(code(WriteCommand{region, 0, data}), StatusCode::kOk);
  EXPECT_EQ(code(WriteCommand{region, 8, data}), invalid) << "misaligned";
  EXPECT_EQ(code(WriteCommand{region, 976, data}), invalid) << "beyond the end";
  EXPECT_EQ(code(WriteCommand{region, ~uint64_t{15}, data}), invalid) << "offset wraps";
  EXPECT_EQ(code(WriteCommand{region, 0, {}}), invalid) << "empty";
  EXPECT_EQ(code(FillCommand{region, 0, kMaxTransferBytes + 16, 0}), invalid) << "too large";
  EXPECT_EQ(code(ReadCommand{region, 999, 1, [](uint64_t, ByteSpan) {}}), StatusCode::kOk);
  EXPECT_EQ(code(ReadCommand{region, 0, 1, {}}), invalid) << "no batch";
  EXPECT_EQ(code(CopyCommand{region, 0, region, 40, 16}), invalid) << "misaligned copy";
  Region bad = region;
  bad.single_bank = 7;
  EXPECT_EQ(code(WriteCommand{bad, 0, data}), invalid) << "no such bank";
  bad = region;
  bad.page_bytes = 0;
  EXPECT_EQ(code(WriteCommand{bad, 0, data}), invalid) << "no page";
  bad.page_bytes = 100;
  EXPECT_EQ(code(WriteCommand{bad, 0, data}), StatusCode::kOk);
  EXPECT_EQ(code(WriteCommand{bad, 64, ByteSpan(data).first(16)}), StatusCode::kOk);
  EXPECT_EQ(code(WriteCommand{bad, 96, ByteSpan(data).first(4)}), StatusCode::kOk) << "page's end";
  EXPECT_EQ(code(WriteCommand{bad, 96, ByteSpan(data).first(16)}), invalid) << "within the next";
  EXPECT_EQ(code(CopyCommand{bad, 0, region, 0, 200}), invalid) << "would shift bytes";
  bad.base_address = 16;
  EXPECT_EQ(code(WriteCommand{bad, 0, data}), invalid) << "misaligned base";
  bad.base_address = 0xFFFFFFC0;
  EXPECT_EQ(code(WriteCommand{bad, 0, data}), invalid) << "leaves the bank";
  auto cores = std::make_shared<CoreLayout>();
  bad = {MemoryKind::kL1, -1, 0, 64, 1000, cores};
  EXPECT_EQ(code(WriteCommand{bad, 0, data}), invalid) << "no workers";
  cores->workers = {0, Card().worker_count()};
  EXPECT_EQ(code(WriteCommand{bad, 0, data}), invalid) << "no such worker";
  cores->workers = {3, 1, 3};
  EXPECT_EQ(code(WriteCommand{bad, 0, data}), invalid) << "two shards in the same bytes";
  cores->workers = {0, 1};
  EXPECT_EQ(code(WriteCommand{bad, 0, data}), StatusCode::kOk);
  cores->row_pages = cores->shard_row_pages = 1;
  cores->shard_rows = 7;
  EXPECT_EQ(code(WriteCommand{bad, 0, data}), invalid) << "sixteen rows in two shards of seven";
  bad.kind = MemoryKind::kDram;
  EXPECT_EQ(code(WriteCommand{bad, 0, data}), invalid) << "workers of DRAM";
  EXPECT_EQ(code(LaunchCommand{nullptr, {}}), invalid) << "no program";
}

// What a slice of a client's transfer takes on the ring, whatever the buffers look like.
TEST(TransferSize, ASliceFitsHalfOfTheIssueRing) {
  constexpr uint64_t kIssueRingBytes = 4 << 20;  // the default, and the least of the daemon's
  constexpr uint64_t kWhole = 300'000;
  constexpr uint32_t kSmall[] = {1, 8, 16, 24, 32, 48, 64, 80, 256, 1040, 4096};
  const auto bytes = [](const RecordBatch& batch) {
    uint64_t sum = 0;
    for (const RecordBatch::Entry& entry : batch.entries()) sum += entry.bytes;
    return sum;
  };
  Random random(9);
  uint64_t most = 0;
  for (const uint32_t page : kSmall) {
    for (const Layout layout : kLayouts) {
      Region region = MakeRegion(layout, page, kWhole, 12, random);
      const uint64_t limit = SliceLimit(region.kind, page, kMaxTransferBytes);
      const uint64_t size = CutAtUnit(page, 0, limit);
      std::vector<std::byte> data(size);
      RecordBatch written(128 << 10), filled(128 << 10), read(128 << 10);
      EncodeWrite({region, 0, data}, Card(), written);
      EncodeFill({region, 0, size, 1}, Card(), filled);
      std::vector<ReadPiece> completions;
      EncodeRead({region, 0, size, [](uint64_t, ByteSpan) {}}, 2 << 20, Card(), 0, &completions,
                 read);
      for (const RecordBatch* batch : {&written, &filled, &read}) {
        most = std::max(most, bytes(*batch));
      }
      for (const Layout to_layout : kLayouts) {
        Region to = MakeRegion(to_layout, page, kWhole, 12, random);
        to.base_address = 1 << 20;
        const uint64_t part = std::min(size, SliceLimit(to.kind, page, kMaxTransferBytes));
        RecordBatch copied(128 << 10);
        EncodeCopy({region, 0, to, 0, CutAtUnit(page, 0, part)}, Card(), copied);
        most = std::max(most, bytes(copied));
      }
    }
  }
  EXPECT_GT(most, kMaxTransferBytes);
  EXPECT_LE(most, kIssueRingBytes / 2);
}

}  // namespace
}  // namespace ttfd::command_transfer_test
