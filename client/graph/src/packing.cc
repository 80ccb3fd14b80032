// Packs a graph: places of the records, then their contents.
#include "client/graph/src/packing.h"

#include <algorithm>
#include <cstring>
#include <limits>
#include <string>

namespace ttfd::graph {
namespace {

using layout::kBlockRecords;
using layout::kSuccessors;

constexpr uint64_t kMostBytes = uint64_t{1} << 31;
constexpr uint64_t kNoLimit = std::numeric_limits<uint64_t>::max();

constexpr uint64_t DivideUp(uint64_t value, uint64_t by) { return (value + by - 1) / by; }

// Joins of a task with so many successors: a tree whose nodes name kSuccessors records each.
uint64_t JoinsOf(uint64_t successors) {
  uint64_t joins = 0;
  while (successors > kSuccessors) {
    successors = DivideUp(successors, kSuccessors);
    joins += successors;
  }
  return joins;
}

class Packer {
 public:
  Packer(const Description& graph, const Successors& successors, const std::vector<uint32_t>& order)
      : graph_(graph), successors_(successors), order_(order), position_(order.size()) {}

  Result<PackedGraph> Run(uint32_t window) {
    PlaceTasks(kNoLimit);
    PackedGraph packed;
    packed.window = window;
    const bool whole = blocks() <= window;
    if (!whole) {
      packed.reach = (window + 1) / 2;
      PlaceTasks(uint64_t{packed.reach} * kBlockRecords);
    }
    const uint64_t bytes = (blocks() + DivideUp(extensions_, kBlockRecords)) * layout::kBlockBytes;
    if (bytes > kMostBytes) {
      return Status(client::ErrorInfo{.code = client::Code::kResourceExhausted,
                                      .message = "a graph of " + std::to_string(order_.size()) +
                                                 " tasks takes " + std::to_string(bytes) +
                                                 " bytes on the card; at most " +
                                                 std::to_string(kMostBytes) + " are allowed",
                                      .reason = "LIMIT",
                                      .field = "graph"});
    }
    packed.bytes.resize(bytes);
    packed.blocks = static_cast<uint32_t>(blocks());
    Fill(&packed);
    if (whole) {
      // No block waits for the end of another: the ring is longer than what is put into it.
      packed.reach = static_cast<uint32_t>(DivideUp(longest_, kBlockRecords));
      packed.window = packed.blocks + packed.reach;
    }
    return packed;
  }

 private:
  uint64_t blocks() const { return DivideUp(records_, kBlockRecords); }

  // Gives each task its place, and the joins of its successors the places after it. Edges over more than `limit` places
  // are not counted: joins make them longer still.
  void PlaceTasks(uint64_t limit) {
    limit_ = limit;
    std::vector<uint32_t> index(order_.size());
    for (uint32_t i = 0; i < order_.size(); ++i) index[order_[i]] = i;
    records_ = extensions_ = 0;
    for (uint32_t i = 0; i < order_.size(); ++i) {
      const uint32_t task = order_[i];
      position_[task] = records_;
      uint64_t kept = 0;
      for (uint32_t k = successors_.begin[task]; k < successors_.begin[task + 1]; ++k) {
        if (index[successors_.after[k]] - i <= limit) ++kept;
      }
      records_ += 1 + JoinsOf(kept);
      if (graph_.tasks()[task].arguments > layout::kInlineArguments) ++extensions_;
    }
  }

  void Fill(PackedGraph* packed) {
    packed_ = packed;
    records_of_ = reinterpret_cast<layout::Record*>(packed->bytes.data());
    const uint64_t all = uint64_t{packed->blocks} * kBlockRecords;
    // Places that no task takes are joins that end at once.
    for (uint64_t i = 0; i < all; ++i) {
      records_of_[i].left = 1;
      records_of_[i].list = layout::kJoin;
      if (i % kBlockRecords == 0) records_of_[i].block_left = kBlockRecords;
    }
    uint32_t extension = 0;
    for (const uint32_t task : order_) {
      FillTask(task, &extension);
      FillSuccessors(task);
    }
  }

  void FillTask(uint32_t task, uint32_t* extension) {
    const Description::TaskEntry& entry = graph_.tasks()[task];
    layout::Record& record = records_of_[position_[task]];
    record.task = task;
    record.call = {static_cast<uint8_t>(entry.function + 1),
                   static_cast<uint8_t>(entry.arguments | graph_.PartsOf(entry.function)),
                   entry.buffers};
    record.list = entry.list;
    const std::span<const uint32_t> arguments = graph_.Arguments(entry);
    uint32_t* to = record.arguments;
    if (arguments.size() > layout::kInlineArguments) {
      record.arguments[0] = *extension;
      std::byte* const begin = packed_->bytes.data() +
                               uint64_t{packed_->blocks} * layout::kBlockBytes +
                               uint64_t{*extension} * sizeof(layout::Extension);
      to = reinterpret_cast<layout::Extension*>(begin)->arguments;
      ++*extension;
    }
    std::copy(arguments.begin(), arguments.end(), to);
  }

  void FillSuccessors(uint32_t task) {
    std::vector<uint64_t> places;
    for (uint32_t k = successors_.begin[task]; k < successors_.begin[task + 1]; ++k) {
      const uint64_t place = position_[successors_.after[k]];
      if (place - position_[task] <= limit_) places.push_back(place);
    }
    for (uint64_t join = position_[task] + 1; places.size() > kSuccessors;) {
      std::vector<uint64_t> joins;
      for (size_t i = 0; i < places.size(); i += kSuccessors, ++join) {
        const size_t count = std::min<size_t>(kSuccessors, places.size() - i);
        Name(join, std::span(places).subspan(i, count));
        joins.push_back(join);
      }
      places = std::move(joins);
    }
    Name(position_[task], places);
  }

  // Makes `places`, at most kSuccessors, the successors of the record at `from`.
  void Name(uint64_t from, std::span<const uint64_t> places) {
    layout::Record& record = records_of_[from];
    record.successors = static_cast<uint8_t>(places.size());
    for (size_t i = 0; i < places.size(); ++i) {
      record.successor[i] =
          static_cast<uint16_t>(places[i] % (uint64_t{packed_->window} * kBlockRecords) *
                                sizeof(layout::Record) / layout::kSuccessorUnit);
      ++records_of_[places[i]].left;
      longest_ = std::max(longest_, places[i] - from);
    }
  }

  const Description& graph_;
  const Successors& successors_;
  const std::vector<uint32_t>& order_;
  std::vector<uint64_t> position_;  // by task
  uint64_t limit_ = kNoLimit;       // of the places that an edge spans
  uint64_t records_ = 0;
  uint64_t extensions_ = 0;
  uint64_t longest_ = 0;  // edge
  PackedGraph* packed_ = nullptr;
  layout::Record* records_of_ = nullptr;
};

}  // namespace

Result<PackedGraph> Pack(const Description& graph, const Successors& successors,
                         const std::vector<uint32_t>& order, uint32_t window) {
  return Packer(graph, successors, order).Run(window);
}

}  // namespace ttfd::graph
