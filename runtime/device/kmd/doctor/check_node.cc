// The driver's hold of the card, its node, and the processes that have it open.
#include <cerrno>
#include <cstring>

#include "runtime/device/kmd/doctor/checks.h"
#include "runtime/hw/pcie.h"

namespace ttfd::kmd {
namespace {

constexpr char kDriverName[] = "tenstorrent";
constexpr char kNodeCheck[] = "node";
constexpr char kSeeDmesg[] = "see dmesg for what the driver says";

DoctorCheck NotBound(const std::string& name, const PciFacts& pci) {
  const auto wrong = [&](const std::string& found, Remedy remedy) {
    return Wrong(name.c_str(), Problem::kNoCard, found, std::move(remedy));
  };
  if (!pci.driver->empty()) {
    return wrong(fmt::format("driver {} has it", *pci.driver),
                 {"another driver was given the card, such as one for a virtual machine",
                  fmt::format("unbind it from {0} (/sys/bus/pci/drivers/{0}/unbind), then bind it "
                              "to {1}",
                              *pci.driver, kDriverName)});
  }
  if (pci.bars_without_address.has_value() && !pci.bars_without_address->empty()) {
    return wrong(fmt::format("no driver has it; without an address: BAR {}",
                             fmt::join(*pci.bars_without_address, ", BAR ")),
                 {"firmware or kernel found no address space for the card, whose BAR 4 has 32 GiB",
                  "turn on above-4G decoding in the firmware setup, or boot with pci=realloc"});
  }
  return wrong("no driver has it",
               {"the driver refused the card, or does not support it (before 1.31)",
                fmt::format("{}, then echo {} > /sys/bus/pci/drivers/{}/bind", kSeeDmesg,
                            pci.address, kDriverName)});
}

DoctorCheck NoPermission(const HostFacts& host, const NodeFacts& node) {
  const std::string found =
      fmt::format("{} cannot be opened ({})", node.path, std::strerror(node.open_error));
  const bool by_mode = node.open_error == EACCES;
  const std::string pass = fmt::format("--device {}", node.path);
  Remedy remedy;
  if (by_mode) {
    remedy = {"its mode gives it to other users",
              "run as root or in group ttfd-admin, to which the udev rule 60-ttfd.rules gives it"};
  } else {
    remedy = {"a device policy keeps this process from it: of a container or of a service",
              "in a unit with DevicePolicy: DeviceAllow=char-tenstorrent rw"};
  }
  if (!host.container.empty()) {
    remedy.cause += fmt::format("; this is a container ({})", host.container);
    remedy.fix = fmt::format("start the container with {}{}", pass,
                             by_mode ? "; " + remedy.fix : std::string());
  } else if (!by_mode) {
    remedy.fix += fmt::format("; in a container: {}", pass);
  }
  return Wrong(kNodeCheck, Problem::kNoPermission, found, std::move(remedy));
}

DoctorCheck NoNode(const HostFacts& host, const NodeFacts& node) {
  const std::string found = fmt::format("{} does not exist", node.path);
  if (!host.container.empty()) {
    return Wrong(kNodeCheck, Problem::kNoPermission, found,
                 {fmt::format("this container ({}) was not given it", host.container),
                  fmt::format("start the container with --device {}", node.path)});
  }
  return Wrong(kNodeCheck, Problem::kNoCard, found,
               {"the driver has a card of this number, but /dev has no node of it: udev does not "
                "run, or this process sees another /dev (PrivateDevices= of a service)",
                "udevadm trigger --subsystem-match=tenstorrent; in a unit: PrivateDevices=no"});
}

DoctorCheck OpenFailed(const HostFacts& host, const NodeFacts& node) {
  switch (node.open_error) {
    case EACCES:
    case EPERM:
      return NoPermission(host, node);
    case ENOENT:
    case ENXIO:
      return NoNode(host, node);
    case EAGAIN:
    case EBUSY:
      return Wrong(
          kNodeCheck, Problem::kHeld,
          fmt::format("{} is open in another process that lets no other in (O_EXCL)", node.path),
          {"the process has the card for itself", "stop it, or choose another card"});
    case ENODEV:
      return Wrong(kNodeCheck, Problem::kCardLost,
                   fmt::format("the driver has no card behind {}", node.path),
                   {"the card was removed, or is being reset",
                    "run this again after a reset; power the host off and on if the card stays "
                    "away"});
    default:
      return Wrong(
          kNodeCheck, Problem::kDriverRefused,
          fmt::format("{} cannot be opened ({})", node.path, std::strerror(node.open_error)),
          {"the driver refuses it", kSeeDmesg});
  }
}

DoctorCheck NodeOfAnotherDevice(const CardFacts& card) {
  const NodeFacts& node = card.node;
  const std::string what = node.id == kWormhole ? "a Wormhole card" : "another device";
  return Wrong(
      kNodeCheck, Problem::kOtherDevice,
      fmt::format("{} is {} ({}, {})", node.path, what, node.id.ToString(), node.pci_address),
      {fmt::format("the driver has the card {} at this number: the node was made for "
                   "another one, or given to a container under another name",
                   card.pci.address),
       fmt::format("pass the node under its own name (--device {}), or remove it and run "
                   "udevadm trigger",
                   node.path)});
}

}  // namespace

DoctorCheck CheckBinding(const HostFacts& host, const CardFacts& card) {
  constexpr char kName[] = "binding";
  if (!host.module.loaded) {
    return Found(kName, CheckResult::kSkipped, "the driver is not loaded");
  }
  if (!card.node.path.empty()) {
    return Found(kName, CheckResult::kOk, fmt::format("the driver has it as {}", card.node.path));
  }
  if (!card.pci.driver.has_value()) {
    return Found(kName, CheckResult::kUnknown,
                 "the driver has made no node; which driver has the card cannot be read");
  }
  if (*card.pci.driver != kDriverName) return NotBound(kName, card.pci);
  return Wrong(kName, Problem::kNoCard, "the driver has it, but has made no node",
               {"the driver could not start the card", kSeeDmesg});
}

DoctorCheck CheckNode(const HostFacts& host, const CardFacts& card) {
  const NodeFacts& node = card.node;
  if (node.path.empty()) {
    return Found(kNodeCheck, CheckResult::kSkipped, "the driver has made no node");
  }
  if (node.open_error != 0) return OpenFailed(host, node);
  if (node.identity_error == ENODEV) {
    return Wrong(kNodeCheck, Problem::kCardLost,
                 fmt::format("{} can be opened, but its card is gone", node.path),
                 {"the card was removed, or is being reset", "run this again after a reset"});
  }
  if (node.identity_error != 0) {
    return Wrong(kNodeCheck, Problem::kDriverRefused,
                 fmt::format("the driver does not say which card {} is ({})", node.path,
                             std::strerror(node.identity_error)),
                 {"the driver refuses the call", kSeeDmesg});
  }
  if (node.id != kBlackhole || node.pci_address != card.pci.address) {
    return NodeOfAnotherDevice(card);
  }
  return Found(kNodeCheck, CheckResult::kOk,
               fmt::format("{} can be opened ({})", node.path, node.id.ToString()));
}

std::string ProcessesText(const std::vector<Process>& processes) {
  std::vector<std::string> names;
  for (const auto& [pid, name] : processes) {
    if (pid == "0") {
      names.emplace_back("one outside of this container");
    } else {
      names.push_back(name.empty() ? "pid " + pid : fmt::format("pid {} ({})", pid, name));
    }
  }
  return fmt::format("{}", fmt::join(names, ", "));
}

DoctorCheck CheckUsers(const CardFacts& card) {
  constexpr char kName[] = "users";
  const NodeFacts& node = card.node;
  if (node.path.empty()) {
    return Found(kName, CheckResult::kSkipped, "the driver has made no node");
  }
  const bool known = node.processes.has_value();
  const std::string open =
      known && !node.processes->empty() ? ProcessesText(*node.processes) : std::string();
  if (node.open_error != 0) {
    return Found(kName, CheckResult::kSkipped,
                 fmt::format("the node cannot be opened to test its lock{}",
                             open.empty() ? "" : "; open in " + open));
  }
  if (node.lock_error != 0) {
    return Found(
        kName, CheckResult::kUnknown,
        fmt::format("the driver does not say who has its lock ({}){}",
                    std::strerror(node.lock_error), open.empty() ? "" : "; open in " + open));
  }
  if (node.locked) {
    const char* const unlisted =
        known ? "a process that is not listed" : "a process (drivers before 2.5 list none)";
    return Found(kName, CheckResult::kInUse,
                 fmt::format("served by {}", open.empty() ? unlisted : open));
  }
  if (!known) {
    return Found(kName, CheckResult::kUnknown,
                 "no ttfd serves it; which programs have it open is not listed (before driver 2.5) "
                 "or cannot be read");
  }
  if (open.empty()) return Found(kName, CheckResult::kOk, "no process has the card open");
  DoctorCheck check = Wrong(kName, Problem::kOtherUsers,
                            fmt::format("open in {}; none of them is a ttfd that serves it", open),
                            {"other programs use the card, and can disturb a ttfd that serves it",
                             "stop them before ttfd starts"});
  check.result = CheckResult::kWarning;
  return check;
}

}  // namespace ttfd::kmd
