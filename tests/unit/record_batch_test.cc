// A batch holds the bytes it was given, in entries that the card's rings take, and its size is exact.
#include <gtest/gtest.h>

#include <cstring>

#include "tests/support/random.h"
#include "tests/support/test_batch.h"

namespace ttfd::record_batch_test {
namespace {

void Append(std::vector<std::byte>& to, ByteSpan bytes, size_t padded) {
  to.insert(to.end(), bytes.begin(), bytes.end());
  to.resize(to.size() + padded - bytes.size());
}

// Against one vector of bytes, and the rule that a record goes where it fits.
TEST(RecordBatch, HoldsWhatItWasGivenWhateverTheSizes) {
  Random random(1);
  std::vector<std::byte> source(1 << 16);
  for (std::byte& byte : source) byte = static_cast<std::byte>(random());
  TestBatch batch(4096);  // used again and again, as the runtime does
  for (int round = 0; round < 300; ++round) {
    batch.Clear();
    std::vector<std::vector<std::byte>> expected;
    bool stalled = true;
    for (uint32_t record = random() % 12; record > 0; --record) {
      const uint32_t bytes = 64 * (1 + random() % (random() % 4 == 0 ? 64 : 4));
      if (stalled || expected.back().size() + bytes > 4096) expected.emplace_back();
      const uint32_t head = random() % (bytes + 1);
      const MutableByteSpan to = batch.Begin(head, bytes);
      ASSERT_EQ(to.size(), head);
      std::memcpy(to.data(), source.data(), head);
      Append(expected.back(), ByteSpan(source).first(head), head);
      for (uint32_t left = bytes - head; left > 0;) {
        const uint32_t padded = 1 + random() % left;
        const ByteSpan data = ByteSpan(source).subspan(random() % 1000, random() % (padded + 1));
        left -= padded;
        if (random() % 5 == 0) {
          batch.AddWords(0x04030201, padded);
          std::vector<std::byte> words(padded);
          for (uint32_t i = 0; i < padded; ++i) words[i] = static_cast<std::byte>(i % 4 + 1);
          Append(expected.back(), words, padded);
        } else {
          batch.Add(data, padded);
          Append(expected.back(), data, padded);
        }
      }
      stalled = random() % 6 == 0;
      if (stalled) batch.Stall();
      ASSERT_EQ(batch.entries().back().stall, stalled);
    }
    ASSERT_TRUE(batch.Bytes() == expected) << "round " << round;
    for (size_t i = 0; i < expected.size(); ++i) {
      ASSERT_EQ(batch.entries()[i].bytes, expected[i].size());
    }
    ASSERT_EQ(batch.empty(), expected.empty());
  }
}

TEST(RecordBatch, NamesLargeDataAndCopiesSmall) {
  const std::vector<std::byte> data(RecordBatch::kReferencedBytes);
  RecordBatch batch(4096);
  batch.Begin(64, 64 + 512 + 512);
  batch.Add(data, data.size());
  batch.Add(ByteSpan(data).first(511), 512);
  const auto segments = batch.SegmentsOf(0);
  ASSERT_EQ(segments.size(), 3u);
  EXPECT_EQ(segments[0].data, nullptr);
  EXPECT_EQ(segments[1].data, data.data());
  EXPECT_EQ(segments[2].data, nullptr);
  EXPECT_EQ(batch.copied().size(), 64u + 512);
}

}  // namespace
}  // namespace ttfd::record_batch_test
