// The kernels of a lane as a model on the host: their order of segments, slots and links of the least size, under
// random schedules. A ring never stops before all segments are where they belong, and no slot is filled before it is
// free.
#include <gtest/gtest.h>

#include <array>
#include <deque>
#include <random>
#include <utility>
#include <vector>

#include "client/mesh/src/ring.h"
#include "firmware/mesh/chunks.h"

namespace ttfd::mesh {
namespace {

constexpr size_t kLinkSegments = 4;  // that a link takes without its receiver, at least

using Segment = std::pair<uint32_t, uint32_t>;  // number of its chunk, and its number there

// The link worker of one chip, and its adders. Each step does something, or nothing where the kernel would wait.
class Worker {
 public:
  explicit Worker(const RingWords& words)
      : words_(words),
        own_(words_, words_.schedule.own_chunks, words_.schedule.own_first),
        passed_(words_, words_.schedule.forwarded, words_.schedule.received_first),
        incoming_(words_, words_.schedule.received, words_.schedule.received_first) {}
  Worker(const Worker&) = delete;

  bool finished() const {
    return own_.done() && passed_.done() && incoming_.done() && link_.empty() && busy_.empty();
  }

  // ring_sender.cc.
  bool Send(Worker* to) {
    if (own_.done() && passed_.done()) return false;
    const bool is_own = !own_.done() && (passed_.done() || own_.group() <= passed_.group());
    Order& order = is_own ? own_ : passed_;
    const Segment segment = {order.chunk(), order.segment()};
    const uint32_t number = order.NumberAmong(words_.schedule.received);
    const uint32_t slot = number % kRingSlots;
    if (!is_own && done_[slot] < number / kRingSlots + 1) return false;
    const bool is_empty = Extents(words_.chunks).SegmentBytes(segment.first, segment.second) == 0;
    if (!is_empty && to->link_.size() == kLinkSegments) return false;
    if (!is_own) {
      EXPECT_EQ(slots_[slot], segment);
      ++passed_on_;
    }
    if (!is_empty) to->link_.push_back(segment);
    order.Next();
    return true;
  }

  // ring_receiver.cc.
  bool Receive() {
    if (incoming_.done()) return false;
    const Segment segment = {incoming_.chunk(), incoming_.segment()};
    const uint32_t slot = number_ % kRingSlots;
    if (until_[slot] == 0 ? done_[slot] < number_ / kRingSlots : passed_on_ < until_[slot]) {
      return false;
    }
    if (Extents(words_.chunks).SegmentBytes(segment.first, segment.second) != 0) {
      if (link_.empty()) return false;
      EXPECT_EQ(link_.front(), segment);
      link_.pop_front();
    }
    until_[slot] = incoming_.index() < words_.schedule.forwarded ? ++forwarded_ : 0;
    slots_[slot] = segment;
    busy_.push_back(slot);
    ++number_;
    incoming_.Next();
    return true;
  }

  // The adders, or the receiver's writes to DRAM.
  bool Add() {
    if (busy_.empty()) return false;
    ++done_[busy_.front()];
    busy_.pop_front();
    return true;
  }

 private:
  const RingWords words_;
  Order own_, passed_, incoming_;
  std::deque<Segment> link_;   // that have arrived
  std::deque<uint32_t> busy_;  // slots that adders work on
  std::array<Segment, kRingSlots> slots_ = {};
  std::array<uint32_t, kRingSlots> done_ = {}, until_ = {};
  uint32_t number_ = 0, forwarded_ = 0, passed_on_ = 0;
};

// 0 to `end` - 1.
uint32_t Pick(std::mt19937& random, uint32_t end) { return static_cast<uint32_t>(random() % end); }

// Runs a lane of a line until nothing moves. One kernel, chosen at random, is slow.
void RunLane(const std::vector<RingWords>& line, std::mt19937& random) {
  std::deque<Worker> workers;
  for (const RingWords& words : line) workers.emplace_back(words);
  const auto length = static_cast<uint32_t>(line.size());
  const auto step = [&](uint32_t number) {
    const uint32_t chip = number / 3;
    Worker& worker = workers[chip];
    if (number % 3 == 1) return worker.Receive();
    if (number % 3 == 2) return worker.Add();
    const uint32_t to = line[chip].schedule.out_end == kEndToNext ? chip + 1 : chip + length - 1;
    return worker.Send(&workers[to % length]);
  };
  const uint32_t slow = Pick(random, 3 * length);
  for (bool moved = true; moved;) {
    for (int i = 0; i < 200; ++i) {
      const uint32_t number = Pick(random, 3 * length);
      if (number != slow || Pick(random, 16) == 0) step(number);
    }
    moved = false;
    for (uint32_t number = 0; number < 3 * length; ++number) moved |= step(number);
  }
  for (const Worker& worker : workers) EXPECT_TRUE(worker.finished());
}

TEST(RingProtocol, EveryScheduleEnds) {
  std::mt19937 random(1);
  for (uint32_t run = 0; run < 400; ++run) {
    const uint32_t length = 2 + Pick(random, 8);
    const bool closed = length > 2 && Pick(random, 3) != 0;
    const bool adds = Pick(random, 2) == 0;
    const uint32_t pages = 1 + Pick(random, 20);
    // The last chunks may be cut off.
    const uint32_t all_pages = length * pages - Pick(random, length * pages);
    SCOPED_TRACE(testing::Message() << length << (closed ? " closed" : " open") << ", " << pages
                                    << " pages of " << all_pages << (adds ? ", sums" : ""));
    for (const uint32_t lane : {0u, 1u}) {
      std::vector<RingWords> line;
      for (uint32_t chip = 0; chip < length; ++chip) {
        RingWords words = (adds ? ReducePass : GatherPass)(length, closed, chip)[lane];
        words.adders.sum = adds ? RingSum::kInt32 : RingSum::kNone;
        SetChunks(words, {pages, all_pages, kRingSegmentBytes}, closed ? lane : 0, closed ? 2 : 1);
        line.push_back(words);
      }
      RunLane(line, random);
    }
    if (HasFailure()) return;
  }
}

}  // namespace
}  // namespace ttfd::mesh
