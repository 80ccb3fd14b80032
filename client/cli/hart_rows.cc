// Groups of identical harts.
#include "client/cli/hart_rows.h"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>

namespace ttfd::cli {
namespace {

struct Group {
  const client::HartState* first;
  size_t others = 0;
};

// "worker" of "worker (3,0) tile (4,2) BRISC".
std::string_view Kind(const client::HartState& hart) {
  return std::string_view(hart.name).substr(0, hart.name.find('('));
}

bool SameState(const client::HartState& a, const client::HartState& b) {
  return Kind(a) == Kind(b) && a.waypoint == b.waypoint && a.progress == b.progress &&
         a.description == b.description;
}

}  // namespace

std::vector<std::vector<std::string>> HartRows(const std::vector<client::HartState>& harts) {
  std::vector<Group> groups;
  for (const client::HartState& hart : harts) {
    const auto group = std::find_if(groups.begin(), groups.end(), [&](const Group& known) {
      return SameState(*known.first, hart);
    });
    if (group == groups.end()) {
      groups.push_back({&hart});
    } else {
      ++group->others;
    }
  }
  std::vector<std::vector<std::string>> rows = {{"HART", "WAYPOINT", "PROGRESS", "STATE"}};
  for (const Group& group : groups) {
    const client::HartState& hart = *group.first;
    rows.push_back({hart.name, hart.waypoint, std::to_string(hart.progress),
                    group.others == 0
                        ? hart.description
                        : fmt::format("{} (and {} identical)", hart.description, group.others)});
  }
  return rows;
}

}  // namespace ttfd::cli
