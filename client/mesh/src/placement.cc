// Places a mesh on devices: chip after chip, each on a device that its neighbours in the mesh have links to.
#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <utility>

#include "client/mesh/src/error.h"
#include "ttfd/mesh/mesh.h"

namespace ttfd::mesh {
namespace {

using client::DeviceInfo;

// Places that one search tries. A torus of 8 x 4 takes 32 of them.
constexpr uint32_t kMostSteps = 200'000;

bool Joined(const DeviceInfo& one, uint32_t other) {
  return std::any_of(
      one.neighbours.begin(), one.neighbours.end(),
      [other](const client::Neighbour& link) { return link.device == other && !link.system; });
}

class Search {
 public:
  Search(const std::vector<DeviceInfo>& devices, std::vector<uint32_t> among, Shape shape,
         bool closes_columns, bool closes_rows)
      : devices_(devices),
        among_(std::move(among)),
        shape_(shape),
        closes_columns_(closes_columns),
        closes_rows_(closes_rows),
        used_(devices.size()) {}

  bool Run() { return Place(); }
  const std::vector<uint32_t>& chips() const { return chips_; }
  // The chips of the longest beginning of the mesh that was found.
  const std::vector<uint32_t>& longest() const { return longest_; }

 private:
  bool Place() {
    if (chips_.size() > longest_.size()) longest_ = chips_;
    if (chips_.size() == size_t{shape_.rows} * shape_.columns) return true;
    for (const uint32_t device : among_) {
      if (used_[device] || !Fits(device)) continue;
      if (++steps_ > kMostSteps) return false;
      used_[device] = true;
      chips_.push_back(device);
      if (Place()) return true;
      chips_.pop_back();
      used_[device] = false;
    }
    return false;
  }

  // Whether `device` has links to what its place needs.
  bool Fits(uint32_t device) const {
    const size_t chip = chips_.size();
    const size_t row = chip / shape_.columns, column = chip % shape_.columns;
    const auto joined = [&](size_t other) { return Joined(devices_[device], chips_[other]); };
    return (column == 0 || joined(chip - 1)) && (row == 0 || joined(chip - shape_.columns)) &&
           (!closes_rows_ || column + 1 != shape_.columns || joined(chip - column)) &&
           (!closes_columns_ || row + 1 != shape_.rows || joined(column));
  }

  const std::vector<DeviceInfo>& devices_;
  const std::vector<uint32_t> among_;
  const Shape shape_;
  const bool closes_columns_, closes_rows_;
  std::vector<bool> used_;
  std::vector<uint32_t> chips_;
  std::vector<uint32_t> longest_;
  uint32_t steps_ = 0;
};

// Where the channels of a device lead.
std::string ChannelsText(const DeviceInfo& device) {
  std::string text;
  for (const client::Neighbour& link : device.neighbours) {
    text += fmt::format("{}{}.{} to {}.{}{}", text.empty() ? "" : ", ", device.index, link.channel,
                        link.device, link.peer_channel,
                        link.system ? " (the daemon's own, not for kernels)" : "");
  }
  return text.empty()
             ? fmt::format("device {} has no link to another device of this daemon", device.index)
             : text;
}

// `longest`: the chips of the longest beginning of the mesh that was found, with open lines.
Status NotGiven(const std::vector<DeviceInfo>& devices, Shape shape,
                const std::vector<uint32_t>& longest) {
  std::vector<uint32_t> needed;  // devices that the next chip needs links to
  if (longest.size() % shape.columns != 0) needed.push_back(longest.back());
  if (longest.size() >= shape.columns) needed.push_back(longest[longest.size() - shape.columns]);
  std::vector<std::string> links;
  for (const uint32_t device : needed) links.push_back(ChannelsText(devices[device]));
  return Status(client::ErrorInfo{
      .code = client::Code::kFailedPrecondition,
      .message = fmt::format("no mesh of {} x {} chips is found; the search came as far as "
                             "devices {}: the next chip needs links to "
                             "device{} {} ({})",
                             shape.rows, shape.columns, fmt::join(longest, ", "),
                             needed.size() == 1 ? "" : "s", fmt::join(needed, " and "),
                             fmt::join(links, "; ")),
      .reason = "INVALID",
      .field = "mesh.shape"});
}

// The devices to choose from, ascending.
Result<std::vector<uint32_t>> Candidates(size_t devices, std::span<const uint32_t> among) {
  std::vector<uint32_t> candidates(among.begin(), among.end());
  if (among.empty()) {
    for (uint32_t device = 0; device < devices; ++device) candidates.push_back(device);
  }
  std::sort(candidates.begin(), candidates.end());
  if (std::adjacent_find(candidates.begin(), candidates.end()) != candidates.end()) {
    return Invalid("mesh.devices",
                   fmt::format("a device is named twice in {}", fmt::join(among, ", ")));
  }
  if (!candidates.empty() && candidates.back() >= devices) {
    return Invalid("mesh.devices", fmt::format("there is no device {}; the daemon has {}",
                                               candidates.back(), devices));
  }
  return candidates;
}

}  // namespace

Result<Placement> FindPlacement(const std::vector<DeviceInfo>& devices, Shape shape,
                                std::span<const uint32_t> among) {
  const Result<std::vector<uint32_t>> candidates = Candidates(devices.size(), among);
  if (!candidates.ok()) return candidates.status();
  if (shape.rows == 0 || shape.columns == 0 ||
      uint64_t{shape.rows} * shape.columns > candidates->size()) {
    return Invalid("mesh.shape", fmt::format("{} x {} chips: rows and columns are at least 1, and "
                                             "there are {} devices to choose from",
                                             shape.rows, shape.columns, candidates->size()));
  }
  const bool columns = shape.rows > 2, rows = shape.columns > 2;
  std::vector<uint32_t> longest;
  for (const auto& [close_columns, close_rows] :
       {std::pair(columns, rows), std::pair(false, rows), std::pair(columns, false),
        std::pair(false, false)}) {
    Search search(devices, *candidates, shape, close_columns, close_rows);
    if (search.Run()) {
      return Placement{
          .shape = shape, .devices = search.chips(), .closed = {close_columns, close_rows}};
    }
    longest = search.longest();
  }
  return NotGiven(devices, shape, longest);
}

}  // namespace ttfd::mesh
