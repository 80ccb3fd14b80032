// The sentences.
#include "runtime/device/kmd/errors.h"

#include <cerrno>
#include <cstring>

#include "runtime/device/kmd/system.h"
#include "runtime/device/problem.h"
#include "runtime/hw/pcie.h"

namespace ttfd::kmd {

Status OpenError(const std::string& node, int error,
                 const std::optional<std::string>& module_version) {
  switch (error) {
    case ENOENT:
    case ENXIO:
      if (!module_version.has_value()) {
        return ProblemError(
            Problem::kNoDriver, StatusCode::kNotFound,
            "{} does not exist and no tenstorrent driver is loaded: install tt-kmd {} or "
            "later, then run modprobe tenstorrent",
            node, kRecommendedDriver.ToString());
      }
      return ProblemError(
          Problem::kNoCard, StatusCode::kNotFound,
          "{} does not exist, though driver {} is loaded: choose one of /dev/tenstorrent, "
          "or check with lspci -d 1e52: that the host finds the card",
          node, *module_version);
    case EACCES:
    case EPERM:
      return ProblemError(
          Problem::kNoPermission, StatusCode::kPermissionDenied,
          "no permission to open {}: run as user ttfd or in group ttfd-admin, to whom the "
          "udev rule "
          "60-ttfd.rules gives it, or pass the device into the container",
          node);
    case EMFILE:
    case ENFILE:
      return ProblemError(Problem::kDriverRefused, StatusCode::kResourceExhausted,
                          "opening {} failed ({}): raise the limit of open files (LimitNOFILE=)",
                          node, std::strerror(error));
    case EAGAIN:
    case EBUSY:
      return HeldByAnother(node, {});
    case ENODEV:
      return CardLost(node, "the driver has no card behind the node");
    default:
      return ProblemError(Problem::kDriverRefused, StatusCode::kFailedPrecondition,
                          "opening {} failed ({}): see dmesg for what the driver says", node,
                          std::strerror(error));
  }
}

Status NoSuchCard(const std::string& pci_address, const std::vector<std::string>& nodes,
                  const std::optional<std::string>& module_version) {
  if (!module_version.has_value()) {
    return ProblemError(
        Problem::kNoDriver, StatusCode::kNotFound,
        "there is no node for PCI address {}, because no tenstorrent driver is loaded: install "
        "tt-kmd {} or later, then run modprobe tenstorrent (--device sim serves a "
        "model of a card)",
        pci_address, kRecommendedDriver.ToString());
  }
  return ProblemError(Problem::kNoCard, StatusCode::kNotFound,
                      "there is no node for PCI address {}: /dev/tenstorrent has {}; ttfdctl "
                      "doctor says why, lspci -d "
                      "1e52: lists the addresses, and a container needs the node passed into it "
                      "(--device sim serves a model of a card)",
                      pci_address,
                      nodes.empty() ? "none" : fmt::format("{}", fmt::join(nodes, ", ")));
}

Status NotABlackhole(const std::string& node, const PciId& id) {
  return ProblemError(Problem::kOtherDevice, StatusCode::kFailedPrecondition,
                      "{} is {} (PCI id {}), but only Blackhole cards ({}) are supported: choose "
                      "another node of /dev/tenstorrent",
                      node, id == kWormhole ? "a Wormhole card" : "another device", id.ToString(),
                      kBlackhole.ToString());
}

Status HeldByAnother(const std::string& node, const std::vector<std::string>& processes) {
  return ProblemError(Problem::kHeld, StatusCode::kFailedPrecondition,
                      "{} is held by another process{}{}: stop it, or choose another card", node,
                      processes.empty() ? "" : ", one of pid ", fmt::join(processes, ", "));
}

Status WindowRefused(int error) {
  if (error == ENOMEM) {
    return ProblemError(
        Problem::kResourcesTaken, StatusCode::kResourceExhausted,
        "all {} windows of 2 MiB into the card are taken by other processes: stop one of "
        "those that /proc/driver/tenstorrent/*/pids lists",
        hw::kTlbWindowKernel);
  }
  return ProblemError(Problem::kDriverRefused, StatusCode::kFailedPrecondition,
                      "the driver does not give a window into the card ({}): see dmesg for why",
                      std::strerror(error));
}

Status PinRefused(int error, uint64_t bytes) {
  switch (error) {
    case ENOSPC:
      return ProblemError(
          Problem::kResourcesTaken, StatusCode::kResourceExhausted,
          "all {} outbound iATU regions of the card are in use, which each pinning of any "
          "process needs: stop other users of the card (/proc/driver/tenstorrent/*/pids)",
          hw::kIatuRegions);
    case ENOMEM:
      return ProblemError(
          Problem::kNoHostMemory, StatusCode::kResourceExhausted,
          "the driver could not pin {} bytes of host memory: free memory or ask for less", bytes);
    case EFAULT:
      return ProblemError(
          Problem::kDriverRefused, StatusCode::kFailedPrecondition,
          "the kernel does not let the driver pin {} bytes of this process's memory: see "
          "dmesg for how many pages it pinned",
          bytes);
    default:
      return ProblemError(
          Problem::kDriverRefused, StatusCode::kFailedPrecondition,
          "the driver refused to pin {} bytes of host memory ({}): see dmesg for why", bytes,
          std::strerror(error));
  }
}

Status NoHugepages(uint64_t bytes) {
  const uint64_t small = (bytes + kHugePageBytes - 1) / kHugePageBytes;
  const std::string also = small <= hw::kIatuRegions ? fmt::format(", or {} of 2 MiB", small) : "";
  return ProblemError(
      Problem::kNoHostMemory, StatusCode::kFailedPrecondition,
      "the host has no IOMMU on for the card, and its queues need {} bytes in free "
      "hugepages (of 1 GiB{}): turn on the IOMMU (intel_iommu=on or amd_iommu=on, without "
      "iommu=pt), or reserve hugepages (systemctl start ttfd-hugepages)",
      bytes, also);
}

Status ArenaScattered(uint64_t address, uint64_t expected_end) {
  return ProblemError(
      Problem::kResourcesTaken, StatusCode::kResourceExhausted,
      "the driver gave a hugepage the NoC address {:#x}, not the one that ends at {:#x}, "
      "because regions of other processes lie between: reserve a hugepage of 1 GiB "
      "(systemctl start ttfd-hugepages), or stop other users of the card",
      address, expected_end);
}

Status ArenaOutside(uint64_t first, uint64_t last) {
  return ProblemError(
      Problem::kResourcesTaken, StatusCode::kResourceExhausted,
      "the driver gave host memory the NoC addresses {:#x} to {:#x}, but device code "
      "reaches {:#x} to {:#x}, without a multiple of 4 GiB inside: stop other users of the "
      "card",
      first, last, hw::kHostMemoryNocBase,
      hw::kHostMemoryNocBase + (hw::kHostMemoryWindowBytes - 1));
}

Status ArenaFull(uint64_t bytes, uint64_t largest, uint64_t all) {
  return Error(StatusCode::kResourceExhausted,
               "{} bytes of host memory, but of the {} pinned for the card at most {} contiguous "
               "ones are free: free some, or make the queues' rings smaller",
               bytes, all, largest);
}

Status CardLost(const std::string& node, std::string_view symptom) {
  return ProblemError(
      Problem::kCardLost, StatusCode::kUnavailable,
      "the card at {} was reset or removed by another process ({}): it is served again "
      "once it is back",
      node, symptom);
}

Status CardSilent(const std::string& node) {
  return ProblemError(
      Problem::kFirmwareNotReady, StatusCode::kDataLoss,
      "the card at {} answers all ones, as a chip does that hangs: a daemon that serves "
      "the card resets its chip; otherwise run tt-smi -r, or power the host off and on",
      node);
}

Status AnotherCard(const std::string& node) {
  return ProblemError(
      Problem::kCardLost, StatusCode::kFailedPrecondition,
      "the card at {} has other columns or memory than the one before: restart the daemon", node);
}

Status NotBack(const std::string& pci_address) {
  return ProblemError(
      Problem::kCardLost, StatusCode::kUnavailable,
      "the driver has no node for the card at PCI address {}: if it does not come back by "
      "itself, see dmesg for why",
      pci_address);
}

Status ResetFailed(const std::string& node, std::string_view what, std::string_view why) {
  return ProblemError(
      Problem::kCardLost, StatusCode::kUnavailable,
      "the driver's reset of the card at {} could not be {} ({}): see dmesg; if it fails "
      "again, power the host off and on",
      node, what, why);
}

Status ResetUnknown(const DriverVersion& version) {
  return Error(StatusCode::kUnimplemented,
               "driver {} cannot reset the card: install tt-kmd {} or later", version.ToString(),
               kRecommendedDriver.ToString());
}

Status CleanupRefused(const std::string& node, int error) {
  return ProblemError(
      Problem::kDriverRefused, StatusCode::kFailedPrecondition,
      "the driver does not take what to write to {} when the daemon ends ({}): see dmesg "
      "for why",
      node, std::strerror(error));
}

}  // namespace ttfd::kmd
