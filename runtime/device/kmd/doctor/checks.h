// Judges the facts: a function without side effects for each check. docs/ttfdctl.md lists which files each looks at.
#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "runtime/device/kmd/doctor/doctor.h"
#include "runtime/device/kmd/doctor/facts.h"
#include "runtime/device/problem.h"

namespace ttfd::kmd {

// Runs all checks.
DoctorReport Judge(const HostFacts& host);

DoctorCheck CheckCards(const HostFacts& host);
DoctorCheck CheckDriver(const HostFacts& host);
DoctorCheck CheckVersion(const HostFacts& host);

DoctorCheck CheckBinding(const HostFacts& host, const CardFacts& card);
DoctorCheck CheckNode(const HostFacts& host, const CardFacts& card);
DoctorCheck CheckIommu(const CardFacts& card);
// Hugepages that cards judged earlier need, by NUMA node (-1: of all nodes).
struct PageClaim {
  uint64_t giant = 0;
  uint64_t huge = 0;
};
using PageClaims = std::map<int, PageClaim>;
DoctorCheck CheckHugepages(const CardFacts& card, PageClaims* claims);
DoctorCheck CheckHugetlbLimit(const HostFacts& host, const CardFacts& card);
DoctorCheck CheckLink(const CardFacts& card);
DoctorCheck CheckFirmware(const HostFacts& host, const CardFacts& card);
DoctorCheck CheckFirmwareVersion(const CardFacts& card);
DoctorCheck CheckTemperature(const CardFacts& card);
DoctorCheck CheckUsers(const CardFacts& card);
DoctorCheck CheckSensors(const HostFacts& host, const CardFacts& card);

// Results of a check. Wrong() is a warning or a failure by the number of the problem.
DoctorCheck Found(const char* name, CheckResult result, std::string found);
struct Remedy {
  std::string cause;
  std::string fix;
};
DoctorCheck Wrong(const char* name, Problem problem, std::string found, Remedy remedy);

// Version of the driver; none: neither the module nor a node names it.
std::optional<DriverVersion> VersionOf(const HostFacts& host);
// Names of the processes: "pid 412 (ttfd), pid 900 (python3)".
std::string ProcessesText(const std::vector<Process>& processes);
// False: a process serves the card and has its pages already, or it is not known whether one does.
bool PagesAreFreeToCount(const NodeFacts& node);

}  // namespace ttfd::kmd
