// IOMMU, or else hugepages and the limit of them.
#include "runtime/device/kmd/doctor/checks.h"
#include "runtime/device/kmd/host_arena.h"

namespace ttfd::kmd {
namespace {

constexpr uint64_t kHugePages = (kDefaultArenaBytes + kHugePageBytes - 1) / kHugePageBytes;

// Whether the IOMMU translates; none: that cannot be read.
std::optional<bool> Translates(const PciFacts& pci) {
  if (pci.iommu_type.text.has_value()) return pci.iommu_type.text->starts_with("DMA");
  return pci.iommu_group ? std::nullopt : std::optional(false);
}

struct Enough {
  bool giant = false;
  bool huge = false;
  bool any() const { return giant || huge; }
};

Enough EnoughOf(const FreePages& pages, const PageClaim& claimed) {
  return {.giant = pages.giant.value_or(0) >= claimed.giant + 1,
          .huge = pages.huge.value_or(0) >= claimed.huge + kHugePages};
}

void Claim(const Enough& enough, int numa_node, PageClaims* claims) {
  const auto take = [&](PageClaim* claim) {
    claim->giant += enough.giant ? 1 : 0;
    claim->huge += enough.giant ? 0 : kHugePages;
  };
  take(&(*claims)[numa_node]);
  if (numa_node >= 0) take(&(*claims)[-1]);
}

std::string PagesText(const Enough& enough) {
  return enough.giant ? "1 free page of 1 GiB"
                      : fmt::format("no free page of 1 GiB, but {} of 2 MiB", kHugePages);
}

std::string Left(const std::optional<uint64_t>& free, uint64_t claimed) {
  if (!free.has_value()) return "none";
  return std::to_string(*free > claimed ? *free - claimed : 0);
}

constexpr char kNotNeeded[] = "not needed: the IOMMU translates";
constexpr char kNotKnown[] = "whether the IOMMU translates is not known";

// Result of a check about hugepages that are not needed, or may not be; none: it has to be judged.
std::optional<DoctorCheck> WithoutPages(const char* name, const CardFacts& card) {
  const std::optional<bool> translates = Translates(card.pci);
  if (!translates.has_value()) return Found(name, CheckResult::kSkipped, kNotKnown);
  if (*translates) return Found(name, CheckResult::kOk, kNotNeeded);
  return std::nullopt;
}

}  // namespace

bool PagesAreFreeToCount(const NodeFacts& node) {
  const bool lock_known = node.open_error == 0 && node.lock_error == 0;
  const bool open = node.processes.has_value() && !node.processes->empty();
  return lock_known ? !node.locked : !open;
}

DoctorCheck CheckIommu(const CardFacts& card) {
  constexpr char kName[] = "iommu";
  const std::optional<bool> translates = Translates(card.pci);
  if (!translates.has_value()) {
    return Found(kName, CheckResult::kUnknown, "iommu_group/type of the card cannot be read");
  }
  const std::string type = card.pci.iommu_type.text.value_or("no group");
  if (*translates) return Found(kName, CheckResult::kOk, fmt::format("translates ({})", type));
  return Wrong(
      kName, Problem::kNoIommu, fmt::format("does not translate ({})", type),
      {"it is off or passes the card through: kernels can reach all memory of the host, so ttfd "
       "accepts the sessions of one user and of root",
       "turn it on in the firmware setup and boot with intel_iommu=on or amd_iommu=on, "
       "without iommu=pt; give a virtual machine a virtual IOMMU"});
}

DoctorCheck CheckHugepages(const CardFacts& card, PageClaims* claims) {
  constexpr char kName[] = "hugepages";
  if (const auto check = WithoutPages(kName, card)) return *check;
  if (!PagesAreFreeToCount(card.node)) {
    return Found(kName, CheckResult::kSkipped,
                 "a process that has the card open may have its pages already");
  }
  const PageFacts& pages = card.pages;
  const std::string where = pages.numa_node < 0 ? std::string("any NUMA node")
                                                : fmt::format("NUMA node {}", pages.numa_node);
  const PageClaim near = (*claims)[pages.numa_node];
  const PageClaim all = (*claims)[-1];
  if (!pages.all.giant && !pages.all.huge && !pages.near.giant && !pages.near.huge) {
    return Found(kName, CheckResult::kUnknown,
                 "/sys/kernel/mm/hugepages has no pages of 1 GiB or 2 MiB, or cannot be read");
  }
  const Enough here = EnoughOf(pages.near, near);
  const Enough anywhere = EnoughOf(pages.all, all);
  Claim(here.any() ? here : anywhere, pages.numa_node, claims);
  if (here.any()) {
    return Found(kName, CheckResult::kOk, fmt::format("{} on {}", PagesText(here), where));
  }
  if (anywhere.any()) {
    return Found(kName, CheckResult::kOk,
                 fmt::format("{}, but not on the card's {}: slower", PagesText(anywhere), where));
  }
  return Wrong(
      kName, Problem::kNoHostMemory,
      fmt::format("free on {}: {} of 1 of 1 GiB, {} of {} of 2 MiB", where,
                  Left(pages.near.giant, near.giant), Left(pages.near.huge, near.huge), kHugePages),
      {"without an IOMMU the card's queues need pages of one size or the other",
       "turn the IOMMU on, or run systemctl start ttfd-hugepages; soon after boot there "
       "is more to get: hugepagesz=1G hugepages=1 for each card on the kernel's command "
       "line"});
}

DoctorCheck CheckHugetlbLimit(const HostFacts& host, const CardFacts& card) {
  constexpr char kName[] = "hugetlb limit";
  if (const auto check = WithoutPages(kName, card)) return *check;
  const HugetlbLimits& limits = host.hugetlb;
  if (!limits.giant.has_value() && !limits.huge.has_value()) {
    return Found(kName, CheckResult::kOk, "no limit for this process's cgroup");
  }
  const Enough lets = {.giant = limits.giant.value_or(kGiantPageBytes) >= kGiantPageBytes,
                       .huge = limits.huge.value_or(kDefaultArenaBytes) >= kDefaultArenaBytes};
  const Enough free = EnoughOf(card.pages.all, {});
  const bool fits =
      free.any() ? (lets.giant && free.giant) || (lets.huge && free.huge) : lets.any();
  const auto text = [](const std::optional<uint64_t>& limit) {
    return limit.has_value() ? std::to_string(*limit) : std::string("no limit");
  };
  const std::string found = fmt::format("bytes in pages of 1 GiB: {}, of 2 MiB: {}",
                                        text(limits.giant), text(limits.huge));
  if (fits) return Found(kName, CheckResult::kOk, found);
  return Wrong(kName, Problem::kNoHostMemory, found,
               {"the cgroup of this process may not have the hugepages that the card needs",
                fmt::format("raise hugetlb.1GB.max of the cgroup to {} or hugetlb.2MB.max to {} "
                            "(Kubernetes: resource hugepages-1Gi or hugepages-2Mi)",
                            kGiantPageBytes, kDefaultArenaBytes)});
}

}  // namespace ttfd::kmd
