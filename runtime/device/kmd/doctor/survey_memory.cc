// Free hugepages near the card, and how many of them this process may have.
#include <algorithm>

#include "runtime/device/kmd/doctor/reading.h"
#include "runtime/device/kmd/doctor/survey.h"

namespace ttfd::kmd {
namespace {

constexpr char kAllNodes[] = "/sys/kernel/mm/hugepages";

FreePages PagesIn(Files& files, const std::string& folder) {
  const auto read = [&](const char* size) {
    return UnsignedIn(files.ReadText(fmt::format("{}/hugepages-{}/free_hugepages", folder, size)));
  };
  return {.giant = read("1048576kB"), .huge = read("2048kB")};
}

// Lowers the limit to the number in a text; "max" or no text leaves it.
void LowerTo(const std::optional<std::string>& text, std::optional<uint64_t>* limit) {
  const std::optional<uint64_t> bytes = UnsignedIn(text);
  if (bytes.has_value()) *limit = std::min(*bytes, limit->value_or(*bytes));
}

}  // namespace

PageFacts SurveyPages(Files& files, const std::string& folder) {
  PageFacts pages;
  pages.all = PagesIn(files, kAllNodes);
  pages.numa_node = static_cast<int>(NumberIn(files.ReadText(folder + "/numa_node")).value_or(-1));
  pages.near = pages.numa_node < 0
                   ? pages.all
                   : PagesIn(files, fmt::format("/sys/devices/system/node/node{}/hugepages",
                                                pages.numa_node));
  return pages;
}

HugetlbLimits SurveyHugetlb(Files& files) {
  constexpr std::string_view kUnified = "0::";  // the line of cgroup v2
  std::string group;
  for (const std::string& line : LinesOf(files.ReadText("/proc/self/cgroup").value_or(""))) {
    if (line.starts_with(kUnified)) group = line.substr(kUnified.size());
  }
  HugetlbLimits limits;
  while (group.starts_with('/')) {
    const std::string folder = "/sys/fs/cgroup" + (group == "/" ? "" : group);
    for (const char* const kind : {"max", "rsvd.max"}) {
      LowerTo(files.ReadText(fmt::format("{}/hugetlb.1GB.{}", folder, kind)), &limits.giant);
      LowerTo(files.ReadText(fmt::format("{}/hugetlb.2MB.{}", folder, kind)), &limits.huge);
    }
    group = group == "/" ? "" : group.substr(0, std::max<size_t>(group.rfind('/'), 1));
  }
  return limits;
}

}  // namespace ttfd::kmd
