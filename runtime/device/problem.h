// Why a card is not served, or not as well as it could be: a number for each cause. It is the exit code of a ttfd that
// could not open its card, and of ttfdctl doctor.
#pragma once

#include "runtime/base/status.h"

namespace ttfd {

// Numbers are part of the interface (docs/ttfdctl.md lists them with causes and fixes): they never change.
enum class Problem {
  kNone = 0,

  // The card cannot be served.
  kNoDriver = 10,      // the kernel driver is not loaded
  kNoCard = 11,        // the host finds no card, or the driver has none at this name
  kDriverTooOld = 12,  // driver below 2.0
  kNoPermission = 13,  // of the node: its mode, a container, the service's DevicePolicy
  kOtherDevice = 14,   // the node is not of a Blackhole card
  kHeld = 15,          // another process serves the card
  kNoHostMemory = 16,  // too little host memory for the queues: hugepages, where there is no IOMMU
  kResourcesTaken =
      17,  // other processes have the windows, iATU regions or NoC addresses that are needed
  kFirmwareNotReady = 18,     // the card's own firmware (ARC) has not booted, or has stopped
  kFirmwareUnsupported = 19,  // it is too old, or reports what is not supported
  kCardLost = 20,             // reset or removed while it was opened
  kDriverRefused = 21,        // the driver refused something else, for which dmesg has the reason
  kDoesNotBoot = 22,          // the dispatch firmware does not start on it

  // The card is served.
  kDriverLacks = 30,  // an older driver lacks something that a later one has
  kNoIommu = 31,      // kernels can reach all memory of the host
  kSlowLink = 32,     // the PCIe link is below what card and slot can do
  kThrottled = 33,    // the card was too hot, and slows down or has cut itself off
  kNoSensors = 34,    // the kernel has no hwmon interface
  kOtherUsers = 35,   // other programs have the card open, and can disturb
};

// `status` with the problem in a payload, which Annotate keeps.
Status WithProblem(Problem problem, Status status);
// kNone: the status has none.
Problem ProblemOf(const Status& status);

template <typename... Args>
Status ProblemError(Problem problem, StatusCode code, fmt::format_string<Args...> format,
                    Args&&... args) {
  return WithProblem(problem, MakeStatus(code, fmt::format(format, std::forward<Args>(args)...)));
}

}  // namespace ttfd
