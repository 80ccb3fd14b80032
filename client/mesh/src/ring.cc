#include "client/mesh/src/ring.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <set>
#include <utility>

namespace ttfd::mesh {
namespace {

using client::DeviceInfo;
using client::Neighbour;

// Takes the channels between devices, each once, low ones first.
class Channels {
 public:
  explicit Channels(const std::vector<DeviceInfo>& devices) : devices_(devices) {}

  // None: no link is left.
  std::optional<Neighbour> Take(uint32_t from, uint32_t to) {
    for (const Neighbour& link : devices_[from].neighbours) {
      if (link.device != to || link.system) continue;
      if (!taken_.insert({from, link.channel}).second) continue;
      taken_.insert({to, link.peer_channel});
      return link;
    }
    return std::nullopt;
  }

 private:
  const std::vector<DeviceInfo>& devices_;
  std::set<std::pair<uint32_t, uint32_t>> taken_;
};

// A neighbour further along a line.
std::vector<std::pair<uint32_t, uint32_t>> NeighboursAlong(const Placement& placement,
                                                           uint32_t axis) {
  std::vector<std::pair<uint32_t, uint32_t>> pairs;
  for (const Line& line : LinesAlong(placement, axis)) {
    for (size_t i = 0; i + (line.closed ? 0 : 1) < line.chips.size(); ++i) {
      pairs.emplace_back(placement.devices[line.chips[i]],
                         placement.devices[line.chips[(i + 1) % line.chips.size()]]);
    }
  }
  return pairs;
}

// Lane 0 goes towards the end of the line, lane 1 towards its start: `step` is from a chunk to the next that passes.
Pass MakePass(uint32_t length) {
  Pass pass = {};
  for (RingWords& words : pass) words.schedule.all = length;
  pass[0].schedule.out_end = pass[1].schedule.in_end = kEndToNext;
  pass[0].schedule.in_end = pass[1].schedule.out_end = kEndToLast;
  pass[0].schedule.step = length - 1;
  pass[1].schedule.step = 1 % length;
  return pass;
}

// Two chips have one link, in both directions: lane 0 of each is all.
void UseOneLink(RingSchedule& schedule, uint32_t index) {
  schedule.out_end = schedule.in_end = index == 0 ? kEndToNext : kEndToLast;
}

}  // namespace

std::vector<Line> LinesAlong(const Placement& placement, uint32_t axis) {
  const Shape& shape = placement.shape;
  const uint32_t lines = axis == 0 ? shape.columns : shape.rows;
  const uint32_t length = axis == 0 ? shape.rows : shape.columns;
  std::vector<Line> all(lines);
  for (uint32_t line = 0; line < lines; ++line) {
    all[line].closed = placement.closed[axis];
    for (uint32_t i = 0; i < length; ++i) {
      all[line].chips.push_back(axis == 0 ? i * shape.columns + line : line * shape.columns + i);
    }
  }
  return all;
}

Result<Connections> ConnectionsOf(const Placement& placement,
                                  const std::vector<DeviceInfo>& devices) {
  Connections connections;
  Channels channels(devices);
  for (const uint32_t axis : {0u, 1u}) {
    const auto pairs = NeighboursAlong(placement, axis);
    for (uint32_t link = 0; link < kMostLinks && !pairs.empty(); ++link) {
      std::vector<client::LinkConnection> more;
      for (const auto& [from, to] : pairs) {
        const std::optional<Neighbour> channel = channels.Take(from, to);
        if (!channel && link == 0) {
          return Status(
              client::Code::kFailedPrecondition,
              fmt::format("no link for kernels is left between devices {} and {}", from, to));
        }
        if (!channel) break;
        const client::Core worker = LinkWorker(axis, link);
        more.push_back({{from, channel->channel, worker, kEndToNext},
                        {to, channel->peer_channel, worker, kEndToLast}});
      }
      if (more.size() != pairs.size()) break;
      connections.all.insert(connections.all.end(), more.begin(), more.end());
      ++connections.links[axis];
    }
  }
  return connections;
}

Pass GatherPass(uint32_t length, bool closed, uint32_t index) {
  const uint32_t last = length - 1;
  Pass pass = MakePass(length);
  for (RingWords& words : pass) {
    words.schedule.own_first = index;
    words.schedule.received_first = (index + words.schedule.step) % length;
  }
  if (closed || length == 2) {
    for (RingWords& words : pass) {
      words.schedule.own_chunks = words.buffers.copies_own = 1;
      words.schedule.received = last;
      words.schedule.forwarded = last - 1;
      if (length == 2) break;
    }
    if (length == 2) UseOneLink(pass[0].schedule, index);
    return pass;
  }
  RingSchedule& forward = pass[0].schedule;
  forward.own_chunks = index != last;
  forward.received = index;
  forward.forwarded = index != last ? index : 0;
  RingSchedule& back = pass[1].schedule;
  back.own_chunks = index != 0;
  back.received = last - index;
  back.forwarded = index != 0 ? last - index : 0;
  pass[index != last ? 0 : 1].buffers.copies_own = 1;
  return pass;
}

Pass ReducePass(uint32_t length, bool closed, uint32_t index) {
  const uint32_t last = length - 1;
  Pass pass = MakePass(length);
  for (RingWords& words : pass) words.adders.addends = 1;
  if (closed || length == 2) {
    for (RingWords& words : pass) {
      RingSchedule& schedule = words.schedule;
      schedule.own_chunks = 1;
      schedule.own_first = (index + schedule.step) % length;
      schedule.received = last;
      schedule.received_first = (schedule.own_first + schedule.step) % length;
      schedule.forwarded = last - 1;
      if (length == 2) break;
    }
    if (length == 2) UseOneLink(pass[0].schedule, index);
    return pass;
  }
  RingSchedule& forward = pass[0].schedule;
  forward.own_first = forward.received_first = last;
  if (index == 0) {
    forward.own_chunks = last;
  } else {
    forward.received = length - index;
    forward.forwarded = last - index;
  }
  RingSchedule& back = pass[1].schedule;
  if (index == last) {
    back.own_chunks = last;
  } else {
    back.received = index + 1;
    back.forwarded = index;
    pass[0].adders.accumulated = pass[1].adders.accumulates = index != 0;
  }
  return pass;
}

Pass FoldPass(uint32_t length) {
  Pass pass = {};
  for (RingWords& words : pass) {
    words.schedule.all = length;
    words.schedule.received = 1;  // adders write a result like the last chunk that is received
    words.adders.addends = length - 1;
    words.adders.folds = 1;
  }
  return pass;
}

void SetChunks(RingWords& words, const Chunks& chunks, uint32_t share, uint32_t shares) {
  const auto begin = [&](uint32_t of) {
    return static_cast<uint32_t>(uint64_t{chunks.pages} * of / shares);
  };
  const bool adds = words.adders.sum != RingSum::kNone;
  RingChunks& cut = words.chunks;
  cut.chunk_pages = chunks.pages;
  cut.all_pages = chunks.all_pages;
  cut.lane_page = begin(share);
  cut.lane_pages = begin(share + 1) - begin(share);
  cut.page_bytes = chunks.page_bytes;
  cut.slice_bytes = adds ? kRingSliceBytes : kRingSegmentBytes;
  cut.extent_bytes = std::min(chunks.page_bytes, cut.slice_bytes);
  cut.extent_stride =
      (cut.extent_bytes + kRingExtentAlignment - 1) / kRingExtentAlignment * kRingExtentAlignment;
  cut.page_extents = (chunks.page_bytes - 1) / cut.extent_bytes + 1;
  const uint64_t extents = uint64_t{cut.lane_pages} * cut.page_extents;
  const uint64_t half = std::max<uint64_t>((extents + 1) / 2, 1);
  cut.slice_extents =
      static_cast<uint32_t>(std::min<uint64_t>(cut.slice_bytes / cut.extent_stride, half));
  const uint64_t slices = (half + cut.slice_extents - 1) / cut.slice_extents;
  cut.slices = adds ? static_cast<uint32_t>(std::min<uint64_t>(slices, kRingAdders)) : 1;
  const uint64_t in_segment = uint64_t{cut.slices} * cut.slice_extents;
  cut.segments = static_cast<uint32_t>((extents + in_segment - 1) / in_segment);
  if (adds) words.adders.sums = cut.segments * words.schedule.received;
}

}  // namespace ttfd::mesh
