// Where a mesh is placed on devices, which links it takes, and which chunks its chips pass on.
#include "ttfd/mesh/mesh.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <optional>
#include <set>
#include <tuple>
#include <utility>
#include <vector>

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
      const std::vector<client::LinkConnection>& connections = *found;
      EXPECT_EQ(connections.size(), rows * in_row + columns * in_column);
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

// The chunks that a chip has in its gathered buffer.
struct ModelChip {
  std::set<uint32_t> has;
};

// Runs one launch on all chips of a line. False: something does not fit.
bool RunPass(std::vector<ModelChip>& chips, const std::vector<Pass>& passes, bool closed) {
  const auto length = static_cast<uint32_t>(chips.size());
  // Chip and end that an end is connected to.
  const auto peer = [&](uint32_t chip,
                        uint32_t end) -> std::optional<std::pair<uint32_t, uint32_t>> {
    const uint32_t to = end == kEndToNext ? (chip + 1) % length : (chip + length - 1) % length;
    const bool wraps = end == kEndToNext ? to == 0 : chip == 0;
    if (wraps && !closed) return std::nullopt;
    return std::pair(to, end == kEndToNext ? kEndToLast : kEndToNext);
  };
  std::vector<uint32_t> sent(length), taken(length);
  std::vector<std::vector<uint32_t>> received(length);
  for (bool moved = true; moved;) {
    moved = false;
    for (uint32_t chip = 0; chip < length; ++chip) {
      const RingWords& sender = passes[chip].sender;
      // The own chunk is there from the start; the others once received.
      if (sent[chip] == sender.chunks || sent[chip] > received[chip].size()) continue;
      const uint32_t chunk = (sender.first + sent[chip] * sender.step) % sender.all;
      if (chunk != (sent[chip] == 0 ? chip : received[chip][sent[chip] - 1])) return false;
      const auto to = peer(chip, sender.end);
      if (!to || passes[to->first].receiver.end != to->second) return false;
      const RingWords& receiver = passes[to->first].receiver;
      if (taken[to->first] == receiver.chunks) return false;
      if (chunk != (receiver.first + taken[to->first] * receiver.step) % receiver.all) return false;
      ++taken[to->first];
      received[to->first].push_back(chunk);
      if (!chips[to->first].has.insert(chunk).second) return false;
      ++sent[chip];
      if (sent[chip] == 1) chips[chip].has.insert(chip);  // its own place in the gathered buffer
      moved = true;
    }
  }
  for (uint32_t chip = 0; chip < length; ++chip) {
    if (sent[chip] != passes[chip].sender.chunks || taken[chip] != passes[chip].receiver.chunks)
      return false;
  }
  return true;
}

TEST(GatherPasses, BringEveryChunkToEveryChipOnce) {
  for (uint32_t length = 2; length <= 32; ++length) {
    for (const bool closed : {false, true}) {
      if (closed && length == 2) continue;
      SCOPED_TRACE(testing::Message() << length << (closed ? " closed" : " open"));
      std::vector<std::vector<Pass>> by_chip;
      for (uint32_t chip = 0; chip < length; ++chip) {
        by_chip.push_back(GatherPasses(length, closed, chip));
      }
      const size_t launches = by_chip.front().size();
      EXPECT_EQ(launches, closed || length == 2 ? 1 : 2);
      std::vector<ModelChip> chips(length);
      std::set<uint32_t> stamps;
      for (size_t launch = 0; launch < launches; ++launch) {
        std::vector<Pass> passes;
        for (const auto& of_chip : by_chip) passes.push_back(of_chip.at(launch));
        EXPECT_TRUE(stamps.insert(passes.front().sender.stamp_page).second);
        EXPECT_TRUE(stamps.insert(passes.front().receiver.stamp_page).second);
        ASSERT_TRUE(RunPass(chips, passes, closed));
      }
      for (const ModelChip& chip : chips) EXPECT_EQ(chip.has.size(), length);
    }
  }
}

TEST(SetChunk, FitsSegmentsAndCutsShortChunksInTwo) {
  struct Case {
    uint32_t pages, page_bytes, segment_extents;
  };
  for (const Case& c : {Case{1, 64, 1},
                        {2, 64, 1},
                        {3, 64, 2},
                        {1000, 1, 500},
                        {4096, 1, 512},
                        {64, 2048, 16},
                        {8, 32768, 1},
                        {1, 32832, 1},
                        {3, 100'000, 1},
                        {5, 20'000, 1},
                        {20, 10'000, 3}}) {
    RingWords words = {};
    SetChunk(words, c.pages, c.page_bytes);
    EXPECT_EQ(words.segment_extents, c.segment_extents) << c.pages << " pages of " << c.page_bytes;
    const uint32_t extent = std::min(c.page_bytes, kRingSegmentBytes);
    EXPECT_LE(words.segment_extents * ((extent + 63) / 64 * 64), kRingSegmentBytes);
  }
}

}  // namespace
}  // namespace ttfd::mesh
