// Grids by their sides, files of links, and what may be combined.
#include "runtime/device/sim/cluster_options.h"

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <sstream>
#include <system_error>

#include "runtime/device/sim/option_text.h"
#include "runtime/sim/cluster.h"

namespace ttfd {
namespace {

constexpr std::string_view kClusterKeys[] = {"cluster",      "wrap",    "links",
                                             "link_latency", "threads", "remote"};
constexpr uint32_t kLinksUsual = 2;
constexpr uint64_t kMostFileBytes = 64 << 10;

bool IsNumber(std::string_view text) {
  return !text.empty() && std::all_of(text.begin(), text.end(),
                                      [](unsigned char c) { return std::isdigit(c) != 0; });
}

// The next word of a line; empty: there is none.
std::string_view TakeWord(std::string_view* rest) {
  constexpr std::string_view kBlanks = " \t\r";
  rest->remove_prefix(std::min(rest->find_first_not_of(kBlanks), rest->size()));
  const std::string_view word = rest->substr(0, rest->find_first_of(kBlanks));
  rest->remove_prefix(word.size());
  return word;
}

StatusOr<sim::LinkEnd> ParseEnd(std::string_view text) {
  std::string_view channel = text;
  const std::string_view chip = TakeUntil('.', &channel);
  if (!IsNumber(chip) || !IsNumber(channel)) {
    return InvalidArgument("\"{}\" is not CHIP.CHANNEL, such as 1.9", text);
  }
  sim::LinkEnd end;
  ASSIGN_OR_RETURN(end.chip, ParseNumber<uint32_t>(chip));
  ASSIGN_OR_RETURN(end.channel, ParseNumber<uint32_t>(channel));
  if (end.chip < sim::GridShape::kMostChips) return end;
  return InvalidArgument("{}: a cluster has at most {} chips", text, sim::GridShape::kMostChips);
}

StatusOr<sim::ChipLink> ParseLine(std::string_view line) {
  std::string_view rest = line;
  const std::string_view a = TakeWord(&rest);
  const std::string_view b = TakeWord(&rest);
  if (b.empty() || !TakeWord(&rest).empty()) {
    return InvalidArgument("\"{}\" is not the two ends of a link, such as \"0.2 1.9\"", line);
  }
  sim::ChipLink link;
  ASSIGN_OR_RETURN(link.a, ParseEnd(a));
  ASSIGN_OR_RETURN(link.b, ParseEnd(b));
  return link;
}

StatusOr<sim::Topology> ReadTopology(const std::string& path) {
  std::error_code error;
  const bool regular = std::filesystem::is_regular_file(path, error);
  std::ifstream file(path);
  if (!regular || !file) {
    return Error(StatusCode::kNotFound,
                 "cluster=\"{}\" is neither ROWSxCOLUMNS nor a file of links that can be read",
                 path);
  }
  if (std::filesystem::file_size(path, error) > kMostFileBytes) {
    return InvalidArgument("{}: a file of links has at most {} bytes", path, kMostFileBytes);
  }
  std::ostringstream text;
  text << file.rdbuf();
  StatusOr<sim::Topology> topology = ParseTopology(text.str());
  if (!topology.ok()) return Annotate(topology.status(), path);
  if (topology->links.empty()) return InvalidArgument("{}: the file has no link", path);
  return topology;
}

}  // namespace

bool ClusterText::IsKey(std::string_view key) {
  return std::find(std::begin(kClusterKeys), std::end(kClusterKeys), key) != std::end(kClusterKeys);
}

Status ClusterText::Set(std::string_view key, std::string_view value) {
  if (key == "cluster") {
    cluster_ = value;
    return OkStatus();
  }
  any_ = true;
  if (key == "remote") return SetRemote(value);
  if (key == "wrap") {
    wrap_ = value;
    if (value == "none" || value == "x" || value == "y" || value == "both") return OkStatus();
    return InvalidArgument("wrap \"{}\" is not none, x, y or both", value);
  }
  uint32_t& number = key == "links" ? links_ : key == "threads" ? rest_.threads : rest_.latency;
  ASSIGN_OR_RETURN(number, ParseNumber<uint32_t>(value));
  if (number == 0) return InvalidArgument("{}=0: at least 1", key);
  if (key == "link_latency" && number > sim::Cluster::kMostLatency) {
    return InvalidArgument("link_latency={}: at most {} clocks", number,
                           sim::Cluster::kMostLatency);
  }
  if (key == "threads" && number > sim::Cluster::kMostThreads) {
    return InvalidArgument("{} threads: 1 to {} are possible", number, sim::Cluster::kMostThreads);
  }
  return OkStatus();
}

Status ClusterText::SetRemote(std::string_view value) {
  for (bool more = true; more;) {
    more = value.find('+') != std::string_view::npos;
    ASSIGN_OR_RETURN(const uint32_t chip, ParseNumber<uint32_t>(TakeUntil('+', &value)));
    rest_.remote.push_back(chip);
  }
  std::sort(rest_.remote.begin(), rest_.remote.end());
  return OkStatus();
}

StatusOr<sim::Topology> ClusterText::Grid(std::string_view rows, std::string_view columns,
                                          uint32_t channels) const {
  sim::GridShape shape;
  ASSIGN_OR_RETURN(shape.rows, ParseNumber<uint32_t>(rows));
  ASSIGN_OR_RETURN(shape.columns, ParseNumber<uint32_t>(columns));
  const bool both = wrap_.empty() || wrap_ == "both";
  // A side of two chips wraps to the neighbour it has already.
  shape.wrap_columns = (both || wrap_ == "x") && shape.columns > 2;
  shape.wrap_rows = (both || wrap_ == "y") && shape.rows > 2;
  if (wrap_ == "x" && !shape.wrap_columns) {
    return InvalidArgument("wrap=x: rows of {} chips have nothing to wrap", shape.columns);
  }
  if (wrap_ == "y" && !shape.wrap_rows) {
    return InvalidArgument("wrap=y: columns of {} chips have nothing to wrap", shape.rows);
  }
  if (wrap_ == "both" && !shape.wrap_columns && !shape.wrap_rows) {
    return InvalidArgument("wrap=both: {} has no side of more than two chips", cluster_);
  }
  shape.links = links_ == 0 ? kLinksUsual : links_;
  return sim::GridTopology(shape, channels);
}

StatusOr<ClusterPlan> ClusterText::Resolve(uint32_t channels) const {
  ClusterPlan options = rest_;
  if (cluster_.empty()) {
    if (!any_) return options;
    return InvalidArgument("wrap, links, link_latency, threads and remote need cluster=");
  }
  std::string_view columns = cluster_;
  const std::string_view rows = TakeUntil('x', &columns);
  if (IsNumber(rows) && IsNumber(columns)) {
    ASSIGN_OR_RETURN(options.topology, Grid(rows, columns, channels));
  } else if (!wrap_.empty() || links_ != 0) {
    return InvalidArgument("wrap and links are those of a grid, and {} is a file of links",
                           cluster_);
  } else {
    ASSIGN_OR_RETURN(options.topology, ReadTopology(cluster_));
  }
  RETURN_IF_ERROR(sim::Validate(options.topology, channels));
  for (size_t i = 0; i < options.remote.size(); ++i) {
    const uint32_t chip = options.remote[i];
    if (chip >= options.topology.chips) {
      return InvalidArgument("remote={}: the cluster has chips 0 to {}", chip,
                             options.topology.chips - 1);
    }
    if (i != 0 && chip == options.remote[i - 1]) return InvalidArgument("remote={} twice", chip);
  }
  if (options.remote.size() == options.topology.chips) {
    return InvalidArgument("remote: a chip at least needs a PCIe port");
  }
  return options;
}

StatusOr<sim::Topology> ParseTopology(std::string_view text) {
  sim::Topology topology;
  for (uint32_t number = 1; !text.empty(); ++number) {
    std::string_view line = TakeUntil('\n', &text);
    line = line.substr(0, line.find('#'));
    if (line.find_first_not_of(" \t\r") == std::string_view::npos) continue;
    const StatusOr<sim::ChipLink> link = ParseLine(line);
    if (!link.ok()) return Annotate(link.status(), fmt::format("line {}", number));
    topology.chips = std::max({topology.chips, link->a.chip + 1, link->b.chip + 1});
    topology.links.push_back(*link);
  }
  return topology;
}

}  // namespace ttfd
