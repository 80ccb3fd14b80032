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

// `step` is from a chunk to the next that passes.
Pass MakePass(uint32_t length, uint32_t index, uint32_t step) {
  Pass pass = {};
  pass.sender.all = pass.receiver.all = length;
  pass.sender.step = pass.receiver.step = step;
  pass.sender.first = index;
  pass.receiver.first = (index + step) % length;
  pass.sender.stamp_page = 0;
  pass.receiver.stamp_page = 1;
  return pass;
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

Result<std::vector<client::LinkConnection>> ConnectionsOf(const Placement& placement,
                                                          const std::vector<DeviceInfo>& devices) {
  Channels channels(devices);
  std::vector<client::LinkConnection> connections;
  for (const uint32_t axis : {0u, 1u}) {
    for (const Line& line : LinesAlong(placement, axis)) {
      for (size_t i = 0; i + (line.closed ? 0 : 1) < line.chips.size(); ++i) {
        const uint32_t from = placement.devices[line.chips[i]];
        const uint32_t to = placement.devices[line.chips[(i + 1) % line.chips.size()]];
        const std::optional<Neighbour> link = channels.Take(from, to);
        if (!link) {
          return Status(
              client::Code::kFailedPrecondition,
              fmt::format("no link for kernels is left between devices {} and {}", from, to));
        }
        connections.push_back({{from, link->channel, WorkerOf(axis), kEndToNext},
                               {to, link->peer_channel, WorkerOf(axis), kEndToLast}});
      }
    }
  }
  return connections;
}

std::vector<Pass> GatherPasses(uint32_t length, bool closed, uint32_t index) {
  const uint32_t last = length - 1;
  Pass forward = MakePass(length, index, last);
  forward.sender.end = kEndToNext;
  forward.receiver.end = kEndToLast;
  if (closed || length == 2) {
    forward.sender.chunks = forward.receiver.chunks = last;
    if (length == 2) {  // one link, in both directions
      forward.sender.end = forward.receiver.end = index == 0 ? kEndToNext : kEndToLast;
    }
    return {forward};
  }
  forward.sender.chunks = index == last ? 0 : index + 1;
  forward.receiver.chunks = index;
  Pass back = MakePass(length, index, 1);
  back.sender.end = kEndToLast;
  back.receiver.end = kEndToNext;
  back.sender.chunks = index == 0 ? 0 : length - index;
  back.receiver.chunks = last - index;
  back.sender.stamp_page = 2;
  back.receiver.stamp_page = 3;
  return {forward, back};
}

void SetChunk(RingWords& words, uint32_t pages, uint32_t page_bytes) {
  const uint32_t extent = std::min(page_bytes, kRingSegmentBytes);
  const uint32_t stride =
      (extent + kRingExtentAlignment - 1) / kRingExtentAlignment * kRingExtentAlignment;
  const uint64_t extents = uint64_t{pages} * ((page_bytes + uint64_t{extent} - 1) / extent);
  words.pages = pages;
  words.page_bytes = page_bytes;
  words.segment_extents =
      static_cast<uint32_t>(std::min<uint64_t>(kRingSegmentBytes / stride, (extents + 1) / 2));
}

}  // namespace ttfd::mesh
