// Where a mesh is placed on devices, which links it takes, and which chunks its chips send, add and pass on.
#include "ttfd/mesh/mesh.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <set>
#include <tuple>
#include <utility>
#include <vector>

#include "client/mesh/src/operation.h"
#include "client/mesh/src/ring.h"

namespace ttfd::mesh {
namespace {

using client::DeviceInfo;
using testing::HasSubstr;

// Devices with two links between each pair, on ascending channels.
std::vector<DeviceInfo> Devices(uint32_t count,
                                const std::vector<std::pair<uint32_t, uint32_t>>& pairs) {
  std::vector<DeviceInfo> devices(count);
  for (uint32_t i = 0; i < count; ++i) devices[i].index = i;
  for (const auto& [a, b] : pairs) {
    for (int link = 0; link < 2; ++link) {
      const auto here = static_cast<uint32_t>(devices[a].neighbours.size());
      const auto there = static_cast<uint32_t>(devices[b].neighbours.size());
      devices[a].neighbours.push_back({here, b, there});
      devices[b].neighbours.push_back({there, a, here});
    }
  }
  return devices;
}

// rows x columns devices, each with links to the next in its row and column; `wrap`: the last to the first, too.
std::vector<DeviceInfo> Grid(uint32_t rows, uint32_t columns, bool wrap) {
  std::vector<std::pair<uint32_t, uint32_t>> pairs;
  for (uint32_t row = 0; row < rows; ++row) {
    for (uint32_t column = 0; column < columns; ++column) {
      const uint32_t device = row * columns + column;
      if (column + 1 < columns || (wrap && columns > 2)) {
        pairs.emplace_back(device, row * columns + (column + 1) % columns);
      }
      if (row + 1 < rows || (wrap && rows > 2)) {
        pairs.emplace_back(device, (row + 1) % rows * columns + column);
      }
    }
  }
  return Devices(rows * columns, pairs);
}

struct PlacementCase {
  const char* name;
  std::vector<DeviceInfo> devices;
  Shape shape;
  std::vector<uint32_t> among;
  std::vector<uint32_t> chips;
  std::pair<bool, bool> closed;
};

TEST(FindPlacement, TakesLowDevicesAndClosesLinesWhereItCan) {
  std::vector<uint32_t> all(32);
  for (uint32_t i = 0; i < 32; ++i) all[i] = i;
  const PlacementCase cases[] = {
      {"one", Grid(1, 1, false), {1, 1}, {}, {0}, {false, false}},
      {"pair", Grid(2, 2, true), {2, 1}, {}, {0, 1}, {false, false}},
      {"ring", Grid(1, 4, true), {1, 4}, {}, {0, 1, 2, 3}, {false, true}},
      {"column", Grid(1, 4, true), {4, 1}, {}, {0, 1, 2, 3}, {true, false}},
      {"line", Grid(1, 4, false), {1, 4}, {}, {0, 1, 2, 3}, {false, false}},
      {"square of a ring", Grid(1, 4, true), {2, 2}, {}, {0, 1, 3, 2}, {false, false}},
      {"square", Grid(2, 2, true), {2, 2}, {}, {0, 1, 2, 3}, {false, false}},
      {"a ring through a square", Grid(2, 2, true), {1, 4}, {}, {0, 1, 3, 2}, {false, true}},
      {"three of a square", Grid(2, 2, true), {1, 3}, {}, {0, 1, 3}, {false, false}},
      {"torus", Grid(8, 4, true), {8, 4}, {}, all, {true, true}},
      {"without wrap", Grid(8, 4, false), {8, 4}, {}, all, {false, false}},
      {"among", Grid(8, 4, true), {2, 2}, {31, 30, 27, 26, 3}, {26, 27, 30, 31}, {false, false}},
  };
  for (const PlacementCase& c : cases) {
    SCOPED_TRACE(c.name);
    const auto found = FindPlacement(c.devices, c.shape, c.among);
    ASSERT_TRUE(found.ok()) << found.status().ToString();
    EXPECT_EQ(found->shape, c.shape);
    EXPECT_EQ(found->devices, c.chips);
    EXPECT_EQ(std::pair(found->closed[0], found->closed[1]), c.closed);
  }
}

TEST(FindPlacement, SaysWhatTheLinksLack) {
  std::vector<DeviceInfo> behind = Devices(3, {{0, 1}});
  for (DeviceInfo& device : behind) {
    for (client::Neighbour& link : device.neighbours) link.system = true;
  }
  struct Case {
    std::vector<DeviceInfo> devices;
    Shape shape;
    std::vector<uint32_t> among;
    client::Code code;
    const char* message;
  };
  const Case cases[] = {
      {Grid(1, 4, true), {0, 4}, {}, client::Code::kInvalidArgument, "at least 1"},
      {Grid(1, 4, true),
       {1, 5},
       {},
       client::Code::kInvalidArgument,
       "there are 4 devices to choose from"},
      {Grid(1, 4, true),
       {4'294'967'295, 4'294'967'295},
       {},
       client::Code::kInvalidArgument,
       "there are 4 devices"},
      {Grid(1, 4, true), {1, 2}, {0, 4}, client::Code::kInvalidArgument, "there is no device 4"},
      {Grid(1, 4, true), {1, 2}, {1, 1}, client::Code::kInvalidArgument, "named twice in 1, 1"},
      {Grid(1, 4, false),
       {2, 2},
       {},
       client::Code::kFailedPrecondition,
       "as far as devices 1, 0, 2: the next chip needs links to devices 2 and 0 (2.0 to"},
      {Grid(1, 4, false),
       {1, 2},
       {0, 2},
       client::Code::kFailedPrecondition,
       "the next chip needs links to device 0 (0.0 to 1.0, 0.1 to 1.1)"},
      {behind,
       {1, 2},
       {},
       client::Code::kFailedPrecondition,
       "0.0 to 1.0 (the daemon's own, not for kernels)"},
      {Devices(2, {}),
       {1, 2},
       {},
       client::Code::kFailedPrecondition,
       "device 0 has no link to another"},
  };
  for (const Case& c : cases) {
    const auto found = FindPlacement(c.devices, c.shape, c.among);
    ASSERT_FALSE(found.ok());
    EXPECT_EQ(found.status().code(), c.code);
    EXPECT_THAT(found.status().message(), HasSubstr(c.message));
  }
}

TEST(FindPlacement, EndsOnALargeMeshWithoutAnAnswer) {
  // 8 x 8 without the link that one corner needs.
  std::vector<DeviceInfo> devices = Grid(8, 8, false);
  devices[63].neighbours.clear();
  EXPECT_EQ(FindPlacement(devices, {8, 8}).status().code(), client::Code::kFailedPrecondition);
}

TEST(MeshConnections, TakeEachChannelAndEachEndOnce) {
  for (const bool wrap : {false, true}) {
    for (const auto& [rows, columns] :
         {std::pair(1u, 2u), {1u, 5u}, {2u, 2u}, {3u, 4u}, {8u, 4u}}) {
      const std::vector<DeviceInfo> devices = Grid(rows, columns, wrap);
      const auto placement = FindPlacement(devices, {rows, columns});
      ASSERT_TRUE(placement.ok());
      const uint32_t in_row = columns == 1 ? 0 : columns - (wrap && columns > 2 ? 0 : 1);
      const uint32_t in_column = rows == 1 ? 0 : rows - (wrap && rows > 2 ? 0 : 1);
      const auto found = ConnectionsOf(*placement, devices);
      ASSERT_TRUE(found.ok());
      const std::vector<client::LinkConnection>& connections = found->all;
      EXPECT_EQ(connections.size(), 2 * (rows * in_row + columns * in_column));
      EXPECT_EQ(found->links, (std::array{rows > 1 ? 2u : 0, columns > 1 ? 2u : 0}));
      std::set<std::pair<uint32_t, uint32_t>> channels;
      std::set<std::tuple<uint32_t, uint32_t, uint32_t>> ends;
      for (const client::LinkConnection& connection : connections) {
        EXPECT_EQ(connection.a.worker, connection.b.worker);
        EXPECT_EQ(connection.a.end, kEndToNext);
        EXPECT_EQ(connection.b.end, kEndToLast);
        for (const client::LinkPlace* place : {&connection.a, &connection.b}) {
          EXPECT_TRUE(channels.insert({place->device, place->channel}).second);
          EXPECT_TRUE(ends.insert({place->device, place->worker.x, place->end}).second);
        }
        const auto& links = devices[connection.a.device].neighbours;
        EXPECT_TRUE(std::count(
            links.begin(), links.end(),
            client::Neighbour{connection.a.channel, connection.b.device, connection.b.channel}));
      }
    }
  }
}

TEST(MeshConnections, NeedALinkBetweenNeighbours) {
  const std::vector<DeviceInfo> devices = Grid(1, 3, false);
  const Placement wrong{.shape = {1, 3}, .devices = {0, 2, 1}};
  EXPECT_EQ(ConnectionsOf(wrong, devices).status().code(), client::Code::kFailedPrecondition);
}

TEST(MeshConnections, AreAsManyForEachPairOfNeighbours) {
  std::vector<DeviceInfo> devices = Grid(1, 3, false);
  devices[2].neighbours.pop_back();  // the second link between 1 and 2
  devices[1].neighbours.pop_back();
  const Placement placement{.shape = {1, 3}, .devices = {0, 1, 2}};
  const auto found = ConnectionsOf(placement, devices);
  ASSERT_TRUE(found.ok());
  EXPECT_EQ(found->links, (std::array{0u, 1u}));
  EXPECT_EQ(found->all.size(), 2u);
}

// A chunk on its way: the chips whose numbers are in it, in the order of addition.
struct Message {
  uint32_t chunk;
  std::vector<uint32_t> chips;
};

// Runs one lane of a launch on all chips of a line. Returns what each chip receives, in order.
std::vector<std::vector<Message>> RunLane(const std::vector<Pass>& passes, uint32_t lane,
                                          bool closed, bool adds) {
  const auto length = static_cast<uint32_t>(passes.size());
  std::vector<std::vector<Message>> received(length);
  std::vector<uint32_t> sent(length);
  for (bool moved = true; moved;) {
    moved = false;
    for (uint32_t chip = 0; chip < length; ++chip) {
      const RingWords& words = passes[chip][lane];
      if (sent[chip] == words.schedule.own_chunks + words.schedule.forwarded) continue;
      Message message;
      if (sent[chip] < words.schedule.own_chunks) {
        message = {
            (words.schedule.own_first + sent[chip] * words.schedule.step) % words.schedule.all,
            {chip}};
      } else {
        const uint32_t index = sent[chip] - words.schedule.own_chunks;
        if (index == received[chip].size()) continue;
        message = received[chip][index];
        if (adds) message.chips.push_back(chip);
      }
      const bool to_next = words.schedule.out_end == kEndToNext;
      const uint32_t to = (chip + (to_next ? 1 : length - 1)) % length;
      EXPECT_TRUE(closed || (to_next ? to != 0 : chip != 0)) << "no link";
      const RingWords& there = passes[to][lane];
      EXPECT_EQ(there.schedule.in_end, to_next ? kEndToLast : kEndToNext);
      EXPECT_EQ((there.schedule.received_first + received[to].size() * there.schedule.step) %
                    there.schedule.all,
                message.chunk);
      received[to].push_back(message);
      ++sent[chip];
      moved = true;
    }
  }
  for (uint32_t chip = 0; chip < length; ++chip) {
    EXPECT_EQ(sent[chip],
              passes[chip][lane].schedule.own_chunks + passes[chip][lane].schedule.forwarded);
    EXPECT_EQ(received[chip].size(), passes[chip][lane].schedule.received);
  }
  return received;
}

// Calls `check(length, closed)` for lines of 2 to 32 chips.
template <typename Check>
void ForEachLine(const Check& check) {
  for (uint32_t length = 2; length <= 32; ++length) {
    for (const bool closed : {false, true}) {
      if (closed && length == 2) continue;
      SCOPED_TRACE(testing::Message() << length << (closed ? " closed" : " open"));
      check(length, closed);
    }
  }
}

TEST(GatherPass, BringsEveryChunkToEveryChipOnce) {
  ForEachLine([](uint32_t length, bool closed) {
    std::vector<Pass> passes;
    for (uint32_t chip = 0; chip < length; ++chip) {
      passes.push_back(GatherPass(length, closed, chip));
    }
    std::vector<std::vector<uint32_t>> chunks(length);
    for (const uint32_t lane : {0u, 1u}) {
      const auto received = RunLane(passes, lane, closed, /*adds=*/false);
      for (uint32_t chip = 0; chip < length; ++chip) {
        const RingWords& words = passes[chip][lane];
        if (words.buffers.copies_own) chunks[chip].push_back(words.schedule.own_first);
        for (const Message& message : received[chip]) {
          EXPECT_EQ(message.chips, std::vector{message.chunk});
          chunks[chip].push_back(message.chunk);
        }
        if (!closed) continue;  // either lane brings half of each
        EXPECT_EQ(std::set(chunks[chip].begin(), chunks[chip].end()).size(), length);
        EXPECT_EQ(chunks[chip].size(), length);
        chunks[chip].clear();
      }
    }
    for (uint32_t chip = 0; chip < length && !closed; ++chip) {
      EXPECT_EQ(std::set(chunks[chip].begin(), chunks[chip].end()).size(), length);
      EXPECT_EQ(chunks[chip].size(), length);
    }
  });
}

// The chips from `first` to `last`, in this order, round the ring.
std::vector<uint32_t> Chips(uint32_t first, uint32_t last, uint32_t step, uint32_t length) {
  std::vector<uint32_t> chips = {first};
  while (chips.back() != last) chips.push_back((chips.back() + step) % length);
  return chips;
}

TEST(ReducePass, AddsEveryChipOnceInAnOrderThatFollowsFromTheLine) {
  ForEachLine([](uint32_t length, bool closed) {
    std::vector<Pass> passes;
    for (uint32_t chip = 0; chip < length; ++chip) {
      passes.push_back(ReducePass(length, closed, chip));
    }
    // The last message that a chip receives of its own chunk, with what is there already.
    std::vector<std::vector<uint32_t>> results(length);
    for (const uint32_t lane : {0u, 1u}) {
      const auto received = RunLane(passes, lane, closed, /*adds=*/true);
      for (uint32_t chip = 0; chip < length; ++chip) {
        const RingWords& words = passes[chip][lane];
        if (received[chip].empty()) continue;
        ASSERT_EQ(words.schedule.forwarded + 1, words.schedule.received);
        EXPECT_EQ(received[chip].back().chunk, chip);
        std::vector<uint32_t> sum = received[chip].back().chips;
        if (closed) {  // round the ring to here
          sum.push_back(chip);
          EXPECT_EQ(sum, lane == 0 ? Chips((chip + 1) % length, chip, 1, length)
                                   : Chips((chip + length - 1) % length, chip, length - 1, length));
        } else if (lane == 0 || !words.adders.accumulates) {
          sum.push_back(chip);
          results[chip] = sum;
          EXPECT_EQ(words.adders.accumulated,
                    lane == 0 && length > 2 ? passes[chip][1].adders.accumulates : 0);
        } else {  // from the start to here, and the rest from the end
          EXPECT_EQ(results[chip], Chips(0, chip, 1, length));
          EXPECT_EQ(sum, Chips(length - 1, chip + 1, length - 1, length));
          results[chip].insert(results[chip].end(), sum.begin(), sum.end());
        }
      }
    }
    for (uint32_t chip = 0; chip < length && !closed; ++chip) {
      EXPECT_EQ(std::set(results[chip].begin(), results[chip].end()).size(), length);
      EXPECT_EQ(results[chip].size(), length);
    }
  });
}

TEST(SetChunks, FitsSegmentsAndCutsShortChunksInTwo) {
  struct Case {
    RingSum sum;
    uint32_t pages, page_bytes, slices, slice_extents;
  };
  constexpr RingSum kNone = RingSum::kNone, kInt32 = RingSum::kInt32;
  for (const Case& c : {Case{kNone, 1, 64, 1, 1},
                        {kNone, 3, 64, 1, 2},
                        {kNone, 4096, 1, 1, 512},
                        {kNone, 64, 2048, 1, 16},
                        {kNone, 8, 32768, 1, 1},
                        {kNone, 1, 32832, 1, 1},
                        {kNone, 20, 10'000, 1, 3},
                        {kInt32, 1, 64, 1, 1},
                        {kInt32, 3, 64, 1, 2},
                        {kInt32, 1000, 64, 8, 64},
                        {kInt32, 4, 2048, 1, 2},
                        {kInt32, 2, 8192, 2, 1},
                        {kInt32, 8, 32768, 8, 1},
                        {kInt32, 5, 20'000, 8, 1}}) {
    SCOPED_TRACE(testing::Message() << c.pages << " pages of " << c.page_bytes);
    RingWords words = {};
    words.adders.sum = c.sum;
    words.schedule.received = 3;
    SetChunks(words, {c.pages, 4 * c.pages, c.page_bytes}, 0, 1);
    EXPECT_EQ(words.chunks.slices, c.slices);
    EXPECT_EQ(words.chunks.slice_extents, c.slice_extents);
    EXPECT_LE(words.chunks.slices * words.chunks.slice_bytes, kRingSegmentBytes);
    const uint32_t extent = std::min(c.page_bytes, words.chunks.slice_bytes);
    EXPECT_LE(words.chunks.slice_extents * ((extent + 63) / 64 * 64), words.chunks.slice_bytes);
    const uint32_t extents = c.pages * ((c.page_bytes + extent - 1) / extent);
    EXPECT_GE(words.chunks.segments * words.chunks.slices * words.chunks.slice_extents, extents);
    EXPECT_LT((words.chunks.segments - 1) * words.chunks.slices * words.chunks.slice_extents,
              extents);
    EXPECT_EQ(words.adders.sums, c.sum == kNone ? 0 : 3 * words.chunks.segments);
  }
}

// Both launches of a sum over all chips, of a buffer of pages on a mesh of one chip.
std::vector<LaunchKind> SumOf(uint32_t pages, uint32_t page_bytes) {
  MeshBuffer buffer{.buffers = {}, .parts = 1, .part_bytes = uint64_t{pages} * page_bytes};
  buffer.buffers.emplace_back(nullptr, 1, buffer.part_bytes, page_bytes);
  return LaunchKindsOf({Collective::kAllReduce, RingSum::kInt32, buffer, buffer, 0});
}

TEST(AllReduce, GathersWhatTakesLessThan64KibibytesOfDram) {
  const std::vector<LaunchKind> gathers = {LaunchKind::kGather, LaunchKind::kFold};
  const std::vector<LaunchKind> reduces = {LaunchKind::kReduce, LaunchKind::kGather};
  EXPECT_EQ(SumOf(1, 65'472), gathers);
  EXPECT_EQ(SumOf(1, 65'536), reduces);
  EXPECT_EQ(SumOf(1023, 4), gathers);  // pages begin on multiples of 64 bytes
  EXPECT_EQ(SumOf(1024, 4), reduces);
  EXPECT_EQ(SumOf(511, 68), gathers);
  EXPECT_EQ(SumOf(512, 68), reduces);
}

TEST(SetChunks, GivesEachPageToOneShare) {
  for (const uint32_t shares : {1u, 2u, 4u}) {
    for (uint32_t pages = 0; pages < 10; ++pages) {
      uint32_t next = 0;
      for (uint32_t share = 0; share < shares; ++share) {
        RingWords words = {};
        SetChunks(words, {pages, pages, 64}, share, shares);
        EXPECT_EQ(words.chunks.lane_page, next);
        next += words.chunks.lane_pages;
      }
      EXPECT_EQ(next, pages);
    }
  }
}

}  // namespace
}  // namespace ttfd::mesh
