// Cards on the bus, the driver's module and its version.
#include "runtime/device/kmd/doctor/checks.h"

namespace ttfd::kmd {
namespace {

// Reason why the kernel may refuse to load the driver; empty: none is known.
std::string WhatBlocksModules(const ModuleFacts& module) {
  const std::string lockdown = module.lockdown.text.value_or("");
  for (const char* const mode : {"integrity", "confidentiality"}) {
    if (lockdown.find(fmt::format("[{}]", mode)) != std::string::npos) {
      return fmt::format("kernel lockdown ({}) refuses modules without a signature", mode);
    }
  }
  if (module.secure_boot.value_or(false)) {
    return "Secure Boot is on, with which most kernels refuse modules without a signature";
  }
  return "";
}

Remedy LoadTheDriver(const HostFacts& host) {
  Remedy remedy = {"tt-kmd is not installed for the running kernel, or was not loaded",
                   fmt::format("install tt-kmd {} or later, then modprobe tenstorrent{}",
                               kRecommendedDriver.ToString(),
                               host.container.empty() ? "" : ", both outside of the container")};
  const std::string block = WhatBlocksModules(host.module);
  if (block.empty() && host.module.lockdown.unreadable()) {
    remedy.cause += "; whether kernel lockdown is on cannot be read";
  }
  if (!block.empty()) {
    remedy.cause += "; " + block;
    remedy.fix +=
        "; sign the module with a key that this machine trusts (mokutil --import), or turn Secure "
        "Boot off";
  }
  return remedy;
}

}  // namespace

DoctorCheck Found(const char* name, CheckResult result, std::string found) {
  return {.name = name, .result = result, .found = std::move(found), .cause = {}, .fix = {}};
}

DoctorCheck Wrong(const char* name, Problem problem, std::string found, Remedy remedy) {
  const bool served = problem >= Problem::kDriverLacks;
  return {.name = name,
          .result = served ? CheckResult::kWarning : CheckResult::kFailed,
          .found = std::move(found),
          .cause = std::move(remedy.cause),
          .fix = std::move(remedy.fix),
          .exit_code = static_cast<int>(problem)};
}

std::optional<DriverVersion> VersionOf(const HostFacts& host) {
  const std::optional<DriverVersion> version =
      ParseDriverVersion(host.module.version.text.value_or(""));
  if (version.has_value()) return version;
  for (const CardFacts& card : host.cards) {
    if (card.node.driver.has_value()) return card.node.driver;
  }
  return std::nullopt;
}

DoctorCheck CheckCards(const HostFacts& host) {
  constexpr char kName[] = "cards";
  std::vector<std::string> addresses;
  for (const CardFacts& card : host.cards) addresses.push_back(card.pci.address);
  const std::string others =
      host.others.empty() ? "" : fmt::format("; not a Blackhole: {}", fmt::join(host.others, ", "));
  if (!addresses.empty()) {
    return Found(
        kName, CheckResult::kOk,
        fmt::format("{} Blackhole: {}{}", addresses.size(), fmt::join(addresses, ", "), others));
  }
  return Wrong(kName, Problem::kNoCard,
               fmt::format("no Blackhole (1e52:b140) on the PCI bus{}", others),
               {"there is none, it has no power or does not sit in its slot, or this virtual "
                "machine was not given it",
                "check slot and power cables until lspci -d 1e52: lists the card; in a virtual "
                "machine pass the PCI device through"});
}

DoctorCheck CheckDriver(const HostFacts& host) {
  constexpr char kName[] = "driver";
  if (host.module.loaded) return Found(kName, CheckResult::kOk, "tenstorrent is loaded");
  if (host.cards.empty()) {
    return Found(kName, CheckResult::kSkipped, "tenstorrent is not loaded; no card needs it");
  }
  return Wrong(kName, Problem::kNoDriver, "tenstorrent is not loaded", LoadTheDriver(host));
}

DoctorCheck CheckVersion(const HostFacts& host) {
  constexpr char kName[] = "driver version";
  if (!host.module.loaded) {
    return Found(kName, CheckResult::kSkipped, "the driver is not loaded");
  }
  const std::optional<DriverVersion> version = VersionOf(host);
  const std::string text =
      version.has_value() ? version->ToString() : host.module.version.text.value_or("");
  if (!version.has_value()) {
    return Found(kName, CheckResult::kUnknown,
                 fmt::format("/sys/module/tenstorrent/version says '{}'", text));
  }
  const std::string fix = fmt::format("install tt-kmd {} or later, then load it again or reboot",
                                      kRecommendedDriver.ToString());
  if (const Status old = CheckDriverVersion(version, text); !old.ok()) {
    return Wrong(kName, ProblemOf(old), text,
                 {fmt::format("drivers before {} do not name NoC addresses of host memory",
                              kOldestDriver.ToString()),
                  fix});
  }
  const std::string prefix = fmt::format("driver {}: ", text);  // the same in each
  std::vector<std::string> limits;
  for (const std::string& limit : LimitsOf(*version)) {
    limits.push_back(limit.starts_with(prefix) ? limit.substr(prefix.size()) : limit);
  }
  if (limits.empty()) return Found(kName, CheckResult::kOk, text);
  return Wrong(kName, Problem::kDriverLacks, text,
               {fmt::format("{}", fmt::join(limits, "; ")), fix});
}

}  // namespace ttfd::kmd
