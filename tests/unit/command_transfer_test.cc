// Transfers become records that move exactly the bytes asked for: the records are carried out on a
// map of bytes and compared with the definition of a region.
#include <gtest/gtest.h>

#include <map>
#include <utility>

#include "runtime/command/command_check.h"
#include "runtime/command/transfer_encoder.h"
#include "tests/support/random.h"
#include "tests/support/vector_sink.h"

namespace ttfd {
namespace {

const CardGeometry& Card() {
  static const CardGeometry card = [] {
    std::vector<uint32_t> dram;
    for (uint32_t bank = 0; bank < 7; ++bank) dram.push_back(hw::NocXy(17 + bank / 4, 12 + bank));
    return CardGeometry({1, 2, 3}, dram, {16, 3});
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
  size_t size() const { return size_; }

 private:
  static constexpr int16_t kNever = -1;
  std::map<uint32_t, std::vector<int16_t>> tiles_;
  size_t size_ = 0;
};

std::pair<uint32_t, uint64_t> Place(const Region& region, uint64_t offset) {
  const CardGeometry& card = Card();
  if (region.single_bank >= 0) {
    return {card.BankXy(region.kind, static_cast<uint32_t>(region.single_bank)),
            region.base_address + offset};
  }
  const uint64_t page = offset / region.page_bytes;
  const uint32_t banks = card.Banks(region.kind);
  return {card.BankXy(region.kind, static_cast<uint32_t>(page % banks)),
          region.base_address + page / banks * region.page_bytes + offset % region.page_bytes};
}

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
    EXPECT_EQ(linear->address % 64, 0u);
    for (uint64_t at = 0; at < linear->length; ++at) {
      data.push_back(memory.at({uint32_t{linear->noc_xy}, linear->address + at}));
    }
    return data;
  }
  const auto& paged = std::get<abi::RelayPaged>(command.prefetch);
  for (uint64_t at = 0; at < uint64_t{paged.pages} * paged.page_size; ++at) {
    data.push_back(
        memory.at(PagedPlace((paged.flags & abi::kRelayPagedIsDram) != 0, paged.start_page,
                             paged.base_address, paged.page_size, at)));
  }
  return data;
}

// Carries out write commands; a header without data takes it from the relay behind it.
void Execute(const VectorSink& sink, Memory& memory) {
  const auto commands = sink.Decode();
  ASSERT_TRUE(commands.ok()) << commands.status().ToString();
  for (size_t i = 0; i < commands->size(); ++i) {
    const DecodedDispatch& dispatch = *(*commands)[i].dispatch;
    const auto& relay = std::get<abi::RelayInline>((*commands)[i].prefetch);
    std::vector<std::byte> data(dispatch.data.begin(), dispatch.data.end());
    if (relay.id == abi::PrefetchId::kRelayInlineNoflush) data = Relay((*commands)[++i], memory);
    if (const auto* linear = std::get_if<abi::WriteLinear>(&dispatch.header)) {
      ASSERT_EQ(data.size(), linear->length);
      for (size_t at = 0; at < data.size(); ++at) {
        memory.Set({uint32_t{linear->noc_xy}, linear->address + at}, data[at]);
      }
    } else {
      const auto& paged = std::get<abi::WritePaged>(dispatch.header);
      ASSERT_EQ(data.size(), uint64_t{paged.pages} * paged.page_size);
      for (size_t at = 0; at < data.size(); ++at) {
        memory.Set(PagedPlace(paged.is_dram != 0, paged.start_page, paged.base_address,
                              paged.page_size, at),
                   data[at]);
      }
    }
  }
}

struct Case {
  Region region;
  uint64_t offset;
  uint64_t size;
};

Case RandomCase(Random& random, uint32_t alignment, uint64_t max_size) {
  const uint32_t pages[] = {64, 128, 192, 2048, 8192};
  Case c;
  c.region.kind = random() % 2 == 0 ? MemoryKind::kDram : MemoryKind::kL1;
  c.region.single_bank = random() % 4 == 0 ? static_cast<int32_t>(random() % 7) : -1;
  c.region.base_address = static_cast<uint32_t>(random() % 64) * 64;
  c.region.page_bytes = pages[random() % 5];
  c.region.size_bytes = 1 << 17;
  c.size = (1 + random() % (max_size / alignment)) * alignment;
  c.offset = random() % ((c.region.size_bytes - c.size) / alignment + 1) * alignment;
  return c;
}

// A small limit makes entries end within pages; a large one takes whole transfers.
class Transfer : public testing::TestWithParam<uint32_t> {};
INSTANTIATE_TEST_SUITE_P(EntryBytes, Transfer, testing::Values(2048, 4096, 131072));

TEST_P(Transfer, WritesLandWhereTheRegionSays) {
  Random random(1);
  for (int round = 0; round < 60; ++round) {
    const Case c = RandomCase(random, 16, 20000);
    std::vector<std::byte> data(c.size);
    for (std::byte& byte : data) byte = static_cast<std::byte>(random());
    VectorSink sink(GetParam());
    const WriteCommand command{c.region, c.offset, data};
    ASSERT_TRUE(CheckCommand(command, Card()).ok());
    ASSERT_TRUE(EncodeWrite(command, Card(), sink).ok());
    Memory memory;
    Execute(sink, memory);
    ASSERT_EQ(memory.size(), c.size) << "bytes outside the command were written";
    for (uint64_t at = 0; at < c.size; ++at) {
      ASSERT_EQ(memory.at(Place(c.region, c.offset + at)), data[at]) << "byte " << at;
    }
    size_t bytes = 0;
    for (const auto& record : sink.records) bytes += record.size();
    EXPECT_LE(bytes, MaxWriteRecordBytes(c.region, c.size, GetParam()));
  }
}

TEST_P(Transfer, FillsRepeatTheWord) {
  Random random(2);
  for (int round = 0; round < 20; ++round) {
    const Case c = RandomCase(random, 16, 9000);
    const uint32_t word = round == 0 ? 0 : static_cast<uint32_t>(random());
    VectorSink sink(GetParam());
    ASSERT_TRUE(EncodeFill({c.region, c.offset, c.size, word}, Card(), sink).ok());
    Memory memory;
    Execute(sink, memory);
    ASSERT_EQ(memory.size(), c.size);
    for (uint64_t at = 0; at < c.size; ++at) {
      ASSERT_EQ(memory.at(Place(c.region, c.offset + at)),
                static_cast<std::byte>(word >> 8 * (at % 4)));
    }
  }
}

TEST_P(Transfer, ReadsAskForEveryByteOnceAndInOrder) {
  Random random(3);
  const uint32_t max_piece = GetParam();
  for (int round = 0; round < 60; ++round) {
    const Case c = RandomCase(random, 1, 20000);
    Memory memory;
    for (uint64_t at = 0; at < c.region.size_bytes; ++at) {
      memory.Set(Place(c.region, at), static_cast<std::byte>(at * 7 + at / 251));
    }
    VectorSink sink;
    std::vector<ReadPiece> pieces;
    const ReadCommand command{c.region, c.offset, c.size, [](uint64_t, ByteSpan) {}};
    ASSERT_TRUE(EncodeRead(
                    command, max_piece, Card(),
                    [&pieces](const ReadPiece& piece) {
                      pieces.push_back(piece);
                      return static_cast<uint32_t>(pieces.size());
                    },
                    sink)
                    .ok());
    const auto commands = sink.Decode();
    ASSERT_TRUE(commands.ok()) << commands.status().ToString();
    ASSERT_EQ(commands->size(), 2 * pieces.size());
    uint64_t next = 0;
    for (size_t i = 0; i < pieces.size(); ++i) {
      const auto& header = std::get<abi::WriteLinearHHost>((*commands)[2 * i].dispatch->header);
      EXPECT_EQ(header.check, i + 1);
      const auto data = Relay((*commands)[2 * i + 1], memory);
      ASSERT_EQ(data.size(), pieces[i].length);
      ASSERT_EQ(header.length, 16 + data.size());
      ASSERT_LE(data.size(), max_piece);
      ASSERT_EQ(pieces[i].offset_in_read, next);
      for (uint32_t at = 0; at < pieces[i].take; ++at) {
        const uint64_t offset = c.offset + next + at;
        ASSERT_EQ(data[pieces[i].skip + at], static_cast<std::byte>(offset * 7 + offset / 251));
      }
      next += pieces[i].take;
    }
    EXPECT_EQ(next, c.size);
    EXPECT_LE(sink.records.size() * 128, MaxReadRecordBytes(c.region, c.size, max_piece));
  }
}

TEST(TransferCopy, MovesBytesBetweenRegionsOfDifferentPages) {
  Random random(4);
  for (int round = 0; round < 30; ++round) {
    Case from = RandomCase(random, 64, 20000);
    Case to = RandomCase(random, 64, 20000);
    to.region.base_address += 1 << 20;
    const uint64_t size = std::min(from.size, to.size);
    Memory memory;
    for (uint64_t at = 0; at < from.region.size_bytes; ++at) {
      memory.Set(Place(from.region, at), static_cast<std::byte>(at * 13 + at / 251));
    }
    VectorSink sink;
    const CopyCommand command{from.region, from.offset, to.region, to.offset, size};
    ASSERT_TRUE(CheckCommand(command, Card()).ok());
    ASSERT_TRUE(EncodeCopy(command, Card(), sink).ok());
    const size_t before = memory.size();
    Execute(sink, memory);
    ASSERT_EQ(memory.size(), before + size);
    for (uint64_t at = 0; at < size; ++at) {
      const uint64_t source = from.offset + at;
      ASSERT_EQ(memory.at(Place(to.region, to.offset + at)),
                static_cast<std::byte>(source * 13 + source / 251));
    }
    size_t bytes = 0;
    for (const auto& record : sink.records) bytes += record.size();
    EXPECT_LE(bytes, MaxCopyRecordBytes(command));
  }
}

TEST(CommandCheck, RefusesWhatTheRulesForbid) {
  const Region region{MemoryKind::kDram, -1, 0, 64, 1000};
  const std::vector<std::byte> data(32);
  const auto code = [](const Command& command) { return CheckCommand(command, Card()).code(); };
  const auto invalid = StatusCode::kInvalidArgument;
  EXPECT_EQ(code(WriteCommand{region, 0, data}), StatusCode::kOk);
  EXPECT_EQ(code(WriteCommand{region, 8, data}), invalid) << "misaligned";
  EXPECT_EQ(code(WriteCommand{region, 976, data}), invalid) << "beyond the end";
  EXPECT_EQ(code(WriteCommand{region, ~uint64_t{15}, data}), invalid) << "offset wraps";
  EXPECT_EQ(code(WriteCommand{region, 0, {}}), invalid) << "empty";
  EXPECT_EQ(code(FillCommand{region, 0, kMaxTransferBytes + 16, 0}), invalid) << "too large";
  EXPECT_EQ(code(ReadCommand{region, 999, 1, [](uint64_t, ByteSpan) {}}), StatusCode::kOk);
  EXPECT_EQ(code(ReadCommand{region, 0, 1, {}}), invalid) << "no sink";
  EXPECT_EQ(code(CopyCommand{region, 0, region, 32, 64}), invalid) << "misaligned copy";
  Region bad = region;
  bad.single_bank = 7;
  EXPECT_EQ(code(WriteCommand{bad, 0, data}), invalid) << "no such bank";
  bad = region;
  bad.page_bytes = 96;
  EXPECT_EQ(code(WriteCommand{bad, 0, data}), invalid) << "odd page";
  EXPECT_EQ(code(LaunchCommand{nullptr, {}}), invalid) << "no program";
}

}  // namespace
}  // namespace ttfd
