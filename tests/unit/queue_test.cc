// The rings against simple references: what the host believes and what the card would do stay equal
// through every wrap.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <deque>
#include <map>

#include "runtime/abi/host_queue.h"
#include "runtime/abi/l1_map.h"
#include "runtime/queue/completion_queue.h"
#include "runtime/queue/fetch_queue.h"
#include "runtime/queue/go_counts.h"
#include "runtime/queue/issue_ring.h"
#include "runtime/queue/timeline.h"
#include "tests/support/random.h"

namespace ttfd {
namespace {

// A tile's memory behind a window.
class FakeWindow final : public Window {
 public:
  Status Read(uint64_t address, MutableByteSpan to) override {
    std::memcpy(to.data(), memory.data() + address, to.size());
    ++reads;
    return OkStatus();
  }
  Status Write(uint64_t address, ByteSpan from) override {
    std::memcpy(memory.data() + address, from.data(), from.size());
    ++writes;
    return OkStatus();
  }
  template <typename T>
  T At(uint64_t address) const {
    return LoadAt<T>(memory.data() + address);
  }
  std::vector<std::byte> memory = std::vector<std::byte>(0x20000);
  int writes = 0;
  int reads = 0;
};

bool AllZero(ByteSpan bytes) {
  return std::all_of(bytes.begin(), bytes.end(),
                     [](std::byte byte) { return byte == std::byte{0}; });
}

TEST(PlaceEntry, IsContiguousAndNeverStraddlesTheEnd) {
  for (uint32_t ring = 128; ring <= 640; ring += 64) {
    for (uint32_t position = 0; position <= ring; position += 64) {
      for (uint32_t size = 64; size <= ring; size += 64) {
        const uint32_t at = abi::PlaceEntry(position, size, ring);
        EXPECT_LE(at + size, ring);
        EXPECT_TRUE(at == position || at == 0);
        if (position + size <= ring) {
          EXPECT_EQ(at, position);
        }
      }
    }
  }
}

// What Space says of several pieces is what happens when they are put in.
TEST(IssueRing, Space_SaysBeforehandWhatFits) {
  int fitted = 0, refused = 0;
  for (uint32_t seed = 0; seed < 40; ++seed) {
    Random random(seed);
    const uint32_t ring_bytes = 64 * (8 + random() % 20);
    const uint32_t max_entry = ring_bytes / 2 / 64 * 64;
    std::vector<std::byte> memory(ring_bytes);
    IssueRing ring(memory, 2 + random() % 5, max_entry);
    for (int step = 0; step < 500; ++step) {
      IssueRing::Space space = ring.space();
      bool fits = true, fit = true;
      for (uint32_t piece = random() % 4 + 1; piece > 0 && fit; --piece) {
        const uint32_t bytes = 64 * (1 + random() % (max_entry / 64));
        const bool ends = random() % 3 == 0;
        fits = space.Take(bytes, ends);
        if (!ring.CanExtend(bytes)) {
          if (ring.open()) ring.Close();
          fit = ring.CanOpen(bytes);
        }
        ASSERT_EQ(fits, fit) << bytes << " bytes";
        if (!fit) break;
        ring.Append(bytes);
        if (ends) ring.Close();
      }
      ++(fit ? fitted : refused);
      const uint32_t waiting = ring.entries_closed() - ring.entries_freed();
      ring.FreeBelow(ring.entries_freed() + (waiting == 0 ? 0 : random() % (waiting + 1)));
    }
  }
  EXPECT_GT(fitted, 1000);
  EXPECT_GT(refused, 1000);
}

// Appends records of random sizes and frees entries at random; a card that evaluates PlaceEntry on
// the announced sizes must find each entry's bytes, and no entry in flight is overwritten.
TEST(IssueRing, AgreesWithTheCardAboutEveryEntry) {
  for (uint32_t seed = 0; seed < 40; ++seed) {
    Random random(seed);
    const uint32_t ring_bytes = 64 * (8 + random() % 20);
    const uint32_t slots = 2 + random() % 5;
    const uint32_t max_entry = ring_bytes / 2 / 64 * 64;
    std::vector<std::byte> memory(ring_bytes);
    IssueRing ring(memory, slots, max_entry);
    struct Expected {
      uint32_t number;
      uint32_t size;
      uint32_t word;
    };
    std::deque<Expected> in_flight;
    uint32_t card_position = 0, next_word = 1, open_word = 0, taken = 0;
    std::map<uint32_t, uint32_t> words;  // by entry
    const auto close = [&] {
      const IssueRing::Entry entry = ring.Close();
      in_flight.push_back({entry.number, static_cast<uint32_t>(entry.bytes.size()), open_word});
      words[entry.number] = open_word;
    };
    const auto take = [&] {
      const Expected entry = in_flight.front();
      in_flight.pop_front();
      ASSERT_EQ(entry.number, taken);
      card_position = abi::PlaceEntry(card_position, entry.size, ring_bytes);
      for (uint32_t at = 0; at < entry.size; at += 4) {
        ASSERT_EQ(LoadAt<uint32_t>(memory.data() + card_position + at), entry.word);
      }
      card_position += entry.size;
      ring.FreeBelow(++taken);
    };
    // What the card has taken is there until it is done with it, unless its room was needed.
    uint32_t done = 0;
    const auto look = [&] {
      const std::vector<IssueRing::Entry> kept = ring.EntriesFrom(done);
      uint32_t next = ring.entries_closed() - static_cast<uint32_t>(kept.size());
      ASSERT_LE(next, ring.entries_freed()) << "none that the card has not taken is missing";
      ASSERT_GE(next, done);
      for (const IssueRing::Entry& entry : kept) {
        ASSERT_EQ(entry.number, next++);
        for (size_t at = 0; at < entry.bytes.size(); at += 4) {
          ASSERT_EQ(LoadAt<uint32_t>(entry.bytes.data() + at), words[entry.number]);
        }
      }
    };
    for (int step = 0; step < 2000; ++step) {
      const uint32_t bytes = 64 * (1 + random() % (max_entry / 64));
      if (ring.open() && (random() % 3 == 0 || !ring.CanExtend(bytes))) close();
      if (!ring.open()) {
        while (!ring.CanOpen(bytes)) {
          ASSERT_FALSE(in_flight.empty()) << "an empty ring takes any entry";
          ASSERT_NO_FATAL_FAILURE(take());
        }
        open_word = next_word++;
      }
      const MutableByteSpan record = ring.Append(bytes);
      for (uint32_t at = 0; at < bytes; at += 4) StoreAt(record.data() + at, open_word);
      ASSERT_LE(in_flight.size() + 1, slots);
      ASSERT_NO_FATAL_FAILURE(look());
      if (random() % 8 == 0) {
        const bool all = random() % 2 == 0;
        ring.ClearBelow(done += random() % (taken - done + 1),
                        all ? ring_bytes : random() % ring_bytes);
        const uint32_t last = ring.open() ? open_word : next_word;
        const uint32_t oldest = words.contains(done) ? words[done] : last;
        for (size_t at = 0; all && at < memory.size(); at += 4) {
          const auto word = LoadAt<uint32_t>(memory.data() + at);
          ASSERT_TRUE(word == 0 || word >= oldest) << "what is done is left behind at " << at;
        }
      }
      if (random() % 32 == 0) {
        close();
        while (!in_flight.empty()) ASSERT_NO_FATAL_FAILURE(take());
        ring.ClearBelow(done = taken, ring_bytes);
        ASSERT_TRUE(AllZero(memory)) << "nothing is left of what was sent";
        continue;
      }
      if (random() % 2 == 0 && !in_flight.empty()) {
        ASSERT_NO_FATAL_FAILURE(take());
      }
    }
    if (ring.open()) close();
    while (!in_flight.empty()) ASSERT_NO_FATAL_FAILURE(take());
    ring.ClearBelow(taken, ring_bytes);
    EXPECT_EQ(ring.free_bytes(), ring_bytes);
    EXPECT_TRUE(AllZero(memory));
    EXPECT_EQ(ring.free_slots(), slots);
  }
}

TEST(IssueRing, IgnoresOldNews) {
  std::vector<std::byte> memory(1024);
  IssueRing ring(memory, 4, 512);
  for (int i = 0; i < 3; ++i) {
    ring.Append(64);
    ring.Close();
  }
  ring.FreeBelow(2);
  ring.FreeBelow(1);
  EXPECT_EQ(ring.entries_freed(), 2u);
  ring.FreeBelow(100);
  EXPECT_EQ(ring.entries_freed(), 3u) << "never more than there are";
}

TEST(FetchQueue, WritesSizesIntoSlotsModuloTheRing) {
  FakeWindow window;
  alignas(4) std::array<std::byte, sizeof(abi::FetchPointer)> pointer{};
  FetchQueue queue(window, pointer, 0xA000, 3);
  ASSERT_TRUE(queue.Push(0, 64).ok());
  ASSERT_TRUE(queue.Push(5, abi::kMaxEntryBytes).ok());
  EXPECT_EQ(window.At<uint16_t>(0xA000), 64u >> 4);
  EXPECT_EQ(window.At<uint16_t>(0xA002), 0u);
  EXPECT_EQ(window.At<uint16_t>(0xA004), 0x2000u);
  EXPECT_EQ(queue.entries_fetched(), 0u);
  StoreAt(pointer.data(), uint32_t{77});
  EXPECT_EQ(queue.entries_fetched(), 77u);
}

// The dispatcher's side of the completion ring.
class FakeDispatcher {
 public:
  explicit FakeDispatcher(uint32_t pages) : ring_(pages * 4096), pointer_(16) {}

  bool Write(uint32_t check, ByteSpan data, uint32_t acknowledged) {
    const auto length = static_cast<uint32_t>(16 + data.size());
    const uint32_t pages = (length + 4095) / 4096;
    if (written_ + pages - acknowledged > ring_.size() / 4096) return false;
    abi::WriteLinearHHost command{};
    command.id = abi::DispatchId::kWriteLinearHHost;
    command.check = check;
    command.length = length;
    std::vector<std::byte> record(length);
    StoreAt(record.data(), command);
    std::copy(data.begin(), data.end(), record.begin() + 16);
    const size_t begin = written_ * size_t{4096} % ring_.size();
    for (size_t i = 0; i < record.size(); ++i) ring_[(begin + i) % ring_.size()] = record[i];
    written_ += pages;
    StoreAt(pointer_.data(), written_);
    return true;
  }
  // As if that many pages had been written and read before.
  MutableByteSpan ring() { return ring_; }
  ByteSpan pointer() const { return pointer_; }
  std::vector<std::byte>& ring_bytes() { return ring_; }
  void SetWritten(uint32_t pages) {
    written_ = pages;
    StoreAt(pointer_.data(), pages);
  }

 private:
  std::vector<std::byte> ring_;
  std::vector<std::byte> pointer_;
  uint32_t written_ = 0;
};

uint32_t Acknowledged(const FakeWindow& window) {
  return window.At<uint32_t>(abi::kControlBlockAddress +
                             offsetof(abi::ControlBlock, completion_pages_read));
}

TEST(CompletionQueue, GivesEveryRecordOnceThroughWrapsAndNeverStarvesTheCard) {
  for (uint32_t pages : {2u, 3u, 4u, 7u}) {
    Random random(pages);
    FakeDispatcher card(pages);
    FakeWindow window;
    CompletionQueue queue(card.pointer(), card.ring(), window);
    std::deque<std::vector<std::byte>> sent;
    uint32_t next = 0, seen = 0;
    for (int step = 0; step < 3000; ++step) {
      std::vector<std::byte> data(random() % (pages / 2 * 4096 - 16));
      for (std::byte& byte : data) byte = static_cast<std::byte>(random());
      if (card.Write(next, data, Acknowledged(window))) {
        ++next;
        sent.push_back(std::move(data));
        if (random() % 2 == 0) continue;
      }
      for (;;) {
        const auto record = queue.Next();
        ASSERT_TRUE(record.ok()) << record.status().ToString();
        if (!record->has_value()) break;
        ASSERT_EQ((*record)->command.check, seen++);
        std::vector<std::byte> got((*record)->first.begin(), (*record)->first.end());
        got.insert(got.end(), (*record)->second.begin(), (*record)->second.end());
        ASSERT_EQ(got, sent.front());
        sent.pop_front();
        queue.Pop(**record);
        ASSERT_TRUE(queue.Acknowledge(false).ok());
        ASSERT_LT(queue.unacknowledged(), std::max(pages / 4, 1u));
      }
      if (random() % 2 == 0) queue.Clear(random() % 100'000);
      if (random() % 8 != 0) continue;
      queue.ClearAll();
      ASSERT_TRUE(AllZero(card.ring())) << "nothing is left of what was read";
    }
    EXPECT_GT(seen, 1000u);
    for (;;) {
      const auto record = queue.Next();
      ASSERT_TRUE(record.ok());
      if (!record->has_value()) break;
      queue.Pop(**record);
    }
    ASSERT_TRUE(queue.Acknowledge(true).ok());
    EXPECT_EQ(queue.unacknowledged(), 0u);
  }
}

TEST(CompletionQueue, AcknowledgesByQuartersOfTheRing) {
  FakeDispatcher card(16);
  FakeWindow window;
  CompletionQueue queue(card.pointer(), card.ring(), window);
  for (uint32_t i = 0; i < 12; ++i) {
    ASSERT_TRUE(card.Write(i, {}, Acknowledged(window)));
    const auto record = queue.Next();
    queue.Pop(**record);
    ASSERT_TRUE(queue.Acknowledge(false).ok());
  }
  EXPECT_EQ(window.writes, 3);
}

TEST(CompletionQueue, Acknowledge_ReadsNothingOfTheCard) {
  FakeDispatcher card(16);
  FakeWindow window;
  CompletionQueue queue(card.pointer(), card.ring(), window);
  for (uint32_t i = 0; i < 40; ++i) {
    ASSERT_TRUE(card.Write(i, {}, Acknowledged(window)));
    queue.Pop(**queue.Next());
    ASSERT_TRUE(queue.Acknowledge(true).ok());
    EXPECT_EQ(Acknowledged(window), i + 1);
  }
  EXPECT_EQ(window.writes, 40);
  EXPECT_EQ(window.reads, 0) << "a PCIe read waits for the card";
}

TEST(CompletionQueue, AcknowledgeRest_RefusesAnOverwrittenWord) {
  FakeDispatcher card(16);
  FakeWindow window;
  CompletionQueue queue(card.pointer(), card.ring(), window);
  EXPECT_FALSE(*queue.AcknowledgeRest()) << "nothing was read yet";
  for (uint32_t i = 0; i < 2; ++i) {
    ASSERT_TRUE(card.Write(i, {}, Acknowledged(window)));
    queue.Pop(**queue.Next());
    if (i == 0) {
      EXPECT_TRUE(*queue.AcknowledgeRest());
    }
  }
  EXPECT_EQ(Acknowledged(window), 1u);
  constexpr uint64_t kPagesRead =
      abi::kControlBlockAddress + offsetof(abi::ControlBlock, completion_pages_read);
  ASSERT_TRUE(WriteWord(window, kPagesRead, 1u - 16u).ok());
  const Status refused = queue.AcknowledgeRest().status();
  EXPECT_EQ(refused.code(), StatusCode::kDeadlineExceeded);
  EXPECT_THAT(std::string(StatusMessage(refused)), testing::HasSubstr("4294967281 instead of 1"));
  EXPECT_EQ(Acknowledged(window), 1u - 16u) << "the evidence stays";
}

TEST(CompletionQueue, RefusesWhatCannotBeARecord) {
  FakeDispatcher card(4);
  FakeWindow window;
  CompletionQueue queue(card.pointer(), card.ring(), window);
  card.SetWritten(5);
  EXPECT_EQ(queue.Next().status().code(), StatusCode::kInternal) << "more than the ring holds";
  card.SetWritten(1);
  EXPECT_EQ(queue.Next().status().code(), StatusCode::kInternal) << "no command";
  abi::WriteLinearHHost command{};
  command.id = abi::DispatchId::kWriteLinearHHost;
  command.length = 15;
  StoreAt(card.ring_bytes().data(), command);
  EXPECT_EQ(queue.Next().status().code(), StatusCode::kInternal) << "shorter than its command";
  command.length = 4097;
  StoreAt(card.ring_bytes().data(), command);
  EXPECT_EQ(queue.Next().status().code(), StatusCode::kInternal) << "longer than what is there";
}

TEST(Timeline, EventsComeInOrderAndTicketsAreNeverUsedTwice) {
  Timeline<int> timeline;
  timeline.StartEventsAt(0xFFFFFFFE);
  EXPECT_EQ(timeline.Submit(), 1u);
  EXPECT_EQ(timeline.Submit(), 2u);
  const uint32_t first = timeline.Ask(2, 10);
  EXPECT_EQ(timeline.Submit(), 3u);
  const uint32_t second = timeline.Ask(3, 20);
  const uint32_t third = timeline.Ask(3, 30);
  EXPECT_EQ(third, 0u) << "ids wrap";
  EXPECT_FALSE(timeline.Seen(second).has_value()) << "out of turn";
  const auto seen = timeline.Seen(first);
  ASSERT_TRUE(seen.has_value());
  EXPECT_EQ(seen->mark, 10);
  EXPECT_EQ(seen->ticket, 2u);
  EXPECT_EQ(timeline.Seen(second)->ticket, 3u);
  EXPECT_TRUE(timeline.waits_for_events());
  EXPECT_TRUE(timeline.Seen(third).has_value());
  EXPECT_FALSE(timeline.waits_for_events());
  timeline.Ask(timeline.Submit(), 40);
  timeline.Forget();
  EXPECT_FALSE(timeline.waits_for_events());
  EXPECT_EQ(timeline.Submit(), 5u) << "tickets are never used twice";
}

TEST(GoCounts, CountOnBeyond32Bits) {
  abi::GoCounts words{};
  GoCounts counts{BytesOf(words)};
  uint64_t sent = 0;
  for (const uint32_t word : {0x6000'0000u, 0xC000'0000u, 0x1000'0000u, 0x7000'0000u}) {
    sent += 0x6000'0000;
    words.answered[3] = word;
    const auto answered = counts.Answered(3, sent + 5);
    ASSERT_TRUE(answered.ok()) << answered.status().ToString();
    EXPECT_EQ(*answered, word == 0x1000'0000u || word == 0x7000'0000u ? (1ull << 32) + word : word);
    sent = *answered;
  }
}

TEST(GoCounts, WhatCannotBeIsAnError) {
  abi::GoCounts words{};
  GoCounts counts{BytesOf(words)};
  words.answered[1] = 5;
  EXPECT_EQ(counts.Answered(1, 4).status().code(), StatusCode::kInternal) << "more than were sent";
  EXPECT_EQ(*counts.Answered(1, 5), 5u);
  words.answered[1] = 4;
  EXPECT_EQ(counts.Answered(1, 6).status().code(), StatusCode::kInternal) << "less than before";
}

}  // namespace
}  // namespace ttfd
