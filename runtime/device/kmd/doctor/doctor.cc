// The survey, its judgement, and the exit code.
#include "runtime/device/kmd/doctor/doctor.h"

#include <map>

#include "runtime/base/clock.h"
#include "runtime/device/kmd/doctor/checks.h"
#include "runtime/device/kmd/doctor/survey.h"
#include "runtime/device/kmd/linux_system.h"

namespace ttfd::kmd {
namespace {

void TakeLowest(const std::vector<DoctorCheck>& checks, int* exit_code) {
  for (const DoctorCheck& check : checks) {
    const bool lower = *exit_code == 0 || check.exit_code < *exit_code;
    if (check.exit_code != 0 && lower) *exit_code = check.exit_code;
  }
}

}  // namespace

std::string CheckResultName(CheckResult result) {
  switch (result) {
    case CheckResult::kOk:
      return "ok";
    case CheckResult::kInUse:
      return "in use";
    case CheckResult::kWarning:
      return "warning";
    case CheckResult::kFailed:
      return "failed";
    case CheckResult::kSkipped:
      return "skipped";
    case CheckResult::kUnknown:
      break;
  }
  return "unknown";
}

DoctorReport Judge(const HostFacts& host) {
  DoctorReport report;
  report.host = {CheckCards(host), CheckDriver(host), CheckVersion(host)};
  PageClaims claims;
  for (const CardFacts& card : host.cards) {
    DoctorCard judged = {.pci_address = card.pci.address, .node = card.node.path, .checks = {}};
    judged.checks = {CheckBinding(host, card),
                     CheckNode(host, card),
                     CheckIommu(card),
                     CheckHugepages(card, &claims),
                     CheckHugetlbLimit(host, card),
                     CheckLink(card),
                     CheckFirmware(host, card),
                     CheckFirmwareVersion(card),
                     CheckTemperature(card),
                     CheckUsers(card),
                     CheckSensors(host, card)};
    report.cards.push_back(std::move(judged));
  }
  TakeLowest(report.host, &report.exit_code);
  for (const DoctorCard& card : report.cards) TakeLowest(card.checks, &report.exit_code);
  return report;
}

DoctorReport Examine(Kernel& kernel, Files& files, Clock& clock) {
  return Judge(Survey(kernel, files, clock));
}

// LinuxSystem would install the signal handler of windows into the card, which are not used here.
DoctorReport ExamineHost() {
  LinuxKernel kernel;
  LinuxFiles files;
  return Examine(kernel, files, SteadyClock());
}

}  // namespace ttfd::kmd
