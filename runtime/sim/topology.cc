// Grids of chips, and what is wrong with a topology.
#include "runtime/sim/topology.h"

#include <algorithm>
#include <bit>
#include <set>
#include <utility>

namespace ttfd::sim {
namespace {

constexpr uint32_t kMostLinks = 4;

// Connects the next free channels of two chips.
class ChannelPool {
 public:
  ChannelPool(uint32_t chips, uint32_t channels) : free_(chips, channels) {}

  Status Connect(uint32_t a, uint32_t b, std::vector<ChipLink>* links) {
    ASSIGN_OR_RETURN(const LinkEnd end_a, Take(a));
    ASSIGN_OR_RETURN(const LinkEnd end_b, Take(b));
    links->push_back({end_a, end_b});
    return OkStatus();
  }

 private:
  StatusOr<LinkEnd> Take(uint32_t chip) {
    uint32_t& free = free_[chip];
    if (free == 0) {
      return InvalidArgument("chip {} has no Ethernet channel left: take fewer links a neighbour",
                             chip);
    }
    const auto channel = static_cast<uint32_t>(std::countr_zero(free));
    free &= free - 1;
    return LinkEnd{chip, channel};
  }

  std::vector<uint32_t> free_;  // channels of each chip, one bit each
};

}  // namespace

std::string LinkEndText(LinkEnd end) { return fmt::format("{}.{}", end.chip, end.channel); }

StatusOr<Topology> GridTopology(const GridShape& shape, uint32_t channels) {
  if (shape.rows == 0 || shape.columns == 0 || shape.rows > GridShape::kMostChips ||
      shape.columns > GridShape::kMostChips || shape.rows * shape.columns > GridShape::kMostChips) {
    return InvalidArgument("a cluster of {}x{} chips: 1 to {} are possible", shape.rows,
                           shape.columns, GridShape::kMostChips);
  }
  if (shape.links == 0 || shape.links > kMostLinks) {
    return InvalidArgument("{} links between two neighbours: 1 to {} are possible", shape.links,
                           kMostLinks);
  }
  Topology topology{shape.rows * shape.columns, {}};
  ChannelPool pool(topology.chips, channels);
  const auto connect = [&](uint32_t chip, uint32_t at, uint32_t step, uint32_t side, bool wrap) {
    const bool last = at + 1 == side;
    if (side == 1 || (last && !wrap)) return OkStatus();
    const uint32_t next = last ? chip - at * step : chip + step;
    for (uint32_t i = 0; i < shape.links; ++i) {
      RETURN_IF_ERROR(pool.Connect(chip, next, &topology.links));
    }
    return OkStatus();
  };
  for (uint32_t chip = 0; chip < topology.chips; ++chip) {
    const uint32_t row = chip / shape.columns;
    const uint32_t column = chip % shape.columns;
    RETURN_IF_ERROR(connect(chip, column, 1, shape.columns, shape.wrap_columns));
    RETURN_IF_ERROR(connect(chip, row, shape.columns, shape.rows, shape.wrap_rows));
  }
  return topology;
}

Status Validate(const Topology& topology, uint32_t channels) {
  std::set<std::pair<uint32_t, uint32_t>> used;
  std::vector<bool> linked(topology.chips);
  for (const ChipLink& link : topology.links) {
    for (const LinkEnd end : {link.a, link.b}) {
      if (end.channel >= 32 || (channels >> end.channel & 1) == 0) {
        return InvalidArgument("{}: the chip has no Ethernet channel {}", LinkEndText(end),
                               end.channel);
      }
      if (!used.emplace(end.chip, end.channel).second) {
        return InvalidArgument("{} is connected twice", LinkEndText(end));
      }
      linked[end.chip] = true;
    }
    if (link.a.chip == link.b.chip) {
      return InvalidArgument("{} is connected to its own chip, at {}", LinkEndText(link.a),
                             LinkEndText(link.b));
    }
  }
  for (uint32_t chip = 0; chip < topology.chips && topology.chips > 1; ++chip) {
    if (!linked[chip]) return InvalidArgument("chip {} has no link to another", chip);
  }
  return OkStatus();
}

}  // namespace ttfd::sim
